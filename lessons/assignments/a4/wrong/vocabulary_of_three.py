# loses: 4.1/ranking 4.1/rejected 4.1/slots
# says: three tokens are ranked, however large the vocabulary


def guesses(logits, drafted, fan_out):
    n, found = len(drafted), []
    for k in range(n + 1):
        ranked = sorted(range(min(3, len(logits[k]))), key=lambda t: (-logits[k][t], t))
        if k < n and drafted[k] in ranked:
            ranked.remove(drafted[k])
        found += [Outcome(k, t) for t in ranked[: fan_out[k] if k < n else fan_out[-1]]]
    return found
