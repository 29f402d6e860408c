"""From results to grades: lateness, adjustments that survive, ids, the platforms' columns."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from lessons.assignments import catalogue, export, feedback, results
from lessons.assignments.gradebook import Book
from lessons.assignments.results import Graded, Result

TWO = catalogue.load(2)


def graded(student: str, id: str = "", *wrong: str, digest: str = "d") -> Graded:
    """All checks of assignment 2 right, but for `wrong`."""
    checks = []
    for task, check in TWO.checks():
        name = task.check_id(check)
        bad = name in wrong
        text = f"{name}: expected 1, got 2" if bad else "right"
        how, got = ("wrong", 0.0) if bad else ("right", check.points)
        checks.append(Result(name, check.points, got, how, text))
    return Graded(student, id, 2, digest, tuple(checks))


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


ANN, BOB = graded("Ann Lee", "12", "2.1/laws"), graded("bob")


def test_without_files_the_marks_are_the_grade() -> None:
    ann, bob = Book().lines([ANN, BOB])
    assert (ann.points, ann.final, ann.most, ann.changes) == (19, 19, 21, ())
    assert ann.tasks == {"2.1": (2, 4), "2.2": (5, 5), "2.3": (8, 8), "2.4": (4, 4)}
    assert bob.final == 21


@pytest.mark.parametrize(
    ("days", "final"), [("0", 19), ("1", 16.9), ("0.2", 16.9), ("2", 14.8), ("100", 0)]
)
def test_each_day_begun_costs_a_tenth(tmp_path: Path, days: str, final: float) -> None:
    late = written(tmp_path / "late.csv", f"student,days\nAnn Lee,{days}\n")
    ann, bob = Book(lateness=late).lines([ANN, BOB])
    assert (ann.final, bob.final) == (pytest.approx(final), 21)


def test_adjustments_are_added_and_say_why(tmp_path: Path) -> None:
    text = "student,points,reason\n12,2,oral exam\nAnn Lee,-0.5,style\nbob,-100,plagiarism\n"
    ann, bob = Book(adjustments=written(tmp_path / "a.csv", text)).lines([ANN, BOB])
    assert ann.final == 20.5
    assert ann.changes == ("+2: oral exam", "-0.5: style")
    assert bob.final == 0, "never below 0"


def test_adjustments_survive_a_regrade(tmp_path: Path) -> None:
    book = Book(adjustments=written(tmp_path / "a.csv", "student,points,reason\nbob,1,bonus\n"))
    before, after = graded("bob", "", "2.4/laws", digest="1"), graded("bob", digest="2")
    assert [book.lines([g])[0].final for g in (before, after)] == [20, 22]


def test_an_id_map_names_students_for_the_platform(tmp_path: Path) -> None:
    ids = written(tmp_path / "ids.csv", "\ufeffstudent,id\nbob,4322\n")
    assert [line.id for line in Book(ids=ids).lines([ANN, BOB])] == ["12", "4322"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("student,days\nnobody,1\n", "no submission of 'nobody'"),
        ("student,days\n,1\n", "no submission of ''"),
        ("student,days\nbob,soon\n", "days of bob: got 'soon'"),
        ("student,days\nbob,-1\n", "days of bob: got '-1'"),
        ("student,days\nbob,nan\n", "days of bob: got 'nan'"),
        ("name,days\nbob,1\n", "expected columns student,days, got"),
        ("", "expected columns student,days, got"),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Book(lateness=written(tmp_path / "late.csv", text)).lines([ANN, BOB])


def test_of_two_students_with_one_name_the_id_is_asked_for(tmp_path: Path) -> None:
    both = [graded("Ann Lee", "12"), graded("Ann Lee", "13")]
    late = written(tmp_path / "late.csv", "student,days\nAnn Lee,1\n")
    with pytest.raises(ValueError, match="'Ann Lee' are several; give the id"):
        Book(lateness=late).lines(both)
    late = written(tmp_path / "late.csv", "student,days\n13,1\n")
    assert [line.final for line in Book(lateness=late).lines(both)] == [21, pytest.approx(18.9)]


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_columns_of_each_platform(tmp_path: Path) -> None:
    lines = Book().lines([ANN, BOB])
    path = tmp_path / "grades.csv"
    export.write_csv(path, TWO, lines, "plain")
    assert rows(path)[0] == {
        "student": "Ann Lee", "id": "12", "2.1": "2", "2.2": "5", "2.3": "8", "2.4": "4",
        "points": "19", "final": "19", "of": "21", "changes": "", "notes": "",
    }  # fmt: skip
    export.write_csv(path, TWO, lines, "moodle")
    assert rows(path)[0] == {
        "Identifier": "Participant 12", "Full name": "Ann Lee", "Grade": "19",
        "Maximum Grade": "21", "Feedback comments": "2.1: 2/4, 2.2: 5/5, 2.3: 8/8, 2.4: 4/4",
    }  # fmt: skip
    export.write_csv(path, TWO, lines, "canvas")
    assert rows(path)[0] == {
        "Student": "Ann Lee", "ID": "12", "Section": "",
        "Assignment 2: One round of verification": "19",
    }  # fmt: skip


def test_gradescopes_object(tmp_path: Path) -> None:
    export.write_gradescope(tmp_path / "results.json", TWO, ANN)
    read = json.loads((tmp_path / "results.json").read_text())
    assert read["score"] == 19
    assert len(read["tests"]) == len(TWO.checks())
    assert read["tests"][0] == {
        "number": "2.1/laws", "name": "Keep or reject one token: laws", "score": 0.0,
        "max_score": 2, "status": "failed", "output": "2.1/laws: expected 1, got 2",
    }  # fmt: skip
    assert read["tests"][1]["status"] == "passed" and read["tests"][1]["output"] == ""


def test_feedback_says_what_was_lost_and_why(tmp_path: Path) -> None:
    (line,) = Book(lateness=written(tmp_path / "l", "student,days\n12,1\n")).lines([ANN])
    path = feedback.write(tmp_path / "texts", TWO, ANN, line)
    assert path.name == "Ann Lee_12.md"
    text = path.read_text()
    assert "Ann Lee: **19 of 21 points**" in text and "1 days late: -2.1" in text
    assert "In the grade book: **16.9**" in text
    assert "## Task 2.1 - Keep or reject one token: 2 of 4" in text
    assert "- laws: 0 of 2\n\n      2.1/laws: expected 1, got 2\n" in text
    assert "- edges: 1 of 1\n" in text


def test_a_name_cannot_lead_out_of_the_folder(tmp_path: Path) -> None:
    path = feedback.write(tmp_path / "texts", TWO, graded("../../x"))
    assert path.parent == tmp_path / "texts"


def test_results_are_read_back_and_a_torn_line_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    results.append(path, [graded("a", digest="1"), graded("b", digest="2")])
    assert results.read(path)["2"] == graded("b", digest="2")
    path.write_text(path.read_text()[:-20])
    assert list(results.read(path)) == ["1"]
    assert results.read(tmp_path / "none") == {}
