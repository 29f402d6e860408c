"""The usual mistakes in assignment 6, each as a function that makes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from lessons.assignments.spec import Slip
from sim.theory import outcome_weights
from ssd_ref.saguaro.allocation import allocate

MissCurve = Callable[[int], float]
Weights = Sequence[float]


def right_allocation(weights: Weights, miss: MissCurve, budget: int) -> tuple[int, ...]:
    return allocate(weights, miss, budget)


# Weights and tokens


def last_rejected_too(a: float, lookahead: int) -> list[float]:
    return [a**k * (1 - a) for k in range(lookahead + 1)]


def without_the_last(a: float, lookahead: int) -> list[float]:
    return outcome_weights(a, lookahead)[:-1]


def reaching(a: float, lookahead: int) -> list[float]:
    return [a**k for k in range(lookahead + 1)]


def binomial(a: float, lookahead: int) -> list[float]:
    from math import comb

    return [comb(lookahead, k) * a**k * (1 - a) ** (lookahead - k) for k in range(lookahead + 1)]


WEIGHTS = (
    Slip(
        "the last outcome, all accepted, is multiplied by 1 - a: nothing is rejected there",
        last_rejected_too,
        "lesson 06, section 3",
    ),
    Slip("an outcome is left out: k runs from 0 to K, K included", without_the_last),
    Slip("these are the chances that at least k are accepted, not exactly k", reaching),
    Slip(
        "each draft is counted by itself: what comes after the first rejection is never tested",
        binomial,
    ),
)


def linear(a: float, lookahead: int) -> float:
    return a * lookahead + 1


def without_bonus(a: float, lookahead: int) -> float:
    return sum(a**k for k in range(1, lookahead + 1))


def bonus_not_after_all(a: float, lookahead: int) -> float:
    return sum(a**k for k in range(lookahead))


def division_by_zero(a: float, lookahead: int) -> float:
    return (1 - a ** (lookahead + 1)) / (1 - a)


TOKENS = (
    Slip(
        "it says a K + 1: that counts drafts behind the first rejection as if they were tested",
        linear,
        "lesson 04, section 3",
    ),
    Slip("the bonus token is not counted", without_bonus),
    Slip("a round in which all drafts are accepted has its bonus token, too", bonus_not_after_all),
    Slip("a formula divides by 1 - a, which may be 0", division_by_zero),
)


# Shares


def by_power(power: Callable[[float], float], total: bool = True) -> Callable[..., list[float]]:
    def shares(weights: Weights, exponent: float, budget: float) -> list[float]:
        parts = np.array(weights, dtype=float) ** power(exponent)
        scale = parts.sum() if total else 1.0
        return [float(f) for f in budget * parts / scale]

    return shares


def weights_sum_to_1(weights: Weights, exponent: float, budget: float) -> list[float]:
    """F_0 from Thm 12's closed form, whose weights are laws."""
    return [budget * w ** (1 / (1 + exponent)) for w in weights]


SHARES = (
    Slip(
        "guesses are given in proportion to the weights; a power of them is asked for",
        by_power(lambda r: 1.0),
        "lesson 06, section 3",
    ),
    Slip(
        "the weights are raised to 1/r: differentiating changes the power of F",
        by_power(lambda r: 1 / r),
        "lesson 06, section 3",
    ),
    Slip("the shares do not add up to the budget", weights_sum_to_1, "lesson 06, section 3"),
    Slip("the exponent has the wrong sign", by_power(lambda r: -1 / (1 + r))),
    Slip("the budget is spread evenly", by_power(lambda r: 0.0)),
)


# Whole guesses


def rounded(rounding: Callable[[float], float]) -> Callable[..., list[int]]:
    def allocation(weights: Weights, miss: MissCurve, budget: int) -> list[int]:
        parts = np.array(weights, dtype=float) ** 0.5  # r = 1
        return [int(rounding(float(f))) for f in budget * parts / parts.sum()]

    return allocation


def greedy(weights: Weights, miss: MissCurve, budget: int) -> list[int]:
    widths = [0] * len(weights)
    for _ in range(budget):
        gains = [w * (miss(f) - miss(f + 1)) for w, f in zip(weights, widths, strict=True)]
        widths[int(np.argmax(gains))] += 1
    return widths


def greedy_or_stop(weights: Weights, miss: MissCurve, budget: int) -> list[int]:
    """The same, but it takes no guess that gains nothing."""
    widths = [0] * len(weights)
    for _ in range(budget):
        gains = [w * (miss(f) - miss(f + 1)) for w, f in zip(weights, widths, strict=True)]
        if max(gains) <= 0:
            break
        widths[int(np.argmax(gains))] += 1
    return widths


def at_least_one(weights: Weights, miss: MissCurve, budget: int) -> list[int]:
    rest = greedy(weights, lambda f: miss(f + 1), max(budget - len(weights), 0))
    return [f + 1 for f in rest]


def likeliest_only(weights: Weights, miss: MissCurve, budget: int) -> list[int]:
    return [budget * (k == int(np.argmax(weights))) for k in range(len(weights))]


def evenly(weights: Weights, miss: MissCurve, budget: int) -> list[int]:
    share, over = divmod(budget, len(weights))
    return [share + (k < over) for k in range(len(weights))]


ALLOCATE = (
    Slip(
        "each share is rounded by itself: the sum may exceed the budget or fall short",
        rounded(round),
        "lesson 06, section 4",
    ),
    Slip(
        "every share is cut to a whole number: guesses are left over",
        rounded(int),
        "lesson 06, section 4",
    ),
    Slip(
        "the best next guess is taken again and again; where the first guess gains little and the second much, that fails",
        greedy,
        "lesson 06, section 4",
    ),
    Slip(
        "the best next guess is taken while it gains something; where the first one gains nothing, it stops too early",
        greedy_or_stop,
        "lesson 06, section 4",
    ),
    Slip("every slot gets a guess, wanted or not; a list may hold zeros", at_least_one),
    Slip("all guesses go to the likeliest slot", likeliest_only),
    Slip("the budget is spread evenly", evenly),
)


# Rows


def ignoring_rows(weights: Weights, miss: MissCurve, rows: Sequence[int], budget: int) -> list[int]:
    return list(allocate(weights, miss, budget))


def mean_row(weights: Weights, miss: MissCurve, rows: Sequence[int], budget: int) -> list[int]:
    return list(allocate(weights, miss, budget * len(rows) // sum(rows)))


def greedy_by(price: bool) -> Callable[..., list[int]]:
    def allocation(
        weights: Weights, miss: MissCurve, rows: Sequence[int], budget: int
    ) -> list[int]:
        widths, left = [0] * len(weights), budget
        while True:
            gains = [
                w * (miss(f) - miss(f + 1)) / (cost if price else 1) if cost <= left else 0.0
                for w, f, cost in zip(weights, widths, rows, strict=True)
            ]
            if max(gains) <= 0:
                return widths
            k = int(np.argmax(gains))
            widths[k] += 1
            left -= rows[k]

    return allocation


ROWS = (
    Slip("the rows play no part: guesses are counted", ignoring_rows),
    Slip("every guess is charged the mean number of rows", mean_row),
    Slip("the largest gain is taken first, whatever it costs", greedy_by(price=False)),
    Slip(
        "the largest gain per row is taken first; what is left at the end may be better used otherwise",
        greedy_by(price=True),
    ),
)
