"""Simulated rates equal the closed forms where their assumptions hold; derandomised, |z| < 5."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sim.clock import Limit
from sim.costs import Linear, Link, Times
from sim.intervals import BatchMeans, Rate, student_95
from sim.laws import Acceptance, Context, Curve, Rates, Text
from sim.rounds import Rules
from sim.scenario import Scenario
from sim.theory import batch_speed, own_draft_ratio, sd_speed, ssd_speed
from sim.workloads import Drawn

pytestmark = pytest.mark.slow  # left out of the everyday run

TEXT = Text.simple(Acceptance((0.8,), iid=True), Curve(0.5, 0.8))


def scenario(**changes):
    """Verification 1 ms, so that tokens per ms are tokens per verification time."""
    plain = Scenario(TEXT, Times(Linear(1.0), Linear(0.1)), 4, (3,) * 5, sd_extra_step=False)
    return plain.with_(**changes)


def z_score(rate, expected):
    """Distance of a simulated rate from the closed form, in standard errors."""
    assert rate.half_width is not None
    if rate.half_width < 1e-9 * expected:  # a deterministic case
        return 0.0 if math.isclose(rate.value, expected, rel_tol=1e-9) else math.inf
    return (rate.value - expected) / (rate.half_width / 1.96)


def random_case(seed):
    """A scenario and the parameters of its closed form, T_p and T_b in verifications."""
    rng = np.random.default_rng(seed)
    lookahead = int(rng.integers(1, 7))
    step, tree, latency = rng.uniform(0.02, 0.4), rng.uniform(0.02, 0.4), rng.uniform(0, 0.3)
    hazards = tuple(rng.uniform(0.2, 0.95, lookahead).tolist())
    if seed % 2:
        hits = Rates(*rng.uniform(0.1, 0.95, 2).tolist())
    else:
        hits = Curve(rng.uniform(0.2, 0.9), rng.uniform(0.3, 1.5))
    text = Text.simple(Acceptance(hazards), hits)
    if seed % 3 == 0:
        hard = Context(Acceptance(tuple(h / 2 for h in hazards)), Rates(0.4, 0.2), None, 0.8)
        text = Text((Context(Acceptance(hazards), hits, None, 0.9), hard))
    fan_out = tuple(rng.integers(0, 5, lookahead + 1).tolist())
    fan_out = fan_out if sum(fan_out) else (1,) * (lookahead + 1)
    step, tree, latency = (round(x, 6) for x in (step, tree, latency))
    times = Times(Linear(1.0), Linear(step), glue=Linear(tree), tree=Linear(tree))
    link = Link(latency_us=latency * 1000)
    abort = ("never", "instant")[seed % 4 > 1]
    case = Scenario(text, times, lookahead, fan_out, sd_extra_step=False,
                    rules=Rules(abort, "wait", seed % 5 == 0), link=link)  # fmt: skip
    return case, (lookahead + 1) * tree, lookahead * step, latency


@pytest.mark.parametrize("seed", range(24))
def test_thm_7_for_random_parameters(seed):
    """Both miss conventions, with a link, one-state and two-state hits, with hidden contexts."""
    case, t_p, t_b, latency = random_case(seed)
    derived = case.derived()
    expected = ssd_speed(
        derived.hit, derived.tokens_hit, derived.tokens_miss, t_p, t_b,
        abort=case.rules.abort == "instant", latency=latency,
        sending_occupies_draft=case.rules.sending_occupies_draft,
    )  # fmt: skip
    report = case.run("ssd", Limit(rounds=3000), seed)
    assert abs(z_score(report.tokens_per_s, expected * 1e3)) < 5
    sd = case.run("sd", Limit(rounds=3000), seed)
    assert abs(z_score(sd.tokens_per_s, sd_speed(derived.tokens_sd, t_b) * 1e3)) < 5
    ar = case.run("ar", Limit(rounds=200), seed)
    assert ar.tokens_per_s.value == pytest.approx(1e3)


@pytest.mark.parametrize("batch", [1, 2, 5])
def test_cor_16_batches_in_lock_step(batch):
    """Independent rows, constant times, `instant`: one miss stalls all."""
    text = Text.simple(Acceptance((0.8,), iid=True), Rates(0.85, 0.85))
    case = scenario(text=text, batch=batch, rules=Rules("instant"))
    derived = case.derived()
    expected = batch * batch_speed(0.85, derived.tokens_hit, derived.tokens_miss, 0.5, 0.4, batch)
    assert abs(z_score(case.run("ssd", Limit(rounds=3000), 7).tokens_per_s, expected * 1e3)) < 5


def test_a_late_hit_that_falls_back_is_a_miss_whatever_the_cache_would_have_held():
    times = Times(Linear(1.0), Linear(0.1), tree=Linear(0.3))  # T_p = 1.3
    rules = Rules("instant", "fallback")
    report = scenario(times=times, rules=rules).run("ssd", Limit(rounds=500))
    assert report.hit_rate == 0
    assert report.round_ms == pytest.approx(1.4)


def test_jitter_costs_what_the_mean_of_a_maximum_says():
    """V = P, cv .1 each: E max = 1 + .1/sqrt(pi), not 1; log-normal, so to .005."""
    times = Times(Linear(1.0), Linear(0.0), glue=Linear(1.0), tree=Linear(0.0), jitter=0.1)
    text = Text.simple(Acceptance((0.8,), iid=True), Rates(1.0, 1.0))
    report = scenario(times=times, text=text).run("ssd", Limit(rounds=20_000))
    assert report.round_ms == pytest.approx(1 + 0.1 / math.sqrt(math.pi), abs=0.005)


@pytest.mark.slow
def test_intervals_cover_the_closed_form():
    """95 % intervals of 200 seeds, where a miss makes the next miss likelier."""
    text = Text.simple(Acceptance((0.7,), iid=True), Rates(0.9, 0.5))
    case = Scenario(text, Times(Linear(1.0), Linear(0.3)), 2, (1,) * 3, rules=Rules("never"))
    derived = case.derived()
    expected = 1e3 * ssd_speed(
        derived.hit, derived.tokens_hit, derived.tokens_miss, 0.9, 0.6, abort=False
    )
    rates = [case.run("ssd", Limit(rounds=700), seed).tokens_per_s for seed in range(200)]
    covered = sum(abs(rate.value - expected) <= rate.half_width for rate in rates)
    assert 180 <= covered <= 198


@pytest.mark.parametrize("seed", range(8))
def test_speedups_have_the_interval_of_a_quotient(seed):
    """Cor. 8, own draft: the ratio is known; what SD and SSD share makes its interval narrow."""
    text = Text.simple(Acceptance((0.8,), iid=True), Rates(0.7, 0.7))
    times = Times(Linear(1.0), Linear(0.15), glue=Linear(0.0))  # T_p = T_SD = T_b = .6
    case = scenario(text=text, times=times, rules=Rules("instant"))
    ssd, sd = (case.run(m, Limit(rounds=3000), seed) for m in ("ssd", "sd"))
    ratio = ssd.over(sd)
    assert ratio.value == pytest.approx(ssd.tokens_per_s.value / sd.tokens_per_s.value)
    assert abs(z_score(ratio, own_draft_ratio(0.7, 0.6))) < 5
    apart = sum(r.tokens_per_s.half_width / r.tokens_per_s.value for r in (ssd, sd))
    assert ratio.half_width / ratio.value < 0.5 * apart
    assert str(ssd.over(ssd)) == "1 ± 0"


def test_quotients_need_as_many_rounds_in_both():
    short, long = (scenario().run("sd", Limit(rounds=n)) for n in (200, 300))
    with pytest.raises(ValueError, match="expected as many rounds in both, got 199, 299"):
        short.over(long)
    both = [scenario().run("sd", Limit(rounds=90), seed) for seed in (0, 1)]
    assert both[0].over(both[1]).half_width is None  # marked as too short


@pytest.mark.parametrize(
    ("rate", "text"),
    [
        (Rate(290.4321, 6.84, 500), "290.4 ± 6.8"), (Rate(1391.2, 24.4, 500), "1391 ± 24"),
        (Rate(1.5834, 0.0461, 500), "1.583 ± 0.046"), (Rate(66.06, 1e-15, 500), "66.06 ± 0"),
        (Rate(5.0, None, 9), "5 (too short)"), (Rate(12345.0, 432.0, 9), "12345 ± 432"),
    ],
)  # fmt: skip
def test_a_rate_is_written_to_the_place_that_its_interval_reaches(rate, text):
    assert str(rate) == text


def test_batch_means_hold_few_numbers_and_lose_none():
    means, rng = BatchMeans(), np.random.default_rng(0)
    gains, costs = rng.integers(1, 9, 10_000), rng.integers(5, 9, 10_000)
    for gain, cost in zip(gains.tolist(), costs.tolist(), strict=True):
        means.add(gain, cost)
    assert 32 <= len(means.sums) < 64
    rate = means.rate()
    assert (rate.value, rate.rounds) == (gains.sum() / costs.sum(), 10_000)
    error = 1.96 * np.std(gains - rate.value * costs) / np.mean(costs) / 100
    assert rate.half_width == pytest.approx(error, rel=0.4)


@pytest.mark.parametrize(("degrees", "point"), [(20, 2.0860), (31, 2.0395), (62, 1.9990)])
def test_students_t(degrees, point):
    """Points from printed tables."""
    assert student_95(degrees) == pytest.approx(point, abs=1e-3)


def test_too_short_a_run_is_marked():
    short = scenario().run("ssd", Limit(rounds=100)).tokens_per_s
    assert short.half_width is None
    assert str(short).endswith(" (too short)")
    assert scenario().run("ssd", Limit(rounds=140)).tokens_per_s.half_width is not None


def test_large_batches_draw_a_few_rounds_ahead_and_no_more():
    """A million rows: the first block holds one round, not sixteen; its numbers are the same."""
    few, many = Drawn(TEXT, 4, 3, rows=3), Drawn(TEXT, 4, 3, rows=2000)
    block = np.random.Generator(np.random.Philox(3)).random((5, 2000, 3))
    for size in block:
        k = np.searchsorted(np.cumsum(TEXT.contexts[0].acceptance.weights(4)[:-1]), size[:, 0],
                            side="right")  # fmt: skip
        assert many.next().accepted == k.sum()
    assert len(next(many.uniforms)) == 2000
    assert many.uniforms.gi_frame.f_locals["size"] == 1
    assert few.next().rows == 3


def accepted(workload, rounds=300):
    return [workload.next().accepted for _ in range(rounds)]


def test_sd_and_ssd_see_the_same_outcomes_for_one_seed():
    case = random_case(3)[0].with_(batch=3)
    assert accepted(case.workload("sd", 5)) == accepted(case.workload("ssd", 5))
    assert accepted(case.workload("sd", 5)) != accepted(case.workload("sd", 6))


def test_a_weak_backup_shows_only_in_ssd():
    text = Text.simple(Acceptance((1.0,), iid=True), Rates(0.0, 0.0), Acceptance((0.0,), iid=True))
    assert set(accepted(Drawn(text, 3, 0))) == {3}
    assert accepted(Drawn(text, 3, 0, fan_out=(1,) * 4), 4) == [3, 0, 0, 0]


def test_same_seed_same_log():
    case = scenario(times=Times(Linear(1.0), Linear(0.1), jitter=0.2), rules=Rules("step"))
    first, again, other = (
        case.run("ssd", Limit(rounds=40), seed, keep_log=True).log for seed in (3, 3, 4)
    )
    assert first == again
    assert first != other


def test_k_0_makes_sd_ar():
    case = scenario(sd_lookahead=0)
    sd, ar = (case.run(m, Limit(rounds=200), keep_log=True) for m in ("sd", "ar"))
    assert sd.log == ar.log
    assert (sd.tokens, sd.draft_rows.total) == (200, 0)


def test_ssd_with_k_0_is_refused():
    with pytest.raises(ValueError, match=r"lookahead: expected at least 1 for SSD .* got 0"):
        scenario(lookahead=0, fan_out=(1,)).run("ssd", Limit(rounds=1))
