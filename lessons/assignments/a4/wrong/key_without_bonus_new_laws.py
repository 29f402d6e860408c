# loses: 4.3/law 4.3/hits 4.3/ends
# says: the key lacks the bonus token, and the laws are made anew


def with_laws_of(draft, text, s):
    """The laws of these tokens, computed behind the text as it is."""
    rows = [Law().rows(z[None])[0] for z in logits_along(draft, text, s.tokens)[:-1]]
    return Speculation(s.tokens, np.array(rows).reshape(s.rows.shape), s.sites, "draft")


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

        entries = prepare(text, drafted, guessed, ended, draft_after)
        cache = {k: entry for (k, _), entry in entries.items()}
        outcome = outcome_of(target, text, speculation, round, randomness)
        kept, over = cut([*drafted[: outcome.accepted], outcome.bonus], room, eos)
        text += kept
        served.append(who)
        if over:
            return text[len(prompt) :], served
        if outcome.accepted in cache:
            speculation, who = with_laws_of(draft, text, cache[outcome.accepted]), "cache"
        else:
            speculation, who = draft_after(text, None), "backup"
