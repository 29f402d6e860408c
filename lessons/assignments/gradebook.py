"""From marks to grades: lateness, manual adjustments, the platform's ids.

Each comes from a CSV file of the instructor's, keyed by the student's name or id as `grade` shows
it. The files are read anew each time, so that a regrade keeps what they say.

    lateness.csv      student,days                 days late, a fraction counts as a day begun
    adjustments.csv   student,points,reason        added to the marks; several lines add up
    ids.csv           student,id                   what the platform calls the student
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lessons.assignments.results import Graded


@dataclass(frozen=True)
class Line:
    """A student's line. points: from the checks; final: after all `changes`, which say why."""

    student: str
    id: str
    points: float
    most: float
    final: float
    changes: tuple[str, ...]
    tasks: dict[str, tuple[float, float]]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Book:
    """The instructor's files. penalty: share of all points lost for each day begun."""

    lateness: Path | None = None
    adjustments: Path | None = None
    ids: Path | None = None
    penalty: float = 0.1

    def lines(self, all_graded: Sequence[Graded]) -> list[Line]:
        """One line a student, in the order given. ValueError for a student that nobody knows."""
        late = read(self.lateness, ("student", "days"))
        changed = read(self.adjustments, ("student", "points", "reason"))
        ids = read(self.ids, ("student", "id"))
        count = Counter(graded.student for graded in all_graded)
        known = {graded.id for graded in all_graded} - {""} | set(count)
        for row in (*late, *changed):
            if row["student"] not in known:
                raise ValueError(f"{row['file']}: no submission of {row['student']!r}")
            if count[row["student"]] > 1:
                raise ValueError(f"{row['file']}: {row['student']!r} are several; give the id")
        return [self.line(graded, late, changed, ids) for graded in all_graded]

    def line(self, graded: Graded, late: Rows, changed: Rows, ids: Rows) -> Line:
        days = sum(math.ceil(number(row, "days")) for row in of(graded, late))
        lost = min(graded.points, days * self.penalty * graded.most)
        final, changes = graded.points - lost, []
        if days:
            changes.append(f"{days} days late: -{lost:g}")
        for row in of(graded, changed):
            final += number(row, "points")
            changes.append(f"{number(row, 'points'):+g}: {row['reason']}")
        id = next((row["id"] for row in of(graded, ids)), graded.id)
        return Line(graded.student, id, graded.points, graded.most, max(0.0, final),
                    tuple(changes), graded.by_task(), graded.notes)  # fmt: skip


Rows = Sequence[dict[str, str]]


def of(graded: Graded, rows: Rows) -> list[dict[str, str]]:
    return [row for row in rows if row["student"] in (graded.student, graded.id or None)]


def read(path: Path | None, columns: tuple[str, ...]) -> list[dict[str, str]]:
    if path is None:
        return []
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        if not set(columns) <= set(reader.fieldnames or ()):
            raise ValueError(
                f"{path}: expected columns {','.join(columns)}, got {reader.fieldnames}"
            )
        return [
            {**{key: (row[key] or "").strip() for key in columns}, "file": str(path)}
            for row in reader
        ]


def number(row: dict[str, str], column: str) -> float:
    try:
        value = float(row[column])
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or (column == "days" and value < 0):
        raise ValueError(f"{row['file']}: {column} of {row['student']}: got {row[column]!r}")
    return value
