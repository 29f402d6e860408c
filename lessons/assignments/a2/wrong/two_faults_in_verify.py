# loses: 2.3/one 2.3/several 2.3/greedy
# says: the replacement is drawn from p
# says: the text of V=2 K=1 N=1
"""Two faults in one function: the first departure is explained, the second comes after it."""


def verify(law_after, speculation, randomness, round):
    place = Site(randomness.sequence, round, "bonus", 0)
    for i, token in enumerate(speculation.tokens):
        p, q = law_after(i), speculation.rows[i]
        randomness.commit(speculation.sites[i])
        keep = min(p[token] / q[token], 1)
        if randomness.choose((keep, 1 - keep), Site(randomness.sequence, round, "accept", i)):
            return Outcome(i, randomness.choose(p, place))
    return Outcome(len(speculation), randomness.choose(speculation.rows[-1], place))
