# loses: 2.3/several 2.3/greedy 2.3/accepted
# says: guesses are counted that passed behind one that did not


def verify(law_after, speculation, randomness, round):
    mask, rest = [], None
    for i, token in enumerate(speculation.tokens):
        p, q = law_after(i), speculation.rows[i]
        randomness.commit(speculation.sites[i])
        keep = min(p[token] / q[token], 1)
        kept = (
            randomness.choose((keep, 1 - keep), Site(randomness.sequence, round, "accept", i)) == 0
        )
        if not kept and rest is None:
            rest = residual(p, q)
        mask.append(kept)
    if rest is None:
        rest = law_after(len(mask))
    return Outcome(sum(mask), randomness.choose(rest, Site(randomness.sequence, round, "bonus", 0)))
