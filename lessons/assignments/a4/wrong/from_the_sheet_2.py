# loses: 4.1/ranking 4.3/ends 4.3/hits 4.3/before 4.4/keys 4.4/before
# says: tokens of probability 0 are left out
"""Written from the sheet alone."""


def guesses(logits, drafted, fan_out):
    result = []
    n = len(drafted)
    for k, z in enumerate(logits):
        order = sorted(range(len(z)), key=lambda token: -z[token])
        order = [t for t in order if np.isfinite(z[t])]
        if k < n:
            order = [t for t in order if t != drafted[k]]
        width = fan_out[k] if k < n else fan_out[len(fan_out) - 1]
        result.extend(Outcome(k, t) for t in order[:width])
    return result


def ssd(target, draft, prompt, *, max_new_tokens, lookahead, fan_out, eos=None, randomness):
    tokens, served = [], []
    round = 1
    speculation = speculate(
        draft, prompt, min(lookahead, max_new_tokens), eos, round, None, randomness
    )
    kind = "first"
    while True:
        text = list(prompt) + tokens
        room = max_new_tokens - len(tokens)
        drafted = speculation.tokens
        cache = {}
        if room > len(drafted) + 1:  # else this is the last round
            for guess in guesses(logits_along(draft, text, drafted), drafted, fan_out):
                new = [*drafted[: guess.accepted], guess.bonus]
                if eos in new:
                    continue
                n = min(lookahead, room - len(new))
                cache[guess] = speculate(draft, text + new, n, eos, round + 1, guess, randomness)
        outcome = outcome_of(target, text, speculation, round, randomness)
        kept, end = cut([*drafted[: outcome.accepted], outcome.bonus], room, eos)
        tokens += kept
        served.append(kind)
        if end:
            return tokens, served
        round += 1
        if outcome in cache:
            speculation, kind = cache[outcome], "cache"
        else:
            n = min(lookahead, max_new_tokens - len(tokens))
            speculation = speculate(draft, list(prompt) + tokens, n, eos, round, None, randomness)
            kind = "backup"


def serve_all(texts, drafted, guessed, draft_after, wait):
    cache = {}
    for i in range(len(texts)):
        for k, t in guessed[i]:
            cache[i, k, t] = draft_after(i, [*texts[i], *drafted[i][:k], t])
    outcomes = wait()
    result = {}
    for i in range(len(texts)):
        k, t = outcomes[i]
        if (i, k, t) in cache:
            result[i] = cache[i, k, t]
        else:
            result[i] = draft_after(i, [*texts[i], *drafted[i][:k], t])
    return result
