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

    def times(self, factor: float) -> Rate:
        half = None if self.half_width is None else self.half_width * abs(factor)
        return Rate(self.value * factor, half, self.rounds)

    def __str__(self) -> str:
        """Like "290.4 ± 6.8": two digits of the half-width, and the value to the same place."""
        if self.half_width is None:
            shown = "-" if math.isnan(self.value) else f"{self.value:.4g}"
            return f"{shown} (too short)"
        if self.half_width <= 1e-9 * abs(self.value):
            return f"{self.value:.4g} ± 0"
        places = max(0, 1 - math.floor(math.log10(self.half_width)))
        return f"{self.value:.{places}f} ± {self.half_width:.{places}f}"


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
        ratio = self.ratio()
        if not self.long_enough:
            return Rate(ratio * scale, None, self.rounds)
        half = relative_half_width(self.sums)
        return Rate(ratio * scale, half * ratio * scale, self.rounds)

    @property
    def long_enough(self) -> bool:
        return len(self.sums) >= BATCHES and self.size >= 4

    def ratio(self) -> float:
        gain = sum(g for g, _ in self.sums) + self.gain
        cost = sum(c for _, c in self.sums) + self.cost
        return gain / cost if cost else math.nan


def relative_half_width(
    sums: Sequence[tuple[float, float]], others: Sequence[tuple[float, float]] | None = None
) -> float:
    """Half-width of sum gain / sum cost as a share of it; of its quotient by that of `others`.

    To first order the relative error of a ratio is that of its gains less that of its costs; with
    `others` batch by batch, so that what both have in common cancels.
    """

    def shares(pairs: Sequence[tuple[float, float]]) -> list[float]:
        gains, costs = (sum(x) for x in zip(*pairs, strict=True))
        return [(g / gains if gains else 0.0) - c / costs for g, c in pairs]

    errors, n = shares(sums), len(sums)
    if others is not None:
        errors = [a - b for a, b in zip(errors, shares(others), strict=True)]
    return student_95(n - 1) * math.sqrt(sum(e * e for e in errors) * n / (n - 1))


def quotient(a: BatchMeans, b: BatchMeans) -> Rate:
    """The first ratio over the second, of runs of as many rounds on common random numbers."""
    if a.rounds != b.rounds:
        raise ValueError(f"quotient: expected as many rounds in both, got {a.rounds}, {b.rounds}")
    value = a.ratio() / b.ratio()
    if not a.long_enough:
        return Rate(value, None, a.rounds)
    return Rate(value, abs(value) * relative_half_width(a.sums, b.sums), a.rounds)


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
