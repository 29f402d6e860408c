"""The closed forms against brute force, against each other, and against published examples."""

from __future__ import annotations

import doctest
import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sim.laws
import sim.theory
from sim.laws import Acceptance, Context, Curve, Rates, Text
from sim.theory import (
    batch_speed,
    break_even,
    critical_batch,
    derive,
    fan_out_shape,
    least_miss,
    outcome_weights,
    overtaking_batch,
    own_draft_ratio,
    sd_speed,
    speedup_bounds,
    ssd_speed,
    stationary_hit_rate,
    tokens_per_round,
)

shares = st.integers(0, 20).map(lambda n: n / 20)
lengths = st.integers(0, 60).map(lambda n: n / 20)


@pytest.mark.parametrize("module", [sim.laws, sim.theory])
def test_examples_in_docstrings(module):
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


@given(shares, st.integers(0, 5))
def test_tokens_per_round_by_enumerating_coins(a, lookahead):
    total = 0.0
    for coins in product((True, False), repeat=lookahead):
        chance = math.prod(a if coin else 1 - a for coin in coins)
        run = next((i for i, coin in enumerate(coins) if not coin), lookahead)
        total += chance * (run + 1)
    assert tokens_per_round(a, lookahead) == pytest.approx(total)
    law = Acceptance((a,), iid=True)
    assert law.tokens(lookahead) == pytest.approx(total)
    assert law.weights(lookahead) == pytest.approx(outcome_weights(a, lookahead))


def test_the_formula_that_is_often_misused():
    """accepted/drafted is not a, and a mean a is not enough where acceptance is not i.i.d."""
    assert tokens_per_round(0.8, 4) / (1 + 4 * 0.05) == pytest.approx(2.8013, abs=1e-4)
    assert tokens_per_round(0.44, 5) / (1 + 5 * 0.11) == pytest.approx(1.1437, abs=1e-4)
    of_drafted = (tokens_per_round(0.8, 8) - 1) / 8
    assert of_drafted == pytest.approx(0.4161, abs=1e-4)
    assert tokens_per_round(of_drafted, 8) / (1 + 8 * 0.05) == pytest.approx(1.223, abs=1e-3)
    assert tokens_per_round(0.8, 8) / (1 + 8 * 0.05) == pytest.approx(3.092, abs=1e-3)
    assert Acceptance((1.0, 0.8)).tokens(2) - 1 == pytest.approx(1.8)
    assert tokens_per_round(0.8, 2) - 1 == pytest.approx(1.44)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6).filter(any))
def test_frequencies_become_hazards_and_come_back(counts):
    law = Acceptance.of_frequencies(counts)
    assert law.weights(len(counts) - 1) == pytest.approx([n / sum(counts) for n in counts])


@given(shares, lengths)
def test_own_draft_is_at_most_twice_as_fast_and_never_slower(hit, t):
    for abort in (True, False):
        ssd = ssd_speed(hit, 3, 3, t, t, abort=abort)
        assert ssd / sd_speed(3, t) == pytest.approx(own_draft_ratio(hit, t, abort=abort))
    assert 1 - 1e-12 <= own_draft_ratio(hit, t) <= 2
    if t <= 1:
        assert own_draft_ratio(hit, t, abort=False) == own_draft_ratio(hit, t)


def test_without_abort_the_ratio_goes_down_to_a_half():
    assert own_draft_ratio(0, 1e9, abort=False) == pytest.approx(0.5)


def test_the_lower_bound_of_cor_9_is_false_when_misses_are_shorter():
    """Tokens 5.7 after a hit and 4.0 after a miss, SD 5.5 on the same text."""
    hit, t, after_hit, after_miss = 0.88, 0.8, 5.7, 4.0
    tokens_sd = hit * after_hit + (1 - hit) * after_miss
    lower, upper = speedup_bounds(hit, t, after_hit, tokens_sd)
    speedup = ssd_speed(hit, after_hit, after_miss, t, t) / sd_speed(tokens_sd, t)
    assert speedup < lower < upper


@given(shares, shares, lengths, st.integers(1, 20), st.integers(1, 20), st.integers(1, 20))
def test_the_upper_bound_of_cor_9_holds(hit, t_p, t, after_hit, after_miss, tokens_sd):
    _, upper = speedup_bounds(hit, t, after_hit, tokens_sd)
    ssd = ssd_speed(hit, after_hit, min(after_miss, after_hit), t_p, t)
    assert ssd / sd_speed(tokens_sd, t) <= upper * (1 + 1e-12)


@given(shares, shares)
def test_stationary_hit_rate_is_where_the_chain_goes(after_hit, after_miss):
    if (after_hit, after_miss) in [(1, 0), (0, 1)]:
        return  # never forgets its start, or alternates for ever
    p = 0.5
    for _ in range(2000):
        p = p * after_hit + (1 - p) * after_miss
    assert stationary_hit_rate(after_hit, after_miss) == pytest.approx(p)
    text = Text.simple(Acceptance((0.5,), iid=True), Rates(after_hit, after_miss))
    assert derive(text, 3, (1,) * 4).hit == pytest.approx(p, abs=1e-9)


@given(
    st.integers(1, 19).map(lambda n: n / 20),
    st.integers(1, 6),
    st.integers(2, 12).map(lambda n: n / 4),
)
def test_fan_out_shape_is_the_optimum(a, lookahead, exponent):
    """Moving budget between two places never lowers the miss rate; least_miss is its value."""
    weights, budget = outcome_weights(a, lookahead), 20.0
    shape = fan_out_shape(a, lookahead, budget, exponent)

    def miss(widths):
        return sum(w * f**-exponent for w, f in zip(weights, widths, strict=True))

    assert sum(shape) == pytest.approx(budget)
    assert miss(shape) == pytest.approx(least_miss(weights, budget, exponent))
    for i, j in product(range(lookahead + 1), repeat=2):
        moved = list(shape)
        moved[i] *= 1.01
        moved[j] -= moved[i] - shape[i]
        if i != j and moved[j] > 0:
            assert miss(moved) > miss(shape)


def test_fan_out_follows_the_theorem():
    """F_k = F_0 a^(k/(1+r)), and F_K = F_0 a^(K/(1+r)) (1-a)^(-1/(1+r)): a good draft's largest."""
    a, r, lookahead = 0.8, 0.7, 5
    shape = fan_out_shape(a, lookahead, 30, r)
    for k in range(lookahead):
        assert shape[k] == pytest.approx(shape[0] * a ** (k / (1 + r)))
    last = shape[0] * a ** (lookahead / (1 + r)) * (1 - a) ** (-1 / (1 + r))
    assert shape[-1] == pytest.approx(last)
    assert shape[-1] > shape[0]


@pytest.mark.parametrize(
    ("p", "t", "expected"), [(0.9, 0.3, 2.99), (0.8, 0.3, 3.98), (0.7, 0.5, 2.44)]
)
def test_critical_batch_is_where_the_two_backups_are_equally_fast(p, t, expected):
    neural, fast = 4.0, p * 4 + (1 - p) * 1
    batch = critical_batch(p, neural, fast, t)
    assert batch == pytest.approx(expected, abs=0.005)
    n = math.floor(batch)
    assert batch_speed(p, 4, 4, 1, t, n) > batch_speed(p, 4, 1, 1, 0, n)
    assert batch_speed(p, 4, 4, 1, t, n + 1) < batch_speed(p, 4, 1, 1, 0, n + 1)


def test_critical_batch_at_its_edges():
    assert critical_batch(0.9, 4, 4, 0.3) == 0  # as good and free: the fast one always
    assert critical_batch(0.9, 4, 2, 0.3) == math.inf  # half as good: never
    assert critical_batch(1.0, 4, 3.9, 0.3) == math.inf  # no misses, no stall


def test_break_even_for_the_published_pair():
    """Llama 70B/1B at batch 1, T_SD = 12.23/15.29 and hit rate .88, before the hand-shake: 1.79."""
    assert break_even(0.88, 5.47 / 5.03, 12.23 / 15.29) == pytest.approx(1.79, abs=0.01)


def test_ar_and_sd_are_equally_fast_at_the_overtaking_batch():
    t_0, s, tokens, lookahead, t_d = 14.0, 0.15, 3.4, 4, 6.0
    b = overtaking_batch(t_0, s, tokens, lookahead, t_d)
    ar = b / (t_0 + s * b)
    sd = b * tokens / (t_0 + s * b * (lookahead + 1) + t_d)
    assert ar == pytest.approx(sd)


def test_derived_rates_of_two_contexts_by_brute_force():
    easy = Context(Acceptance((0.9,), iid=True), Curve(0.4, 1.0), Acceptance((0.5,), True), 0.9)
    hard = Context(Acceptance((0.4,), iid=True), Curve(0.9, 0.5), Acceptance((0.1,), True), 0.7)
    text, fan_out, fan_out_miss = Text((easy, hard)), (1, 2, 0, 3), (4, 1, 1, 1)
    share = {(c, served): 0.25 for c in (0, 1) for served in (False, True)}
    for _ in range(400):
        after = dict.fromkeys(share, 0.0)
        for (c, backup), mass in share.items():
            context = text.contexts[c]
            weights = context.drafted_by(backup).weights(3)
            widths = fan_out_miss if backup else fan_out
            for w, f in zip(weights, widths, strict=True):
                hit = context.hits.hit(f)
                for other in (0, 1):
                    move = context.stay if other == c else 1 - context.stay
                    after[other, False] += mass * w * hit * move
                    after[other, True] += mass * w * (1 - hit) * move
        share = after
    derived = derive(text, 3, fan_out, fan_out_miss)
    hit = share[0, False] + share[1, False]
    tokens = [context.acceptance.tokens(3) for context in text.contexts]
    assert derived.hit == pytest.approx(hit)
    after_hit = (share[0, False] * tokens[0] + share[1, False] * tokens[1]) / hit
    assert derived.tokens_hit == pytest.approx(after_hit)
    assert derived.tokens_hit > derived.tokens_miss
    easy_share = share[0, False] + share[0, True]
    assert derived.tokens_sd == pytest.approx(np.dot([easy_share, 1 - easy_share], tokens))


def test_with_its_own_draft_as_backup_sd_has_the_mean_of_ssd():
    """E_SD = p E_hit + (1-p) E_miss: they share one sequence of outcomes [D]."""
    easy = Context(Acceptance((0.9,), iid=True), Curve(0.4, 1.0), None, 0.9)
    hard = Context(Acceptance((0.4,), iid=True), Curve(0.9, 0.5), None, 0.7)
    derived = derive(Text((easy, hard)), 4, (2,) * 5)
    assert derived.tokens_hit > derived.tokens_miss + 0.5
    assert derived.tokens == pytest.approx(derived.tokens_sd)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Acceptance((0.5, 1.2)), "acceptance hazard 2: expected a probability in [0, 1]"),
        (lambda: Acceptance((float("nan"),)), "expected a probability in [0, 1], got nan"),
        (lambda: Acceptance((0.5, 0.6)).upto(3), "expected at most 2, the positions for which"),
        (lambda: Acceptance((0.5, 0.6), iid=True), "expected one chance for i.i.d."),
        (lambda: Curve(0.5, 0.0), "exponent: expected a finite number > 0, got 0.0"),
        (lambda: Curve(-1, 1.0), "prefactor: expected a finite number >= 0.0, got -1"),
        (lambda: Rates(0.5, 2), "after_miss: expected a probability in [0, 1], got 2"),
        (lambda: Text(()), "contexts: expected one or two, got 0"),
        (lambda: stationary_hit_rate(1, 0), "expected after_hit < 1 or after_miss > 0"),
        (
            lambda: derive(Text.simple(Acceptance((0.5,), True), Rates(1, 0)), 1, (1, 1)),
            "the long-run rates depend on the first round",
        ),
    ],
)
def test_refusals(make, message):
    with pytest.raises(ValueError) as error:
        make()
    assert message in str(error.value)
