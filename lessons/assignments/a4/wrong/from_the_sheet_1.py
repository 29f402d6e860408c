# loses: 4.1/rejected 4.1/slots 4.2/ends 4.4/before
# says: the rejected token is taken out of the guesses, and no other takes its place
"""Written from the sheet alone."""


def guesses(logits, drafted, fan_out):
    result = []
    for k in range(len(logits)):
        ranking = np.argsort(-np.array(logits[k]), kind="stable")
        if k == len(drafted):
            number = fan_out[-1]
        else:
            number = fan_out[k]
        for token in ranking[:number]:
            # d_(k+1) was rejected, so it cannot be the bonus
            if k < len(drafted) and token == drafted[k]:
                continue
            result.append(Outcome(k, int(token)))
    return result


def prepare(text, drafted, guessed, ended, draft_after):
    cache = {}
    if ended(text):
        return cache
    for guess in guessed:
        accepted, bonus = guess
        new_text = list(text) + list(drafted[:accepted]) + [bonus]
        cache[guess] = draft_after(new_text, guess)
    return cache


def serve_all(texts, drafted, guessed, draft_after, wait):
    cache = {}
    for number in texts:
        cache[number] = {}
        for guess in guessed[number]:
            text = list(texts[number]) + list(drafted[number])[: guess.accepted] + [guess.bonus]
            cache[number][guess] = draft_after(number, text)
    outcomes = wait()
    result = {}
    for number, outcome in outcomes.items():
        k = outcome.accepted
        text = list(texts[number]) + list(drafted[number])[:k] + [outcome.bonus]
        backup = draft_after(number, text)
        result[number] = cache[number].get(outcome, backup)
    return result
