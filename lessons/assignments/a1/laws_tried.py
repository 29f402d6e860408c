"""What tasks 1.1 and 1.2 are tried on: rows of logits and laws, with an oracle in plain Python."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from lessons.assignments import cases
from lessons.assignments.cases import Generator
from lessons.assignments.trials import leaves_alone
from ssd_ref.models import Row
from ssd_ref.testing.check import Trial
from ssd_ref.testing.target_law import next_law
from ssd_ref.testing.trials import gives

EXACT = 1e-12


# Task 1.1


def tempered(z: Sequence[float], temperature: float) -> Trial:
    row = np.array(z, dtype=float)
    return gives(next_law(z, temperature, None, None), row, temperature, tolerance=EXACT)


def temperature_values(rng: Generator) -> list[Trial]:
    random = [
        (rng.normal(0, 3, V).round(1).tolist(), rng.choice([0.5, 0.7, 1.3, 3])) for V in (2, 4, 7)
    ]
    by_hand = [([2.0, 1.0, 0.0], 2.0), ([2.0, 1.0, 0.0], 0.5), ([1.0, 1.0], 1.0), ([0.3], 1.0)]
    return [tempered(z, float(t)) for z, t in [*by_hand, *random]]


def temperature_extremes(rng: Generator) -> list[Trial]:
    """Nothing overflows: huge logits, probability 0, temperatures next to 0 and far from it."""
    big = (rng.integers(1, 9, 4) * 1e4).tolist()
    least = 5e-324  # a positive number next to 0
    return [
        tempered([1000.0, 998.0, 0.0], 1.0),
        tempered([-math.inf, 1.0, 2.0], 1.5),
        tempered([-1000.0, -1001.0], 1.0),
        tempered(big, 5e3),
        tempered([2.0, 1.0], least),
        tempered([7.0, 7.0, -math.inf], 1e-300),
        tempered([-3.0, 5.0], 1e300),
    ]


def temperature_zero(rng: Generator) -> list[Trial]:
    random = rng.integers(0, 3, (5, 4)).astype(float).tolist()
    by_hand = [[0.0, 2.0, 1.9999], [1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [-math.inf, -5.0, -5.0]]
    return [tempered(z, 0.0) for z in [*by_hand, *random]]


# Task 1.2

TIES = ((0.2, 0.4, 0.4), (0.25, 0.25, 0.25, 0.25), (0.5, 0.25, 0.25), (0.0, 0.5, 0.0, 0.5))


def left(p: Row, top_k: int | None, top_p: float | None) -> Row:
    """The oracle: token by token, in plain Python."""
    order = sorted(range(len(p)), key=lambda token: (-p[token], token))[:top_k]
    total, before, kept = sum(p[order]), 0.0, np.zeros(len(p))
    for token in order:
        if top_p is None or before < top_p * total:
            kept[token] = p[token]
        before += p[token]
    result: Row = kept / kept.sum()
    return result


def between(rng: Generator, p: Row, top_k: int | None = None) -> float:
    """A top_p that lies well between two partial sums: no rounding decides."""
    ranked = np.sort(p[p > 0])[::-1][:top_k]
    sums = np.concatenate([[0], ranked.cumsum() / ranked.sum()])
    i = int(rng.integers(len(sums) - 1))
    return float(sums[i] + (sums[i + 1] - sums[i]) * rng.uniform(0.2, 0.8))


def truncates(p: Sequence[float] | Row, top_k: int | None, top_p: float | None) -> Trial:
    row = np.array(p, dtype=float)
    return gives(left(row, top_k, top_p), row, top_k, top_p, tolerance=EXACT)


def top_k(rng: Generator) -> list[Trial]:
    tied = [truncates(p, k, None) for p in TIES for k in (1, 2, 3, 9)]
    return tied + [truncates(cases.law(rng, V, V > 3), V // 2, None) for V in (2, 3, 5, 8)]


def top_p(rng: Generator) -> list[Trial]:
    fixed = [
        ((0.5, 0.3, 0.2), 0.6),
        ((0.5, 0.25, 0.25), 0.5),
        ((0.5, 0.25, 0.25), 0.75),
        ((0.2, 0.4, 0.4), 0.3),
        ((0.2, 0.5, 0.3), 0.1),
        ((0.2, 0.5, 0.3), 1.0),
    ]
    random = [cases.law(rng, V, V > 4) for V in (2, 3, 4, 6, 8)]
    return [
        *(truncates(p, None, u) for p, u in fixed),
        *(truncates(p, None, between(rng, p)) for p in random),
    ]


def both(rng: Generator) -> list[Trial]:
    """After top-2 the first of [.4, .3, .3] has .571, which reaches .5."""
    random = [
        (p, k, between(rng, p, k)) for p in (cases.law(rng, V) for V in (4, 6, 8)) for k in (2, 3)
    ]
    fixed = [((0.4, 0.3, 0.3), 2, 0.5), ((0.4, 0.3, 0.2, 0.1), 3, 0.8)]
    return [
        *(truncates(p, k, u) for p, k, u in fixed),
        *(truncates(p, k, u) for p, k, u in random),
        truncates((0.1, 0.9), None, None),
    ]


def truncated_tidy(rng: Generator) -> list[Trial]:
    return [
        leaves_alone(cases.law(rng, 4), k, p)
        for k, p in ((2, None), (None, 0.5), (3, 0.6), (None, None))
    ]
