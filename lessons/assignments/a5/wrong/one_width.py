# loses: 5.2/law 5.2/rows
# says: every place has the first width


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
            rows.append(sigma(draft.logits_after([*text, *tokens]), temperature, widths[0], c))
        tokens.append(drawn(rows[-1], i))
        if tokens[-1] == eos:
            break
    return speculation(tokens, rows)
