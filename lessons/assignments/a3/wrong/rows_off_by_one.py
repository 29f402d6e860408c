# loses: 3.2/law 3.2/rows 3.2/ends
# says: each token carries the law of what follows it


def draft_block(session, text, n, law, eos, randomness, round):
    tokens, rows, sites = [], [], []
    while len(tokens) < n and eos not in tokens:
        logits = session.extend([*text, *tokens][session.length :])[-1:]
        rows.append(law.rows(logits)[0])
        sites.append(Site(randomness.sequence, round, "draft", len(tokens)))
        tokens.append(randomness.choose(rows[-1], sites[-1]))
    q = np.array([*rows[1:], *rows[-1:]], ndmin=2)[: len(tokens)]
    return Speculation(tuple(tokens), q, tuple(sites), "draft")
