"""`bench`: statistics on known data, times on a scripted clock, and the command on a fake pair."""

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ssd_ref.cli import bench
from ssd_ref.cli.bench_report import report
from ssd_ref.cli.errors import CommandError
from ssd_ref.models import TableModel
from ssd_ref.study.bench import AR, Arm, Condition, Plan, Task, comparison, measure, sweep
from ssd_ref.study.paired import WeakEvidence, coverage, interval_rank, paired_ratio
from ssd_ref.study.results import Results
from ssd_ref.study.timing import Timed, bare_forwards, first_repeat, step_times, threads, timed

CYCLE = np.roll(np.eye(3), 1, axis=1)  # 0, 1, 2, 0, 1, 2, ..
PROMPTS = [[0], [1], [2], [0, 1], [1, 2], [2, 0], [0, 1, 2], [1, 2, 0]]


class Clock:
    """Stands still but for what the models do."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Timely(TableModel):
    """A table whose forwards take `seconds` on the clock; reading a prompt takes ten times that."""

    def __init__(self, table, clock, seconds, fail_after=None):
        super().__init__(table)
        self.clock, self.cost, self.left = clock, seconds, fail_after

    def pay(self):
        self.clock.now += self.cost
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise KeyboardInterrupt

    def start(self, tokens):
        self.clock.now += 10 * self.cost if tokens else 0.0
        return TimelySession(self, super().start(tokens))


class TimelySession:
    def __init__(self, model, session):
        self.model, self.session, self.rewind = model, session, session.rewind

    @property
    def length(self):
        return self.session.length

    def extend(self, tokens):
        self.model.pay()
        return self.session.extend(tokens)

    def branch(self, lengths):
        return TimelyBranches(self.model, self.session.branch(lengths))


class TimelyBranches:
    def __init__(self, model, branches):
        self.model, self.branches = model, branches

    def extend(self, which, tokens):
        self.model.pay()
        return self.branches.extend(which, tokens)


def models(table=CYCLE, target=10.0, draft=1.0):
    """Target and draft of one law, and their clock: every draft is accepted."""
    clock = Clock()
    return Timely(table, clock, target), Timely(table, clock, draft), clock


# The interval


def test_the_ranks_of_the_interval_are_those_of_the_binomial_tables():
    assert [interval_rank(n) for n in (6, 8, 9, 11, 12, 15, 20, 25)] == [1, 1, 2, 2, 3, 4, 6, 8]
    assert coverage(6, 1) == 1 - 2 / 64


@pytest.mark.parametrize("n", range(6))
def test_fewer_than_six_pairs_give_no_interval(n):
    with pytest.raises(WeakEvidence, match=f"at least 6 pairs.*got {n}"):
        paired_ratio([1.0] * n, [1.0] * n)


@pytest.mark.parametrize("n", [6, 9, 14])
def test_the_interval_covers_the_median_as_often_as_it_says(n):
    trials = 20_000
    draws = np.sort(np.random.default_rng(n).exponential(size=(trials, n)), axis=1)
    k = interval_rank(n)
    share = ((draws[:, k - 1] <= np.log(2)) & (np.log(2) <= draws[:, -k])).mean()
    expected = coverage(n, k)
    assert expected >= 0.95
    assert abs(share - expected) < 4 * (expected * (1 - expected) / trials) ** 0.5


def test_ratios_are_paired_before_their_median_is_taken():
    slow, fast = [1.0, 10, 100, 1000, 2, 20, 200], [1.0, 5, 20, 100, 1, 10, 200]
    ratio = paired_ratio(slow, fast)
    assert (ratio.median, ratio.low, ratio.high, ratio.n) == (2, 1, 10, 7)
    with pytest.raises(ValueError):
        paired_ratio(slow, fast[:6])


# The cut


def test_a_greedy_text_ends_at_its_first_repeated_block():
    block = list(range(32))
    assert first_repeat([7] * 50) == 1
    assert first_repeat([*range(100, 110), *[1, 2, 3] * 20]) == 10 + 3
    assert first_repeat([*block, *range(50, 60), *block, 99]) == 42
    assert first_repeat([*block, *range(50, 60), *block[:31], 99]) == 42 + 32
    assert first_repeat([*block, *block[:31]]) == 63
    assert first_repeat([]) == 0


@given(st.lists(st.integers(0, 2), max_size=24), st.integers(1, 5))
def test_the_cut_is_the_first_start_of_a_block_with_an_earlier_one(tokens, block):
    starts = range(len(tokens) - block + 1)
    repeats = [
        s for s in starts for e in range(s) if tokens[s : s + block] == tokens[e : e + block]
    ]
    assert first_repeat(tokens, block) == min(repeats, default=len(tokens))


# Times


def test_a_round_that_the_cut_divides_counts_by_its_share_of_tokens():
    run = Timed(tuple(range(8)), ends=(4.0, 10.0, 11.0), emitted=(2, 3, 3), outside=5.5)
    assert [run.seconds(n) for n in range(1, 9)] == pytest.approx(
        [2, 4, 6, 8, 10, 10 + 1 / 3, 10 + 2 / 3, 11]
    )
    assert [run.rounds(n) for n in (1, 2, 5, 8)] == [0.5, 1, 2, 3]
    assert run.outside_share == 0.5
    with pytest.raises(ValueError):
        run.rounds(9)


def test_time_outside_the_forwards_is_what_the_decoder_spends_itself():
    target, draft, clock = models()

    def decode(target, draft, on_round):
        def slowly(tokens, record):
            clock.now += 3.0  # a decoder that dawdles after each round
            on_round(tokens, record)

        return Arm("sd", "sd", 4).decode(task(target, draft), target, draft, slowly)

    run = timed(decode, target, draft, clock)
    assert run.emitted == (5, 5)
    assert run.ends == (4 + 10 + 3, 2 * (4 + 10 + 3))  # 4 draft steps, a verification, no prefill
    assert run.outside == 6


def task(target, draft, tokens=10):
    plan = Plan({}, {}, {}, tokens)
    return Task(target, draft, [0, 1], 0, plan, 1.0)


def test_bare_forwards_cost_what_the_target_costs():
    target, _, clock = models()
    run = bare_forwards(target, [0, 1], 4, clock)
    assert run.ends == (10, 20, 30, 40) and run.outside_share == 0


def test_single_forwards_take_turns_until_the_time_is_spent():
    target, draft, clock = models()
    steps = step_times(target, draft, [0, 1], seconds=9 * 10 + 5 * 4 + 1, clock=clock)
    assert steps == {
        "target_ms": {str(n): 10_000.0 for n in range(1, 10)},
        "draft_ms": 1000.0,
        "draft_after_target_ms": 1000.0,
        "draft_tree_ms": {"2": 1000.0, "4": 1000.0, "8": 1000.0},
        "n": 1,
        "context": 2,
    }


def test_threads_are_restored_even_after_an_error():
    before = torch.get_num_threads()
    with pytest.raises(KeyError), threads(2):
        assert torch.get_num_threads() == 2
        raise KeyError
    assert torch.get_num_threads() == before


# Taking turns


def bench_samples(prompts, seconds=1e9, arms=None, expected=0.0, **costs):
    target, draft, clock = models(**costs)
    arms = arms or comparison({1.0: (4, 4), 0.0: (2, 2)}, None)
    counts = dict.fromkeys(condition.threads for condition in arms)
    plan = Plan(arms, dict.fromkeys(counts, seconds), dict.fromkeys(counts, expected), 10)
    return list(measure(target, draft, prompts, plan, clock))


def test_every_prompt_begins_with_another_arm():
    cool, warm = Condition(0.0, 2), Condition(1.0, 1)
    arms = {warm: (AR, Arm("sd", "sd", 2)), cool: (AR, Arm("a", "sd", 1), Arm("b", "sd", 2))}
    log = [(s.prompt, s.condition, s.arm) for s in bench_samples(PROMPTS[:3], arms=arms)]
    assert log == [
        (0, warm, "ar"), (0, warm, "sd"), (0, cool, "ar"), (0, cool, "a"), (0, cool, "b"),
        (1, warm, "sd"), (1, warm, "ar"), (1, cool, "a"), (1, cool, "b"), (1, cool, "ar"),
        (2, warm, "ar"), (2, warm, "sd"), (2, cool, "b"), (2, cool, "ar"), (2, cool, "a"),
    ]  # fmt: skip


def test_the_comparison_runs_all_methods_under_all_conditions():
    arms = comparison({1.0: (3, 2), 0.0: (4, 4)}, (5,))
    assert {c.suffix: [arm.name for arm in chosen] for c, chosen in arms.items()} == {
        "": ["ar", "sd", "ssd", "bare"],
        "@T=0": ["ar", "sd", "ssd"],
        "@T=1,threads=2": ["ar", "sd", "ssd"],
        "@T=0,threads=2": ["ar", "sd", "ssd"],
    }
    _, sd, ssd, _ = arms[Condition(1.0, 1)]
    assert (sd.lookahead, ssd.lookahead, ssd.fan_out) == (3, 2, (5, 5, 5))


def test_no_prompt_is_begun_that_might_overrun_the_budget():
    arms = {Condition(1.0, 1): (AR,), Condition(1.0, 2): (AR,)}  # a prompt of 2 tokens: 200 s
    prompts = [[0, 1]] * 9
    assert len(bench_samples(prompts, seconds=1000, arms=arms)) == 2 * 5
    assert len(bench_samples(prompts, seconds=799, arms=arms)) == 2 * 3
    assert bench_samples(prompts, seconds=799, arms=arms, expected=800.0) == []


def test_speeds_on_a_scripted_clock():
    """AR 10 s a token; SD 4 draft steps and a verification for 5 tokens (2 and 3 at T=0); SSD
    drafts in round 1 only, and then pays a glue forward and tree steps as well.
    """
    results = Results(bench_samples(PROMPTS))
    ratios = results.ratios(("sd", "ar"), ("ssd", "sd"), ("ar", "bare"))
    sd, cut = 10 / (14 / 5), 10 / (12 / 3)
    keys = ["sd/ar", "ssd/sd", "ar/bare", "sd/ar@T=0", "ssd/sd@T=0"]
    keys += [f"{pair}@T={t},threads=2" for t in (1, 0) for pair in ("sd/ar", "ssd/sd")]
    assert list(ratios) == keys
    for key, value in {"sd/ar": sd, "sd/ar@T=1,threads=2": sd, "sd/ar@T=0": cut}.items():
        assert ratios[key] == pytest.approx({"median": value, "low": value, "high": value, "n": 8})
    assert ratios["ar/bare"]["median"] == 1
    assert ratios["ssd/sd"]["median"] < 1
    assert results.medians("tokens_per_round")["sd"] == 5
    assert set(results.medians("outside_share").values()) == {0.0}


def test_greedy_texts_are_cut_at_the_same_token_for_all_methods():
    samples = [s for s in bench_samples(PROMPTS) if s.condition.temperature == 0]
    assert {s.counted for s in samples} == {3} and all(s.same_text for s in samples)
    assert Results(samples).cut() == {"texts": 8, "texts_cut": 8, "share_of_tokens": 0.7}


def test_a_greedy_text_that_differs_is_counted():
    samples = bench_samples(PROMPTS)
    assert Results(samples).diverged() == 0
    other = next(s for s in samples if s.condition == (0.0, 1) and s.arm == "ssd")
    assert Results([*samples, replace(other, same_text=False)]).diverged() == 1


def test_prompts_that_one_arm_did_not_finish_are_left_out():
    samples = bench_samples(PROMPTS)
    lost = [s for s in samples if not (s.arm == "sd" and s.prompt < 3)]
    ratios = Results(lost).ratios(("sd", "ar"))
    assert ratios["sd/ar"]["n"] == 5 and ratios["sd/ar"]["median"] is None
    assert "at least 6" in ratios["sd/ar"]["refused"]


# The command


@dataclass
class Fake:
    target: TableModel
    draft: TableModel
    hash: str = "0123456789abcdef"


def command(*options, prompts=PROMPTS, fail_after=None):
    """Status and parsed arguments of a run on a fake pair."""
    parser = argparse.ArgumentParser()
    bench.add_arguments(parser)
    args = parser.parse_args([*options])
    target, draft, clock = models(target=0.01, draft=0.001)
    target.left = fail_after
    return bench.run(args, lambda args: Fake(target, draft), clock, prompts)


def run_json(capsys, *options, **more):
    status = command("--json", *options, **more)
    return status, json.loads(capsys.readouterr().out)


def test_the_json_object(capsys):
    status, result = run_json(capsys, "--seconds", "100", "--max-new-tokens", "10")
    assert status == 0
    pairs = ("sd/ar", "ssd/sd")
    suffixes = ("", "@T=0", "@T=1,threads=2", "@T=0,threads=2")
    assert set(result["ratios"]) == {pair + suffix for pair in pairs for suffix in suffixes}
    for ratio in result["ratios"].values():
        assert set(ratio) == {"median", "low", "high", "n"} and ratio["n"] == len(PROMPTS)
        assert ratio["low"] <= ratio["median"] <= ratio["high"]
    assert result["bare"]["ar/bare"]["median"] == pytest.approx(1)
    assert result["hash"] == "0123456789abcdef" and not result["interrupted"]
    assert set(result["steps"]) == {"threads=1", "threads=2"}
    assert list(result["steps"]["threads=1"]["target_ms"]) == [str(n) for n in range(1, 10)]
    assert result["settings"]["arms"]["sd"] == {"lookahead": 3, "fan_out": []}
    assert result["settings"]["arms"]["ssd@T=0"]["fan_out"] == [2, 2, 2, 2, 4]
    assert result["settings"]["max_new_tokens"] == 10
    assert result["cut"]["texts"] == len(PROMPTS)
    assert {"seconds_per_token", "tokens_per_round", "outside_share", "machine", "notes"} <= set(
        result
    )


def test_weak_evidence_is_refused(capsys):
    status, result = run_json(
        capsys, "--seconds", "100", "--max-new-tokens", "10", prompts=PROMPTS[:5]
    )
    assert status == 0
    for ratio in result["ratios"].values():
        assert ratio["median"] is ratio["low"] is ratio["high"] is None and ratio["n"] == 5
        assert "at least 6" in ratio["refused"]
    assert any("too few prompts" in line for line in report(result))


def test_a_slow_machine_gets_shorter_texts(capsys):
    _, slow = run_json(capsys, "--seconds", "40", prompts=PROMPTS[:6])
    left = slow["settings"]["budget_seconds"]["1"]
    assert slow["settings"]["max_new_tokens"] == int(left / 10 / 0.075) == 30  # 7.5 steps of 10 ms
    assert slow["ratios"]["sd/ar"]["n"] == 6 and slow["seconds"] < 40


def test_ctrl_c_keeps_what_was_measured(capsys):
    steps = 2 * (9 + 9 * 56)  # forwards of the target before the first prompt
    options = ("--seconds", "100", "--max-new-tokens", "10")
    _, whole = run_json(capsys, *options)
    status, result = run_json(capsys, *options, fail_after=steps)
    assert status == 130 and result["interrupted"] and whole["seconds"] > result["seconds"]
    lines = list(report(result))
    assert lines[0].startswith("Interrupted after")


def test_ctrl_c_before_anything_was_measured(capsys):
    status, result = run_json(capsys, fail_after=0)
    assert status == 130 and result["ratios"] == {} and result["settings"] == {}
    assert list(report(result))


def test_the_report_says_what_is_not_claimed(capsys):
    assert command("--seconds", "100", "--max-new-tokens", "10") == 0
    text = capsys.readouterr().out
    assert "SSD is not faster than SD here, and cannot be" in text
    assert "2.63 [2.63, 2.63]" in text  # rounds of 4, 4 and 2 tokens in 13, 13 and 12 ms
    assert "SD 0.0%, SSD 0.0%" in text and "1.00 [1.00, 1.00], n = 8" in text
    assert max(map(len, text.splitlines())) <= 100


def test_the_sweep_names_the_best_lookahead(capsys):
    status, result = run_json(capsys, "--sweep", "--seconds", "50", "--max-new-tokens", "18")
    assert status == 0
    assert {f"sd,K={k}/ar" for k in range(1, 9)} < set(result["ratios"])
    medians = {k: result["ratios"][f"sd,K={k}/ar"]["median"] for k in (1, 2, 8)}
    assert medians == pytest.approx({1: 20 / 11, 2: 30 / 12, 8: 90 / 18})  # all drafts accepted
    assert result["best"]["T=1"] == "sd,K=8/ar"
    text = "\n".join(report(result))
    assert "Best at T=1: lookahead 8" in text and "SSD/SD" not in text
    assert set(sweep(range(1, 9), (0.0,))) == {Condition(0.0, 1)}


@pytest.mark.parametrize(
    "options, message",
    [
        (("--seconds", "0"), "--seconds"),
        (("--seconds", "nan"), "--seconds"),
        (("--max-new-tokens", "0"), "--max-new-tokens: expected 1 to 256, got 0"),
        (("--max-new-tokens", "400"), "--max-new-tokens"),
        (("--lookahead", "-1"), "--lookahead"),
        (("--lookahead", "2", "--fan-out", "1,2"), "--fan-out: expected lookahead"),
        (("--seed", "-1"), "--seed"),
    ],
)
def test_options_that_no_run_could_honour(options, message):
    with pytest.raises(CommandError, match=message):
        command(*options)


def test_arguments_need_no_torch():
    code = (
        "import argparse, sys\n"
        "from ssd_ref.cli import bench\n"
        "bench.add_arguments(argparse.ArgumentParser())\n"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
