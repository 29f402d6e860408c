"""Saguaro sampling (Sec. 4.2): what its weight C does to a drafted token, and the best C.

sigma lowers the draft's law q on the guessed tokens S, so that what the target wants beyond it
lands there: a rejection is then likelier to be a hit. The price is acceptance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ssd_ref.laws import check_law, saguaro
from ssd_ref.models import Row, check_count, check_tokens, is_real

GOLDEN = (math.sqrt(5) - 1) / 2
REFINEMENTS = 30  # golden sections: the bracket shrinks by a factor of 2 million


class Effect(NamedTuple):
    """What becomes of one drafted token; the three chances sum to 1.

    accepted: it is kept, sum min(p, sigma). cached: it is rejected, and what replaces it lies in
    S. missed: it is rejected, and what replaces it lies elsewhere.
    """

    accepted: float
    cached: float
    missed: float


def effect(p: Row, q: Row, guessed: Sequence[int], c: float) -> Effect:
    """The exact effect of weight c at one position: target law p, draft law q, both (V,), set S.

    p and q as drawn from: after temperature and truncation. Raises ValueError unless both are laws
    of the same size, and c in [0, 1].
    """
    if not (is_real(c) and 0 <= c <= 1):
        raise ValueError(f"c: expected a number in [0, 1], got {c!r}")
    q = check_law(q, np.size(q), "q")
    p = check_law(p, len(q), "p")
    check_tokens(guessed, len(q), "guessed")
    in_set = np.zeros(len(q), dtype=bool)
    in_set[list(guessed)] = True
    sigma = saguaro(q, np.flatnonzero(in_set), c)
    residual = np.maximum(p - sigma, 0)
    return Effect(
        float(np.minimum(p, sigma).sum()),
        float(residual[in_set].sum()),
        float(residual[~in_set].sum()),
    )


def best_c(speed: Callable[[float], float], points: int = 21) -> tuple[float, float]:
    """The C in [0, 1] of the largest speed found, and that speed.

    A grid of `points`, then golden sections between the neighbours of its best: right where the
    speed has one peak there and is computed, not sampled. The larger C among equals. Raises
    ValueError for fewer than 3 points or a speed that is no number.
    """
    check_count("points", points, least=3)
    seen: dict[float, float] = {}

    def tried(c: float) -> float:
        seen[c] = float(speed(c))
        if math.isnan(seen[c]):
            raise ValueError(f"speed({c}): expected a number, got {seen[c]}")
        return seen[c]

    grid = [i / (points - 1) for i in range(points)]
    best = max(grid, key=lambda c: (tried(c), c))
    low, high = max(0.0, best - grid[1]), min(1.0, best + grid[1])
    for _ in range(REFINEMENTS):
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        low, high = (left, high) if tried(right) >= tried(left) else (low, right)
    return max(seen.items(), key=lambda item: (item[1], item[0]))
