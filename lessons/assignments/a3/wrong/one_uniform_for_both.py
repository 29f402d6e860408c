# loses: 3.2/rows 3.2/reads
# says: a token is drawn where its test will draw: both share one uniform


def draft_block(session, text, n, law, eos, randomness, round):
    tokens, rows, sites = [], [], []
    while len(tokens) < n and eos not in tokens:
        logits = session.extend([*text, *tokens][session.length :])[-1:]
        rows.append(law.rows(logits)[0])
        sites.append(Site(randomness.sequence, round, "draft", len(tokens)))
        place = Site(randomness.sequence, round, "accept", len(tokens))
        tokens.append(randomness.choose(rows[-1], place))
    q = np.array(rows, ndmin=2)[: len(tokens)]
    return Speculation(tuple(tokens), q, tuple(sites), "draft")
