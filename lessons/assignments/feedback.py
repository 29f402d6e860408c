"""What a student reads: task by task, what was right, and the smallest case that was not."""

from __future__ import annotations

import re
from pathlib import Path

from lessons.assignments.gradebook import Line
from lessons.assignments.results import Graded, Result
from lessons.assignments.spec import Assignment


def text(assignment: Assignment, graded: Graded, line: Line | None = None) -> str:
    """Markdown. line: the student's line in the grade book, with lateness and adjustments."""
    lines = [
        f"# Assignment {assignment.number}: {assignment.title}",
        "",
        f"{graded.student}: **{graded.points:g} of {graded.most:g} points**",
        *changed(line),
        *(f"\nNote: {note}." for note in graded.notes),
    ]
    for task in assignment.tasks:
        results = [r for r in graded.results if r.check.partition("/")[0] == task.id]
        got, most = sum(r.got for r in results), sum(r.points for r in results)
        lines += ["", f"## Task {task.id} - {task.title}: {got:g} of {most:g}", ""]
        lines += once(results)
    return "\n".join(lines) + "\n"


def changed(line: Line | None) -> list[str]:
    """What lateness and adjustments did to the points, and what comes out."""
    if line is None or not line.changes:
        return []
    return [*(f"\n{how}" for how in line.changes), f"\nIn the grade book: **{line.final:g}**"]


def once(results: list[Result]) -> list[str]:
    """A line for each check, with its text below; the same text is not repeated."""
    lines, said = [], set[str]()
    for result in results:
        name = result.check.partition("/")[2]
        lines.append(f"- {name}: {result.got:g} of {result.points:g}")
        if result.how != "right" and result.text not in said:
            said.add(result.text)
            lines += ["", *(f"      {line}" for line in result.text.splitlines()), ""]
    return lines


def write(folder: Path, assignment: Assignment, graded: Graded, line: Line | None = None) -> Path:
    """`folder`/STUDENT.md"""
    folder.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"[^\w.\- ]", "_", "_".join(filter(None, (graded.student, graded.id))))
    path = folder / f"{name}.md"
    path.write_text(text(assignment, graded, line), encoding="utf-8")
    return path
