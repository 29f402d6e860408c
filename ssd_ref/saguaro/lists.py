"""Named fan-out lists for a budget of guesses. Call twice: for rounds after a hit, after a miss."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ssd_ref.models import check_count, is_integer, is_real
from ssd_ref.saguaro.allocation import MissCurve, allocate, limits, power_law


def uniform(budget: int, lookahead: int, vocabulary: int | None = None) -> tuple[int, ...]:
    """The budget shared evenly over k = 0..K; what is left over goes to the lowest k.

    >>> uniform(12, 4)
    (3, 3, 2, 2, 2)
    """
    most = checked_limits(budget, lookahead, vocabulary)
    share, over = divmod(budget, lookahead + 1)
    return tuple(min(limit, share + (k < over)) for k, limit in enumerate(most))


def geometric(
    a: float,
    r: float,
    budget: int,
    lookahead: int,
    prefactor: float = 1.0,
    vocabulary: int | None = None,
) -> tuple[int, ...]:
    """The integer optimum in the setting of Thm 12: i.i.d. acceptance a, miss rate c F^-r.

    a in [0, 1]; r > 0. At a = 0 every guess is at k = 0, at a = 1 at k = K.

    >>> geometric(.64, 1, 20, 4, prefactor=.5)
    (5, 4, 4, 3, 4)
    """
    checked_limits(budget, lookahead, vocabulary)
    if not (is_real(a) and 0 <= a <= 1):
        raise ValueError(f"a: expected an acceptance rate in [0, 1], got {a!r}")
    weights = [a**k * (1 - a) for k in range(lookahead)] + [a**lookahead]
    return allocate(weights, power_law(r, prefactor), budget, vocabulary)


def measured(
    outcomes: Iterable[tuple[int, int | None]],
    budget: int,
    lookahead: int,
    vocabulary: int | None = None,
) -> tuple[int, ...]:
    """The list that would have hit most often among recorded outcomes (slot, rank of the bonus).

    slot: accepted drafts; K where all were accepted, also of a shortened speculation.
    rank None: the draft had no row there, or the bonus was cut off; no guess could have hit.
    """
    checked_limits(budget, lookahead, vocabulary)
    counts = [Counter[int]() for _ in range(lookahead + 1)]
    for slot, rank in outcomes:
        if not (is_integer(slot) and 0 <= slot <= lookahead):
            raise ValueError(f"slot: expected an integer in [0, {lookahead}], got {slot!r}")
        if rank is not None:
            check_count("rank", rank)
            counts[slot][rank] += 1
    return allocate([1.0] * len(counts), [missed(c) for c in counts], budget, vocabulary)


def all_accepted_only(
    budget: int, lookahead: int, vocabulary: int | None = None
) -> tuple[int, ...]:
    """Every guess at k = K. With a budget of 1 it is what AMUSD and PEARL prepare for."""
    most = checked_limits(budget, lookahead, vocabulary)
    return (*[0] * lookahead, most[-1])


def missed(ranks: Counter[int]) -> MissCurve:
    """How many recorded outcomes F guesses miss."""
    return lambda width: sum(n for rank, n in ranks.items() if rank >= width)


def checked_limits(budget: int, lookahead: int, vocabulary: int | None) -> list[int]:
    check_count("budget", budget)
    check_count("lookahead", lookahead)
    return limits(lookahead, budget, vocabulary)
