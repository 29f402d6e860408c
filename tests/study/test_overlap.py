"""The computed overlap: a plan by hand, the rule against two waiting clocks, the picture."""

import numpy as np
import pytest

from ssd_ref.rounds import RoundRecord
from ssd_ref.study.meter import Forward, Log
from ssd_ref.study.overlap import Overlap, RoundTimes, overlap, time_line

# Three rounds as one thread ran them: prefills to 3, then drafting | preparation | verification:
# first 3-5 | 5-9 | 9-19, a hit 19-20 | 20-32 | 32-42, a miss 42-46 | 46-50 | 50-60.
FORWARDS = [
    Forward("target", "prefill", 0, 1, 7),
    Forward("draft", "prefill", 1, 3, 7),
    Forward("draft", "draft step", 3, 4, 1),
    Forward("draft", "draft step", 4, 5, 1),
    Forward("draft", "glue", 5, 6, 2),
    Forward("draft", "tree step", 6, 8, 3),
    Forward("target", "verification", 9, 18, 3),
    Forward("draft", "glue", 20, 21, 3),
    Forward("draft", "tree step", 21, 31, 3),
    Forward("target", "verification", 32, 41, 3),
    Forward("draft", "draft step", 42, 45, 2),
    Forward("draft", "glue", 46, 47, 3),
    Forward("target", "verification", 50, 59, 3),
]
SERVED = ["first", "cache", "backup"]
RECORDS = [RoundRecord(i + 1, who, 2, 1, 0, 2) for i, who in enumerate(SERVED)]


def log():
    return Log(forwards=list(FORWARDS), outcomes=[19, 42, 60], begin=0, end=61)


def test_the_plan_of_three_rounds():
    plan = overlap(log(), RECORDS)
    assert plan == Overlap(
        3,
        (
            RoundTimes(1, "first", drafting=2, preparation=4, verification=10),
            RoundTimes(2, "cache", drafting=1, preparation=12, verification=10),
            RoundTimes(3, "backup", drafting=4, preparation=4, verification=10),
        ),
    )
    assert list(plan.spans()) == [(0, 12), (12, 25), (25, 39)]
    assert plan.seconds == 3 + 39  # the thread itself took 60
    assert plan.intervals() == [
        (1, "draft", "drafting", 0, 2),
        (1, "draft", "preparation", 2, 6),
        (1, "target", "verification", 2, 12),
        (2, "draft", "drafting", 12, 13),
        (2, "draft", "preparation", 13, 25),
        (2, "target", "verification", 13, 23),
        (3, "draft", "drafting", 25, 29),
        (3, "draft", "preparation", 29, 33),
        (3, "target", "verification", 29, 39),
    ]


def test_the_last_round_does_not_wait_for_its_preparation():
    times = RoundTimes(1, "first", drafting=1, preparation=50, verification=2)
    assert Overlap(0, (times,)).seconds == 3


def test_the_time_line_of_three_rounds():
    plan = overlap(log(), RECORDS)
    assert time_line(plan, width=8 + 39) == [
        "round   |1 first    |2 hit       |3 miss",
        "target  ..VVVVVVVVVV.VVVVVVVVVV......VVVVVVVVVV",
        "draft   ddpppp......dppppppppppppddddpppp......",
        "        0                            39000.0 ms",
    ]
    assert time_line(plan, rounds=1, width=8 + 12)[1:3] == [
        "target  ..." + "V" * 17,  # never narrower than 20 cells
        "draft   dddppppppp..........",
    ]


def test_a_run_without_rounds():
    plan = overlap(Log(forwards=FORWARDS[:2], begin=0, end=3), [])
    assert plan.seconds == 3
    assert time_line(plan) == ["no rounds"]


def test_a_round_that_the_draft_cannot_prepare():
    forwards = [*FORWARDS[:2], Forward("target", "verification", 4, 9, 1)]
    plan = overlap(Log(forwards=forwards, outcomes=[10], begin=0, end=11), RECORDS[:1])
    assert plan.rounds == (RoundTimes(1, "first", drafting=1, preparation=0, verification=6),)


def test_a_log_without_its_outcomes_is_refused():
    broken = log()
    broken.outcomes.pop()
    with pytest.raises(ValueError, match="each of 3 rounds, got 3 and 2"):
        overlap(broken, RECORDS)


def test_the_rule_equals_two_clocks_that_wait_for_each_other():
    rng = np.random.default_rng(0)
    for _ in range(200):
        parts = rng.uniform(0, 3, size=(rng.integers(1, 9), 3))
        rounds = [RoundTimes(i + 1, "cache", *map(float, row)) for i, row in enumerate(parts)]
        draft = target = 0.0
        for drafting, preparation, verification in parts:
            sent = max(draft, target) + drafting  # the draft has the outcome and is not busy
            draft, target = sent + preparation, sent + verification
        assert Overlap(0, tuple(rounds)).seconds == pytest.approx(target, abs=1e-12)
