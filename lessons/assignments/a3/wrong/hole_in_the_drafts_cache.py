# loses: 3.2/law 3.2/rows 3.2/reads
# says: only the last token is read, although the session lacks more of the text


def draft_block(session, text, n, law, eos, randomness, round):
    tokens, rows, sites = [], [], []
    while len(tokens) < n and eos not in tokens:
        logits = session.extend([*text, *tokens][-1:])[-1:]
        rows.append(law.rows(logits)[0])
        sites.append(Site(randomness.sequence, round, "draft", len(tokens)))
        tokens.append(randomness.choose(rows[-1], sites[-1]))
    q = np.array(rows, ndmin=2)[: len(tokens)]
    return Speculation(tuple(tokens), q, tuple(sites), "draft")
