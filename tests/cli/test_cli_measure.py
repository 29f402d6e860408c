"""`ssd-ref measure` and `sweep` from end to end, on tables."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fake_pair import load_tables

from ssd_ref.cli import main
from ssd_ref.study.recording import read_rounds
from ssd_ref.study.tables import read_table

pytestmark = pytest.mark.slow  # left out of the everyday run

SMALL = ["--prompts", "24", "--max-new-tokens", "32", "--jobs", "1"]


def measure(tmp_path, *more):
    output = str(tmp_path / "texts.jsonl")
    return main(["measure", "--output", output, *SMALL, *more], load=load_tables)


def test_measure_reports_what_it_recorded(tmp_path, capsys):
    rounds = tmp_path / "rounds.jsonl"
    assert measure(tmp_path, "--lookahead", "3", "--json", "--rounds", str(rounds)) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["settings"]["fan_out"] == [2, 2, 2, 4]
    assert len(figures["law_of_k"]) == 4 and 0 < figures["hit_rate"]["value"] < 1
    texts = [json.loads(line) for line in (tmp_path / "texts.jsonl").read_text().splitlines()]
    assert texts[0]["header"] == {"weights": "0123456789abcdef", "dtype": "float64"}
    assert figures["texts"] == len(texts) - 1
    header, records = read_rounds(rounds)
    assert header["settings"]["lookahead"] == 3
    assert len(records["ssd"]) == sum(len(text["rounds"]) for text in texts[1:])
    assert sum(r.round == 1 for r in records["ssd"]) == figures["texts"]


def test_a_second_call_finds_everything_there(tmp_path, capsys):
    assert measure(tmp_path) == 0
    first, data = capsys.readouterr().out, (tmp_path / "texts.jsonl").read_bytes()
    assert measure(tmp_path) == 0
    assert capsys.readouterr().out == first
    assert (tmp_path / "texts.jsonl").read_bytes() == data
    assert "hit rate  " in first and "local exponents" not in first
    assert "K=4, temperature 1, fan-out [2, 2, 2, 2, 4], C=1" in first


def test_seeds_and_parts_add_texts(tmp_path, capsys):
    sizes = []
    for more in ([], ["--seeds", "0:2"], ["--seeds", "0,1", "--part", "all"]):
        assert measure(tmp_path, "--json", *more) == 0
        sizes.append(json.loads(capsys.readouterr().out)["texts"])
    evaluated = sizes[0]
    assert sizes == [evaluated, 2 * evaluated, 48]


def test_greedy_texts_that_only_repeat_themselves_say_nothing(tmp_path, capsys):
    assert measure(tmp_path, "--temperature", "0", "--max-new-tokens", "60") == 2
    assert "got none in 17 (greedy text counts up to its first repeated" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "options", "message"),
    [
        ("measure", ["--seeds", "1:x"], "expected numbers such as 0,1,2 or 0:3, got '1:x'"),
        ("measure", ["--seeds", "3:3"], "--seeds: expected numbers >= 0, got []"),
        ("measure", ["--lookahead", "0"], "--lookahead: expected at least 1, got 0"),
        ("measure", ["--fan-out", "1,2"], "--fan-out: expected lookahead + 1 = 5 numbers"),
        ("measure", ["--temperature", "-1"], "--temperature: expected a finite number >= 0"),
        ("measure", ["--max-new-tokens", "1"], "--max-new-tokens: expected 2 to 448, got 1"),
        ("measure", ["--prompts", "1000"], "--prompts: expected at least 1000 held-out"),
        ("measure", ["--prompts", "1"], "--prompts: expected at least 2, got 1"),
        ("measure", ["--jobs", "0"], "--jobs: expected -1 or at least 1, got 0"),
        ("sweep", ["--policies", "oracle"], "policies: expected some of uniform"),
        ("sweep", ["--saguaro-c", "2"], "saguaro_cs: expected numbers in [0, 1], got 2.0"),
        ("sweep", ["--budgets", "a"], "expected numbers such as 10, got 'a'"),
        ("sweep", ["--lookaheads", "0"], "lookahead: expected"),
    ],
)
def test_errors_are_one_line_and_leave_no_file(tmp_path, capsys, command, options, message):
    output = tmp_path / "file"
    assert main([command, "--output", str(output), *SMALL, *options], load=load_tables) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
    assert not output.exists()


def test_a_missing_folder_and_a_foreign_file_are_refused(tmp_path, capsys):
    assert main(["measure", "--output", str(tmp_path / "no" / "f"), *SMALL], load=load_tables) == 2
    assert "--output: expected a file in a folder that exists" in capsys.readouterr().err
    (tmp_path / "texts.jsonl").write_text("my thesis")
    assert measure(tmp_path) == 2
    assert "expected recorded texts, got b'my thesis'" in capsys.readouterr().err
    assert (tmp_path / "texts.jsonl").read_text() == "my thesis"
    assert main(["sweep"], load=load_tables) == 2
    assert "expected --output FILE, got none" in capsys.readouterr().err


def test_a_sweep_fills_a_table_and_goes_on_where_it_was(tmp_path, capsys):
    output = tmp_path / "sweep.csv"
    command = [
        "sweep", "--output", str(output), *SMALL, "--temperatures", "1", "--lookaheads", "2",
        "--budgets", "3,6", "--policies", "uniform,geometric", "--saguaro-c", "1,.5",
    ]  # fmt: skip
    assert main(command, load=load_tables) == 0
    table = read_table(output)
    assert table.head["weights"] == "0123456789abcdef"
    assert len(table.rows) == 8
    assert {r["source"] for r in table.where(saguaro_c=0.5)} == {"decoded"}
    for budget in (3, 6):
        (row,) = table.where(saguaro_c=1.0, budget=budget, policy="uniform")
        assert row["fan_out"] == " ".join([str(budget // 3)] * 3) and row["guesses"] == budget
    data, work = output.read_bytes(), tmp_path / "sweep.texts.jsonl"
    lines = work.read_text().splitlines(keepends=True)
    work.write_text("".join(lines[:-3]) + lines[-3][:50])  # as an interruption leaves it
    assert main(command, load=load_tables) == 0
    assert output.read_bytes() == data
    assert sorted(work.read_text().splitlines()) == sorted("".join(lines).splitlines())


@pytest.mark.slow
def test_ctrl_c_loses_no_finished_text(tmp_path):
    """A real process and a real signal; the target takes 3 ms a token."""
    output = tmp_path / "texts.jsonl"
    here = Path(__file__).parent
    command = [sys.executable, str(here / "fake_pair.py"), "0.003", "measure",
               "--output", str(output), *SMALL]  # fmt: skip
    environment = os.environ | {"PYTHONPATH": str(here.parents[1])}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    while not output.exists() or output.read_text().count("\n") < 3:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130
    finished = output.read_text().count("\n") - 1
    assert f"interrupted; {finished} texts are in {output}" in error and "Traceback" not in error
    assert main(["measure", "--output", str(output), *SMALL], load=load_tables) == 0
