"""The closed forms, each with its source and assumption. Times in units of one verification.

The simulator must agree with them where their assumptions hold; tests check that it does.
Notation: a acceptance, K lookahead, p hit rate, E tokens per round, T_p time to fill the cache,
T_b time of the backup, T_SD time that SD drafts, L one-way latency, b batch size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sim.checks import need_integer, need_number, need_probability
from sim.laws import Text

FloatArray = NDArray[np.float64]


def tokens_per_round(a: float, lookahead: int) -> float:
    """(1 - a^(K+1)) / (1 - a), for i.i.d. acceptance. Source: Leviathan et al. (2023).

    >>> round(tokens_per_round(0.8, 4), 4)
    3.3616
    """
    need_probability("a", a)
    need_integer("lookahead", lookahead)
    return lookahead + 1.0 if a == 1 else (1 - a ** (lookahead + 1)) / (1 - a)


def outcome_weights(a: float, lookahead: int) -> list[float]:
    """P(k accepted), k = 0..K, for i.i.d. acceptance: a^k (1-a), and a^K at K (Sec. 4.1)."""
    return [a**k * (1 - a) for k in range(lookahead)] + [a**lookahead]


def sd_speed(tokens: float, t_sd: float) -> float:
    """E_SD / (1 + T_SD): tokens per verification time, draft and target taking turns."""
    return tokens / (1 + t_sd)


def ssd_speed(
    hit: float, tokens_hit: float, tokens_miss: float, t_p: float, t_b: float, *,
    abort: bool = True, latency: float = 0.0, sending_occupies_draft: bool = False,
) -> float:  # fmt: skip
    """Thm 7: tokens per verification time, p the stationary hit rate.

    abort: a miss stops the filling at once (what the paper's miss term presumes [D]); without it a
    miss costs max(1, T_p) + T_b, as in the released loop. With a link of one-way latency L a round
    trip is 1 + 2L [D]; where sending occupies the draft, T_p becomes T_p + L [D].
    Assumes constant times, no service or hand-shake, one sequence.
    """
    need_probability("hit", hit)
    trip = 1 + 2 * latency
    period = t_p + latency * sending_occupies_draft
    hit_time = max(trip, period)
    miss_time = (trip if abort else hit_time) + t_b
    tokens = hit * tokens_hit + (1 - hit) * tokens_miss
    return tokens / (hit * hit_time + (1 - hit) * miss_time)


def own_draft_ratio(hit: float, t: float, *, abort: bool = True) -> float:
    """SSD/SD where primary and backup are SD's own drafter, T = T_p = T_SD = T_b (Cor. 8, [D]).

    >>> own_draft_ratio(1, 1)
    2.0
    """
    miss = 1 + t if abort else max(1, t) + t
    return (1 + t) / (hit * max(1, t) + (1 - hit) * miss)


def speedup_bounds(hit: float, t_sd: float, tokens_hit: float, tokens_sd: float) -> list[float]:
    """Cor. 9 [?]: lower and upper bound of SSD/SD.

    Only the upper one is safe: the lower one needs E_hit = E_miss, and measured rounds after a
    miss are shorter.
    """
    gain = (1 + t_sd) * tokens_hit / tokens_sd
    return [gain / (1 + t_sd * (1 - hit)), gain]


def batch_speed(
    hit: float, tokens_hit: float, tokens_miss: float, t_p: float, t_b: float, batch: int
) -> float:
    """Cor. 16: per row; b rows in lock-step, where one miss stalls all (Sec. 4.3).

    Assumes that rows miss independently, that T_p and the verification do not grow with b, and
    that a miss aborts the filling.
    """
    all_hit = hit**batch
    tokens = hit * tokens_hit + (1 - hit) * tokens_miss
    return tokens / (all_hit * max(1, t_p) + (1 - all_hit) * (1 + t_b))


def critical_batch(
    hit_neural: float, tokens_neural: float, tokens_fast: float, t_neural: float
) -> float:
    """b* of Thm 17: from this batch size on a fast, weak backup beats the slow, accurate one [D].

    b* = ln(1 - (rho - 1)/T_n) / ln p_n with rho = N_n/N_f, where N = p E_hit + (1-p) E_miss are
    the mean tokens of a round with each backup; the fast one takes no time, T_p <= 1.
    0: the fast one always, infinity: never.

    >>> round(critical_batch(.9, 4, .9 * 4 + .1 * 1, .3), 2)
    2.99
    """
    need_probability("hit_neural", hit_neural)
    ratio = tokens_neural / tokens_fast
    if ratio <= 1:
        return 0.0
    if ratio - 1 >= t_neural or hit_neural == 1:
        return math.inf
    return math.log(1 - (ratio - 1) / t_neural) / math.log(hit_neural)


def stationary_hit_rate(after_hit: float, after_miss: float) -> float:
    """p = p_{h|b} / (1 - p_{h|p} + p_{h|b}) [D]: hits as a chain with two states.

    after_hit = after_miss + 1 = 1 leaves it undetermined, and is refused.
    """
    need_probability("after_hit", after_hit)
    need_probability("after_miss", after_miss)
    if after_hit == 1 and after_miss == 0:
        raise ValueError("hit rates: expected after_hit < 1 or after_miss > 0, got 1 and 0")
    return after_miss / (1 - after_hit + after_miss)


def fan_out_shape(a: float, lookahead: int, budget: float, exponent: float) -> list[float]:
    """Thm 12, before rounding: F_k ~ w_k^(1/(1+r)), w the outcome weights, sum F = B.

    >>> [round(f, 2) for f in fan_out_shape(.64, 4, 20, 1)]
    [5.5, 4.4, 3.52, 2.82, 3.76]
    """
    need_number("exponent", exponent, above=0)
    shape = [w ** (1 / (1 + exponent)) for w in outcome_weights(a, lookahead)]
    return [budget * part / sum(shape) for part in shape]


def least_miss(weights: Sequence[float], budget: float, exponent: float, c: float = 1.0) -> float:
    """c (sum w_k^(1/(1+r)))^(1+r) B^-r: the miss rate of Thm 12's continuous optimum [D].

    Assumes F_k >= c^(1/r) for every k, so that no miss chance is cut off at 1.
    """
    total: float = sum(float(w) ** (1 / (1 + exponent)) for w in weights)
    return float(c * total ** (1 + exponent) * budget**-exponent)


def break_even(hit: float, tokens_ratio: float, t_sd: float) -> float:
    """How large 1 + g_draft/g_target may be before SSD loses to SD in device-seconds [D].

    tokens_ratio: (p E_hit + (1-p) E_miss) / E_SD. Assumes T_p <= 1, T_b = T_SD, no hand-shake.
    """
    return (1 + t_sd) / (1 + (1 - hit) * t_sd) * tokens_ratio


def overtaking_batch(
    t_0: float, per_token: float, tokens: float, lookahead: int, t_draft: float
) -> float:
    """The batch from which AR is faster than SD: [t_0 (E-1) - T_d] / [s (K+1-E)] [D].

    Verification of n tokens takes t_0 + s n; drafting takes T_d at every batch size.
    """
    return (t_0 * (tokens - 1) - t_draft) / (per_token * (lookahead + 1 - tokens))


def mean_wait(arrivals: float, mean: float, second_moment: float) -> float:
    """Mean time in the queue of M/G/1: lambda E[S^2] / (2 (1 - rho)) (Pollaczek and Khinchine).

    Assumes Poisson arrivals, one server (batch limit 1), first come first served.

    >>> mean_wait(0.5, 1.0, 1.0)  # M/D/1 at half load
    0.5
    """
    load = arrivals * mean
    if load >= 1:
        raise ValueError(f"mean_wait: expected arrivals x mean below 1, got {load}")
    return arrivals * second_moment / (2 * (1 - load))


@dataclass(frozen=True)
class Derived:
    """What a text's laws imply for SSD in the long run, and for SD on the same text."""

    hit: float
    tokens_hit: float
    tokens_miss: float
    tokens_sd: float

    @property
    def tokens(self) -> float:
        after_hit = self.hit * self.tokens_hit if self.hit else 0.0  # rounds of no kind: nan
        return after_hit + ((1 - self.hit) * self.tokens_miss if self.hit < 1 else 0.0)


def derive(
    text: Text, lookahead: int, fan_out: Sequence[int], fan_out_miss: Sequence[int] | None = None,
    fast: bool = False,
) -> Derived:  # fmt: skip
    """Exact long-run rates from the chain over (context, who served the round).

    Assumes that every hit is served, i.e. that no late hit falls back.
    """
    states = [(c, backup) for c in range(len(text.contexts)) for backup in (False, True)]
    chain, tokens = np.zeros((len(states),) * 2), np.zeros(len(states))
    for i, (c, backup) in enumerate(states):
        context = text.contexts[c]
        law = context.drafted_by(backup, fast)
        widths = fan_out_miss if backup and fan_out_miss is not None else fan_out
        weights = law.weights(lookahead)
        hit = sum(w * h for w, h in zip(weights, context.hits.hits(widths, backup), strict=True))
        tokens[i] = law.tokens(lookahead)
        for j, (other, missed) in enumerate(states):
            move = context.stay if other == c else 1 - context.stay
            chain[i, j] = move * (1 - hit if missed else hit)
    share = stationary(chain)
    served = np.array([not backup for _, backup in states])
    hits = round(float(share[served].sum()), 12)
    plain = [context.acceptance.tokens(lookahead) for context in text.contexts]
    time_in = [float(share[2 * c : 2 * c + 2].sum()) for c in range(len(text.contexts))]
    return Derived(
        hits,
        float(share[served] @ tokens[served]) / hits if hits else math.nan,
        float(share[~served] @ tokens[~served]) / (1 - hits) if hits < 1 else math.nan,
        float(np.dot(time_in, plain)),
    )


def stationary(chain: FloatArray) -> FloatArray:
    """The stationary law of a chain with one recurrent class, started anywhere."""
    n = len(chain)
    system = np.vstack([chain.T - np.eye(n), np.ones(n)])
    share, _, rank, _ = np.linalg.lstsq(system, np.array([0.0] * n + [1.0]), rcond=None)
    if rank < n:
        raise ValueError("laws: the long-run rates depend on the first round (two closed classes)")
    return np.asarray(np.clip(share, 0, 1))
