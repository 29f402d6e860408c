# loses: 2.3/one 2.3/several 2.3/greedy 2.3/accepted
# says: the target's laws are off by one


def verify(law_after, speculation, randomness, round):
    place = Site(randomness.sequence, round, "bonus", 0)
    for i, token in enumerate(speculation.tokens):
        p, q = law_after(i + 1), speculation.rows[i]
        randomness.commit(speculation.sites[i])
        keep = min(p[token] / q[token], 1)
        if randomness.choose((keep, 1 - keep), Site(randomness.sequence, round, "accept", i)):
            return Outcome(i, randomness.choose(residual(p, q), place))
    return Outcome(len(speculation), randomness.choose(law_after(len(speculation)), place))
