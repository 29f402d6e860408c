# loses: 2.1/laws 2.1/edges 2.3/one 2.3/several 2.3/greedy 2.3/accepted 2.3/edges
# says: the ratio is upside down (lesson 02, section 1)


def is_kept(p, q, token, u):
    return p[token] > 0 and u < q[token] / p[token]


def verify(law_after, speculation, randomness, round):
    for i, (token, q) in enumerate(zip(speculation.tokens, speculation.rows)):
        p = law_after(i)
        chance = min(1.0, q[token] / p[token]) if p[token] > 0 else 1.0
        randomness.commit(speculation.sites[i])
        if randomness.choose((chance, 1 - chance), Site(0, round, "accept", i)) == 1:
            return Outcome(i, randomness.choose(residual(p, q), Site(0, round, "bonus", 0)))
    n = len(speculation)
    return Outcome(n, randomness.choose(law_after(n), Site(0, round, "bonus", 0)))
