# loses: 5.2/uniform
# says: a uniform backup draws uniformly, but carries the draft's law


def speculate(draft, text, n, eos, widths, c, temperature, uniform, round, branch, randomness):
    tokens, rows, sites = [], [], []
    while len(tokens) < n and eos not in tokens:
        i = len(tokens)
        rows.append(sigma(draft.logits_after([*text, *tokens]), temperature, widths[i], c))
        sites.append(Site(randomness.sequence, round, "draft", i, branch))
        law = np.ones(draft.vocabulary) / draft.vocabulary if uniform else rows[-1]
        tokens.append(randomness.choose(law, sites[-1]))
    laws = np.reshape(rows, (len(tokens), draft.vocabulary))
    return Speculation(tuple(tokens), laws, tuple(sites), "draft")
