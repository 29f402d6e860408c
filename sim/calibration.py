"""Calibration: a few numbers fitted on small batches, for a model that then has to predict.

The model of a round [D]. Verification takes t0 + s (target rows), a draft pass d0 + f (draft rows);
a filling is a glue pass on b (K+1) rows and K passes on b sum F rows; the draft cannot abort; a
miss, of chance 1 - p^b, adds K passes. All that is neither verification nor drafting is one number,
the hand-shake, in line with the draft's period (placed at the verifier instead, it fits the same
rounds three times worse; the data cannot tell it from service or glue).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from sim import published as pub
from sim.laws import Acceptance
from sim.theory import tokens_per_round


@dataclass(frozen=True)
class Fitted:
    """Fitted on the logged batches 1, 2 and 4: three verifications, three round times."""

    verify_ms: float  # t0
    verify_row_ms: float  # s
    draft_row_ms: float  # f; d0 follows from the draft step, which is given: d0 = 1.75 - f
    handshake_ms: float

    @property
    def draft_ms(self) -> float:
        return pub.LLAMA_DRAFT_STEP_MS - self.draft_row_ms


LOOKAHEAD, BRANCHES = 7, 24  # K = 7, F = 3 at each of the 8 places


@cache
def fit_llama() -> Fitted:
    batches = list(pub.LLAMA_BATCHES)
    rows = [(LOOKAHEAD + 1) * b for b in batches]
    s, t0 = np.polyfit(rows, [pub.LLAMA_BATCHES[b].verify_ms for b in batches], 1)

    def misfit(f: float, handshake: float) -> float:
        fit = Fitted(float(t0), float(s), f, handshake)
        errors = [round_ms(fit, b) / pub.LLAMA_BATCHES[b].round_ms - 1 for b in batches]
        return sum(error**2 for error in errors)

    f, handshake = least(misfit, (0.0, 0.03), (0.0, 5.0))
    return Fitted(float(t0), float(s), f, handshake)


def round_ms(fit: Fitted, batch: int) -> float:
    """Mean time of a round of SSD in the model, from the logged hit rate."""
    hit, k = pub.LLAMA_BATCHES[batch].hit, LOOKAHEAD
    verification = fit.verify_ms + fit.verify_row_ms * (k + 1) * batch
    filling = (k + 1) * fit.draft_ms + fit.draft_row_ms * batch * (k + 1 + k * BRANCHES)
    stalls = 1 - hit**batch
    backup = k * (fit.draft_ms * stalls + fit.draft_row_ms * batch * (1 - hit))
    return max(verification, filling) + fit.handshake_ms + backup


def least(
    misfit: Callable[[float, float], float], x: tuple[float, float], y: tuple[float, float]
) -> tuple[float, float]:
    """The least misfit over a rectangle: grids of 41 x 41, each a fifth of the one before."""
    best = (x[0], y[0])
    for _ in range(12):
        xs, ys = np.linspace(*x, 41), np.linspace(*y, 41)
        best = min(((float(a), float(b)) for a in xs for b in ys), key=lambda ab: misfit(*ab))
        x = (max(0.0, best[0] - (x[1] - x[0]) / 10), best[0] + (x[1] - x[0]) / 10)
        y = (max(0.0, best[1] - (y[1] - y[0]) / 10), best[1] + (y[1] - y[0]) / 10)
    return best


def hit_law() -> Acceptance:
    """Acceptance on a hit, T = 0: the logged frequencies of k (given)."""
    return Acceptance.of_frequencies(pub.LLAMA_ACCEPTED)


def stretched(law: Acceptance, tokens: float, lookahead: int) -> Acceptance:
    """The law with other mean tokens per round: all odds of acceptance times one factor (assumed).

    Only means are published for rounds after a miss and for other temperatures; their shape is
    taken from the logged law.
    """

    def at(factor: float) -> Acceptance:
        odds = [h / (1 - h) * factor for h in law.upto(lookahead)]
        return Acceptance(tuple(odd / (1 + odd) for odd in odds))

    return at(bisect(lambda log: at(np.exp(log)).tokens(lookahead) - tokens, -5.0, 5.0, np.exp))


def qwen_acceptance() -> float:
    """i.i.d. a for which K = 7 accepts .39 of the drafts, as logged (given, misses included)."""
    tokens = 1 + 7 * pub.QWEN_ACCEPTED_SHARE
    return bisect(lambda a: tokens_per_round(a, 7) - tokens, 0.01, 0.99)


def qwen_draft_step_ms() -> float:
    """Fitted on one number, the round of 23.81 ms at K = 7: what a miss costs, over 7 steps."""
    period = pub.QWEN_SERVICE_MS + pub.QWEN_GLUE_MS + 7 * pub.QWEN_TREE_MS + pub.QWEN_STORE_MS
    return (pub.QWEN_ROUND_MS - period) / (1 - pub.QWEN_HIT) / 7


def bisect(
    rising: Callable[[float], float], low: float, high: float,
    scale: Callable[[float], float] = float,
) -> float:  # fmt: skip
    """The root of a rising function, on the given scale."""
    if rising(low) > 0 or rising(high) < 0:
        raise ValueError(f"no root between {low} and {high}: {rising(low):.3g}, {rising(high):.3g}")
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if rising(middle) > 0 else (middle, high)
    return float(scale((low + high) / 2))
