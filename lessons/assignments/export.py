"""Grades in the columns of a learning platform, and Gradescope's `results.json`."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lessons.assignments.gradebook import Line
from lessons.assignments.results import Graded
from lessons.assignments.spec import Assignment

Row = dict[str, Any]


def plain(assignment: Assignment, line: Line) -> Row:
    """Everything: marks of each task, and what became of them."""
    tasks = {id: f"{got:g}" for id, (got, _) in line.tasks.items()}
    row: Row = {"student": line.student, "id": line.id, **tasks, "points": f"{line.points:g}"}
    changes = {"final": f"{line.final:g}", "of": f"{line.most:g}"}
    return {**row, **changes, "changes": "; ".join(line.changes), "notes": "; ".join(line.notes)}


def moodle(assignment: Assignment, line: Line) -> Row:
    """Columns of Moodle's offline grading worksheet."""
    return {
        "Identifier": f"Participant {line.id}" if line.id.isdigit() else line.id,
        "Full name": line.student,
        "Grade": f"{line.final:g}",
        "Maximum Grade": f"{line.most:g}",
        "Feedback comments": summary(line),
    }


def canvas(assignment: Assignment, line: Line) -> Row:
    """Columns of Canvas' grade book import; it matches students by ID."""
    title = f"Assignment {assignment.number}: {assignment.title}"
    return {"Student": line.student, "ID": line.id, "Section": "", title: f"{line.final:g}"}


COLUMNS: dict[str, Callable[[Assignment, Line], Row]] = {
    "plain": plain,
    "moodle": moodle,
    "canvas": canvas,
}


def summary(line: Line) -> str:
    tasks = ", ".join(f"{id}: {got:g}/{most:g}" for id, (got, most) in line.tasks.items())
    return "; ".join([tasks, *line.changes])


def write_csv(path: Path, assignment: Assignment, lines: Sequence[Line], columns: str) -> None:
    rows = [COLUMNS[columns](assignment, line) for line in lines]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def gradescope(assignment: Assignment, graded: Graded) -> dict[str, Any]:
    """The object that Gradescope reads from /autograder/results/results.json."""
    titles = {task.id: task.title for task in assignment.tasks}
    tests = [
        {
            "number": result.check,
            "name": f"{titles[result.check.partition('/')[0]]}: {result.check.partition('/')[2]}",
            "score": result.got,
            "max_score": result.points,
            "status": "passed" if result.how == "right" else "failed",
            "output": "" if result.how == "right" else result.text,
        }
        for result in graded.results
    ]
    return {"score": graded.points, "output": "\n".join(graded.notes), "tests": tests}


def write_gradescope(path: Path, assignment: Assignment, graded: Graded) -> None:
    text = json.dumps(gradescope(assignment, graded), indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")
