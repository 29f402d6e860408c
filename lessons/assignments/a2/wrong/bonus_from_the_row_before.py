# loses: 2.3/one 2.3/several 2.3/greedy
# says: the bonus is drawn from the law before the last guess
# says: first departure at position 2


def verify(law_after, speculation, randomness, round):
    place = Site(randomness.sequence, round, "bonus", 0)
    p = law_after(0)
    for i in range(len(speculation)):
        token, q, p = speculation.tokens[i], speculation.rows[i], law_after(i)
        randomness.commit(speculation.sites[i])
        keep = min(p[token] / q[token], 1)
        if randomness.choose((keep, 1 - keep), Site(randomness.sequence, round, "accept", i)):
            return Outcome(i, randomness.choose(residual(p, q), place))
    return Outcome(len(speculation), randomness.choose(p, place))
