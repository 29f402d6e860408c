"""Lesson 06: shares by Lagrange's rule, the list of most hits, the most probable outcomes."""

from collections.abc import Callable, Sequence

import numpy as np

from ssd_ref.testing.check import Exercise, register
from ssd_ref.testing.trials import gives

Outcomes = Sequence[tuple[int, int]]


def shares(weights: list[float], power: float, budget: float) -> list[float]:
    parts = np.array(weights) ** power
    return list(budget * parts / parts.sum())


def products(weights: list[float], prefactors: list[float]) -> list[float]:
    return [w * c for w, c in zip(weights, prefactors, strict=True)]


register(
    Exercise(
        "L06.1",
        (
            gives([6.0], [1.0], [0.5], 1.0, 6),
            gives([3.0, 3.0], [0.5, 0.5], [0.4, 0.4], 1.0, 6),
            gives([2.0, 4.0], [0.2, 0.8], [0.5, 0.5], 1.0, 6),
            gives([4.0, 2.0], [0.5, 0.5], [0.4, 0.1], 1.0, 6),
            gives([3.0, 1.0], [0.9, 0.1], [0.3, 0.3], 1.0, 4),
            gives([6.0, 3.0], [0.8, 0.1], [0.5, 0.5], 2.0, 9),
        ),
        {
            "the prefactors are left out; equal ones cancel, different ones do not": (
                lambda w, c, r, b: shares(w, 1 / (1 + r), b)
            ),
            "guesses are given in proportion to the weights; the exponent is 1/(1+r)": (
                lambda w, c, r, b: shares(products(w, c), 1.0, b)
            ),
            "the exponent was 1/r; it is 1/(1+r)": lambda w, c, r, b: shares(
                products(w, c), 1 / r, b
            ),
            "the shares do not add up to the budget": lambda w, c, r, b: shares(
                products(w, c), 1 / (1 + r), 1.0
            ),
        },
        pointer="lesson 06, section 3",
    )
)


def measured(shift: int, last: bool = False) -> Callable[[Outcomes, int, int], list[int]]:
    """Slips: ranks counted from 1; the highest k among equals."""

    def answer(outcomes: Outcomes, budget: int, lookahead: int) -> list[int]:
        fan_out = [0] * (lookahead + 1)
        for _ in range(budget):
            gains = [outcomes.count((k, width + shift)) for k, width in enumerate(fan_out)]
            best = [k for k, gain in enumerate(gains) if gain == max(gains)]
            fan_out[best[-1] if last else best[0]] += 1
        return fan_out

    return answer


def one_place(outcomes: Outcomes, budget: int, lookahead: int) -> list[int]:
    counts = [sum(k == at for at, _ in outcomes) for k in range(lookahead + 1)]
    return [budget * (k == counts.index(max(counts))) for k in range(lookahead + 1)]


OUTCOMES = [(0, 0), (0, 0), (0, 1), (1, 0), (2, 0), (2, 0), (2, 0), (2, 3)]
register(
    Exercise(
        "L06.2",
        (
            gives([0, 0], [(0, 0)], 0, 1),
            gives([1, 0], [(0, 0)], 1, 1),
            gives([0, 1], [(1, 0)], 1, 1),
            gives([1, 0], [(0, 0), (1, 0)], 1, 1),
            gives([1, 1], [(0, 0), (0, 0), (1, 0)], 2, 1),
            gives([1, 0, 1], OUTCOMES, 2, 2),
            gives([2, 0, 1], OUTCOMES, 3, 2),
            gives([2, 1, 1], OUTCOMES, 4, 2),
        ),
        {
            "ranks were counted from 1: the first guess has rank 0": measured(1),
            "among equals the highest k is taken": measured(0, last=True),
            "all guesses go to the most frequent k": one_place,
        },
        pointer="lesson 06, sections 1 and 4",
    )
)


def believe(
    kept: list[float], bonus: list[list[float]], budget: int, slip: str = ""
) -> list[object]:
    reached, passed = [], 1.0
    for chance in kept:
        reached.append((1.0 if slip == "no passing" else passed) * (1 - chance))
        passed *= chance
    reached.append((1 - kept[-1]) * passed if slip == "a test after the last" and kept else passed)
    if slip == "forgets the rejection":
        reached = [float(np.prod(kept[:k])) for k in range(len(kept) + 1)]
    found = sorted(
        (-at * chance, k, rank)
        for k, at in enumerate(reached)
        for rank, chance in enumerate(bonus[k])
    )
    return [(k, rank) for _, k, rank in found[:budget]]


BONUS = [[0.65, 0.3], [0.5, 0.2], [0.9, 0.05]]
register(
    Exercise(
        "L06.3",
        (
            gives([(0, 0)], [], [[0.9, 0.1]], 1),
            gives([(1, 0), (0, 0)], [0.9], [[0.9], [0.9]], 2),
            gives([(0, 0), (0, 1)], [0.1], [[0.5, 0.4], [0.9, 0.1]], 2),
            gives([(0, 0), (1, 0)], [0.5], [[0.5], [0.5]], 5),
            gives([(2, 0), (0, 0), (1, 0), (0, 1)], [0.8, 0.7], BONUS, 4),
            gives(
                [(1, 0), (2, 0), (0, 0), (1, 1)], [0.8, 0.5], [[0.65, 0.3], *[[0.8, 0.2]] * 2], 4
            ),
        ),
        {
            "the tests before are forgotten: k of them were passed": lambda k, b, n: believe(
                k, b, n, "no passing"
            ),
            "the rejection is forgotten: at k < K the next draft was refused": lambda k, b, n: (
                believe(k, b, n, "forgets the rejection")
            ),
            "a test was counted after the last draft; at k = K there is none": lambda k, b, n: (
                believe(k, b, n, "a test after the last")
            ),
        },
        pointer="lesson 06, section 6",
    )
)
