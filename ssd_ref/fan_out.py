"""Which verification outcomes are prepared for: the guesses, read from the draft's own rows.

A fan-out list (F_0, .., F_K) asks for F_k bonus tokens at "k drafts accepted".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ssd_ref.laws import ranking
from ssd_ref.models import Row, check_count
from ssd_ref.rounds import Outcome, Speculation

# Guesses from what the draft alone knows: its raw rows after d_1..d_k, and its own speculation.
Predictor = Callable[[Sequence[Row], Speculation], Sequence[Outcome]]


def check_fan_out(name: str, fan_out: Sequence[int], lookahead: int) -> tuple[int, ...]:
    """The list as a tuple; ValueError unless it holds lookahead + 1 integers >= 0."""
    if np.shape(fan_out) != (lookahead + 1,):
        got = f"{len(fan_out)}: {list(fan_out)}" if np.ndim(fan_out) else f"{fan_out!r}, no list"
        raise ValueError(f"{name}: expected lookahead + 1 = {lookahead + 1} numbers, got {got}")
    for k, width in enumerate(fan_out):
        check_count(f"{name}[{k}]", width)
    return tuple(fan_out)


def bonus_ranking(logits: Row, rejected: int | None) -> NDArray[np.intp]:
    """All tokens that may be the bonus, likeliest first; none where the row is no law.

    Ranked by raw logits, lower index first among equals. A rejected draft is never the bonus:
    it was rejected because p < q there, and the residual is 0.
    """
    order = ranking(logits)
    if np.isnan(logits[order[-1]]) or not -np.inf < logits[order[0]] < np.inf:  # NaN comes last
        order = order[:0]
    return order if rejected is None else order[order != rejected]


def guess_outcomes(
    logits: Sequence[Row], drafted: Sequence[int], fan_out: Sequence[int]
) -> list[Outcome]:
    """The guess set: at each k the F_k likeliest bonus tokens of the draft's row after d_1..d_k.

    `logits` has n + 1 rows for n drafted tokens. A shortened speculation's last slot uses F_K.
    """
    n = len(drafted)
    guesses = []
    for k, row in enumerate(logits):
        width, rejected = (fan_out[k], drafted[k]) if k < n else (fan_out[-1], None)
        guesses += [Outcome(k, int(t)) for t in bonus_ranking(row, rejected)[:width]]
    return guesses


def bonus_rank(logits: Sequence[Row], drafted: Sequence[int], outcome: Outcome) -> int | None:
    """The place of the bonus token among the guesses at its k; None where the draft has no row."""
    k, bonus = outcome
    if k >= len(logits):
        return None
    order = bonus_ranking(logits[k], drafted[k] if k < len(drafted) else None).tolist()
    return order.index(bonus) if bonus in order else None
