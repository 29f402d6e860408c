# loses: 3.2/law 3.2/rows 3.2/ends 3.2/reads
# says: the likeliest token is taken, but a soft law says what it was drawn from


def draft_block(session, text, n, law, eos, randomness, round):
    tokens, rows, sites = [], [], []
    while len(tokens) < n and eos not in tokens:
        logits = session.extend([*text, *tokens][session.length :])[-1:]
        rows.append(law.rows(logits)[0])
        sites.append(Site(randomness.sequence, round, "draft", len(tokens)))
        tokens.append(int(rows[-1].argmax()))
    q = np.array(rows, ndmin=2)[: len(tokens)]
    return Speculation(tuple(tokens), q, tuple(sites), "draft")
