"""`ssd-ref assignment` and `ssd-ref grade`, as a student and an instructor type them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ssd_ref.cli.assignment
from lessons.assignments import catalogue
from ssd_ref.cli import main

pytestmark = pytest.mark.slow  # left out of the everyday run

TWO = catalogue.load(2)
PLAIN = (TWO.folder / "right" / "plain.py").read_text()


def test_list_names_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["assignment", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(catalogue.numbers())
    assert "2  One round of verification                 21 points  3 to 5 hours" in lines


def test_start_then_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "mine"
    assert main(["assignment", "start", "2", str(folder)]) == 0
    names = ["assignment2.py", "test_assignment2.py", "sheet.md"]
    assert capsys.readouterr().out.split() == [str(folder / name) for name in names]
    assert main(["assignment", "start", "2", str(folder)]) == 2
    assert "exists already; nothing was written" in capsys.readouterr().err
    assert main(["assignment", "check", "2", str(folder), "--task", "2.4"]) == 1
    assert capsys.readouterr().out == "todo  2.4/laws\ntodo  2.4/zeros\n"
    (folder / "assignment2.py").write_text(PLAIN + "\ndef verify_two(*a):\n    return 0\n")
    assert main(["assignment", "check", "2", str(folder), "--task", "2.4"]) == 1
    assert "WRONG 2.4/laws\n      2.4/laws: not yet, 0 of 8" in capsys.readouterr().out
    (folder / "assignment2.py").write_text(PLAIN)
    assert main(["assignment", "check", "2", str(folder), "--task", "2.4"]) == 0
    assert capsys.readouterr().out == "right 2.4/laws\nright 2.4/zeros\n"


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["assignment", "start", "99", "x"], "there is no assignment 99; there are"),
        (["assignment", "check", "2", "nowhere"], "no such file; `ssd-ref assignment start`"),
        (["assignment"], "required: list|start|check|nbgrader"),
        (["grade", "2", "nowhere"], "nowhere: no such file or folder"),
        (["grade", "2", ".", "--seed-file", "nowhere"], "No such file"),
        (["grade", "two", "."], "invalid int value"),
        (["grade", "2", ".", "--jobs", "0"], "--jobs: expected at least 1, got 0"),
        (["grade", "2", ".", "--penalty", "2"], "--penalty: expected a share in [0, 1], got 2.0"),
        (["grade", "2", ".", "--out", "no/where.csv"], "there is no folder no"),
        (["grade", "2", ".", "--again", "zed"], "--again: no submission of ['zed']"),
    ],
)
def test_mistakes_are_one_line(
    words: list[str], error: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("ssd-ref: error:") and error in last


def test_an_unknown_task_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "assignment2.py").write_text(PLAIN)
    assert main(["assignment", "check", "2", str(tmp_path), "--task", "2.9"]) == 2
    assert "has no task '2.9'; it has 2.1, 2.2, 2.3, 2.4" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["assignment", "list"], ["grade", "2", "x"]])
def test_without_the_repository_the_command_says_so(
    command: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setattr(ssd_ref.cli.assignment, "ASSIGNMENTS", tmp_path / "lessons/assignments")
    assert main(command) == 2
    assert "part of the repository, not of the installed package" in capsys.readouterr().err


@pytest.mark.slow
def test_grade_writes_everything(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "seed").write_text("a long secret")
    (tmp_path / "late.csv").write_text("student,days\nann,1\n")
    (tmp_path / "ann").mkdir()
    (tmp_path / "ann" / "assignment2.py").write_text(PLAIN)
    words = ["grade", "2", "ann", "--out", "grades.csv", "--json", "--feedback", "texts",
             "--gradescope", "results.json", "--seed-file", "seed", "--lateness", "late.csv",
             "--jobs", "1"]  # fmt: skip
    words = [str(tmp_path / w) if (tmp_path / w).exists() or "." in w or w == "texts" else w
             for w in words]  # fmt: skip
    assert main(words) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["student"], row["points"], row["final"]) == ("ann", 21, 18.9)
    assert (tmp_path / "grades.csv").read_text().splitlines()[1].startswith("ann,,4,5,8,4,21,18.9")
    assert "21 of 21" in (tmp_path / "texts" / "ann.md").read_text()
    assert json.loads((tmp_path / "results.json").read_text())["score"] == 21
    assert (tmp_path / "grades.results.jsonl").exists()
