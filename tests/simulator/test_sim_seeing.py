"""Pictures, traces and the command line."""

from __future__ import annotations

import csv
import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from matplotlib.colors import to_rgb
from sim_script import ScriptedCosts, ScriptedRounds

import sim
from sim import draw
from sim.cli import main, parser
from sim.clock import Limit
from sim.config import KNOWN, load, scenario_of
from sim.presets import toy
from sim.recorder import Interval
from sim.serving import READINGS
from sim.simulate import simulate
from sim.trace import chrome_trace


def log(method="ssd", hits=(True, False)):
    costs = ScriptedCosts(back=1, there=1)
    return simulate(method, ScriptedRounds(hits), costs, Limit(rounds=len(hits)), None, True).log


def test_a_trace_has_exactly_these_events():
    intervals = [
        Interval("target", "verify", 1000, 3500, 5), Interval("target", "idle", 3500, 4000),
        Interval("path", "miss", 3500, 4000),
    ]  # fmt: skip
    trace = chrome_trace({"ssd": intervals})
    assert [e for e in trace["traceEvents"] if e["ph"] == "X"] == [
        {"name": "verify", "ph": "X", "pid": 1, "tid": 1, "ts": 1.0, "dur": 2.5,
         "args": {"rows": 5}},
        {"name": "miss", "ph": "X", "pid": 1, "tid": 4, "ts": 3.5, "dur": 0.5, "args": {"rows": 0}},
    ]  # fmt: skip
    names = [(e["name"], e["tid"], e["args"]["name"]) for e in trace["traceEvents"][:5]]
    assert names == [
        ("process_name", 0, "ssd"), ("thread_name", 1, "target"), ("thread_name", 2, "draft"),
        ("thread_name", 3, "link"), ("thread_name", 4, "path (cause of each instant)"),
    ]  # fmt: skip
    json.dumps(trace)


def test_a_time_line_has_a_lane_for_each_device_and_a_bar_for_each_interval():
    logs = {"sd": log("sd"), "ssd": log()}
    figure = draw.time_line(logs, "title")
    (ax,) = figure.axes
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        "SD target", "SSD target", "SSD draft", "SSD link",
    ]  # fmt: skip
    bars = sum(len(collection.get_paths()) for collection in ax.collections)
    drawn = [x for x in (*logs["sd"], *logs["ssd"]) if x.kind in draw.LOOKS and x.lane != "path"]
    assert bars == len(drawn)


def test_every_kind_of_work_can_be_told_apart_without_colour():
    """Equal hatches differ in brightness by at least .1."""

    def grey(colour):
        r, g, b = to_rgb(colour)
        return 0.299 * r + 0.587 * g + 0.114 * b

    kinds = ["verify", "draft", "glue", "tree", "backup", "prefill", "speculation", "outcome"]
    looks = {kind: draw.LOOKS[kind][:2] for kind in kinds}
    for a in kinds:
        for b in kinds:
            if a < b and looks[a][1] == looks[b][1]:
                assert abs(grey(looks[a][0]) - grey(looks[b][0])) > 0.1, (a, b)


def test_a_time_line_of_too_much_is_refused():
    with pytest.raises(ValueError, match="expected 1 to 400 intervals, got 700"):
        draw.time_line({"ssd": log(hits=[True] * 100)})


# The command line.


def output(capsys, *arguments):
    assert main(arguments) == 0
    return capsys.readouterr().out


def test_compare_prints_speed_cost_and_the_published_rows(capsys):
    text = output(capsys, "compare", "--preset", "llama-70b-1b", "--rounds", "300", "--width", "90")
    for part in ("tokens/s", "x AR", "x SD", "hit rate", "10^9 parameters x rows/token",
                 "GFLOP unused", "tokens/s/device"):  # fmt: skip
        assert part in text, part
    rows = {line[:28].strip(): line[28:].split() for line in text.splitlines()}
    assert rows["tokens/s, paper's table"] == ["54.7", "162", "256"]
    assert rows["tokens/s, paper's Figure 1"] == ["66", "-", "-"]
    assert rows["tokens/s, reproduction"] == ["66.7", "182", "280"]
    changed = output(capsys, "compare", "--preset", "llama-70b-1b", "--rounds", "200",
                     "--set", "times.service_ms=0")  # fmt: skip
    assert "reproduction" not in changed  # measured at other times


def test_json_and_csv_hold_the_reports_numbers(capsys, tmp_path):
    path = tmp_path / "c.csv"
    text = output(capsys, "compare", "--rounds", "300", "--seed", "5", "--json", "--csv", str(path))
    data = json.loads(text)
    report = toy().run("ssd", Limit(rounds=300), 5)
    assert data["ssd"] == json.loads(json.dumps(report.to_json()))
    rows = list(csv.reader(path.read_text().splitlines()))
    assert rows[0] == ["1 sequence(s)", "AR", "SD", "SSD"]
    assert rows[1] == ["tokens/s", "100 ± 0", *(str(toy().run(m, Limit(rounds=300), 5)
                       .tokens_per_s) for m in ("sd", "ssd"))]  # fmt: skip


def test_run_takes_a_file(capsys, tmp_path):
    path = tmp_path / "s.toml"
    path.write_text("[method]\nlookahead = 2\n")
    data = json.loads(
        output(capsys, "run", "sd", "--config", str(path), "--rounds", "200", "--json")
    )
    expected = scenario_of({"method": {"lookahead": 2}}).run("sd", Limit(rounds=200))
    assert data["sd"]["tokens"] == expected.tokens
    assert set(data) == {"sd", "published"}


@pytest.mark.slow
def test_pictures_and_traces_are_written(capsys, tmp_path):
    png, svg, trace = (tmp_path / name for name in ("a.png", "a.svg", "a.json"))
    output(capsys, "timeline", "--rounds", "3", "--out", str(png), "--trace", str(trace))
    assert png.read_bytes().startswith(b"\x89PNG")
    assert {e["args"]["name"] for e in json.loads(trace.read_text())["traceEvents"]
            if e["name"] == "process_name"} == {"sd", "ssd"}  # fmt: skip
    front = ["frontier", "--batches", "1", "2", "--rounds", "150", "--jobs", "1"]
    for command in (["compare", "--rounds", "200"], ["fallback"], ["timeline", "ssd"], front):
        output(capsys, *command, "--out", str(svg))
        assert svg.read_text().startswith("<?xml")
        svg.unlink()


def test_whatif_sweep_and_validate_print_tables(capsys, tmp_path):
    text = output(capsys, "whatif", "--rounds", "200", "--width", "90")
    assert "no hand-shake and no service" in text
    assert "Savings do not add up" in text
    text = output(capsys, "sweep", "--over", "method.lookahead=1,2", "--rounds", "200",
                  "--file", str(tmp_path / "s.csv"), "--jobs", "1", "--width", "100")  # fmt: skip
    assert "lookahead" in text
    assert len((tmp_path / "s.csv").read_text().splitlines()) == 7
    text = output(capsys, "validate", "--rounds", "200", "--width", "160")
    assert "SD K=6" in text
    assert "rows predicted" in text


def test_a_files_run_and_demand_count_and_an_option_wins(capsys, tmp_path):
    path = tmp_path / "s.toml"
    path.write_text("[run]\nrounds = 150\nseed = 4\n[serve]\nconcurrency = 2\nrequests = 9\n"
                    "tokens = 8\nreplications = 3\n")  # fmt: skip
    config = ["--config", str(path), "--json"]
    data = json.loads(output(capsys, "run", "sd", *config))
    assert data["sd"]["tokens"] == toy().run("sd", Limit(rounds=150), 4).tokens
    data = json.loads(output(capsys, "run", "sd", *config, "--rounds", "130", "--seed", "0"))
    assert data["sd"]["tokens"] == toy().run("sd", Limit(rounds=130), 0).tokens
    served = json.loads(output(capsys, "serve", "ar", *config))["ar"]
    assert [e["requests"] for e in served] == [8] * 3  # 9 less the warm-up
    assert served == json.loads(output(capsys, "serve", "ar", *config, "--seed", "4"))["ar"]


def test_forwards_show_the_maximum_beside_the_sum(capsys):
    data = json.loads(output(capsys, "forwards", "--json", "--set", "target.chip=h100", "--set",
                             "target.parameters_billions=70"))  # fmt: skip
    assert set(data) == {"target sum", "target max", "draft"}
    low, high = data["target max"]["1"], data["target max"]["64"]
    assert low == high  # flat: the verification of 64 rows would be free
    assert data["target sum"]["64"] > 1.1 * data["target sum"]["1"] > 1.1 * low


@pytest.mark.parametrize("width", [30, 40, 80])
def test_tables_lose_nothing_on_a_narrow_terminal(capsys, width):
    for command in (["compare", "--rounds", "140"], ["whatif", "--rounds", "140"]):
        text = output(capsys, *command, "--width", str(width))
        assert max(map(len, text.splitlines())) <= width
        assert "\u2026" not in text  # the mark of what was cut off


def test_every_table_of_80_columns_keeps_a_row_on_a_line(capsys, tmp_path):
    text = output(capsys, "validate", "--rounds", "130", "--width", "80")
    rows = [line for line in text.splitlines() if line.startswith((" Llama", " Qwen"))]
    assert len(rows) == 24
    assert max(map(len, text.splitlines())) <= 80
    front = ["frontier", "--batches", "1", "--rounds", "130", "--jobs", "1", "--width", "80"]
    rows = output(capsys, *front).splitlines()
    assert sum(line.startswith((" AR", " SD ", " SSD")) for line in rows) == 4


def test_a_recording_is_replayed_with_its_own_settings(capsys, tmp_path):
    path = tmp_path / "r.jsonl"
    record = {"served_by": "first", "drafted": 2, "accepted": 1, "bonus": 5, "emitted": 2}
    lines = [{"header": {"settings": {"lookahead": 2, "fan_out": [1, 1, 2]}}}]
    lines += [{"method": "ssd", "round": n, "rank": n % 2} | record for n in (1, 2, 3)]
    path.write_text("".join(json.dumps(x) + "\n" for x in lines))
    text = output(capsys, "compare", "--preset", "llama-70b-1b", "--replay", str(path))
    assert "1 text(s), K = 2, fan-out [1, 1, 2], times of llama-70b-1b" in " ".join(text.split())
    data = json.loads(output(capsys, "run", "ssd", "--replay", str(path), "--json"))
    assert data["ssd"]["hit_rate"] == {"value": 0.5, "half_width": None, "rounds": 2}
    assert data["ssd"]["makespan_ms"] == (3 + 10) + 3 + 10 + 10  # cold, miss, hit; steps of 1.5
    wider = output(capsys, "run", "ssd", "--replay", str(path), "--json", "--set",
                   "method.lookahead=2", "--set", "method.fan_out=2")  # fmt: skip
    assert json.loads(wider)["ssd"]["makespan_ms"] == 3 + 30


def test_help_says_what_each_key_means():
    code = "from sim.cli import main; main(['compare', '--help'])"
    text = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    for table, keys in KNOWN.items():
        assert f"{table}." in text
        assert all(meaning in text for meaning in keys.values())


def readme_commands():
    lines = (Path(sim.__file__).parent / "README.md").read_text().splitlines()
    return [
        shlex.split(line, comments=True)[3:] for line in lines if line.startswith("python -m sim ")
    ]


def test_the_readme_shows_every_command_and_all_can_be_parsed():
    commands = readme_commands()
    for arguments in commands:
        parser().parse_args(arguments)
    assert {arguments[0] for arguments in commands} == {
        "run", "compare", "whatif", "sweep", "timeline", "frontier", "fallback", "validate",
        "serve", "forwards",
    }  # fmt: skip


def test_the_readmes_file_works(capsys, tmp_path):
    """The TOML example of the documentation, read and run."""
    text = (Path(sim.__file__).parent / "README.md").read_text()
    path = tmp_path / "scenario.toml"
    path.write_text(text.split("```toml\n")[1].split("```")[0])
    scenario = scenario_of(load(path))
    assert (scenario.lookahead, scenario.batch, scenario.rules.abort) == (5, 2, "step")
    assert output(capsys, "compare", "--config", str(path), "--rounds", "130")


def test_hits_and_misses_are_marked_in_a_time_line():
    """Also where a miss takes no time, and so has no bar of its own."""
    reports = {m: toy().with_(backup="instant").run(m, Limit(rounds=9), keep_log=True)
               for m in ("sd", "ssd")}  # fmt: skip
    served_by = {m: report.served_by for m, report in reports.items()}
    assert (served_by["sd"], served_by["ssd"][0]) == ((), "first")
    (ax,) = draw.time_line({m: r.log for m, r in reports.items()}, "", served_by).axes
    marks = {line.get_label(): line.get_xdata() for line in ax.get_lines()}
    begins = [x for x in reports["ssd"].log if (x.lane, x.kind) == ("target", "verify")]
    for who, label in (("cache", "a hit: the cache served"), ("backup", "a miss: the backup")):
        found = next(list(at) for name, at in marks.items() if name.startswith(label))
        assert found == [(x.begin_ns + x.end_ns) / 2e6
                         for x, by in zip(begins, served_by["ssd"], strict=True)
                         if by == who]  # fmt: skip
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert set(marks) <= set(names)


@pytest.mark.slow
@pytest.mark.parametrize("arguments", readme_commands(), ids=lambda a: a[0])
def test_the_readmes_commands_run(capsys, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    few = {"serve": ["--requests", "40"], "fallback": [], "timeline": [], "forwards": []}
    assert output(capsys, *arguments, *few.get(arguments[0], ["--rounds", "150"]))


def test_serve_prints_each_reading_with_its_interval(capsys):
    text = output(capsys, "serve", "ar", "ssd", "--concurrency", "3", "--requests", "12",
                  "--tokens", "8", "--replications", "3", "--width", "90",
                  "--set", "method.batch=2")  # fmt: skip
    for reading in READINGS:
        assert reading in text
    assert "200 ± 0" in text  # AR, two at once
    assert main(["serve", "--concurrency", "3", "--replications", "1"]) == 2
    assert "replications: expected an integer >= 2, got 1" in capsys.readouterr().err
