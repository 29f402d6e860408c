"""Assignment 2: one round of verification.

A row is a law over the vocabulary: a NumPy array of V probabilities, float64. Rows may hold zeros;
a one-hot row is greedy decoding. `sheet.md` says what each task asks for.
"""

from collections.abc import Callable

import numpy as np

from ssd_ref import Outcome, Site
from ssd_ref.models import Row
from ssd_ref.randomness import Randomness
from ssd_ref.rounds import Speculation

### BEGIN SOLUTION
from ssd_ref import verification
### END SOLUTION


def is_kept(p: Row, q: Row, token: int, u: float) -> bool:
    """Task 2.1: is `token`, which was drawn from q, kept?

    u: a uniform number in [0, 1) that decides; both of its ends matter. The token is to be kept as
    often as the target's law p allows, and never if p excludes it.
    """
    ### BEGIN SOLUTION
    return u < verification.acceptance(p, q, token)[0]
    ### END SOLUTION


def residual(p: Row, q: Row) -> Row:
    """Task 2.2: the law (V,) of what replaces a token that was drawn from q and not kept.

    Where p and q are equal nothing is ever replaced; return p then. Leaves p and q as they are.
    """
    ### BEGIN SOLUTION
    return verification.acceptance(p, q, 0)[1]
    ### END SOLUTION


def verify(
    law_after: Callable[[int], Row], speculation: Speculation, randomness: Randomness, round: int
) -> Outcome:
    """Task 2.3: test the drafted tokens d_1..d_n one after another; then one token of the target.

    law_after(i): the target's law after d_1..d_i, for i = 0..n. speculation.tokens: d_1..d_n.
    speculation.rows: the draft's laws (n, V) that they were drawn from, in the same order.
    Returns Outcome(accepted, bonus): how many were kept before the first that was not, and the
    token that comes after these.
    """

    def kept(i: int, chance: float) -> bool:
        """Given: decides, with this chance of True, whether tokens[i] is kept (i = 0..n-1)."""
        randomness.commit(speculation.sites[i])
        site = Site(randomness.sequence, round, "accept", i)
        return randomness.choose((chance, 1 - chance), site) == 0

    def bonus_from(law: Row) -> int:
        """Given: draws the round's bonus token from a law (V,)."""
        return randomness.choose(law, Site(randomness.sequence, round, "bonus", 0))

    ### BEGIN SOLUTION
    return verification.verify(law_after, speculation, randomness, round)
    ### END SOLUTION


def verify_two(p: Row, q: Row, guesses: tuple[int, int], randomness: Randomness) -> int:
    """Task 2.4: one token of law p from two guesses for the same place.

    Both guesses were drawn from q, independently of each other. Only the law of what you return is
    asked for - but do keep a guess where you can.
    """

    def kept(i: int, chance: float) -> bool:
        """Given: decides, with this chance of True, whether guesses[i] is kept (i = 0, 1)."""
        return randomness.choose((chance, 1 - chance), Site(0, 1, "accept", i)) == 0

    def bonus_from(law: Row) -> int:
        """Given: draws a token from a law (V,)."""
        return randomness.choose(law, Site(0, 1, "bonus", 0))

    ### BEGIN SOLUTION
    still_wanted = p  # the law that the next guess is tested against
    for i, token in enumerate(guesses):
        chance, rest = verification.acceptance(still_wanted, q, token)
        if kept(i, chance):
            return token
        still_wanted = rest
    return bonus_from(still_wanted)
    ### END SOLUTION
