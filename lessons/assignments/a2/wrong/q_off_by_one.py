# loses: 2.3/several 2.3/greedy 2.3/accepted
# says: the rows of q are off by one


def verify(law_after, speculation, randomness, round):
    place = Site(randomness.sequence, round, "bonus", 0)
    q = speculation.rows[0] if len(speculation) else None
    for i, token in enumerate(speculation.tokens):
        p = law_after(i)
        randomness.commit(speculation.sites[i])
        keep = min(p[token] / q[token], 1) if q[token] > 0 else 1.0
        if randomness.choose((keep, 1 - keep), Site(randomness.sequence, round, "accept", i)):
            return Outcome(i, randomness.choose(residual(p, q), place))
        q = speculation.rows[max(i, 0)]
    return Outcome(len(speculation), randomness.choose(law_after(len(speculation)), place))
