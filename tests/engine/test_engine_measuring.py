"""What is read from a run's spans: causes, lanes, cost tables. Hand-made spans, exact answers."""

import json

import numpy as np
import pytest

from ssd_ref.cli import costs, lanes
from ssd_ref.cli.processes import paired
from ssd_ref.engine.arm import Seen
from ssd_ref.engine.causes import Causes, causes, timed
from ssd_ref.engine.engine import Spans
from ssd_ref.engine.events import Recorder, Span
from ssd_ref.rounds import Generation, RoundRecord

VERIFIER = [
    Span("prefill", 0, 10, 5),
    Span("wait", 10, 14),
    Span("verify", 14, 20, 3),
    Span("send", 20, 21),
    Span("wait", 21, 32),
    Span("verify", 32, 40, 3),
    Span("send", 40, 41),
    Span("wait", 41, 44),
]
SPECULATOR = [
    Span("prefill", 0, 8, 5),
    Span("draft", 8, 10, 1),
    Span("draft", 10, 12, 1),
    Span("send", 12, 13),
    Span("glue", 13, 17, 3),
    Span("tree", 17, 25, 4),  # five seconds of it after the outcome
    Span("backup", 26, 28, 1),
    Span("backup", 28, 30, 1),
    Span("send", 30, 31),
    Span("glue", 31, 35, 3),
    Span("tree", 35, 38, 2),
    Span("wait", 38, 40),
]
SPANS = Spans(VERIFIER, SPECULATOR)
ROUNDS = [
    RoundRecord(1, "first", 2, 1, 0, 2, 3),
    RoundRecord(2, "backup", 2, 2, 1, 3, 0),
]
TEXT = Generation([1, 0, 1, 1, 1], "length", [0.0] * 5, ROUNDS)


def test_every_second_has_one_cause():
    found = causes(SPANS)
    assert found == Causes(verifying=14, misses=4, overflow=6, handshake=2)
    assert found.total == 40 - 14  # from the first verification's begin to the last one's end


def test_time_counts_from_the_end_of_the_prefills():
    run = timed(TEXT, SPANS)
    assert run.ends == (10, 30)
    assert run.emitted == (2, 3)
    assert run.outside == 30 - 14
    assert run.seconds(5) == 30


def test_a_measured_run_has_the_simulator_s_lanes_and_kinds():
    from sim.draw import LOOKS
    from sim.trace import chrome_trace

    log = lanes.intervals(SPANS, lanes.begin_of(SPANS))
    assert all(x.kind in LOOKS for x in log)
    assert [(x.lane, x.kind, x.begin_ns, x.end_ns, x.rows) for x in log if x.lane == "target"] == [
        ("target", "verify", 4 * 10**9, 10 * 10**9, 3),
        ("target", "verify", 22 * 10**9, 30 * 10**9, 3),
    ]
    assert [x.kind for x in log if x.lane == "draft"] == [
        "draft", "glue", "tree", "backup", "backup", "glue", "tree",
    ]  # fmt: skip
    assert [(x.kind, x.begin_ns // 10**9, x.end_ns // 10**9) for x in log if x.lane == "link"] == [
        ("speculation", 2, 4), ("speculation", 20, 22), ("outcome", 10, 11), ("outcome", 30, 31),
    ]  # fmt: skip
    events = json.loads(json.dumps(chrome_trace({"measured": log})))["traceEvents"]
    assert {"verify", "tree", "speculation"} <= {event["name"] for event in events}


def test_the_time_line_is_to_scale():
    assert lanes.time_line(SPANS, rounds=2, width=38) == [
        "target  ....VVVVVV............VVVVVVVV",
        "draft   dd.pppppppppppp.dddd.ppppppp..",
        "        0                   30000.0 ms",
    ]
    assert lanes.time_line(SPANS, rounds=1, width=38)[0] == "target  " + 12 * "." + 18 * "V"


def test_costs_are_what_the_steps_took():
    seen = [Seen(1.0, causes(SPANS), ROUNDS, SPANS)]
    found = costs.tables(seen, 2, (1, 1, 2), 3, sd_draft_ms=1.5, ar_ms=5.0, abort=True)
    assert found["glue"] == {"base_ms": 4000.0, "row_ms": 0.0}
    assert found["backup"] == {"base_ms": 2000.0, "row_ms": 0.0}
    assert found["target"] == {"base_ms": 7000.0, "row_ms": 0.0}  # of one size only: the mean
    assert found["tree"] == pytest.approx({"base_ms": 5500, "row_ms": 0}) or found["tree"][
        "row_ms"
    ] == pytest.approx(2500)
    assert found["times"]["handshake_ms"] == 2000.0


def test_the_cost_file_is_read_by_the_simulator(tmp_path):
    from sim.config import load, scenario_of

    seen = [Seen(1.0, causes(SPANS), ROUNDS, SPANS)]
    found = costs.tables(seen, 2, (1, 1, 2), 3, sd_draft_ms=1.5, ar_ms=5.0, abort=True)
    path = tmp_path / "costs.toml"
    path.write_text(costs.to_toml(found, "made by a test\nin two lines"))
    assert load(path) == found
    scenario = scenario_of(load(path))
    assert scenario.fan_out == (1, 1, 2) and scenario.sd_lookahead == 3
    assert scenario.times.ar.ms(1) == 5.0


def test_a_line_through_steps():
    spans = [Span("tree", 0, (3 + 2 * n) / 1e3, n) for n in (1, 2, 5, 9)]
    assert costs.line(spans, "tree") == pytest.approx({"base_ms": 3, "row_ms": 2})
    falling = [Span("tree", 0, (30 - n) / 1e3, n) for n in (1, 3)]
    assert costs.line(falling, "tree") == pytest.approx({"base_ms": 28, "row_ms": 0})


def test_a_span_that_fails_is_not_recorded():
    recorder = Recorder()
    with recorder.span("tree", 3):
        pass
    with pytest.raises(KeyError), recorder.span("glue"):
        raise KeyError
    assert [(span.kind, span.rows) for span in recorder.spans] == [("tree", 3)]
    assert recorder.spans[0].begin <= recorder.spans[0].end


def test_ratios_are_paired_by_prompt_across_numbers_of_threads():
    from ssd_ref.study.bench import Condition, Sample
    from ssd_ref.study.results import Results

    one, two = Condition(1, 1), Condition(1, 2)
    times = [(one, "ssd", 1.0), (one, "sd", 3.0), (two, "sd", 2.0)]
    results = Results(
        Sample(condition, arm, prompt, 9, 9, (prompt + 1) * seconds, 1, 0, True)
        for prompt in range(7)
        for condition, arm, seconds in times
    )
    found = paired(results, (one, "ssd"), (two, "sd"))
    assert (found["median"], found["n"], found["threads"]) == (2.0, 7, 2)
    few = Results(
        [sample for of_arm in results.samples.values() for sample in list(of_arm.values())[:5]]
    )
    assert paired(few, (one, "ssd"), (two, "sd"))["median"] is None
    assert np.isfinite(found["high"])
