# loses: 4.3/law 4.3/hits
# says: after a miss another rule verifies


def liked_best(target, text, s, round, randomness):
    rows = Law().rows(np.array(logits_along(target, text, s.tokens)))
    for i, token in enumerate(s.tokens):
        randomness.commit(s.sites[i])
        if token != rows[i].argmax():
            return Outcome(i, randomness.choose(rows[i], Site(0, round, "bonus", 0)))
    return Outcome(len(s), randomness.choose(rows[-1], Site(0, round, "bonus", 0)))


def ssd(target, draft, prompt, *, max_new_tokens, lookahead, fan_out, eos=None, randomness):
    text, served, who = list(prompt), [], "first"
    most = len(prompt) + max_new_tokens
    speculation = speculate(draft, text, min(lookahead, max_new_tokens), eos, 1, None, randomness)
    while True:
        round, room = len(served) + 1, most - len(text)
        drafted = speculation.tokens
        guessed = guesses(logits_along(draft, text, drafted), drafted, fan_out)

        def ended(longer):
            return cut(longer[len(text) :], room, eos)[1]

        def draft_after(longer, branch):
            n = min(lookahead, most - len(longer))
            return speculate(draft, longer, n, eos, round + 1, branch, randomness)

        cache = prepare(text, drafted, guessed, ended, draft_after)
        rule = liked_best if who == "backup" else outcome_of
        outcome = rule(target, text, speculation, round, randomness)
        kept, over = cut([*drafted[: outcome.accepted], outcome.bonus], room, eos)
        text += kept
        served.append(who)
        if over:
            return text[len(prompt) :], served
        if outcome in cache:
            speculation, who = cache[outcome], "cache"
        else:
            speculation, who = draft_after(text, None), "backup"
