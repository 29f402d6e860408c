"""The threshold policy against the closed form, and against trying every batch."""

import math
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sim.theory import batch_speed, critical_batch
from ssd_ref import RoundRecord
from ssd_ref.saguaro import BackupFigures, PromptLookup, Threshold


def example(hit, latency):
    """E_hit = E_n = 4, E_f = 1; the hit rate does not depend on the backup."""
    return Threshold(BackupFigures(hit, 4, 4, latency), BackupFigures(hit, 4, 1, 0))


@pytest.mark.parametrize(
    ("hit", "latency", "b_star"), [(0.9, 0.3, 2.99), (0.8, 0.3, 3.98), (0.7, 0.5, 2.44)]
)
def test_the_examples_of_the_theorem(hit, latency, b_star):
    policy = example(hit, latency)
    fast = policy.fast.tokens
    assert round(critical_batch(hit, 4, fast, latency), 2) == b_star
    assert policy.critical_batch() == math.ceil(b_star)
    assert policy.backup_for(math.floor(b_star)) == "draft"
    assert policy.backup_for(math.ceil(b_star)) == "uniform"


RATES = st.floats(0.05, 0.95)
FIGURES = st.builds(
    BackupFigures, RATES, st.floats(1, 6), st.floats(1, 6), st.floats(0, 2) | st.just(0.0)
)


@given(FIGURES, FIGURES)
def test_b_is_the_closed_forms_where_that_holds(slow, fast):
    """A fast backup that takes no time, and T_p <= 1. It may have a hit rate of its own."""
    fast = replace(fast, latency=0.0)
    b_star = critical_batch(slow.hit, slow.tokens, fast.tokens, slow.latency)
    assume(abs(b_star - round(b_star)) > 1e-6 if math.isfinite(b_star) else True)
    policy, most = Threshold(slow, fast), 300
    expected = None if b_star > most else max(1, math.ceil(b_star))
    assert policy.critical_batch(most) == expected


@given(FIGURES, FIGURES, st.floats(0, 2), st.integers(1, 40))
def test_the_backup_chosen_is_the_faster_one(slow, fast, fill, batch):
    speeds = [
        batch_speed(f.hit, f.tokens_hit, f.tokens_miss, fill, f.latency, batch)
        for f in (slow, fast)
    ]
    assume(abs(speeds[0] - speeds[1]) > 1e-9)
    chosen = Threshold(slow, fast, fill).backup_for(batch)
    assert chosen == ("draft" if speeds[0] > speeds[1] else "uniform")


@given(FIGURES, FIGURES, st.floats(0, 2))
def test_from_the_critical_batch_on_the_fast_one_is_chosen(slow, fast, fill):
    policy, most = Threshold(slow, fast, fill), 60
    chosen = [policy.fast_is_better(b) for b in range(1, most + 1)]
    start = policy.critical_batch(most)
    if start is None:
        assert not chosen[-1]
    else:
        assert all(chosen[start - 1 :])
        assert start == 1 or not chosen[start - 2]


def test_the_fast_backup_may_be_better_at_both_ends():
    """Longer rounds win at b = 1; then nearly all its rounds stall, and the other's do not yet."""
    slow = BackupFigures(hit=0.97, tokens_hit=3, tokens_miss=3, latency=0.6)
    fast = BackupFigures(hit=0.2, tokens_hit=3.69, tokens_miss=3.69, latency=0.3)
    policy = Threshold(slow, fast)
    assert [policy.fast_is_better(b) for b in (1, 2, 3, 4)] == [True, False, False, True]
    assert policy.critical_batch() == 4


def test_a_round_in_which_all_hit_lasts_as_long_as_the_filling():
    """Two rows that hit with chance .5: a quarter of the rounds take 2, the others 1.5."""
    figures = BackupFigures(0.5, 4, 2, 0.5)
    assert figures.round_time(batch=2, fill=2.0) == 0.25 * 2 + 0.75 * 1.5
    assert figures.round_time(batch=2, fill=0.5) == 0.25 * 1 + 0.75 * 1.5


@given(FIGURES, st.floats(0, 2), st.integers(1, 6))
def test_the_time_of_a_round_is_the_mean_over_who_hits(figures, fill, batch):
    """All 2^b cases: who misses makes all wait, and its filling is broken off."""
    mean = 0.0
    for hits in product((True, False), repeat=batch):
        chance = math.prod(figures.hit if hit else 1 - figures.hit for hit in hits)
        mean += chance * (max(1, fill) if all(hits) else 1 + figures.latency)
    assert figures.round_time(batch, fill) == pytest.approx(mean, abs=1e-12)


def test_among_equals_the_fast_backup_is_chosen():
    figures = BackupFigures(0.5, 4, 2, 0.5)
    assert Threshold(figures, figures).backup_for(1) == "uniform"


def test_fast_always_and_never():
    better = Threshold(BackupFigures(0.8, 4, 2, 0.3), BackupFigures(0.8, 4, 2, 0.0))
    assert better.critical_batch() == 1
    assert critical_batch(0.8, better.slow.tokens, better.fast.tokens, 0.3) == 0
    never = Threshold(BackupFigures(0.5, 4, 4, 0.1), BackupFigures(0.5, 4, 1, 0.0))
    assert never.critical_batch() is None
    assert never.backup_for(4096) == "draft"


def test_hit_rates_of_none_and_of_all():
    """Who never hits always waits; who always hits never does, and then the tokens decide."""
    for hit, expected in ((0.0, [1, None]), (1.0, [1, 1])):
        fast = BackupFigures(hit, 3, 1, 0)
        slow = [BackupFigures(hit, 3, miss, 0.5) for miss in (1, 3)]
        assert [Threshold(s, fast).critical_batch() for s in slow] == expected
    assert BackupFigures(1.0, 3, 1, 0.5).round_time(10**6, 1.0) == 1
    assert BackupFigures(0.0, 3, 1, 0.5).round_time(1, 1.0) == 1.5


def test_a_fast_backup_that_takes_time_pays_off_later():
    free = example(0.9, 0.3)
    dear = replace(free, fast=replace(free.fast, latency=0.1))
    assert (free.critical_batch(), dear.critical_batch()) == (3, 6)  # ln(1 - .3/.71) / ln .9 = 5.2


def test_the_chosen_backup_can_be_handed_to_the_decoder():
    lookup = PromptLookup(5)
    policy = replace(example(0.9, 0.3), fast_backup=lookup)
    assert policy.backup_for(1) == "draft"
    assert policy.backup_for(64) is lookup


def test_b_is_sensitive_to_the_fast_backups_tokens():
    table = example(0.9, 0.3).sensitivity(0.05)
    assert len(table) == 8
    assert table["fast.tokens_hit"] == (6, 2)
    assert table["slow.tokens_miss"] == (3, 4)
    assert table["slow.latency"] == (4, 3)


def test_a_changed_quantity_stays_within_its_range():
    """A hit rate of .9 by 20 % is 1, and 1 token is the least: as with those numbers."""
    policy = example(0.9, 0.3)
    table = policy.sensitivity(0.2)
    sure = replace(policy, fast=replace(policy.fast, hit=1.0))
    assert table["fast.hit"][1] == sure.critical_batch()
    assert table["fast.tokens_miss"][0] == policy.critical_batch()


def record(served_by, emitted):
    return RoundRecord(1, served_by, 4, emitted - 1, 0, emitted, 0)


def test_figures_from_records():
    rounds = [record("first", 5), record("cache", 5), record("cache", 2), record("backup", 1)]
    rounds += [record("cache", 2)]
    assert BackupFigures.of(rounds, latency=0.4) == BackupFigures(0.75, 3.0, 1.0, 0.4)
    with pytest.raises(ValueError, match=r"some by the backup, got 1 and 0"):
        BackupFigures.of(rounds[:2], latency=0.4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: BackupFigures(1.1, 4, 1, 0), "hit: expected a finite number in [0, 1], got 1.1"),
        (lambda: BackupFigures(0.5, 0.5, 1, 0), "tokens_hit: expected a finite number >= 1, got"),
        (lambda: BackupFigures(0.5, 4, 1, -1), "latency: expected a finite number >= 0, got -1"),
        (lambda: BackupFigures(0.5, 4, math.inf, 0), "tokens_miss: expected a finite number >= 1"),
        (lambda: replace(example(0.9, 0.3), fill=-1), "fill: expected a finite number >= 0"),
        (
            lambda: replace(example(0.9, 0.3), slow_backup="1B"),
            "slow_backup: expected one of ('dra",
        ),
        (
            lambda: replace(example(0.9, 0.3), fast_backup=None),
            "fast_backup: expected one of ('dra",
        ),
        (lambda: example(0.9, 0.3).backup_for(0), "batch: expected an integer >= 1, got 0"),
        (lambda: example(0.9, 0.3).critical_batch(0), "most: expected an integer >= 1, got 0"),
        (lambda: example(0.9, 0.3).sensitivity(1.0), "change: expected a number in (0, 1)"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError) as error:
        call()
    assert str(error.value).startswith(message)
