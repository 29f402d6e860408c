"""Assignment 6: its tasks. Whole guesses are judged by their miss rate, against every list."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lessons.assignments.a6 import slips
from lessons.assignments.cases import Generator
from lessons.assignments.spec import Assignment, Check, Task
from ssd_ref.testing.check import Raised, Trial, Wrong
from ssd_ref.testing.same import Words
from ssd_ref.testing.trials import called, gives

HIDES = (
    *(f"sim.theory.{name}"
      for name in ("outcome_weights", "tokens_per_round", "fan_out_shape", "least_miss")),
    "sim.laws.Acceptance.weights", "sim.laws.Acceptance.tokens",
    *(f"ssd_ref.saguaro.allocation.{name}"
      for name in ("allocate", "greedy", "dynamic_programme")),
    "ssd_ref.saguaro.lists.geometric", "ssd_ref.saguaro.lists.measured",
)  # fmt: skip
MissCurve = Callable[[int], float]
SIZES = ((0.64, 4), (0.5, 1), (0.9, 3), (0.3, 5))
EDGES = ((0.0, 2), (1.0, 3), (0.7, 0), (1.0, 0), (0.0, 0))


# The oracles: what the definitions say, term by term


def by_definition(a: float, lookahead: int) -> list[float]:
    """Every pattern of tests that pass or fail, the first failure ends the round."""
    weights = [0.0] * (lookahead + 1)
    for pattern in np.ndindex((2,) * lookahead):
        k = next((i for i, passed in enumerate(pattern) if not passed), lookahead)
        weights[k] += float(np.prod([a if passed else 1 - a for passed in pattern]))
    return weights


def mean_tokens(a: float, lookahead: int) -> float:
    return sum((k + 1) * w for k, w in enumerate(by_definition(a, lookahead)))


def shares_of(weights: Sequence[float], exponent: float, budget: float) -> list[float]:
    parts = np.array(weights) ** (1 / (1 + exponent))
    return [float(f) for f in budget * parts / parts.sum()]


def every_list(rows: Sequence[int], budget: int) -> Iterator[tuple[int, ...]]:
    """Every list of whole numbers with sum_k F_k rows[k] <= budget."""
    if not rows:
        yield ()
        return
    for f in range(budget // rows[0] + 1):
        for rest in every_list(rows[1:], budget - f * rows[0]):
            yield (f, *rest)


def least(weights: Sequence[float], miss: MissCurve, rows: Sequence[int], budget: int) -> float:
    """The least miss rate there is: every list is tried."""
    values = [[w * miss(f) for f in range(budget + 1)] for w in weights]
    return min(
        sum(v[f] for v, f in zip(values, each, strict=True)) for each in every_list(rows, budget)
    )


# Trials


class Curve:
    """A miss curve that prints as what it is."""

    def __init__(self, name: str, values: Callable[[int], float]) -> None:
        self.name, self.values = name, values

    def __call__(self, width: int) -> float:
        return self.values(width)

    def __repr__(self) -> str:
        return self.name


def power(c: float, r: float) -> Curve:
    return Curve(f"<min(1, {c:g} F^-{r:g})>", lambda f: min(1.0, c * f**-r) if f else 1.0)


def stated(values: Sequence[float]) -> Curve:
    """1 at F = 0, then these, then the last one for ever."""
    name = f"<{', '.join(f'{v:g}' for v in (1.0, *values))}, .. at F = 0, 1, ..>"
    return Curve(name, lambda f: 1.0 if f == 0 else float(values[min(f, len(values)) - 1]))


def is_best(
    weights: Sequence[float], miss: Curve, budget: int, rows: Sequence[int] | None = None
) -> Trial:
    """The answer's list has the least miss rate of all lists that the budget allows."""
    costs = rows or [1] * len(weights)
    found: list[float] = []

    def trial(answer: Any) -> None:
        found[:] = found or [least(weights, miss, costs, budget)]  # only once, if at all
        arguments = (weights, miss, budget) if rows is None else (weights, miss, rows, budget)
        text, got = called(answer, *arguments)
        wanted = Words(f"{len(weights)} whole numbers that cost at most {budget}, "
                       f"with miss rate {found[0]:.6g}")  # fmt: skip
        if isinstance(got, Raised) or not is_list_of(got, len(weights)):
            raise Wrong(text, wanted, got)
        widths = [int(f) for f in got]
        spent = sum(f * cost for f, cost in zip(widths, costs, strict=True))
        rate = sum(w * miss(f) for w, f in zip(weights, widths, strict=True))
        if spent > budget or rate > found[0] + 1e-9:
            raise Wrong(text, wanted, Words(f"{widths}, which cost {spent}, miss rate {rate:.6g}"))

    return trial


def is_list_of(value: Any, length: int) -> bool:
    """Whether these are so many whole numbers, none below 0."""
    try:
        return len(value) == length and all(f == int(f) >= 0 for f in value)
    except (TypeError, ValueError):
        return False


def random_weights(rng: Generator, slots: int, zeros: bool = False) -> list[float]:
    weights = rng.integers(0 if zeros else 1, 10, slots)
    weights[rng.integers(slots)] += 1
    return [float(w) / 10 for w in weights]


def pairs(rng: Generator, fixed: Sequence[tuple[float, int]]) -> list[tuple[float, int]]:
    return [*fixed, *((float(rng.integers(1, 20)) / 20, int(rng.integers(1, 6))) for _ in range(3))]


def weight_values(rng: Generator) -> list[Trial]:
    return [gives(by_definition(a, K), a, K, tolerance=1e-12) for a, K in pairs(rng, SIZES)]


def weight_edges(rng: Generator) -> list[Trial]:
    return [gives(by_definition(a, K), a, K, tolerance=1e-12) for a, K in EDGES]


def token_values(rng: Generator) -> list[Trial]:
    return [gives(mean_tokens(a, K), a, K, tolerance=1e-12) for a, K in pairs(rng, SIZES)]


def token_edges(rng: Generator) -> list[Trial]:
    return [gives(mean_tokens(a, K), a, K, tolerance=1e-12) for a, K in EDGES]


def geometric_shares(rng: Generator) -> list[Trial]:
    """Thm 12: the weights of i.i.d. acceptance."""
    cases = [(by_definition(0.64, 4), 1.0, 20.0), (by_definition(0.9, 3), 0.7, 12.0)]
    cases += [(by_definition(a, K), float(rng.integers(1, 8)) / 4, 16.0) for a, K in pairs(rng, ())]
    return [gives(shares_of(*case), *case) for case in cases]


def lagrange(rng: Generator) -> list[Trial]:
    """Weights of any kind."""
    cases = [([3.0], 1.0, 5.0), ([0.0, 4.0, 1.0], 1.0, 6.0), ([1.0, 8.0], 2.0, 9.0)]
    cases += [
        (random_weights(rng, slots, zeros=True), float(rng.integers(1, 8)) / 4, 10.0)
        for slots in (2, 3, 5, 7)
    ]
    return [gives(shares_of(*case), *case) for case in cases]


def falling(rng: Generator) -> list[Trial]:
    """Each further guess gains less than the one before."""
    fixed = [is_best([1.0], power(0.5, 1), 2), is_best([0.7, 0.3], power(0.5, 1), 3),
             is_best(by_definition(0.64, 2), power(0.5, 1), 6),
             is_best([0.6, 0.4], stated((0.5, 0.3, 0.2, 0.15)), 5),
             is_best([0.9, 0.05, 0.05], power(0.5, 1), 4),
             is_best(by_definition(0.9, 4), power(0.5, 1), 7)]  # fmt: skip
    return [*fixed, *(is_best(random_weights(rng, s), power(0.4, 1), 6) for s in (2, 3, 4))]


def budgets(rng: Generator) -> list[Trial]:
    """Where rounded shares would exceed the budget, or leave some of it."""
    cases = [(0.64, 4, 6), (0.64, 4, 20), (0.8, 2, 10), (0.5, 3, 8)]
    more = [(float(rng.integers(8, 18)) / 20, 3, int(rng.integers(5, 12))) for _ in range(3)]
    return [within(by_definition(a, K), power(0.5, 1), B) for a, K, B in [*cases, *more]]


def within(weights: Sequence[float], miss: Curve, budget: int) -> Trial:
    """The answer keeps to the budget and, these curves fall for ever, uses all of it."""

    def trial(answer: Any) -> None:
        text, got = called(answer, weights, miss, budget)
        wanted = Words(f"{len(weights)} whole numbers with sum {budget}")
        if isinstance(got, Raised) or not is_list_of(got, len(weights)) or sum(got) != budget:
            raise Wrong(text, wanted, got)

    return trial


def trap(rng: Generator) -> list[Trial]:
    """c = 1: the first guess never hits, the second one may."""
    fixed = [is_best([1.0], power(1, 1), 2), is_best([0.6, 0.4], power(1, 1), 3),
             is_best(by_definition(0.64, 2), power(1, 1), 6),
             is_best(by_definition(0.64, 3), power(1, 2), 9)]  # fmt: skip
    return [*fixed, *(is_best(random_weights(rng, s), power(1, 1), 8) for s in (2, 3, 4))]


def any_curve(rng: Generator) -> list[Trial]:
    """Steps, flat stretches, weights of 0, nothing to give; one that is too large for trying."""
    fixed = [is_best([0.5, 0.5], power(0.5, 1), 0), is_best([0.0, 1.0], power(0.5, 1), 2),
             is_best([0.9, 0.8], stated((0.9, 0.2)), 3),
             is_best([1.0, 1.0], stated((1.0,)), 4)]  # fmt: skip
    steps = [-np.sort(-rng.integers(0, 11, 4) / 10) for _ in range(4)]
    random = [is_best(random_weights(rng, 3, True), stated(s.tolist()), 7) for s in steps]
    return [*fixed, *random, large()]


def large() -> Trial:
    """Nine slots and a budget of 40, c = 1: the least miss rate is found by a second way."""
    weights, miss = by_definition(0.8, 8), power(1, 1)

    def trial(answer: Any) -> None:
        text, got = called(answer, weights, miss, 40)
        best = rate(slips.right_allocation(weights, miss, 40))
        fine = not isinstance(got, Raised) and is_list_of(got, 9) and sum(got) <= 40
        if not fine or rate(got) > best + 1e-9:
            raise Wrong(text, Words(f"9 whole numbers with sum 40, miss rate {best:.6g}"), got)

    def rate(widths: Sequence[int]) -> float:
        return sum(w * miss(int(f)) for w, f in zip(weights, widths, strict=True))

    return trial


def equal_rows(rng: Generator) -> list[Trial]:
    cases = [([0.7, 0.3], power(0.5, 1), [1, 1], 3), ([0.6, 0.4], power(0.5, 1), [2, 2], 7)]
    cases += [(random_weights(rng, 3), power(0.5, 1), [3, 3, 3], 17)]
    return [is_best(w, miss, budget, rows) for w, miss, rows, budget in cases]


def different_rows(rng: Generator) -> list[Trial]:
    """A small gain at a low price beats a large one; and the last rows must be used well, too."""
    fixed = [is_best([0.5, 0.4], power(0.5, 1), 4, [4, 1]),
             is_best([0.6, 0.5], power(0.4, 1), 6, [5, 3]),
             is_best(by_definition(0.64, 2), power(0.5, 1), 9, [4, 3, 2]),
             is_best(by_definition(0.8, 2), power(1, 1), 12, [3, 2, 1])]  # fmt: skip
    random = [
        is_best(random_weights(rng, s, True), power(0.6, 1), 12, rng.integers(1, 5, s).tolist())
        for s in (2, 3, 3, 4)
    ]
    return [*fixed, *random]


ASSIGNMENT = Assignment(
    number=6,
    title="Fan-out: from Lagrange's rule to whole guesses",
    hours="4 to 6",
    folder=Path(__file__).parent,
    tasks=(
        Task("6.1", "The weights of the outcomes", "outcome_weights",
             (Check("values", 2, weight_values), Check("edges", 1, weight_edges)),
             slips.WEIGHTS, HIDES, "lesson 06, section 3"),
        Task("6.2", "Tokens per round", "tokens_per_round",
             (Check("values", 1, token_values), Check("edges", 1, token_edges)),
             slips.TOKENS, HIDES, "lesson 04, section 3"),
        Task("6.3", "Lagrange's shares", "shares",
             (Check("values", 2, geometric_shares), Check("lagrange", 2, lagrange)),
             slips.SHARES, HIDES, "lesson 06, section 3"),
        Task("6.4", "Whole guesses", "allocate",
             (Check("falling", 2, falling), Check("budget", 1, budgets), Check("trap", 2, trap),
              Check("any", 2, any_curve)),
             slips.ALLOCATE, HIDES, "lesson 06, section 4"),
        Task("6.5", "Rows instead of guesses", "allocate_rows",
             (Check("equal", 1, equal_rows), Check("rows", 3, different_rows)),
             slips.ROWS, HIDES, "lesson 06, section 4"),
    ),
)  # fmt: skip
