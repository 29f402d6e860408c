"""Every assignment: references and right solutions lose nothing, wrong ones exactly what they
should and with the right words, starters everything."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from lessons.assignments import catalogue, starter, stored
from lessons.assignments.results import Result
from lessons.assignments.running import in_child, run_check
from lessons.assignments.spec import PUBLIC_SEED, Assignment

pytestmark = pytest.mark.slow  # left out of the everyday run

NUMBERS = catalogue.numbers()
SECRET = "the instructor's own"
EVERYDAY = [n if n == 2 else pytest.param(n, marks=pytest.mark.slow) for n in NUMBERS]
RIGHT = [solution for number in NUMBERS for solution in stored.right(number)]
WRONG = [solution for number in NUMBERS for solution in stored.wrong(number)]


def assess(
    assignment: Assignment, path: Path, seed: str, sandbox: bool = False
) -> dict[str, Result]:
    """check -> result; without a process of its own unless `sandbox`."""
    results = {}
    for task, check in assignment.checks():
        id = task.check_id(check)
        if sandbox:
            results[id] = run_check(assignment, id, path, seed)
        else:
            how, got, text = in_child(assignment.number, id, path, seed)
            results[id] = Result(id, check.points, got, how, text)
    return results


def lost(results: dict[str, Result]) -> dict[str, str]:
    return {id: result.text for id, result in results.items() if result.got < result.points}


@pytest.mark.parametrize("number", EVERYDAY)
def test_the_reference_scores_full_marks(number: int) -> None:
    assignment = catalogue.load(number)
    assert not lost(assess(assignment, assignment.folder / "reference.py", SECRET))


@pytest.mark.parametrize("number", EVERYDAY)
def test_the_starter_imports_and_scores_0(number: int, tmp_path: Path) -> None:
    assignment = catalogue.load(number)
    starter.start(assignment, tmp_path)
    text = (tmp_path / assignment.file).read_text()
    assert "SOLUTION" not in text
    exec(compile(text, assignment.file, "exec"), {})
    results = assess(assignment, tmp_path / assignment.file, PUBLIC_SEED)
    assert all(result.got == 0 for result in results.values())


@pytest.mark.parametrize("number", NUMBERS)
def test_the_sheet_names_every_task_with_its_points(number: int) -> None:
    assignment = catalogue.load(number)
    sheet = (assignment.folder / "sheet.md").read_text(encoding="utf-8")
    for task in assignment.tasks:
        assert f"### Task {task.id} - {task.title} ({task.points:g} points)" in sheet
        assert task.function is None or f"`{task.function}" in sheet
    for link in re.findall(r"\]\(([^)#]+)[^)]*\)", sheet):
        assert (assignment.folder / link).with_suffix(".py").exists(), link  # the notebook's source
    assert "](" not in starter.sheet(assignment), "links lead nowhere from a student's folder"
    assert f"{assignment.points:g} points" in sheet and f"{assignment.hours} hours" in sheet


@pytest.mark.slow
@pytest.mark.parametrize("solution", RIGHT, ids=lambda s: s.id)
@pytest.mark.parametrize("seed", [PUBLIC_SEED, SECRET])
def test_right_but_different_solutions_score_full_marks(
    solution: stored.Stored, seed: str, tmp_path: Path
) -> None:
    assert not lost(handed_in(solution, seed, tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("solution", WRONG, ids=lambda s: s.id)
def test_wrong_solutions_lose_exactly_their_points(solution: stored.Stored, tmp_path: Path) -> None:
    losses = lost(handed_in(solution, SECRET, tmp_path))
    assert losses.keys() == solution.loses
    text = " ".join(" ".join(losses.values()).split())
    for words in solution.says:
        assert words in text


def handed_in(solution: stored.Stored, seed: str, folder: Path) -> dict[str, Result]:
    assignment = catalogue.load(solution.assignment)
    path = folder / assignment.file
    path.write_text(solution.source(), encoding="utf-8")
    return assess(assignment, path, seed, solution.sandbox)


@pytest.mark.parametrize("solution", [*RIGHT, *WRONG], ids=lambda s: s.id)
def test_stored_solutions_are_python(solution: stored.Stored) -> None:
    ast.parse(solution.source())
    assert solution in RIGHT or solution.says, "a wrong solution is told something"
