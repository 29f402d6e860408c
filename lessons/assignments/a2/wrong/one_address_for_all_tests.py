# loses: 2.3/several 2.3/greedy 2.3/accepted
# says: is drawn twice in one run


def verify(law_after, speculation, randomness, round):
    place = Site(randomness.sequence, round, "accept", 0)
    for i, token in enumerate(speculation.tokens):
        p, q = law_after(i), speculation.rows[i]
        randomness.commit(speculation.sites[i])
        keep = min(p[token] / q[token], 1)
        if randomness.choose((keep, 1 - keep), place):
            return Outcome(i, randomness.choose(residual(p, q), place._replace(role="bonus")))
    last = law_after(len(speculation))
    return Outcome(len(speculation), randomness.choose(last, place._replace(role="bonus")))
