"""The command line at its edges: what it refuses, says of itself, and does when it is stopped."""

from __future__ import annotations

import json
import sys

import pytest

from sim import draw
from sim.cli import main


def output(capsys, *arguments):
    assert main(arguments) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare", "--rounds", "0"], "rounds: expected an integer >= 1, got 0"),
        (["compare", "--set", "method.lookahed=3"], "did you mean 'lookahead'?"),
        (["run", "ssd", "--set", "method.lookahead=0"], "at least 1 for SSD (K = 0 is AR), got 0"),
        (["timeline", "--out", "x.bmp"], "expected a name ending in .png or .svg, got 'x.bmp'"),
        (["timeline", "--out", "/no/x.png"], "--out: expected a file in a folder that exists"),
        (["compare", "--csv", "/no/x.csv"], "--csv: expected a file in a folder that exists"),
        (["compare", "--width", "3"], "--width: expected a whole number from 30 on, got '3'"),
        (["compare", "--rounds", "few"], "--rounds: invalid int value: 'few'"),
        (["compare", "--set", "run.round=3"], "run: unknown key 'round'; did you mean 'rounds'?"),
        (["compare", "--set", "temperature=.7"], "toy: expected temperature 0"),
        (["compare", "--set", "target.chip=h100"], "chip: expected parameters_billions beside"),
        (["compare", "--set", "text.acceptance=-.5"], "expected a probability in [0, 1], got -0.5"),
        (["compare", "--set", "target.base_ms=-3"], "base_ms: expected a finite number >= 0.0"),
        (["serve", "warp", "--concurrency", "2"], "method: expected one of ar, sd, ssd"),
        (["serve", "ar"], "expected one of arrivals_per_s and concurrency, got None and None"),
        (["timeline", "warp"], "method: expected one of ar, sd, ssd, got 'warp'"),
        (["run", "sd", "--config", "/no/such/file"], "No such file"),
        (["run", "sd", "--config", draw.__file__.replace("draw.py", "__pycache__")], "directory"),
        (["run", "sd", "--config", sys.executable], "expected a text file (UTF-8), got other"),
        (["run", "sd", "--replay", sys.executable], "expected a text file (UTF-8), got other"),
        (["compare", "--set", "target.base_ms=0", "--set", "draft.base_ms=0"],
         "times: expected rounds that take time, got 0 ns for all 10000"),
        (
            ["serve", "ar", "--concurrency", "2", "--requests", "10", "--set", "target.base_ms=0"],
            "times: expected requests that take time, got 0 ns for 8",
        ),
        (["compare", "--set", "method.lookahead=2.5"], "lookahead: expected an integer >= 0, got"),
        (["compare", "--set", "preset=[3]"], "preset: expected one of llama-70b-1b, qwen"),
        (["compare", "--set", "target.chip=[1]", "--set", "target.parameters_billions=3"],
         "chip: expected one of a100, h100, h200, got [1]"),
        (["compare", "--set", "lookahead=3"], "key 'lookahead'; did you mean 'method.lookahead'?"),
        (["frontier", "--jobs", "0", "--rounds", "130"], "jobs: expected a number of processes"),
        (["sweep", "--file", "s.csv", "--over", "method.lookahead=1,,2"],
         "--over: expected table.key=value,value,.., got 'method.lookahead=1,,2'"),
        (["serve", "ar", "--arrivals-per-s", "1e-300"], "expected a finite number >= 1e-06"),
        (["run", "ssd", "--replay", "r", "--set", "text.after_hit=0.9", "--set",
          "text.after_miss=0.9"], "--replay: expected no [text] beside it"),
        (["run", "ssd", "--replay", "r", "--rounds", "3"], "a recording is replayed whole, got 3"),
    ],
)  # fmt: skip
def test_a_refusal_is_one_line_and_exit_status_2(capsys, arguments, message):
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("ssd-sim: ")
    assert message in captured.err
    assert captured.err.count("\n") == 1


def strict(text):
    """JSON as other languages read it: NaN and Infinity are no numbers."""
    return json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))


def test_json_has_no_nan(capsys):
    data = strict(output(capsys, "compare", "--rounds", "1", "--json"))
    assert data["ssd"]["tokens_per_s"] == {"value": None, "half_width": None, "rounds": 0}
    assert "- (too short)" in output(capsys, "run", "sd", "--rounds", "1")
    assert (
        strict(output(capsys, "fallback", "--hit", ".5", "--t-b", ".1", "--json"))["critical"]
        is None
    )  # never


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([], "toy"), (["rules.abort=step"], "toy, rules.abort = step"),
        (["batch=1"], "toy, batch = 1"),
        (["times.jitter=0", "times.store_ms=0", "times.service_ms=0", "rules.abort=step"],
         "toy, times, rules"),
    ],
)  # fmt: skip
def test_a_title_says_what_was_changed(capsys, changes, expected):
    more = [part for change in changes for part in ("--set", change)]
    text = output(capsys, "compare", "--rounds", "130", "--width", "100", *more)
    assert text.splitlines()[0].strip() == expected


def test_only_commands_that_take_keys_explain_them(capsys):
    for command, explained in (("compare", True), ("validate", False), ("fallback", False)):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        assert ("keys of --config and --set" in capsys.readouterr().out) == explained


def test_an_interruption_is_one_line_too(capsys, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("sim.commands.sweeps.sweep", stop)
    assert main(["sweep", "--over", "method.lookahead=1", "--file", "s.csv"]) == 130
    assert "the same command goes on where it was" in capsys.readouterr().err
    monkeypatch.setattr("sim.commands.show.emit", stop)
    assert main(["fallback"]) == 130
    assert capsys.readouterr().err == "ssd-sim: interrupted\n"
