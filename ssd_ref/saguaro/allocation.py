"""Integer-optimal fan-out: how many guesses at each k, for any outcome weights and miss curves.

The miss rate sum_k w_k miss_k(F_k) is a sum over slots, and only the budget couples them. Where
each further guess at every k gains less than the one before, taking the largest gain again and
again is optimal. Otherwise (Def. 11 with prefactor 1: the first guess never hits) it can be far
off, and a dynamic programme decides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ssd_ref.models import check_count, is_real

MissCurve = Callable[[int], float]  # F -> chance that F guesses miss; never rises
Gains = list[NDArray[np.float64]]  # for each k: what the 1st, 2nd, .. guess takes off the miss rate


def power_law(exponent: float, prefactor: float = 1.0) -> MissCurve:
    """min(1, c F^-r), and 1 at F = 0 (Def. 11, with a prefactor). ValueError unless r, c > 0."""
    for name, value in (("exponent", exponent), ("prefactor", prefactor)):
        if not (is_real(value) and 0 < value < math.inf):
            raise ValueError(f"{name}: expected a finite number > 0, got {value!r}")
    fall = -float(exponent)
    return lambda width: min(1.0, prefactor * width**fall) if width else 1.0


def allocate(
    weights: Sequence[float],
    miss: MissCurve | Sequence[MissCurve],
    budget: int,
    vocabulary: int | None = None,
) -> tuple[int, ...]:
    """The list (F_0, .., F_K) with sum F <= budget that has the least sum_k w_k miss_k(F_k).

    weights: w_k >= 0, K+1 of them, need not sum to 1. miss: one curve for all k, or one each.
    vocabulary: slots hold at most V - 1 guesses at k < K (the rejected token is none), V at K.
    A guess that gains nothing is not taken, so the sum may stay below the budget. Raises ValueError
    for other weights, and for a curve that rises or is not finite.
    """
    check_count("budget", budget)
    check_weights(weights)
    most = limits(len(weights) - 1, budget, vocabulary)
    gains = [
        weight * falls(f"miss curve {k}", curve, limit)
        for k, (weight, curve, limit) in enumerate(
            zip(weights, curves(miss, len(weights)), most, strict=True)
        )
    ]
    if all((np.diff(gain) <= 0).all() for gain in gains):
        return greedy(gains, budget)
    return dynamic_programme(gains, min(budget, sum(most)))


def expected_miss(
    weights: Sequence[float], miss: MissCurve | Sequence[MissCurve], fan_out: Sequence[int]
) -> float:
    """sum_k w_k miss_k(F_k) / sum_k w_k: the miss rate of a fan-out list."""
    check_weights(weights)
    if not any(weights):
        raise ValueError(f"weights: expected one above 0, got {weights!r}")
    if len(fan_out) != len(weights):
        raise ValueError(f"fan_out: expected {len(weights)} numbers, got {len(fan_out)}")
    for k, width in enumerate(fan_out):
        check_count(f"fan_out[{k}]", width)
    each = zip(weights, curves(miss, len(weights)), fan_out, strict=True)
    return math.fsum(w * curve(width) for w, curve, width in each) / math.fsum(weights)


def greedy(gains: Gains, budget: int) -> tuple[int, ...]:
    """The largest gain again and again; lower k first among equals. Optimal where gains fall."""
    ranked = sorted(
        ((gain, -k) for k, row in enumerate(gains) for gain in row if gain > 0), reverse=True
    )
    taken = [-k for _, k in ranked[:budget]]
    return tuple(taken.count(k) for k in range(len(gains)))


def dynamic_programme(gains: Gains, budget: int) -> tuple[int, ...]:
    """best[b]: the most that the slots so far can gain with b guesses, with how many at the last.

    Fewer guesses among equals.
    """
    best, choices = np.zeros(budget + 1), []
    for row in gains:
        before, best = best, best.copy()
        choice = np.zeros(budget + 1, dtype=int)
        for f, gain in enumerate(np.cumsum(row), start=1):
            with_f = before[: budget + 1 - f] + gain
            better = with_f > best[f:]
            best[f:][better], choice[f:][better] = with_f[better], f
        choices.append(choice)
    left, widths = budget, []
    for choice in reversed(choices):
        widths.append(int(choice[left]))
        left -= widths[-1]
    return tuple(reversed(widths))


def limits(lookahead: int, budget: int, vocabulary: int | None) -> list[int]:
    """The largest useful F_k: at k < K one token, d_{k+1}, is never a guess."""
    if vocabulary is None:
        return [budget] * (lookahead + 1)
    check_count("vocabulary", vocabulary, least=1)
    return [min(budget, size) for size in [vocabulary - 1] * lookahead + [vocabulary]]


def falls(name: str, curve: MissCurve, limit: int) -> NDArray[np.float64]:
    """miss(F-1) - miss(F) for F = 1..limit."""
    values = np.array([curve(width) for width in range(limit + 1)], dtype=np.float64)
    gains = values[:-1] - values[1:]
    if not (np.isfinite(values).all() and (gains >= 0).all()):
        raise ValueError(f"{name}: expected finite values that never rise, got {values.tolist()}")
    return gains


def curves(miss: MissCurve | Sequence[MissCurve], slots: int) -> Sequence[MissCurve]:
    if callable(miss):
        return [miss] * slots
    if len(miss) != slots:
        raise ValueError(f"miss: expected one curve for each of {slots} weights, got {len(miss)}")
    return miss


def check_weights(weights: Sequence[float]) -> None:
    if not len(weights) or not all(is_real(w) and 0 <= w < math.inf for w in weights):
        raise ValueError(f"weights: expected finite numbers >= 0, one for each k, got {weights!r}")
