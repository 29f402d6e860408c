"""Serving: small runs by hand, and the laws of queues."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from sim.clock import Limit
from sim.costs import Linear, Link, Times
from sim.intervals import replicated
from sim.laws import Acceptance, Rates, Text
from sim.queueing import Demand, mean_level
from sim.rounds import Rules
from sim.scenario import Scenario
from sim.serving import serve
from sim.simulate import simulate
from sim.theory import mean_wait

ALL, NONE = Acceptance((1.0,), iid=True), Acceptance((0.0,), iid=True)


def scenario(acceptance=NONE, hit=1.0, batch=8, lookahead=1, **changes):
    """Verification 10 ms, draft steps 2 ms, prefill 5 and 3 ms."""
    times = Times(Linear(10.0), Linear(2.0), target_prefill_ms=5.0, draft_prefill_ms=3.0)
    text = Text.simple(acceptance, Rates(hit, hit))
    plain = Scenario(text, times, lookahead, (1,) * (lookahead + 1), batch=batch,
                     sd_extra_step=False)  # fmt: skip
    return plain.with_(**changes)


@dataclass(frozen=True)
class Script(Demand):
    """Requests (arrival in ms, tokens) as given."""

    script: tuple[tuple[float, int], ...] = ()

    def gaps_ns(self, seed):
        times = [round(at * 1e6) for at, _ in self.script]
        yield from (b - a for a, b in zip([0, *times], times, strict=False))

    def sizes(self, seed):
        yield from (tokens for _, tokens in self.script)
        yield from iter(lambda: 1, None)


def script(method, *requests, case=None, **more):
    """Path and blocks of each request, in ms."""
    demand = Script(len(requests), 1e-3, warm_up=0.0, script=requests)
    found, run = serve(case or scenario(), method, demand, keep_log=True, **more)
    path = [(x.kind, x.begin_ns / 1e6, x.end_ns / 1e6) for x in run.log if x.lane == "path"]
    return found, path


def test_ar_a_request_joins_between_rounds_and_its_prefill_stalls_the_batch():
    found, path = script("ar", (0, 3), (12, 1))
    assert path == [
        ("prefill", 0, 5), ("verification", 5, 15), ("prefill", 15, 20),
        ("verification", 20, 30), ("verification", 30, 40),
    ]  # fmt: skip
    assert found.ttft_ms == pytest.approx(np.percentile([15, 30 - 12], [50, 99]))
    assert found.tpot_ms == pytest.approx(((40 - 15) / 2,) * 2)
    assert found.gap_ms == pytest.approx(np.percentile([15, 10], [50, 99]))
    assert found.in_system == pytest.approx((12 + 18 * 2 + 10) / 40)
    assert found.tokens_per_s == pytest.approx(1e3 * 4 / 40)


def test_sd_prefills_target_and_draft_one_after_the_other():
    _, path = script("sd", (0, 2))
    assert path == [
        ("prefill", 0, 8), ("drafting", 8, 10), ("verification", 10, 20), ("drafting", 20, 22),
        ("verification", 22, 32),
    ]  # fmt: skip


def test_ssd_a_new_row_stalls_the_batch_as_a_miss_would():
    """Everything hits; the second request's first round has no cache."""
    _, path = script("ssd", (0, 3), (12, 1))
    assert path == [
        ("prefill", 0, 5), ("miss", 5, 7), ("verification", 7, 17), ("prefill", 17, 22),
        ("miss", 22, 24), ("verification", 24, 34), ("verification", 34, 44),
    ]  # fmt: skip


def test_ssd_filling_runs_beside_verification_and_may_overflow():
    slow = Times(Linear(10.0), Linear(2.0), tree=Linear(11.0))  # glue 2 and tree 11: 13
    _, path = script("ssd", (0, 2), case=scenario(times=slow))
    assert path == [
        ("miss", 0, 2), ("verification", 2, 12), ("overflow", 12, 15), ("verification", 15, 25),
    ]  # fmt: skip
    for abort, end in [("never", 15 + 2 + 10), ("instant", 12 + 2 + 10)]:
        missed = scenario(times=slow, hit=0.0, rules=Rules(abort))
        assert script("ssd", (0, 2), case=missed)[1][-1] == ("verification", end - 10, end)


def test_a_block_is_cut_at_the_last_token():
    found, path = script("sd", (0, 3), case=scenario(ALL, lookahead=4))
    assert path[-1] == ("verification", 16, 26)
    assert found.tokens_per_s == pytest.approx(1e3 * 3 / 26)


def test_a_slower_verifier_can_bring_a_first_token_sooner():
    """A surprise: the round that ends at 11 lets in who arrived at 10.5, the one of 10 does not."""
    plain = Times(Linear(10.0), Linear(2.0))
    at = {}
    for verify in (10.0, 11.0):
        times = Times(Linear(verify), Linear(2.0))
        demand = Script(2, 1e-3, warm_up=0.0, script=((0, 9), (10.5, 1)))
        found, _ = serve(scenario(times=times), "ar", demand)
        at[verify] = found
    assert plain.target.ms(1) == 10
    late, soon = at[10.0].ttft_ms, at[11.0].ttft_ms
    assert max(late) > max(soon)


def test_who_arrives_as_a_round_ends_joins_the_next():
    _, path = script("ar", (0, 2), (15, 1))
    assert ("prefill", 15, 20) in path


RULES = [
    Rules("never"), Rules("never", "wait", True), Rules("step"), Rules("step", "fallback"),
    Rules("instant"), Rules("instant", "fallback"), Rules("step", "fallback", True),
]  # fmt: skip


@pytest.mark.parametrize("rules", RULES, ids=str)
@pytest.mark.parametrize("kind", ["draft", "instant", "threshold"])
@pytest.mark.parametrize("seed", range(3))
def test_one_request_alone_is_the_core_path_by_path(rules, kind, seed):
    """Served or simulated, a text of 150 tokens has the same devices' logs, to the nanosecond."""
    rng = np.random.default_rng(seed)
    ms = [round(x, 6) for x in rng.uniform(0.1, 4, 6)]
    times = Times(Linear(10.0), Linear(ms[0]), glue=Linear(ms[1]), tree=Linear(ms[2], 0.01),
                  service_ms=ms[3], handshake_ms=ms[4], store_ms=ms[5])  # fmt: skip
    text = Text.simple(Acceptance((0.7,), iid=True), Rates(0.8, 0.6), Acceptance((0.4,), iid=True))
    more = {"draft": {}, "instant": {"backup": "instant"}, "threshold": {"fast_from": 1}}[kind]
    case = scenario(
        batch=1, times=times, text=text, rules=rules, link=Link(70.0, 1.0, greedy=False),
        lookahead=3, fan_out=(2, 1, 1, 3), fan_out_miss=(9, 0, 0, 0), **more,
    )  # fmt: skip
    _, served = serve(case, "ssd", Demand(1, concurrency=1, tokens=150, warm_up=0.0), seed=seed,
                      keep_log=True)  # fmt: skip
    core = simulate("ssd", case.workload("ssd", seed * 1_000_003), case.work(seed),
                    Limit(tokens=150), rules, keep_log=True)  # fmt: skip
    assert served.env.now == core.env.now
    assert served.rounds == core.rounds > 40
    for lane in ("target", "draft"):
        assert same_kinds(served.log, lane) == same_kinds(core.log, lane)
    assert served.aborted_rows == core.aborted_rows


def same_kinds(log, lane):
    return [x[1:] for x in log if x.lane == lane]


def test_the_threshold_asks_the_fast_backup_only_in_large_batches():
    """Nothing hits. Alone a miss costs a draft step of 2 ms; two at once are at the threshold."""
    case = scenario(hit=0.0, fast_from=2)
    assert script("ssd", (0, 3), case=case)[1] == [
        ("prefill", 0, 5), ("miss", 5, 7), ("verification", 7, 17), ("miss", 17, 19),
        ("verification", 19, 29), ("miss", 29, 31), ("verification", 31, 41),
    ]  # fmt: skip
    assert script("ssd", (0, 3), (0, 3), case=case)[1] == [
        ("prefill", 0, 10), ("miss", 10, 12), ("verification", 12, 22),
        ("verification", 22, 32), ("verification", 32, 42),
    ]  # fmt: skip


def test_a_fast_backup_has_its_own_acceptance():
    """All drafts of the draft pass, none of the fast one's: 4, then 1 token a round."""
    text = Text.simple(ALL, Rates(0.0, 0.0))
    case = scenario(text=text, lookahead=3, batch=2, fast_from=2)
    report = case.run("ssd", Limit(rounds=50))
    assert (report.tokens_per_round, report.tokens_miss) == (1, 1)
    assert case.with_(batch=1).run("ssd", Limit(rounds=50)).tokens_per_round == 4
    assert case.derived().tokens == 1
    assert report.draft_rows.useful == 2 * 3  # the first round's; the fast backup's cost nothing
    demand = Demand(2, concurrency=2, tokens=10, warm_up=0.0)
    _, run = serve(case, "ssd", demand)
    assert run.rounds == 1 + 6  # both have 4 tokens, then 1 a round


def test_a_late_hit_falls_back_in_serving_too():
    slow = Times(Linear(10.0), Linear(2.0), tree=Linear(11.0))  # filling 13, verification 10
    waiting = scenario(times=slow, rules=Rules("instant"))
    falling = scenario(times=slow, rules=Rules("instant", "fallback"))
    assert script("ssd", (0, 2), case=waiting)[1][-2:] == [
        ("overflow", 12, 15), ("verification", 15, 25),
    ]  # fmt: skip
    assert script("ssd", (0, 2), case=falling)[1][-2:] == [
        ("miss", 12, 14), ("verification", 14, 24),
    ]  # fmt: skip


def test_kv_room_is_reserved_for_whole_rounds():
    """12 positions, K = 3, one token each: 3 at once, not 12 / 2.5 = 4."""
    case = scenario(lookahead=3)
    demand = Demand(30, concurrency=8, tokens=1, warm_up=0.0)
    assert serve(case, "ssd", demand, kv_positions=12)[0].mean_batch == 3
    assert serve(case, "ar", demand, kv_positions=12)[0].mean_batch == 8
    longer = Demand(30, concurrency=8, tokens=5, prompt=3, warm_up=0.0)
    assert serve(case, "ssd", longer, kv_positions=23)[0].mean_batch == 2  # 3 + 4 + 4 each


@pytest.mark.parametrize("method", ["ar", "sd", "ssd"])
def test_a_closed_loop_saturates_at_b_rows_a_round(method):
    times = Times(Linear(10.0), Linear(0.0))
    case = scenario(ALL, batch=4, times=times, lookahead=2)
    found, _ = serve(case, method, Demand(80, concurrency=9, tokens=12))
    assert found.mean_batch == pytest.approx(4, abs=0.1)
    assert found.in_system == pytest.approx(9)
    per_round = {"ar": 1, "sd": 3, "ssd": 3}[method]
    assert found.tokens_per_s == pytest.approx(1e3 * 4 * per_round / 10)


@pytest.mark.parametrize("method", ["ar", "sd", "ssd"])
def test_littles_law(method):
    """Requests in the system = arrivals a second x time in the system, up to the window's ends."""
    case = scenario(Acceptance((0.7,), iid=True), hit=0.8, batch=4, lookahead=3)
    found, _ = serve(case, method, Demand(800, arrivals_per_s=4.0, tokens=20, lengths="geometric"))
    expected = found.requests_per_s * found.sojourn_ms / 1e3
    assert found.in_system == pytest.approx(expected, rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize(("lengths", "second"), [("fixed", 100), ("geometric", 190)])
def test_one_at_a_time_is_m_d_1_and_m_g_1(lengths, second):
    """AR, 10 tokens of 10 ms: service .1 s, E n^2 100 or 2 x 100 - 10; load .6."""
    case = scenario(batch=1, times=Times(Linear(10.0), Linear(1.0)))
    demand = Demand(1200, arrivals_per_s=6.0, tokens=10, lengths=lengths)
    sojourns = replicated([serve(case, "ar", demand, seed=s)[0].sojourn_ms for s in range(6)])
    expected = 100 + 1e3 * mean_wait(6.0, 0.1, second * 1e-4)
    assert abs(sojourns.value - expected) < 5 * sojourns.half_width / 2.57


def test_the_same_seed_serves_alike_and_texts_do_not_depend_on_the_batch():
    case = scenario(Acceptance((0.7,), iid=True), hit=0.8, lookahead=3)
    demand = Demand(40, arrivals_per_s=5.0, tokens=30)
    first, run = serve(case, "ssd", demand, seed=3, keep_log=True)
    again, other = serve(case, "ssd", demand, seed=3, keep_log=True)
    assert (first, run.log) == (again, other.log)
    assert serve(case, "ssd", demand, seed=4)[0] != first


def test_mean_level_by_hand():
    steps = [(0, 0), (2, 1), (5, 3), (8, 2)]
    assert mean_level(steps, 0, 10) == (3 * 1 + 3 * 3 + 2 * 2) / 10
    assert mean_level(steps, 4, 6) == (1 * 1 + 1 * 3) / 2


def test_replications():
    rate = replicated([1.0, 2.0, 3.0])
    assert (rate.value, rate.half_width) == (2.0, pytest.approx(4.3027 / 3**0.5, rel=1e-4))
    assert replicated([1.0, 2.0]).half_width is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Demand(5), "expected one of arrivals_per_s and concurrency, got None and None"),
        (lambda: Demand(5, 1.0, 2), "expected one of arrivals_per_s and concurrency, got 1.0"),
        (lambda: Demand(0, 1.0), "requests: expected an integer >= 1, got 0"),
        (lambda: Demand(5, -1.0), "arrivals_per_s: expected a finite number >= 0"),
        (lambda: Demand(5, 1.0, tokens=0), "tokens: expected an integer >= 1, got 0"),
        (lambda: Demand(5, 1.0, lengths="long"), "lengths: expected one of fixed, geometric"),
        (lambda: Demand(5, 1.0, warm_up=1.0), "warm_up: expected a share below 1, got 1.0"),
        (
            lambda: serve(scenario(batch=1), "ar", Demand(50, arrivals_per_s=11.0, tokens=10)),
            "arrivals_per_s: expected at most 9.33, 0.98 of the capacity of ar here, got 11.0",
        ),
        (
            lambda: serve(scenario(), "ar", Demand(5, concurrency=1, tokens=9), kv_positions=8),
            "kv_positions: expected at least 9 for request 0, got 8",
        ),
        (
            lambda: serve(scenario(lookahead=0), "ssd", Demand(5, concurrency=1)),
            "lookahead: expected at least 1 for SSD (K = 0 is AR), got 0",
        ),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError) as error:
        call()
    assert message in str(error.value)


def test_who_arrives_as_a_round_ends_joins_whatever_was_scheduled_first():
    """The third comes at 15, on a timer set at 12: after the end of the round that began at 5."""
    _, path = script("ar", (0, 3), (12, 1), (15, 1))
    assert path[:3] == [("prefill", 0, 5), ("verification", 5, 15), ("prefill", 15, 25)]


def test_rows_that_hit_fall_back_too_when_the_filling_is_given_up():
    """Two rows, acceptance 1, of the backup 0: each round gives 4 tokens, or 2 after a stall."""
    slow = Times(Linear(10.0), Linear(2.0), tree=Linear(11.0))
    text = Text.simple(ALL, Rates(0.5, 0.5), NONE)
    case = scenario(text=text, times=slow, batch=2, rules=Rules("instant"))
    demand = Demand(1, concurrency=2, tokens=120, warm_up=0.0)
    _, run = serve(case, "ssd", demand, keep_log=True)
    stalls = sum(x.lane == "path" and x.kind == "miss" for x in run.log) - 1  # the first is cold
    assert 10 < stalls < run.rounds - 10
    expected = 4 * (run.rounds - stalls) + 2 * stalls
    assert 0 <= expected - run.tokens <= 2  # the last blocks may be cut
