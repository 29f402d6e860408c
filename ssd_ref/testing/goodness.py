"""Sampling tests, for laws too large to enumerate. They refuse weak evidence.

A G-test compares counts with a known law, a two-sample G-test two decoders with each other. A token
of probability 0 that was seen once is a failure, not a small term of a sum.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

LEAST_EXPECTED = 5.0  # the chi-square approximation wants this many in each cell
LEAST_CELLS = 2

Counts = NDArray[np.float64]


class TooFewSamples(ValueError):
    """The samples could not tell a right decoder from a wrong one; draw more."""


@dataclass(frozen=True)
class Fit:
    """A G-test: the statistic, its degrees of freedom, and the chance of one as large."""

    statistic: float
    degrees: int
    p_value: float
    samples: int


def chi_square_tail(statistic: float, degrees: int) -> float:
    """Probability that a chi-square variable of `degrees` exceeds `statistic`."""
    half = torch.tensor([degrees / 2, statistic / 2], dtype=torch.float64)
    return float(torch.special.gammaincc(half[0], half[1]))


def goodness_of_fit(counts: ArrayLike, law: ArrayLike) -> Fit:
    """G-test of `counts` (V,) against `law` (V,).

    Cells with fewer than 5 expected are pooled, rarest first. Raises TooFewSamples if fewer than
    two cells are left, AssertionError if something of probability 0 was seen.
    """
    seen, p = np.asarray(counts, dtype=np.float64), np.asarray(law, dtype=np.float64)
    impossible = np.flatnonzero((p == 0) & (seen > 0))
    assert not len(impossible), f"tokens {impossible.tolist()} have probability 0 and were drawn"
    n = seen.sum()
    order = np.argsort(-p, kind="stable")
    groups = pooled(p[order] * n)
    observed = np.add.reduceat(seen[order], groups)
    expected = np.add.reduceat(p[order] * n, groups)
    return g_test(observed, expected, len(groups) - 1, int(n))


def two_samples(first: Mapping[Hashable, int], second: Mapping[Hashable, int]) -> Fit:
    """G-test that two decoders' outputs, counted, come from one law.

    Outputs with fewer than 5 expected in the smaller sample are pooled.
    """
    keys = sorted(first.keys() | second.keys(), key=lambda k: -(first.get(k, 0) + second.get(k, 0)))
    table = np.array([[sample.get(k, 0) for k in keys] for sample in (first, second)], dtype=float)
    sizes = table.sum(axis=1)
    share = table.sum(axis=0) / sizes.sum()
    groups = pooled(share * sizes.min())
    observed = np.add.reduceat(table, groups, axis=1)
    expected = sizes[:, None] * np.add.reduceat(share, groups)
    return g_test(observed.ravel(), expected.ravel(), len(groups) - 1, int(sizes.sum()))


def pooled(expected: Counts) -> NDArray[np.intp]:
    """Begins of the groups: each cell of a falling `expected` alone while it is large enough, then
    as many together as make up enough; what remains joins the last group."""
    begins, filled = [0], 0.0
    for i, e in enumerate(expected):
        if filled >= LEAST_EXPECTED and expected[i:].sum() >= LEAST_EXPECTED:
            begins.append(i)
            filled = 0.0
        filled += e
    if len(begins) < LEAST_CELLS:
        raise TooFewSamples(
            f"expected at least {LEAST_CELLS} cells with {LEAST_EXPECTED:g} expected counts, "
            f"got {len(begins)} from {expected.sum():.0f} samples"
        )
    return np.array(begins)


def g_test(observed: Counts, expected: Counts, degrees: int, samples: int) -> Fit:
    some = observed > 0
    statistic = float(2 * (observed[some] * np.log(observed[some] / expected[some])).sum())
    return Fit(statistic, degrees, chi_square_tail(max(statistic, 0.0), degrees), samples)


def power(
    wrong: ArrayLike, law: ArrayLike, samples: int, level: float, trials: int = 2000
) -> float:
    """Share of `trials` in which `samples` draws from `wrong` are told from `law` at `level`.

    Draws come from a fixed seed: the same figure at every call.
    """
    rng = np.random.default_rng(0)
    draws = rng.multinomial(samples, np.asarray(wrong, dtype=np.float64), size=trials)
    rejected = 0
    for counts in draws:
        try:
            rejected += goodness_of_fit(counts, law).p_value < level
        except AssertionError:  # a token of probability 0: found as well
            rejected += 1
    return rejected / trials
