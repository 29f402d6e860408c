# loses: 2.2/laws 2.2/zeros 2.3/several 2.3/greedy 2.3/accepted
# says: |p - q| takes the place of
# says: guesses are counted that passed behind one that did not
"""Written from the sheet alone.

Tests all guesses and counts those that are kept, also behind a rejected one; the residual is
the distance of p and q.
"""


def residual(p: Row, q: Row) -> Row:
    rest = abs(p - q)
    if rest.sum() == 0:
        return p
    return rest / rest.sum()


def verify(
    law_after: Callable[[int], Row], speculation: Speculation, randomness: Randomness, round: int
) -> Outcome:
    def kept(i: int, chance: float) -> bool:
        """Given: decides, with this chance of True, whether tokens[i] is kept (i = 0..n-1)."""
        randomness.commit(speculation.sites[i])
        site = Site(randomness.sequence, round, "accept", i)
        return randomness.choose((chance, 1 - chance), site) == 0

    def bonus_from(law: Row) -> int:
        """Given: draws the round's bonus token from a law (V,)."""
        return randomness.choose(law, Site(randomness.sequence, round, "bonus", 0))

    accepted = 0
    law = law_after(len(speculation.tokens))
    for i, token in enumerate(speculation.tokens):
        p, q = law_after(i), speculation.rows[i]
        if kept(i, min(1, p[token] / q[token])):
            accepted += 1
        else:
            law = residual(p, q)
    return Outcome(accepted, bonus_from(law))
