"""How much faster: the median of paired ratios, and an interval that assumes no distribution.

Two methods are timed on the same prompt, one right after the other, so that what slows the machine
down slows both. Each prompt gives one ratio. The median of the ratios is reported with the interval
between two of their order statistics: the k-th smallest and the k-th largest of n ratios enclose
the median of their distribution with probability 1 - 2 P(Binomial(n, 1/2) < k), whatever that
distribution is. k is the largest for which this is at least CONFIDENCE.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

CONFIDENCE = 0.95
LEAST = 6  # of fewer pairs not even the smallest and the largest enclose the median that surely


class WeakEvidence(ValueError):
    """Too few pairs for an interval."""


@dataclass(frozen=True)
class Ratio:
    """A median of `n` paired ratios, and the ends of its interval."""

    median: float
    low: float
    high: float
    n: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        return f"{self.median:.2f} [{self.low:.2f}, {self.high:.2f}]"


def coverage(n: int, k: int) -> float:
    """The chance that the k-th smallest and the k-th largest of n draws enclose the median."""
    outside = sum(math.comb(n, i) for i in range(k))
    return 1.0 - 2 * outside / float(2**n)


def interval_rank(n: int, confidence: float = CONFIDENCE) -> int:
    """The largest k >= 1 whose interval covers the median of n draws with that confidence.

    Raises WeakEvidence where there is none.
    """
    ranks = [k for k in range(1, n // 2 + 1) if coverage(n, k) >= confidence]
    if not ranks:
        raise WeakEvidence(
            f"expected at least {LEAST} pairs for an interval of {confidence:.0%}, got {n}"
        )
    return ranks[-1]


def paired_ratio(numerators: Sequence[float], denominators: Sequence[float]) -> Ratio:
    """The median of numerators[i] / denominators[i], with its interval.

    Raises WeakEvidence for fewer than LEAST pairs, ValueError where a number has no partner.
    """
    ratios = sorted(a / b for a, b in zip(numerators, denominators, strict=True))
    k = interval_rank(len(ratios))
    return Ratio(median(ratios), ratios[k - 1], ratios[-k], len(ratios))
