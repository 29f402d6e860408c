"""What each command of `ssd-sim` does."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import Progress

from sim import config, draw, serving, show
from sim import frontier as frontiers
from sim import sweep as sweeps
from sim import whatif as ideals
from sim.checks import need_choice, need_integer
from sim.clock import Limit
from sim.costs import Forward, Roofline
from sim.intervals import Rate, replicated
from sim.presets import PUBLISHED
from sim.queueing import Demand
from sim.replay import read_recording, replay
from sim.simulate import METHODS
from sim.trace import chrome_trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Command = Callable[[Namespace, Console], None]
ROUNDS, SWEPT, COMPARED, DRAWN = 10_000, 2000, 600, 6  # rounds, where not said


def data_of(args: Namespace) -> dict[str, Any]:
    """File, then preset, then single keys: the later one wins."""
    data = config.load(args.config) if args.config else {}
    if args.preset:
        data["preset"] = args.preset
    for assignment in args.set:
        config.set_key(data, assignment)
    config.check_keys({name: table for name, table in data.items() if name not in config.TOP})
    for name, value in data.get("run", {}).items():  # an option wins over the file
        if getattr(args, name, None) is None:
            setattr(args, name, value)
    args.seed = getattr(args, "seed", None) or 0
    return data


def limit_of(args: Namespace, default: int = ROUNDS) -> Limit:
    return Limit(rounds=default if args.rounds is None else args.rounds)


def run(args: Namespace, console: Console) -> None:
    compare(args, console, [args.method])


def compare(args: Namespace, console: Console, methods: list[str] | None = None) -> None:
    data, methods = data_of(args), methods or list(METHODS)
    if args.replay:
        return replayed(args, console, data, methods)
    scenario = config.scenario_of(data)
    reports = {m: scenario.run(m, limit_of(args), args.seed) for m in methods}
    changed = [name for name in data if name not in ("preset", *config.RUNS)]
    published = {} if changed else PUBLISHED.get(show.title(data), {})
    lines = show.rows_of_comparison(reports, published)
    columns = [f"{scenario.batch} sequence(s)", *(m.upper() for m in methods)]
    made = show.table(show.title(data), columns, [[name, *cells] for name, cells in lines])
    out = {"published": published} | {m: report.to_json() for m, report in reports.items()}
    show.emit(console, made, out, args.json, args.csv, COMPARE_NOTES)
    if getattr(args, "out", None):
        rates = {m: report.tokens_per_s.value for m, report in reports.items()}
        save(draw.speeds(rates, published), args.out)


COMPARE_NOTES = (
    "tokens/s: of the whole batch, without prefill and first round, as all lines down to tokens "
    "after a miss. ± is a 95 % interval; what is estimated is acceptance and hits.",
    "By cause: who holds up the next token; the causes sum to the whole run's time over its "
    "tokens. Rows: token positions computed. GFLOP: 10^9 operations, 2 x parameters x rows.",
)
REPLAY_NOTES = (
    "Cold starts count. ± is a 95 % interval from how much the texts differ; with fewer than 6 "
    "texts there is none, which a ? marks.",
)


def few(rate: Rate | None) -> str:
    if rate is None:
        return "-"
    return str(rate) if rate.half_width is not None else f"{show.number(rate.value)} ?"


def as_recorded(data: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters, with K and fan-out of the recording's header where none are given."""
    method = dict(data.get("method", {}))
    if "lookahead" not in method and "fan_out" not in method and settings:
        for name in ("lookahead", "fan_out", "fan_out_miss"):
            if settings.get(name) is not None:
                method.setdefault(name, settings[name])
    unused = {"acceptance": 0.5, "prefactor": 1.0, "exponent": 1.0}  # the recording has the laws
    return {**data, "method": method, "text": unused}


def replayed(args: Namespace, console: Console, data: dict[str, Any], methods: list[str]) -> None:
    for name in ("text", "hard"):
        if name in data:
            raise ValueError(
                f"--replay: expected no [{name}] beside it (a recording has its own acceptance "
                f"and hits), got {data[name]!r}"
            )
    if args.rounds is not None:
        raise ValueError(f"--rounds: a recording is replayed whole, got {args.rounds}")
    texts, settings = read_recording(args.replay)
    scenario = config.scenario_of(as_recorded(data, settings))
    results = {m: replay(scenario, m, texts) for m in methods}
    base = results.get("ar") or next(iter(results.values()))
    lines = [
        [m.upper(), str(r.tokens), show.number(r.makespan_ms), few(r.tokens_per_s),
         few(r.over(base)), few(r.hit_rate)]
        for m, r in results.items()
    ]  # fmt: skip
    columns = [
        "method",
        "tokens",
        "ms, all texts",
        "tokens/s",
        f"x {methods[0].upper()}",
        "hit rate",
    ]
    made = show.table(
        f"{args.replay.name}: {len(texts)} text(s), K = {scenario.lookahead}, fan-out "
        f"{list(scenario.fan_out)}, times of {show.title(data)}", columns, lines,
    )  # fmt: skip
    out = {m: {"tokens": r.tokens, "makespan_ms": r.makespan_ms,
               "tokens_per_s": vars(r.tokens_per_s),
               "hit_rate": None if r.hit_rate is None else vars(r.hit_rate)}
           for m, r in results.items()}  # fmt: skip
    show.emit(console, made, out, args.json, args.csv, REPLAY_NOTES)


def whatif(args: Namespace, console: Console) -> None:
    data = data_of(args)
    reports = ideals.whatif(config.scenario_of(data), limit_of(args), args.seed)
    plain = reports["as it is"]
    lines = [
        [ideals.MEANING[name], str(r.tokens_per_s), str(r.over(plain)), show.number(r.round_ms, 4),
         show.number(plain.round_ms - r.round_ms)]
        for name, r in reports.items()
    ]  # fmt: skip
    columns = ["SSD", "tokens/s", "times as fast", "ms a round", "saved"]
    made = show.table(
        f"{show.title(data)}: what if a cause of lost time did not exist?", columns, lines
    )
    out = {name: report.to_json() for name, report in reports.items()}
    show.emit(console, made, out, args.json, args.csv, ideals.NOTES)


def sweep(args: Namespace, console: Console) -> None:
    data, axes = data_of(args), sweeps.axes_of(args.over)
    rounds = SWEPT if args.rounds is None else args.rounds
    screen = Console(file=sys.stderr)
    with Progress(console=screen, transient=True, disable=not screen.is_terminal) as bar:
        task = bar.add_task("points", total=None)
        rows = sweeps.sweep(
            data, axes, args.file, rounds, args.seed, args.jobs,
            lambda done, of: bar.update(task, completed=done, total=of),
        )  # fmt: skip
    columns = [*(name.split(".")[-1] for name in axes), "method", "tokens/s", "hit rate",
               "ms a round", "/device"]  # fmt: skip
    lines = [[row[name] for name in axes] + sweeps.cells(row) for row in rows]
    made = show.table(args.file.name, columns, lines, words=len(axes) + 1)
    show.emit(
        console,
        made,
        rows,
        args.json,
        args.csv,
        ["ms a round includes all that a round waits for; /device: tokens/s of one device."],
    )


def timeline(args: Namespace, console: Console) -> None:
    data, methods = data_of(args), args.methods or ["sd", "ssd"]
    for method in methods:
        need_choice("method", method, METHODS)
    scenario, limit = config.scenario_of(data), limit_of(args, DRAWN)
    reports = {m: scenario.run(m, limit, args.seed, keep_log=True) for m in methods}
    logs = {m: report.log or [] for m, report in reports.items()}
    if args.trace:
        args.trace.write_text(json.dumps(chrome_trace(logs)))
    if args.out:
        served_by = {m: report.served_by for m, report in reports.items()}
        save(draw.time_line(logs, show.title(data), served_by), args.out)
    lines = [
        [m.upper(), x.lane, x.kind, f"{x.begin_ns / 1e6:.3f}", f"{x.end_ns / 1e6:.3f}", str(x.rows)]
        for m, log in logs.items() for x in log
    ]  # fmt: skip
    columns = ["method", "lane", "kind", "begin, ms", "end, ms", "rows"]
    made = show.table(show.title(data), columns, lines)
    show.emit(console, made, {m: [x._asdict() for x in log] for m, log in logs.items()},
              args.json, args.csv)  # fmt: skip


NAMES = {"ar": "AR", "sd": "SD", "ssd": "SSD", "ssd instant": "SSD, instant backup"}


def beside(value: float | None, least: float | None) -> str:
    return show.number(value) if least is None else f"> {show.number(least)}"


def frontier(args: Namespace, console: Console) -> None:
    data = data_of(args)
    rounds = COMPARED if args.rounds is None else args.rounds
    scenario = config.scenario_of(data)
    points = frontiers.frontier(scenario, args.batches, rounds, args.seed, args.jobs)
    sd = {(p.method, p.batch): value for p, value in frontiers.sd_at_ssd_speed(points)}
    least = {(p.method, p.batch): value for p, value in frontiers.sd_at_least(points)}
    lines = [
        [NAMES[p.method], str(p.batch), p.setting, str(p.per_user), str(p.device_rate),
         beside(sd.get((p.method, p.batch)), least.get((p.method, p.batch)))
         if "ssd" in p.method else ""]
        for p in points
    ]  # fmt: skip
    columns = ["method", "b", "at best", "of a user", "of a device", "SD's"]
    made = show.table(f"{show.title(data)}: tokens/s by batch b", columns, lines)
    out = [vars(p) | {"per_user": vars(p.per_user), "per_device": vars(p.device_rate),
                      "sd_per_device_at_this_per_user": sd.get((p.method, p.batch))}
           for p in points]  # fmt: skip
    notes = ("SD's: of a device, at the same tokens/s of a user; -: SD is never that fast; > : at "
             "all these batches SD is faster for a user, and has at least so much.",
             *frontiers.assumptions(scenario))  # fmt: skip
    show.emit(console, made, out, args.json, args.csv, notes)
    if args.out:
        curves = {
            name: ([p.per_user.value for p in points if p.method == m],
                   [p.per_device for p in points if p.method == m])
            for m, name in NAMES.items()
        }  # fmt: skip
        labels = [f"b={b}" for b in args.batches]
        save(draw.lines(curves, "tokens/s of one user", "tokens/s of one device", labels=labels),
             args.out)  # fmt: skip


FALLBACK_NOTES = (
    "Tokens that a sequence of the batch gains in the time of one verification; from b* on the "
    "fast backup wins.",
    "Exact (Cor. 16, Thm 17), no simulation: rows miss independently, times do not grow with the "
    "batch, and the fast backup leaves the hit rate as it is - b* is very sensitive to that.",
)


def fallback(args: Namespace, console: Console) -> None:
    result = frontiers.fallback(args.hit, args.tokens, args.tokens_fast, args.t_p, args.t_b)
    lines = [
        [str(b), f"{n:.3f}", f"{f:.3f}"]
        for b, n, f in zip(result.batches, result.neural, result.fast, strict=True)
    ]
    columns = ["batch", "accurate backup", "fast backup"]
    made = show.table(f"b* = {result.critical:.2f}", columns, lines)
    show.emit(console, made, vars(result), args.json, args.csv, FALLBACK_NOTES)
    if args.out:
        curves = {"accurate backup": (result.batches, result.neural),
                  "fast backup": (result.batches, result.fast)}  # fmt: skip
        inside = result.critical if 0 < result.critical < len(result.batches) else None
        save(draw.lines(curves, "batch size", "tokens a verification and row", inside, " b*"),
             args.out)  # fmt: skip


def serve(args: Namespace, console: Console) -> None:
    data = data_of(args)
    scenario, methods = config.scenario_of(data), args.methods or list(METHODS)
    for method in methods:
        need_choice("method", method, METHODS)
    demand, room, replications = demand_of(args, data)
    seeds = range(args.seed, args.seed + replications)
    found = {
        m: [serving.serve(scenario, m, demand, room, seed)[0] for seed in seeds] for m in methods
    }
    lines = []
    for name, read in serving.READINGS.items():
        cells = [str(replicated([read(e) for e in found[m]])) for m in methods]
        lines.append([name, *cells])
    columns = [f"at most {scenario.batch} at once", *(m.upper() for m in methods)]
    made = show.table(f"{show.title(data)}, {replications} replications", columns, lines)
    out = {m: [vars(e) for e in found[m]] for m in methods}
    show.emit(console, made, out, args.json, args.csv, SERVE_NOTES)


SERVE_NOTES = (
    "± is a 95 % interval over the replications. A first token comes with its request's first "
    "round (prefill alone yields none). p50, p99: of single requests, or of gaps between blocks.",
)


def demand_of(args: Namespace, data: Mapping[str, Any]) -> tuple[Demand, int | None, int]:
    """Demand, KV room and replications: an option wins over the file's table [serve]."""
    table: dict[str, Any] = dict(data.get("serve", {}))
    for name in config.RUNS["serve"]:
        if getattr(args, name, None) is not None:
            table[name] = getattr(args, name)
    room, replications = table.pop("kv_positions", None), table.pop("replications", 5)
    need_integer("replications", replications, least=2)
    table.setdefault("requests", REQUESTS)
    return Demand(**table), room, replications


REQUESTS = 400


def forwards(args: Namespace, console: Console) -> None:
    """Milliseconds by rows; of a data-sheet forward the maximum beside the sum."""
    data = data_of(args)
    times = config.scenario_of(data).times
    named = {n: f for n in FORWARDS if (f := getattr(times, n)) is not None}
    columns = {f"{n} {rule}".strip(): made for n, f in named.items() for rule, made in by_rule(f)}
    counts = [2**i for i in range(MOST_ROWS.bit_length())]
    lines = [[str(rows), *(show.number(f.ms(rows)) for f in columns.values())] for rows in counts]
    made = show.table(f"{show.title(data)}: ms of a forward by its rows", ["rows", *columns], lines)
    out = {name: {rows: f.ms(rows) for rows in counts} for name, f in columns.items()}
    show.emit(console, made, out, args.json, args.csv, FORWARD_NOTES)


FORWARDS, MOST_ROWS = ("target", "ar", "draft", "glue", "tree", "backup"), 1024
FORWARD_NOTES = (
    "A row is one token position. sum: reading the weights, then computing, as all other commands "
    'have it; max: the longer of the two (rule = "max"), which makes verification free up to '
    "hundreds of rows - nobody measured that. What is absent is as target or draft.",
)


def by_rule(forward: Forward) -> list[tuple[str, Forward]]:
    if isinstance(forward, Roofline):
        return [(rule, replace(forward, rule=rule)) for rule in ("sum", "max")]
    return [("", forward)]


def save(figure: Figure, path: Path) -> None:
    figure.savefig(path, dpi=110)
