"""Sweeps: a grid of scenarios into one tidy CSV, on all cores, that can be interrupted.

Each point is appended to the file, in one write, as soon as it is done; a later call with the same
file computes only what is missing. joblib does the spreading: another back end is one changed
line, `with joblib.parallel_config(backend="dask"): sweep(...)`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import product
from pathlib import Path
from typing import Any

from sim.checks import read_text
from sim.clock import Limit
from sim.config import scenario_of, set_key
from sim.intervals import Rate
from sim.laws import Rates
from sim.scenario import Scenario
from sim.simulate import METHODS
from sim.spread import spread

Row = dict[str, str]
OF_THE_CACHE = ("method.lookahead", "method.fan_out", "method.fan_out_miss")
COLUMNS = (
    "rounds", "seed", "method", "tokens_per_s", "half_width", "tokens_per_round", "round_ms",
    "hit_rate", "parameter_tokens", "tokens_per_device_second",
)  # fmt: skip


def grid(axes: Mapping[str, Sequence[str]]) -> list[dict[str, str]]:
    """All combinations of the values of the axes.

    >>> grid({"method.lookahead": ["2", "3"], "method.batch": ["1"]})[1]
    {'method.lookahead': '3', 'method.batch': '1'}
    """
    return [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]


def point(base: Mapping[str, Any], at: Mapping[str, str], rounds: int, seed: int) -> list[Row]:
    """The rows of one point of the grid: AR, SD and SSD on one seed."""
    data = deepcopy(dict(base))
    for name, value in at.items():
        set_key(data, f"{name}={value}")
    scenario = scenario_of(data)
    rows = []
    for method in METHODS:
        report = scenario.run(method, Limit(rounds=rounds), seed)
        rate = report.tokens_per_s
        numbers = (
            rounds, seed, method, f"{rate.value:.6g}", plain(rate.half_width),
            f"{report.tokens_per_round:.6g}", f"{report.round_ms:.6g}", plain(report.hit_rate),
            f"{report.parameter_tokens:.6g}", f"{report.tokens_per_device_second:.6g}",
        )  # fmt: skip
        rows.append(dict(at) | dict(zip(COLUMNS, map(str, numbers), strict=True)))
    return rows


def cells(row: Row) -> list[str]:
    """A row of the file as a person reads it: the rate with its interval, three digits else."""

    def short(name: str) -> str:
        return f"{float(row[name]):.3g}" if row[name] else "-"

    half = float(row["half_width"]) if row["half_width"] else None
    rate = Rate(float(row["tokens_per_s"]), half, int(row["rounds"]))
    return [row["method"].upper(), str(rate), short("hit_rate"), short("round_ms"),
            short("tokens_per_device_second")]  # fmt: skip


def plain(number: float | None) -> str:
    return "" if number is None else f"{number:.6g}"


def sweep(
    base: Mapping[str, Any],
    axes: Mapping[str, Sequence[str]],
    path: Path,
    rounds: int = 2000,
    seed: int = 0,
    jobs: int = -1,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> list[Row]:
    """Compute what `path` lacks of the grid, append it there, and return all rows of the grid.

    The first point that cannot be (a contradiction, an unknown key) raises before any is computed.
    """
    points = grid(axes)
    for at in points:
        data = deepcopy(dict(base))
        for name, value in at.items():
            set_key(data, f"{name}={value}")
        refuse_fixed_rates(scenario_of(data), axes)
    header = [*axes, *COLUMNS]
    have = {identity(row, rounds, seed) for row in read(path, header)}
    wanted = {identity(at, rounds, seed): at for at in points}
    todo = [at for k, at in wanted.items() if k not in have]
    progress(len(points) - len(todo), len(points))
    done = spread(point, [(base, at, rounds, seed) for at in todo], jobs, in_order=False)
    for n, rows in enumerate(done, start=len(points) - len(todo) + 1):
        append(path, header, rows)
        progress(n, len(points))
    order = {k: i for i, k in enumerate(wanted)}
    rows = [row for row in read(path, header) if identity(row, int(row["rounds"]), seed) in order]
    return sorted(
        rows, key=lambda r: (order[identity(r, rounds, seed)], METHODS.index(r["method"]))
    )


def refuse_fixed_rates(scenario: Scenario, axes: Mapping[str, Sequence[str]]) -> None:
    """K or F may not change under hit rates that stay: they were measured at one K and F."""
    moving = [name for name in OF_THE_CACHE if len(set(axes.get(name, ()))) > 1]
    fixed = any(isinstance(context.hits, Rates) for context in scenario.text.contexts)
    if moving and fixed:
        raise ValueError(
            f"--over {moving[0]}: the hit rates of this scenario hold at one K and fan-out and say "
            f"nothing about others, got {list(axes[moving[0]])}; give text.prefactor and "
            "text.exponent"
        )


def identity(row: Mapping[str, str], rounds: int, seed: int) -> tuple[tuple[str, str], ...]:
    """What tells points apart: their axes, and rounds and seed (a row's own where it has them)."""
    axes = {name: value for name, value in row.items() if name not in COLUMNS}
    own = {"rounds": row.get("rounds", str(rounds)), "seed": row.get("seed", str(seed))}
    return tuple((axes | own).items())


def read(path: Path, header: list[str]) -> list[Row]:
    """The complete rows of a file; a last line cut short by an interruption is taken off it."""
    text = read_text(path) if path.exists() else ""
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        path.write_text(whole)
    reader = csv.DictReader(io.StringIO(whole))
    if whole and list(reader.fieldnames or []) != header:
        raise ValueError(f"{path}: expected the columns {header}, got {reader.fieldnames}")
    return list(reader)


def append(path: Path, header: Iterable[str], rows: Iterable[Row]) -> None:
    """All rows of a point in one write, so that an interruption cannot part them."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(header), lineterminator="\n")
    if not path.exists() or not path.stat().st_size:
        writer.writeheader()
    writer.writerows(rows)
    with path.open("a") as file:
        file.write(text.getvalue())


def axes_of(assignments: Iterable[str]) -> dict[str, list[str]]:
    """`table.key=v1,v2,..` as on the command line; a list of lists is separated by semicolons."""
    axes = {}
    for text in assignments:
        name, equals, values = text.partition("=")
        if not equals or not all(split(values)):
            raise ValueError(f"--over: expected table.key=value,value,.., got {text!r}")
        axes[name] = list(split(values))
    return axes


def split(values: str) -> Iterator[str]:
    yield from (v.strip() for v in values.split(";" if "[" in values else ","))
