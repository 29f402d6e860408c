# loses: 4.1/ranking 4.1/rejected 4.1/slots 4.2/ends
# says: of equally likely tokens the higher one comes first
# says: guesses that end the text get an entry, too
"""Two faults, in two tasks."""


def guesses(logits, drafted, fan_out):
    n, found = len(drafted), []
    for k in range(n + 1):
        ranked = [int(t) for t in np.argsort(logits[k], kind="stable")[::-1]]
        if k < n:
            ranked.remove(drafted[k])
        found += [Outcome(k, t) for t in ranked[: fan_out[k] if k < n else fan_out[-1]]]
    return found


def prepare(text, drafted, guessed, ended, draft_after):
    return {
        guess: draft_after([*text, *drafted[: guess.accepted], guess.bonus], guess)
        for guess in guessed
    }
