"""Every rate with an interval: batch means of a ratio, in memory that does not grow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean, stdev

BATCHES = 32  # between 32 and 63 are kept
NORMAL_95 = 1.959964
STUDENT_95 = (math.inf, 12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622)


@dataclass(frozen=True)
class Rate:
    """An estimated ratio and the half-width of its 95 % interval; None: too few rounds for one."""

    value: float
    half_width: float | None
    rounds: int

    def __str__(self) -> str:
        spread = "too short a run" if self.half_width is None else f"± {self.half_width:.2g}"
        return f"{self.value:.4g} ({spread})"


@dataclass
class BatchMeans:
    """Sums of (gain, cost) over batches of consecutive rounds, merged in pairs when they are many.

    Consecutive rounds depend on each other (a miss makes the next miss likelier); means over long
    batches hardly do, and their spread gives the interval of the ratio sum gain / sum cost.
    """

    size: int = 1
    sums: list[tuple[float, float]] = field(default_factory=list)
    gain: float = 0
    cost: float = 0
    held: int = 0
    rounds: int = 0

    def add(self, gain: float, cost: float) -> None:
        self.gain, self.cost = self.gain + gain, self.cost + cost
        self.held, self.rounds = self.held + 1, self.rounds + 1
        if self.held == self.size:
            self.sums.append((self.gain, self.cost))
            self.gain, self.cost, self.held = 0, 0, 0
        if len(self.sums) == 2 * BATCHES:
            halves = zip(self.sums[::2], self.sums[1::2], strict=True)
            self.sums = [(a + c, b + d) for (a, b), (c, d) in halves]
            self.size *= 2

    def rate(self, scale: float = 1.0) -> Rate:
        """The ratio times `scale`, over all rounds; the interval from the complete batches."""
        gain = sum(g for g, _ in self.sums) + self.gain
        cost = sum(c for _, c in self.sums) + self.cost
        ratio, n = (gain / cost if cost else math.nan), len(self.sums)
        if n < BATCHES or self.size < 4:
            return Rate(ratio * scale, None, self.rounds)
        squares = sum((g - ratio * c) ** 2 for g, c in self.sums)
        error = math.sqrt(squares * n / (n - 1)) / sum(c for _, c in self.sums)
        return Rate(ratio * scale, student_95(n - 1) * error * scale, self.rounds)


def student_95(degrees: int) -> float:
    """The two-sided 95 % point of Student's t: a table, and a series in 1/degrees behind it."""
    if degrees < len(STUDENT_95):
        return STUDENT_95[degrees]
    z = NORMAL_95
    first, second = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96
    return z + first / degrees + second / degrees**2


def replicated(values: Sequence[float]) -> Rate:
    """The mean of independent runs with its 95 % interval; from three on."""
    n = len(values)
    if n < 3:
        return Rate(sum(values) / n, None, n)
    return Rate(fmean(values), student_95(n - 1) * stdev(values) / math.sqrt(n), n)
