"""Tables for the terminal, and reports as JSON and CSV."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from sim.config import RUNS
from sim.report import Report

FATES = ("useful", "rejected", "unused", "aborted", "upkeep")
TOGETHER = dict.fromkeys(("handshake", "link", "service"), "hand-shake, link, service")


MOST_SHOWN = 3


def title(data: Mapping[str, Any]) -> str:
    """The preset, and what was changed of it: the keys, or only their tables if they are many."""
    parts = {part: value for part, value in data.items() if part not in ("preset", *RUNS)}
    tables = {part: table for part, table in parts.items() if isinstance(table, Mapping)}
    changed = [f"{part} = {value}" for part, value in parts.items() if part not in tables]
    keys = [f"{part}.{key} = {v}" for part, table in tables.items() for key, v in table.items()]
    changed += keys if len(keys) <= MOST_SHOWN else list(tables)
    return ", ".join([str(data.get("preset", "toy")), *changed])


def number(value: float | None, digits: int = 3) -> str:
    """Like 1.58, 186, 2500: three digits, none lost before the point."""
    if value is None or math.isnan(value):
        return "-"
    return f"{value:.0f}" if abs(value) >= 10**digits else f"{value:.{digits}g}"


def rows_of_comparison(
    reports: Mapping[str, Report], published: Mapping[str, Mapping[str, float]]
) -> list[tuple[str, list[str]]]:
    """Name and cells of each line; cells in the order of `reports`."""
    all_ = list(reports.values())

    def line(name: str, cells: Iterable[float | None]) -> tuple[str, list[str]]:
        return name, [number(cell) for cell in cells]

    lines = [
        ("tokens/s", [str(report.tokens_per_s) for report in all_]),
        *(times_as_fast(reports, m) for m in ("ar", "sd") if m in reports and len(all_) > 1),
        line("tokens a round", [r.tokens_per_round for r in all_]),
        line("ms a round", [r.round_ms for r in all_]),
        ("hit rate", ["-" if r.hits is None else str(r.hits) for r in all_]),
        line("tokens after a hit", [r.tokens_hit for r in all_]),
        line("tokens after a miss", [r.tokens_miss for r in all_]),
        *causes(all_),
        line("target busy, share of time", [r.utilisation["target"] for r in all_]),
        line("draft busy, share of time", [r.utilisation["draft"] for r in all_]),
        line("target rows a token", [r.target_rows.total / r.tokens for r in all_]),
        line("draft rows a token", [r.draft_rows.total / r.tokens for r in all_]),
        *(line(f"  draft rows {kind}", [getattr(r.draft_rows, kind) / r.tokens for r in all_])
          for kind in FATES),
        line("10^9 parameters x rows/token", [r.parameter_tokens for r in all_]),
        line("GFLOP a token, both models", [r.flops for r in all_]),
        *(line(f"  GFLOP {kind}", [r.flops_by_fate[kind] for r in all_]) for kind in FATES),
        line("devices (weight)", [r.device_weight for r in all_]),
        ("tokens/s/device", [str(r.tokens_per_s.times(1 / r.device_weight)) for r in all_]),
    ]  # fmt: skip
    for source, row in published.items():
        lines.append(line(f"tokens/s, {source}", [row.get(m) for m in reports]))
    return [(name, cells) for name, cells in lines if name and any(c != "-" for c in cells)]


def times_as_fast(reports: Mapping[str, Report], base: str) -> tuple[str, list[str]]:
    """Speedups; the interval is that of the quotient, since both saw the same outcomes."""
    ratios = {m: report.over(reports[base]) for m, report in reports.items()}
    return f"x {base.upper()}", ["1" if m == base else str(r) for m, r in ratios.items()]


def causes(reports: Sequence[Report]) -> list[tuple[str, list[str]]]:
    """Milliseconds a token by cause; they sum to the makespan over the tokens."""
    names = list(dict.fromkeys(TOGETHER.get(c, c) for r in reports for c in r.causes_ms))
    lines = []
    for name in names:
        spent = [
            sum(ms for c, ms in r.causes_ms.items() if TOGETHER.get(c, c) == name) / r.tokens
            for r in reports
        ]
        lines.append((f"  ms {name}", [number(ms) if ms else "-" for ms in spent]))
    total = [number(r.makespan_ms / r.tokens) for r in reports]
    return [("ms a token, by cause:", total), *lines]


def table(
    title: str, columns: Sequence[str], lines: Iterable[Sequence[str]], words: int = 1
) -> Table:
    """The first `words` columns hold words; the others figures, broken only if they must be."""
    made = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False,
                 collapse_padding=True)  # fmt: skip
    for i, column in enumerate(columns):
        text = i < words
        made.add_column(column, justify="left" if text else "right", no_wrap=not text)
    for line in lines:
        made.add_row(*line)
    return made


WORDS_NEED = 12  # characters, for the columns of words together


def allow_breaks(made: Table, width: int) -> None:
    """On a narrow terminal break figures rather than lose them."""
    figures = [column for column in made.columns if column.no_wrap]
    needed = sum(
        2 + max(len(str(cell)) for cell in (column.header, *column.cells)) for column in figures
    )
    if needed + WORDS_NEED > width:
        for column in made.columns:
            column.no_wrap, column.overflow = False, "fold"
            column.min_width = 4


def emit(
    console: Console, made: Table, data: Any, as_json: bool, path: Path | None,
    notes: Iterable[str] = (),
) -> None:  # fmt: skip
    """Print the table and its notes, or JSON instead; write its cells as CSV to a given path."""
    if path is not None:
        cells = zip(*(column.cells for column in made.columns), strict=True)
        with path.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow([column.header for column in made.columns])
            writer.writerows([[str(cell).strip() for cell in row] for row in cells])
    if as_json:
        console.print_json(json.dumps(without_nan(data), allow_nan=False))
    else:
        allow_breaks(made, console.width)
        console.print(made)
        for note in notes:
            console.print(note, markup=False, highlight=False)


def without_nan(data: Any) -> Any:
    """The same, with null for what is not a number: JSON has no NaN."""
    if isinstance(data, Mapping):
        return {key: without_nan(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [without_nan(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data
