# loses: 5.2/law 5.2/rows 5.3/hits 5.3/before 5.5/chains
# says: the widths are off by one
# says: a branch goes on behind the end token
"""Written from the sheet alone."""


def speculate(draft, text, n, eos, widths, c, temperature, uniform, round, branch, randomness):
    def drawn(row, i):
        return randomness.choose(row, Site(randomness.sequence, round, "draft", i, branch))

    def speculation(tokens, rows):
        sites = [Site(randomness.sequence, round, "draft", i, branch) for i in range(len(tokens))]
        laws = np.reshape(rows, (len(tokens), draft.vocabulary))
        return Speculation(tuple(tokens), laws, tuple(sites), "draft")

    tokens, rows = [], []
    for i in range(n):
        if uniform:
            rows.append(np.ones(draft.vocabulary) / draft.vocabulary)
        else:
            rows.append(sigma(draft.logits_after([*text, *tokens]), temperature, widths[i + 1], c))
        tokens.append(drawn(rows[-1], i))
        if tokens[-1] == eos:
            break
    return speculation(tokens, rows)


def ssd(
    target, draft, prompt, *, max_new_tokens, lookahead, fan_out, fan_out_miss,
    saguaro_c=1.0, backup="draft", temperature=1.0, eos=None, randomness,
):  # fmt: skip
    text, served = list(prompt), []
    most = len(prompt) + max_new_tokens

    def behind(longer, widths, uniform, round, branch):
        n = min(lookahead, most - len(longer))
        return speculate(
            draft,
            longer,
            n,
            eos,
            widths,
            saguaro_c,
            temperature,
            uniform,
            round,
            branch,
            randomness,
        )

    who, widths = "first", fan_out
    speculation = behind(text, fan_out, False, 1, None)
    while True:
        round, room, drafted = len(served) + 1, most - len(text), speculation.tokens
        cache = {}
        for k, t in guess_outcomes(logits_along(draft, text, drafted), drafted, widths):
            if not cut([*drafted[:k], t], room, eos)[1]:
                longer = [*text, *drafted[:k], t]
                cache[k, t] = behind(longer, fan_out, False, round + 1, Outcome(k, t))
        outcome = outcome_of(target, text, speculation, temperature, round, randomness)
        kept, over = cut([*drafted[: outcome.accepted], outcome.bonus], room, eos)
        text += kept
        served.append(who)
        if over:
            return text[len(prompt) :], served
        if outcome in cache:
            who, widths, speculation = "cache", fan_out, cache[outcome]
        else:
            who, widths = "backup", fan_out
            speculation = behind(text, fan_out_miss, backup == "uniform", round + 1, None)


def chains(session, lengths, firsts, n, eos):
    b = session.branch(lengths)
    which = list(range(len(lengths)))
    fed = list(firsts)
    columns = []
    for step in range(n):
        fed = [int(t) for t in b.extend(which, fed).argmax(axis=1)]
        columns.append(fed)
    return [[column[j] for column in columns] for j in which]
