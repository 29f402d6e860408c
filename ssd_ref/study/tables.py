"""Small tables as CSV with a head: lines "# name: value" that say how the table came about."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ssd_ref.study.estimates import Estimate

DIGITS = 4  # after the point


@dataclass(frozen=True)
class Table:
    """head: such as {"command": .., "weights": ..}. rows: one dictionary a line."""

    head: dict[str, str]
    rows: list[dict[str, Any]]

    def where(self, **values: Any) -> list[dict[str, Any]]:
        """The rows that have these values."""
        return [row for row in self.rows if all(row[n] == v for n, v in values.items())]


def write_table(path: Path, head: Mapping[str, str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Replace the file at once: nobody meets half a table. Raises ValueError without rows."""
    lines = [flat(row) for row in rows]
    if not lines:
        raise ValueError(f"{path}: expected rows, got none")
    text = io.StringIO()
    for name, value in head.items():
        text.write(f"# {name}: {value}\n")
    writer = csv.DictWriter(text, list(lines[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    beside = path.with_name(path.name + ".part")
    beside.write_text(text.getvalue(), encoding="utf-8")
    os.replace(beside, path)


def flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """An estimate becomes four columns, a list one with spaces, None an empty one."""
    cells: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Estimate):
            parts = {"": value.value, "_low": value.low, "_high": value.high}
            cells |= {name + end: short(part) for end, part in parts.items()}
            cells[name + "_n"] = value.n
        else:
            cells[name] = short(value)
    return cells


def short(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, DIGITS)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " ".join(map(str, value))
    return "" if value is None else value


def read_table(path: Path) -> Table:
    """The table; cells that are numbers as numbers, empty ones as None. Raises OSError."""
    head, body = {}, []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            name, _, value = line[2:].partition(": ")
            head[name] = value
        else:
            body.append(line)
    rows = [{name: cell(text) for name, text in row.items()} for row in csv.DictReader(body)]
    return Table(head, rows)


def cell(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text or None
