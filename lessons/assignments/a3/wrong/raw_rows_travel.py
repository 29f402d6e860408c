# loses: 3.2/rows
# says: the laws that travel are the draft's raw ones


from ssd_ref import Law


def draft_block(session, text, n, law, eos, randomness, round):
    tokens, rows, sites = [], [], []
    while len(tokens) < n and eos not in tokens:
        logits = session.extend([*text, *tokens][session.length :])[-1:]
        rows.append(Law().rows(logits)[0])
        sites.append(Site(randomness.sequence, round, "draft", len(tokens)))
        tokens.append(randomness.choose(law.rows(logits)[0], sites[-1]))
    q = np.array(rows, ndmin=2)[: len(tokens)]
    return Speculation(tuple(tokens), q, tuple(sites), "draft")
