"""An nbgrader source notebook of an assignment, and the checks that its cells call.

The notebook holds the reference with its markers: `nbgrader generate_assignment` takes the answers
out. A test cell runs a check on the cases that students see; its hidden part, which nbgrader puts
back before grading, on cases drawn from the seed in the file that SSD_REF_SEED_FILE names.
"""

from __future__ import annotations

import ast
import json
import os
from pathlib import Path
from typing import Any

from lessons.assignments import catalogue
from lessons.assignments.exercises import guard
from lessons.assignments.grading import seed_from
from lessons.assignments.spec import PUBLIC_SEED, Assignment, Check, Task
from ssd_ref.testing.check import Exercise, judge

SEED_VARIABLE = "SSD_REF_SEED_FILE"
FIRST_TEST = "from lessons.assignments.notebooks import passes, passes_hidden\n\n"
TEST = """\
passes("{id}", {answer})
### BEGIN HIDDEN TESTS
passes_hidden("{id}", {answer})
### END HIDDEN TESTS"""

Cell = dict[str, Any]


def passes(check_id: str, answer: Any, seed: str = PUBLIC_SEED) -> None:
    """AssertionError with the verdict unless the answer passes the check."""
    assignment = catalogue.load(int(check_id.partition(".")[0]))
    task, check = assignment.find(check_id)
    slips = {slip.text: slip.acts for slip in task.slips}
    exercise = Exercise(check_id, task.trials(check, seed), slips, task.read)
    with guard(task.hides, answer) as own:
        verdict = judge(exercise, own)
    assert verdict, verdict.text


def passes_hidden(check_id: str, answer: Any) -> None:
    """The same on the instructor's cases, if there is a seed file."""
    path = os.environ.get(SEED_VARIABLE)
    passes(check_id, answer, seed_from(Path(path) if path else None))


def write_notebook(assignment: Assignment, path: Path) -> None:
    if path.exists():
        raise ValueError(f"{path} exists already; nothing was written")
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(notebook(assignment), indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")


def notebook(assignment: Assignment) -> dict[str, Any]:
    """Sheet, given code, then for each task its function and a cell for each check."""
    sheet = (assignment.folder / "sheet.md").read_text(encoding="utf-8")
    source = (assignment.folder / "reference.py").read_text(encoding="utf-8")
    head, parts = split(source, [task.function for task in assignment.tasks if task.function])
    cells = [markdown("sheet", sheet), solution("given", head)]
    for task in assignment.tasks:
        if task.function in parts:
            cells.append(solution(grade_id(f"task-{task.id}"), parts[task.function]))
        cells += [test_cell(task, check) for check in task.checks]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def split(source: str, functions: list[str]) -> tuple[str, dict[str, str]]:
    """What stands before the first function, and each function with what stands above it."""
    lines = source.splitlines()
    parts: dict[str, str] = {}
    begin, head = None, source
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and node.name in functions:
            if begin is None:
                begin = node.lineno - 1
                head = "\n".join(lines[:begin])
            end = node.end_lineno or node.lineno
            while end < len(lines) and lines[end].strip() and lines[end].startswith(" "):
                end += 1  # a marker behind the last statement
            parts[node.name] = "\n".join(lines[begin:end]).strip()
            begin = end
    return head.strip(), parts


def cell(kind: str, id: str, text: str, **more: Any) -> Cell:
    """id: nbgrader's, of letters, digits, - and _ only."""
    flags = {"grade": False, "locked": False, "solution": False, "task": False, **more}
    metadata = {"nbgrader": {"grade_id": id, "schema_version": 3, **flags}}
    outputs: Cell = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "id": id, "metadata": metadata, "source": text, **outputs}


def grade_id(id: str) -> str:
    return id.replace(".", "-").replace("/", "-")


def markdown(id: str, text: str) -> Cell:
    return cell("markdown", id, text, locked=True)


def solution(id: str, text: str) -> Cell:
    return cell("code", id, text, solution=True)


def test_cell(task: Task, check: Check) -> Cell:
    id = task.check_id(check)
    text = FIRST_TEST + TEST.format(id=id, answer=task.function)
    return cell("code", grade_id(id), text, grade=True, locked=True, points=check.points)
