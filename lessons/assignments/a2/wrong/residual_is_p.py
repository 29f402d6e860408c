# loses: 2.2/laws 2.2/zeros 2.3/one 2.3/several
# says: the replacement is drawn from p


def residual(p, q):
    return p


def verify(law_after, speculation, randomness, round):
    place = Site(randomness.sequence, round, "bonus", 0)
    for i, token in enumerate(speculation.tokens):
        p, q = law_after(i), speculation.rows[i]
        randomness.commit(speculation.sites[i])
        keep = min(p[token] / q[token], 1)
        if randomness.choose((keep, 1 - keep), Site(randomness.sequence, round, "accept", i)):
            return Outcome(i, randomness.choose(p, place))
    return Outcome(len(speculation), randomness.choose(law_after(len(speculation)), place))
