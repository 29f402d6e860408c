"""Assignment 6: how many outcomes to prepare for at each k.

Slot k stands for "k drafts were accepted", k = 0..K. A guess at k is one possible bonus token.
`sheet.md` says what each task asks for.
"""

from collections.abc import Callable, Sequence

import numpy as np

### BEGIN SOLUTION
from sim import theory
from ssd_ref.saguaro import allocation
### END SOLUTION

MissCurve = Callable[[int], float]  # F -> chance that F guesses miss; 1 at F = 0, never rises


def outcome_weights(a: float, lookahead: int) -> list[float]:
    """Task 6.1: the chance that k of K drafts are accepted, for k = 0..K.

    a in [0, 1]: the chance that a draft is accepted, given that those before it were.
    """
    ### BEGIN SOLUTION
    return theory.outcome_weights(a, lookahead)
    ### END SOLUTION


def tokens_per_round(a: float, lookahead: int) -> float:
    """Task 6.2: the mean number of tokens that a round emits, the bonus token among them."""
    ### BEGIN SOLUTION
    return theory.tokens_per_round(a, lookahead)
    ### END SOLUTION


def shares(weights: Sequence[float], exponent: float, budget: float) -> list[float]:
    """Task 6.3: F_k >= 0 (fractions) with sum F = budget and the least sum_k w_k F_k^-r.

    weights: w_k >= 0, at least one above 0; they need not sum to 1. exponent: r > 0.
    """
    ### BEGIN SOLUTION
    parts = [weight ** (1 / (1 + exponent)) for weight in weights]
    return [budget * part / sum(parts) for part in parts]
    ### END SOLUTION


def allocate(weights: Sequence[float], miss: MissCurve, budget: int) -> tuple[int, ...]:
    """Task 6.4: whole numbers F_k >= 0 with sum F <= budget and the least sum_k w_k miss(F_k).

    weights: as in 6.3. Where several lists are equally good, any of them will do.
    """
    ### BEGIN SOLUTION
    return allocation.allocate(weights, miss, budget)
    ### END SOLUTION


def allocate_rows(
    weights: Sequence[float], miss: MissCurve, rows: Sequence[int], budget: int
) -> tuple[int, ...]:
    """Task 6.5: as 6.4, but a guess at k costs rows[k] >= 1, and it is rows that are limited.

    Whole numbers F_k >= 0 with sum_k F_k rows[k] <= budget and the least sum_k w_k miss(F_k).
    """
    ### BEGIN SOLUTION
    best: list[tuple[float, tuple[int, ...]]] = [(0.0, ())] * (budget + 1)  # by rows at hand
    for weight, cost in zip(weights, rows, strict=True):
        best = [
            min(
                (best[left - cost * f][0] + weight * miss(f), (*best[left - cost * f][1], f))
                for f in range(left // cost + 1)
            )
            for left in range(budget + 1)
        ]
    return best[budget][1]
    ### END SOLUTION
