"""A share or a mean with the interval that the choice of prompts leaves it.

Rounds of one prompt depend on each other, so whole prompts are resampled, as many as there are,
DRAWS times (the bootstrap), and the interval spans the middle 95 % of the results. The draws are
the same for every figure over the same prompts: figures can be compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

DRAWS, SEED = 1000, 17
LEAST = 8  # prompts; of fewer an interval says little
FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A figure over n observations from some prompts; low and high None: too few for an interval.

    value None: nothing was observed.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        if self.value is None:
            return "-"
        if self.low is None:
            return f"{self.value:.3f} (n={self.n}, too few prompts for an interval)"
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}] (n={self.n})"


class Resampling:
    """Resamples of the prompts that `prompts`, one number an observation, names."""

    def __init__(self, prompts: Sequence[int] | NDArray[np.int64]) -> None:
        names, self.group = np.unique(np.asarray(prompts, dtype=np.int64), return_inverse=True)
        self.prompts = len(names)
        generator = np.random.Generator(np.random.Philox(SEED))
        even = [1 / max(1, self.prompts)] * self.prompts
        self.weights = generator.multinomial(self.prompts, even, size=DRAWS).astype(np.float64)

    def sums(self, values: ArrayLike) -> FloatArray:
        """Sums over each prompt of values (n,) or (n, m): (prompts,) or (prompts, m)."""
        values = np.asarray(values, dtype=np.float64)
        total = np.zeros((self.prompts, *values.shape[1:]))
        np.add.at(total, self.group, values)
        return total

    def ratio(self, parts: ArrayLike, wholes: ArrayLike) -> Estimate:
        """sum(parts) / sum(wholes) over the observations; n is sum(wholes)."""
        above, below = self.sums(parts), self.sums(wholes)
        n = int(below.sum())
        if n == 0:
            return Estimate(None, None, None, 0)
        drawn = self.weights @ below
        found = (self.weights @ above)[drawn > 0] / drawn[drawn > 0]
        return self.estimate(float(above.sum() / below.sum()), found, n)

    def share(self, which: ArrayLike, among: ArrayLike | None = None) -> Estimate:
        """How often `which` holds, among all observations or those where `among` does."""
        which = np.asarray(which, dtype=bool)
        among = np.ones_like(which) if among is None else np.asarray(among, dtype=bool)
        return self.ratio(which & among, among)

    def mean(self, values: ArrayLike, among: ArrayLike | None = None) -> Estimate:
        values = np.asarray(values, dtype=np.float64)
        among = np.ones(len(values), bool) if among is None else np.asarray(among, dtype=bool)
        return self.ratio(values * among, among)

    def estimate(self, value: float, resampled: FloatArray, n: int) -> Estimate:
        """The value with the middle 95 % of what the resamples gave."""
        if self.prompts < LEAST or not len(resampled):
            return Estimate(value, None, None, n)
        low, high = np.quantile(resampled, [0.025, 0.975])
        return Estimate(value, float(low), float(high), n)
