# loses: 2.3/one 2.3/several 2.3/greedy
# says: the bonus is drawn from the draft's law


def verify(law_after, speculation, randomness, round):
    place = Site(randomness.sequence, round, "bonus", 0)
    q = law_after(0)
    for i, token in enumerate(speculation.tokens):
        p, q = law_after(i), speculation.rows[i]
        randomness.commit(speculation.sites[i])
        keep = min(p[token] / q[token], 1)
        if randomness.choose((keep, 1 - keep), Site(randomness.sequence, round, "accept", i)):
            return Outcome(i, randomness.choose(residual(p, q), place))
    return Outcome(len(speculation), randomness.choose(q, place))
