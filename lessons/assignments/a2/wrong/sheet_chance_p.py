# loses: 2.1/laws 2.1/edges 2.4/laws 2.4/zeros
# says: q plays no part
# says: the second guess is tested against p
"""Written from the sheet alone.

Keeps a token with the chance p, for 'as often as the target's law allows'; the second of two
guesses is tested like the first.
"""


def is_kept(p: Row, q: Row, token: int, u: float) -> bool:
    return u < p[token]


def verify_two(p: Row, q: Row, guesses: tuple[int, int], randomness: Randomness) -> int:
    def kept(i: int, chance: float) -> bool:
        """Given: decides, with this chance of True, whether guesses[i] is kept (i = 0, 1)."""
        return randomness.choose((chance, 1 - chance), Site(0, 1, "accept", i)) == 0

    def bonus_from(law: Row) -> int:
        """Given: draws a token from a law (V,)."""
        return randomness.choose(law, Site(0, 1, "bonus", 0))

    for i, guess in enumerate(guesses):
        if kept(i, min(1, p[guess] / q[guess])):
            return guess
    return bonus_from(residual(p, q))
