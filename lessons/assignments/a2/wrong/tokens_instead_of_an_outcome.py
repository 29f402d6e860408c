# loses: 2.3/one 2.3/several 2.3/greedy 2.3/accepted 2.3/edges
# says: verify: expected an Outcome(accepted, bonus), got [


def verify(law_after, speculation, randomness, round):
    place = Site(randomness.sequence, round, "bonus", 0)
    for i, token in enumerate(speculation.tokens):
        p, q = law_after(i), speculation.rows[i]
        randomness.commit(speculation.sites[i])
        keep = min(p[token] / q[token], 1)
        if randomness.choose((keep, 1 - keep), Site(randomness.sequence, round, "accept", i)):
            return [*speculation.tokens[:i], randomness.choose(residual(p, q), place)]
    return [*speculation.tokens, randomness.choose(law_after(len(speculation)), place)]
