"""Reports: every millisecond has one cause, every forward one fate, every cost its place."""

from __future__ import annotations

import pytest
from sim_script import ScriptedCosts

from sim.benchmark import peak_kilobytes
from sim.clock import Limit
from sim.costs import CHIPS, Linear, Link, Roofline, Times
from sim.laws import Acceptance, Curve, Rates, Text
from sim.presets import PRESETS, preset
from sim.report import CAUSES, Machines, Rows
from sim.rounds import Round, Rules
from sim.scenario import Scenario
from sim.simulate import simulate
from sim.whatif import IDEALS, MEANING, everything, whatif
from sim.work import Work

TEXT = Text.simple(Acceptance((0.8,), iid=True), Curve(0.5, 0.8))
TIMES = Times(
    Linear(9.0, 0.1), Linear(1.5, 0.01), service_ms=0.3, handshake_ms=0.2, store_ms=0.1,
    target_prefill_ms=20, draft_prefill_ms=30, jitter=0.05,
)  # fmt: skip
RULES = [Rules("never"), Rules("step"), Rules("instant", "fallback"), Rules("step", "wait", True)]


def scenario(**changes):
    plain = Scenario(TEXT, TIMES, 6, (3,) * 7, link=Link(400.0), machines=Machines(4, 1, 70, 1.5))
    return plain.with_(**changes)


@pytest.mark.parametrize("rules", RULES, ids=str)
@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("method", ["ar", "sd", "ssd"])
def test_causes_sum_to_the_makespan_and_rows_to_the_log(method, batch, rules):
    report = scenario(rules=rules, batch=batch).run(method, Limit(rounds=60), 1, keep_log=True)
    assert set(report.causes_ms) <= set(CAUSES)
    assert sum(report.causes_ms.values()) == pytest.approx(report.makespan_ms, rel=1e-12)
    path = [x for x in report.log if x.lane == "path"]
    assert {x.kind for x in path} <= set(CAUSES)
    for name, share in report.utilisation.items():
        idle = sum(
            x.end_ns - x.begin_ns for x in report.log
            if x.lane == name and x.kind in ("idle", "handshake", "send")
        )  # fmt: skip
        assert share == pytest.approx(1 - idle / 1e6 / report.makespan_ms)
        assert 0 <= share <= 1
    rows = sum(x.rows for x in report.log)
    assert report.target_rows.total + report.draft_rows.total == rows
    assert min(vars(report.target_rows).values()) >= 0
    assert min(vars(report.draft_rows).values()) >= 0
    assert report.target_rows.useful == report.tokens
    assert sum(report.flops_by_fate.values()) == pytest.approx(report.flops)
    if method == "ssd":
        assert report.hits.value == pytest.approx(report.hit_rate)


@pytest.mark.parametrize("method", ["ar", "sd", "ssd"])
def test_tokens_are_conserved(method):
    rounds = []
    case = scenario(batch=2)
    work, workload = case.work(0), case.workload(method, 0)
    run = simulate(method, workload, work, Limit(tokens=200), case.rules, False,
                   lambda round, _: rounds.append(round))  # fmt: skip
    assert run.tokens == sum(r.emitted for r in rounds) == sum(r.accepted + r.rows for r in rounds)
    assert 200 <= run.tokens < 200 + rounds[-1].emitted
    assert [r.number for r in rounds] == list(range(1, run.rounds + 1))


def test_what_became_of_each_forward():
    """K=2, F=2 everywhere: a round of glue 3 and tree 2 x 6; all accepted, hit, miss by turns."""

    class Alternating:
        number = 0

        def next(self, fell_back=False):
            self.number += 1
            miss, backup = self.number % 2 == 0, self.number > 1 and self.number % 2 == 1
            return Round(self.number, 2, 1, 2, miss, backup, emitted_backup=2 * backup)

    times = Times(Linear(10.0), Linear(1.0))
    case = Scenario(TEXT, times, 2, (2,) * 3, machines=Machines(1, 1, 10, 1))
    report = case.run("ssd", Limit(rounds=4), workload=Alternating())
    # Round 1 cold, 2 hit, 3 backup, 4 hit: drafted 2 + 2 + 2 + 2, one of each two accepted.
    assert report.target_rows == Rows(useful=8, rejected=4)
    assert report.draft_rows == Rows(
        useful=4, rejected=4, unused=4 * 12 - 4, aborted=0, upkeep=4 * 3
    )
    assert report.hit_rate == pytest.approx(2 / 3)
    assert (report.tokens_hit, report.tokens_miss) == (2, 2)
    forwards = 2 + 2 + 4 * 15  # cold, backup, four fillings
    assert report.parameter_tokens == pytest.approx((12 * 10 + forwards * 1) / 8)
    assert report.flops == 2 * report.parameter_tokens
    assert report.flops_by_fate == pytest.approx({
        "useful": 2 * (8 * 10 + 4) / 8, "rejected": 2 * (4 * 10 + 4) / 8, "unused": 2 * 44 / 8,
        "aborted": 0, "upkeep": 2 * 12 / 8,
    })  # fmt: skip
    free = case.with_(backup="instant").run("ssd", Limit(rounds=4), workload=Alternating())
    assert free.draft_rows == Rows(useful=3, rejected=3, unused=44, aborted=0, upkeep=12)


def test_one_miss_stalls_all_rows_of_a_batch():
    """Two rows: the first misses in round 1, both hit in round 2."""

    class Script:
        rounds = iter([Round(1, 4, 4, 6, 1, 0, 2), Round(2, 4, 3, 5, 0, 1, 2), Round(3, rows=2)])

        def next(self, fell_back=False):
            return next(self.rounds)

    run = simulate("ssd", Script(), ScriptedCosts(), Limit(rounds=3), keep_log=True)
    assert [tuple(x[1:4]) for x in run.log if x.lane == "path"] == [
        ("cold start", 0, 8), ("verification", 8, 18), ("miss", 18, 26),
        ("verification", 26, 36), ("verification", 36, 46),
    ]  # fmt: skip
    assert run.tokens == 12


def test_the_cost_of_a_token_for_the_published_pair():
    """AR 70.6, SD 100, SSD 143 x 10^9 parameter-tokens; 176 draft rows a round of SSD."""
    case = preset("llama-70b-1b")
    reports = {m: case.run(m, Limit(rounds=5000)) for m in ("ar", "sd", "ssd")}
    cost = {m: report.parameter_tokens for m, report in reports.items()}
    assert cost == pytest.approx({"ar": 70.6, "sd": 100, "ssd": 143}, rel=0.01)
    filling = Work(case.times, widths=(24, 24)).filling(Round(2, 7))
    assert [kernel.rows for kernel in filling] == [8] + 7 * [24]
    assert sum(kernel.rows for kernel in filling) == 176
    speed = reports["ssd"].tokens_per_device_second / reports["sd"].tokens_per_device_second
    assert speed == pytest.approx(1.265, rel=0.02)


def test_each_row_of_a_batch_has_the_width_of_its_own_list():
    """Three rows, one after a backup: 2 x 12 + 5 branches; a backup drafts only for who missed."""
    work = Work(Times(Linear(9.0), Linear(1.0, 0.5)), widths=(12, 5))
    filling = work.filling(Round(2, drafted=3, rows=3, backups=1))
    assert [(k.kind, k.rows) for k in filling] == [("glue", 12)] + [("tree", 29)] * 3
    assert [k.rows for k in work.backup(Round(2, drafted=3, rows=3, backups=2))] == [2, 2, 2]
    assert [k.ns for k in work.backup(Round(2, drafted=1, rows=3, backups=1))] == [1_500_000]


@pytest.mark.parametrize("name", PRESETS)
def test_no_ideal_makes_ssd_slower(name):
    reports = whatif(preset(name), Limit(rounds=400))
    plain = reports["as it is"]
    assert set(reports) == set(IDEALS) == set(MEANING)
    for ideal in reports.values():
        assert ideal.round_ms <= plain.round_ms
    best = reports["all of these"]
    assert set(best.causes_ms) == {"cold start", "verification"}
    assert everything(preset(name)).derived().hit == pytest.approx(1)


def test_a_free_backup_takes_away_exactly_the_misses():
    case = scenario(times=Times(Linear(9.0), Linear(1.0)), link=Link())
    reports = whatif(case, Limit(rounds=300))
    plain, free = reports["as it is"], reports["free backup"]
    assert "miss" not in free.causes_ms
    assert free.makespan_ms == pytest.approx(plain.makespan_ms - plain.causes_ms["miss"])


def test_times_that_are_lines_and_times_from_a_data_sheet():
    assert Linear(2.0, 0.5).ms(4) == 4.0
    assert (CHIPS["h100"].bandwidth_gb_s, CHIPS["h100"].peak_tflops) == (3350, 989)
    both = Roofline("h100", 70.0, devices=4, bandwidth_efficiency=0.5, compute_efficiency=0.5)
    reading, row = 140 / (3350 * 0.5 * 4) * 1e3, 0.14 / (989 * 0.5 * 4) * 1e3
    assert both.ms(1) == pytest.approx(reading + row)
    assert both.ms(64) == pytest.approx(reading + 64 * row)
    flat = Roofline("h100", 70.0, 4, 2.0, 0.5, 0.5, rule="max")
    assert flat.ms(1) == flat.ms(64) == pytest.approx(reading)
    assert flat.ms(1000) == pytest.approx(1000 * row)


def test_only_rows_of_q_need_bandwidth():
    """K V bytes a sequence: 7 rows of 128,256 four-byte numbers at 50 GB/s take 71.8 us."""
    warm, cold = Link(5.0, 50.0, greedy=False), Link(5.0, 50.0)
    assert warm.speculation_ns(7) == round(5000 + 7 * (4 + 4 * 128_256) / 50)
    assert cold.speculation_ns(7) == 5001
    assert (warm.outcome_ns(1), Link(5.0).speculation_ns(7)) == (5000, 5000)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Linear(-1.0), "base_ms: expected a finite number >= 0.0, got -1.0"),
        (lambda: Linear(float("nan")), "base_ms: expected a finite number >= 0.0, got nan"),
        (lambda: Times(Linear(1.0), Linear(1.0), service_ms=-2), "service_ms: expected"),
        (lambda: Times(Linear(1.0), Linear(1.0), jitter=float("inf")), "jitter: expected"),
        (lambda: Link(gb_per_s=0.0), "gb_per_s: expected a finite number > 0, got 0.0"),
        (lambda: Roofline("b200", 70.0), "chip: expected one of a100, h100, h200, got 'b200'"),
        (lambda: Roofline("h100", 70.0, compute_efficiency=1.5), "expected at most 1, got 1.5"),
        (lambda: Machines(target_weight=0), "target_weight: expected a finite number > 0"),
        (lambda: scenario(batch=0), "batch: expected an integer >= 1, got 0"),
        (lambda: scenario(fan_out=(1, 2)), "fan_out: expected 7 entries, for k = 0..6 accepted"),
        (lambda: scenario(fan_out=(1,) * 6 + (-1,)), "fan_out[6]: expected an integer >= 0, got"),
        (lambda: scenario(backup="oracle"), "backup: expected one of draft, instant"),
        (lambda: preset("gpt"), "preset: expected one of llama-70b-1b, qwen-32b-0.6b, toy"),
        (lambda: preset("qwen-32b-0.6b", 0.7), "expected temperature 0 and batch 1"),
        (lambda: Rates(0.5, 0.5).hits((1,), False) and Rates(-1, 0), "after_hit: expected"),
    ],
)
def test_refusals(make, message):
    with pytest.raises(ValueError) as error:
        make()
    assert message in str(error.value)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_rounds():
    assert peak_kilobytes(6000) < 1.1 * peak_kilobytes(3000)
