# loses: 3.1/order 3.5/values 3.5/law
# says: length takes precedence: an end token at the last place is still an end
# says: the drafted tokens leave no trace
"""Two faults, in two tasks."""


def cut(emitted, room, eos):
    kept = list(emitted[:room])
    if eos in kept and kept.index(eos) < room - 1:
        return kept[: kept.index(eos) + 1], "eos"
    return kept, "length" if len(kept) == room else None


def penalised(rows, generated, drafted, weight):
    laws = rows.copy()
    laws[:, list(set(generated))] *= weight
    return laws / laws.sum(axis=1, keepdims=True)
