# loses: 5.2/rows 5.2/uniform
# says: the tokens are drawn from sigma, but carry the plain law


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
            rows.append(sigma(draft.logits_after([*text, *tokens]), temperature, widths[i], c))
        tokens.append(drawn(rows[-1], i))
        rows[-1] = Law(temperature).rows(draft.logits_after([*text, *tokens[:-1]])[None])[0]
        if tokens[-1] == eos:
            break
    return speculation(tokens, rows)
