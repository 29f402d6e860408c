"""The power law of misses (Def. 11) with a prefactor: miss(F) = c F^-r, fitted to ranks.

With F guesses an outcome is missed if its rank (0 for the first guess) is F or more. So the law
says P(rank = 0) = 1 - c and P(rank = j) = c (j^-r - (j+1)^-r), and c and r are fitted by maximum
likelihood from the counts of ranks, those from LAST on taken together. The likelihood falls into
two factors: c is simply the miss rate of one guess, and r tells how fast further guesses help.
Whether it *is* a power law, `slopes` tell: under one, they are all r.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ssd_ref.study.estimates import Estimate, FloatArray, Resampling

LAST = 16  # guesses; ranks from here on are one class
EXPONENTS = np.arange(1, 801) * 0.005  # where the best r is looked for
STEPS = (1, 2, 4, 8, 16)


@dataclass(frozen=True)
class PowerLaw:
    """Fitted c and r; slopes: {(F, 2F): log2 of miss(F) / miss(2F)}."""

    prefactor: Estimate
    exponent: Estimate
    slopes: dict[tuple[int, int], Estimate]

    def miss(self, fan_out: int) -> float:
        assert self.prefactor.value is not None and self.exponent.value is not None
        return min(1.0, self.prefactor.value * fan_out**-self.exponent.value) if fan_out else 1.0


def histogram(ranks: Sequence[int] | NDArray[np.int64]) -> FloatArray:
    """One-hot rows (n, LAST + 1) of ranks, the last class for LAST and more."""
    return np.eye(LAST + 1)[np.minimum(np.asarray(ranks, dtype=np.int64), LAST)]


def fit_power_law(ranks: NDArray[np.int64], resampling: Resampling) -> PowerLaw:
    """Fitted to ranks (n,), with intervals. Raises ValueError where no rank is above 0."""
    counts = resampling.sums(histogram(ranks))
    whole = counts.sum(axis=0)
    if whole[1:].sum() == 0:
        raise ValueError(f"a power law needs misses of the first guess, got {len(ranks)} hits")
    drawn = resampling.weights @ counts
    drawn = drawn[drawn[:, 1:].sum(axis=1) > 0]
    n = len(ranks)
    return PowerLaw(
        resampling.estimate(float(1 - whole[0] / n), 1 - drawn[:, 0] / drawn.sum(axis=1), n),
        resampling.estimate(float(exponents(whole[None])[0]), exponents(drawn), n),
        {(f, 2 * f): slope(whole, drawn, f, resampling, n) for f in STEPS[:-1]},
    )


def exponents(counts: FloatArray) -> FloatArray:
    """The likeliest r of each row of rank counts (m, LAST + 1)."""
    j = np.arange(1, LAST)[:, None]
    classes = np.log(j**-EXPONENTS - (j + 1.0) ** -EXPONENTS)
    likelihood = counts[:, 1:] @ np.vstack([classes, -EXPONENTS * np.log(LAST)])
    best: FloatArray = EXPONENTS[likelihood.argmax(axis=1)]
    return best


def slope(
    whole: FloatArray, drawn: FloatArray, fan_out: int, resampling: Resampling, n: int
) -> Estimate:
    """The local exponent between F and 2F guesses."""

    def local(counts: FloatArray) -> FloatArray:
        few, many = counts[..., fan_out:].sum(axis=-1), counts[..., 2 * fan_out :].sum(axis=-1)
        with np.errstate(divide="ignore"):
            ratio: FloatArray = np.log2(few / np.maximum(many, 1e-300))
        return ratio

    found = local(drawn)
    value = float(local(whole))
    if not np.isfinite(value) or value > 100:  # no miss left at 2F
        return Estimate(None, None, None, n)
    return resampling.estimate(value, found[found < 100], n)
