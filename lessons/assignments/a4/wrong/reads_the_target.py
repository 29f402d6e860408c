# loses: 4.3/hits 4.3/ends 4.3/before
# says: the guesses are read from the target's logits


def ssd(target, draft, prompt, *, max_new_tokens, lookahead, fan_out, eos=None, randomness):
    text, served, who = list(prompt), [], "first"
    most = len(prompt) + max_new_tokens
    speculation = speculate(draft, text, min(lookahead, max_new_tokens), eos, 1, None, randomness)
    while True:
        round, room = len(served) + 1, most - len(text)
        drafted = speculation.tokens
        guessed = guesses(logits_along(target, text, drafted), drafted, fan_out)

        def ended(longer):
            return cut(longer[len(text) :], room, eos)[1]

        def draft_after(longer, branch):
            n = min(lookahead, most - len(longer))
            return speculate(draft, longer, n, eos, round + 1, branch, randomness)

        cache = prepare(text, drafted, guessed, ended, draft_after)
        outcome = outcome_of(target, text, speculation, round, randomness)
        kept, over = cut([*drafted[: outcome.accepted], outcome.bonus], room, eos)
        text += kept
        served.append(who)
        if over:
            return text[len(prompt) :], served
        if outcome in cache:
            speculation, who = cache[outcome], "cache"
        else:
            speculation, who = draft_after(text, None), "backup"
