"""Tables for the terminal, and reports as JSON and CSV."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from sim.report import Report

FATES = ("useful", "rejected", "unused", "aborted", "upkeep")
TOGETHER = dict.fromkeys(("handshake", "link", "service"), "hand-shake, link, service")


def number(value: float | None, digits: int = 3) -> str:
    """Like 1.58, 186, 2500: three digits, none lost before the point."""
    if value is None:
        return "-"
    return f"{value:.0f}" if abs(value) >= 10**digits else f"{value:.{digits}g}"


def rows_of_comparison(
    reports: Mapping[str, Report], published: Mapping[str, Mapping[str, float]]
) -> list[tuple[str, list[str]]]:
    """Name and cells of each line; cells in the order of `reports`."""
    all_, rate = list(reports.values()), {m: r.tokens_per_s.value for m, r in reports.items()}

    def line(name: str, cells: Iterable[float | None]) -> tuple[str, list[str]]:
        return name, [number(cell) for cell in cells]

    lines = [
        ("tokens/s", [str(report.tokens_per_s) for report in all_]),
        line("x AR", [rate[m] / rate["ar"] for m in reports]) if "ar" in rate else ("", []),
        line("x SD", [rate[m] / rate["sd"] for m in reports]) if "sd" in rate else ("", []),
        line("tokens a round", [r.tokens_per_round for r in all_]),
        line("round, ms", [r.round_ms for r in all_]),
        line("hit rate", [r.hit_rate for r in all_]),
        line("tokens after a hit", [r.tokens_hit for r in all_]),
        line("tokens after a miss", [r.tokens_miss for r in all_]),
        *causes(all_),
        line("target busy", [r.utilisation["target"] for r in all_]),
        line("draft busy", [r.utilisation["draft"] for r in all_]),
        line("target rows a token", [r.target_rows.total / r.tokens for r in all_]),
        line("draft rows a token", [r.draft_rows.total / r.tokens for r in all_]),
        *(line(f"  draft rows {kind}", [getattr(r.draft_rows, kind) / r.tokens for r in all_])
          for kind in FATES),
        line("10^9 parameters x rows a token", [r.parameter_tokens for r in all_]),
        line("devices (weight)", [r.device_weight for r in all_]),
        line("tokens/s/device", [r.tokens_per_device_second for r in all_]),
    ]  # fmt: skip
    for source, row in published.items():
        lines.append(line(f"published, {source}", [row.get(m) for m in reports]))
    return [(name, cells) for name, cells in lines if name and any(c != "-" for c in cells)]


def causes(reports: Sequence[Report]) -> list[tuple[str, list[str]]]:
    """Milliseconds a token by cause; they sum to the makespan over the tokens."""
    names = list(dict.fromkeys(TOGETHER.get(c, c) for r in reports for c in r.causes_ms))
    lines = []
    for name in names:
        spent = [
            sum(ms for c, ms in r.causes_ms.items() if TOGETHER.get(c, c) == name) / r.tokens
            for r in reports
        ]
        lines.append((f"  ms a token: {name}", [number(ms) if ms else "-" for ms in spent]))
    total = [number(r.makespan_ms / r.tokens) for r in reports]
    return [*lines, ("ms a token, all causes", total)]


def table(title: str, columns: Sequence[str], lines: Iterable[Sequence[str]]) -> Table:
    made = Table(title=title, title_justify="left")
    for i, column in enumerate(columns):
        made.add_column(column, justify="right" if i else "left")
    for line in lines:
        made.add_row(*line)
    return made


def emit(console: Console, made: Table, data: Any, as_json: bool, path: Path | None) -> None:
    """Print the table, or JSON instead; write its cells as CSV where a path is given."""
    if path is not None:
        cells = zip(*(column.cells for column in made.columns), strict=True)
        with path.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow([column.header for column in made.columns])
            writer.writerows([[str(cell).strip() for cell in row] for row in cells])
    if as_json:
        console.print_json(json.dumps(data))
    else:
        console.print(made)
