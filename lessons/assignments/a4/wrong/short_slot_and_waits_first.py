# loses: 4.1/slots 4.4/before
# says: a short speculation takes F_n where all were accepted
# says: the outcomes were waited for before anything was prepared
"""Two faults, in two tasks."""


def guesses(logits, drafted, fan_out):
    found = []
    for k, z in enumerate(logits):
        ranked = [int(t) for t in np.argsort(-z, kind="stable") if [t] != list(drafted[k : k + 1])]
        found += [Outcome(k, t) for t in ranked[: fan_out[k]]]
    return found


def serve_all(texts, drafted, guessed, draft_after, wait):
    outcomes = wait()
    cache = {}
    for number, text in texts.items():
        for k, t in guessed[number]:
            cache[number, k, t] = draft_after(number, [*text, *drafted[number][:k], t])
    served = {}
    for number, (k, t) in outcomes.items():
        if (number, k, t) in cache:
            served[number] = cache[number, k, t]
        else:
            served[number] = draft_after(number, [*texts[number], *drafted[number][:k], t])
    return served
