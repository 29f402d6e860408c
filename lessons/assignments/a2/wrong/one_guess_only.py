# loses: 2.3/accepted
# says: only the first guess is ever tested
# says: how many guesses are accepted in a round


def verify(law_after, speculation, randomness, round):
    place = Site(randomness.sequence, round, "bonus", 0)
    if len(speculation) == 0:
        return Outcome(0, randomness.choose(law_after(0), place))
    token, q, p = speculation.tokens[0], speculation.rows[0], law_after(0)
    randomness.commit(speculation.sites[0])
    keep = min(p[token] / q[token], 1)
    if randomness.choose((keep, 1 - keep), Site(randomness.sequence, round, "accept", 0)):
        return Outcome(0, randomness.choose(residual(p, q), place))
    return Outcome(1, randomness.choose(law_after(1), place))
