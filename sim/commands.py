"""What each command of `ssd-sim` does."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import Progress

from sim import config, draw, serving, show
from sim import frontier as frontiers
from sim import sweep as sweeps
from sim import validate as validation
from sim import whatif as ideals
from sim.checks import need_choice, need_integer
from sim.clock import Limit
from sim.intervals import replicated
from sim.presets import PUBLISHED
from sim.queueing import Demand
from sim.replay import read_rounds, replay
from sim.scenario import Scenario
from sim.simulate import METHODS
from sim.trace import chrome_trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Command = Callable[[Namespace, Console], None]
ROUNDS, VALIDATED = 10_000, 5000


def data_of(args: Namespace) -> dict[str, Any]:
    """File, then preset, then single keys: the later one wins."""
    data = config.load(args.config) if args.config else {}
    if args.preset:
        data["preset"] = args.preset
    for assignment in args.set:
        config.set_key(data, assignment)
    return data


def limit_of(args: Namespace, default: int = ROUNDS) -> Limit:
    return Limit(rounds=default if args.rounds is None else args.rounds)


def title(data: Mapping[str, Any]) -> str:
    return str(data.get("preset", "toy"))


def run(args: Namespace, console: Console) -> None:
    compare(args, console, [args.method])


def compare(args: Namespace, console: Console, methods: list[str] | None = None) -> None:
    data, methods = data_of(args), methods or list(METHODS)
    scenario = config.scenario_of(data)
    if args.replay:
        return replayed(args, console, data, scenario, methods)
    reports = {m: scenario.run(m, limit_of(args), args.seed) for m in methods}
    changed = [name for name in data if name != "preset"]
    published = {} if changed else PUBLISHED.get(title(data), {})
    lines = show.rows_of_comparison(reports, published)
    columns = [f"{scenario.batch} sequence(s)", *(m.upper() for m in methods)]
    made = show.table(title(data), columns, [[name, *cells] for name, cells in lines])
    out = {"published": published} | {m: report.to_json() for m, report in reports.items()}
    show.emit(console, made, out, args.json, args.csv)
    if getattr(args, "out", None):
        rates = {m: report.tokens_per_s.value for m, report in reports.items()}
        save(draw.speeds(rates, published), args.out)


def replayed(
    args: Namespace, console: Console, data: Mapping[str, Any], scenario: Scenario,
    methods: list[str],
) -> None:  # fmt: skip
    for name in ("text", "hard"):
        if name in data:
            raise ValueError(
                f"--replay: expected no [{name}] beside it (a recording has its own acceptance "
                f"and hits), got {data[name]!r}"
            )
    if args.rounds is not None:
        raise ValueError(f"--rounds: a recording is replayed whole, got {args.rounds}")
    texts = read_rounds(args.replay)
    results = {m: replay(scenario, m, texts) for m in methods}
    lines = [
        [m.upper(), str(r.tokens), show.number(r.makespan_ms), show.number(r.tokens_per_s)]
        for m, r in results.items()
    ]
    columns = ["method", "tokens", "ms, all texts", "tokens/s"]
    made = show.table(f"{args.replay.name}: {len(texts)} texts", columns, lines)
    out = {m: {"tokens": r.tokens, "makespan_ms": r.makespan_ms, "tokens_per_s": r.tokens_per_s}
           for m, r in results.items()}  # fmt: skip
    show.emit(console, made, out, args.json, args.csv)


def whatif(args: Namespace, console: Console) -> None:
    data = data_of(args)
    reports = ideals.whatif(config.scenario_of(data), limit_of(args), args.seed)
    plain = reports["as it is"].tokens_per_s.value
    lines = [
        [name, str(r.tokens_per_s), f"{r.tokens_per_s.value / plain:.3f}", show.number(r.round_ms)]
        for name, r in reports.items()
    ]
    columns = ["SSD with", "tokens/s", "x as it is", "round, ms"]
    made = show.table(title(data), columns, lines)
    out = {name: report.to_json() for name, report in reports.items()}
    show.emit(console, made, out, args.json, args.csv)


def sweep(args: Namespace, console: Console) -> None:
    data, axes = data_of(args), sweeps.axes_of(args.over)
    rounds = 2000 if args.rounds is None else args.rounds
    with Progress(console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task("points", total=None)
        rows = sweeps.sweep(
            data, axes, args.file, rounds, args.seed, args.jobs,
            lambda done, of: bar.update(task, completed=done, total=of),
        )  # fmt: skip
    shown = {"method": "method", "tokens_per_s": "tokens/s", "half_width": "±", "hit_rate": "hit",
             "round_ms": "ms", "tokens_per_device_second": "/device"}  # fmt: skip
    columns = [*(name.split(".")[-1] for name in axes), *shown.values()]
    made = show.table(
        str(args.file), columns, [[row[c][:8] for c in (*axes, *shown)] for row in rows]
    )
    show.emit(console, made, rows, args.json, args.csv)


def timeline(args: Namespace, console: Console) -> None:
    data, methods = data_of(args), args.methods or ["sd", "ssd"]
    for method in methods:
        need_choice("method", method, METHODS)
    scenario, limit = config.scenario_of(data), Limit(rounds=args.rounds)
    logs = {m: scenario.run(m, limit, args.seed, keep_log=True).log or [] for m in methods}
    if args.trace:
        args.trace.write_text(json.dumps(chrome_trace(logs)))
    if args.out:
        save(draw.time_line(logs, title(data)), args.out)
    lines = [
        [m.upper(), x.lane, x.kind, f"{x.begin_ns / 1e6:.3f}", f"{x.end_ns / 1e6:.3f}", str(x.rows)]
        for m, log in logs.items() for x in log
    ]  # fmt: skip
    columns = ["method", "lane", "kind", "begin, ms", "end, ms", "rows"]
    made = show.table(title(data), columns, lines)
    show.emit(console, made, {m: [x._asdict() for x in log] for m, log in logs.items()},
              args.json, args.csv)  # fmt: skip


def frontier(args: Namespace, console: Console) -> None:
    data = data_of(args)
    rounds = 600 if args.rounds is None else args.rounds
    scenario = config.scenario_of(data)
    points = frontiers.frontier(scenario, args.batches, rounds, args.seed, args.jobs)
    sd = {p.batch: value for p, value in frontiers.sd_at_ssd_speed(points)}
    lines = [
        [p.method.upper(), str(p.batch), p.setting, str(p.per_user), show.number(p.per_device),
         show.number(sd.get(p.batch)) if p.method == "ssd" else ""]
        for p in points
    ]  # fmt: skip
    columns = ["method", "batch", "best setting", "tokens/s/user", "tokens/s/device",
               "SD's at this tokens/s/user"]  # fmt: skip
    made = show.table(f"{title(data)}, devices alike", columns, lines)
    out = [vars(p) | {"per_user": vars(p.per_user)} for p in points]
    show.emit(console, made, out, args.json, args.csv)
    if args.out:
        curves = {
            m.upper(): ([p.per_user.value for p in points if p.method == m],
                        [p.per_device for p in points if p.method == m])
            for m in METHODS
        }  # fmt: skip
        labels = [f"b={b}" for b in args.batches]
        save(draw.lines(curves, "tokens/s of one user", "tokens/s of one device", labels=labels),
             args.out)  # fmt: skip


def fallback(args: Namespace, console: Console) -> None:
    result = frontiers.fallback(args.hit, args.tokens, args.tokens_fast, args.t_p, args.t_b)
    lines = [
        [str(b), f"{n:.3f}", f"{f:.3f}"]
        for b, n, f in zip(result.batches, result.neural, result.fast, strict=True)
    ]
    columns = ["batch", "accurate backup", "fast backup"]
    made = show.table(f"tokens a verification and row; b* = {result.critical:.2f}", columns, lines)
    show.emit(console, made, vars(result), args.json, args.csv)
    if args.out:
        curves = {"accurate backup": (result.batches, result.neural),
                  "fast backup": (result.batches, result.fast)}  # fmt: skip
        inside = result.critical if 0 < result.critical < len(result.batches) else None
        save(draw.lines(curves, "batch size", "tokens a verification and row", inside, " b*"),
             args.out)  # fmt: skip


def serve(args: Namespace, console: Console) -> None:
    data = data_of(args)
    scenario, methods = config.scenario_of(data), args.methods or list(METHODS)
    demand = Demand(
        args.requests, args.arrivals_per_s, args.concurrency, args.tokens, args.lengths, args.prompt
    )
    need_integer("replications", args.replications, least=2)
    seeds = range(args.seed, args.seed + args.replications)
    found = {
        m: [serving.serve(scenario, m, demand, args.kv_positions, seed)[0] for seed in seeds]
        for m in methods
    }
    lines = []
    for name, read in serving.READINGS.items():
        cells = [str(replicated([read(e) for e in found[m]])) for m in methods]
        lines.append([name, *cells])
    columns = [f"at most {scenario.batch} at once", *(m.upper() for m in methods)]
    made = show.table(f"{title(data)}, {args.replications} replications", columns, lines)
    out = {m: [vars(e) for e in found[m]] for m in methods}
    show.emit(console, made, out, args.json, args.csv)


def validate(args: Namespace, console: Console) -> None:
    rows = validation.validate(VALIDATED if args.rounds is None else args.rounds, args.seed)

    def percent(error: float | None) -> str:
        return "-" if error is None else f"{100 * error:+.1f} %"

    lines = [
        [r.preset, r.what, r.role, show.number(r.measured), str(r.simulated), percent(r.error),
         percent(r.error_without_handshake), r.note]
        for r in rows
    ]  # fmt: skip
    columns = ["preset", "what", "role", "measured", "simulated", "error", "without hand-shake",
               "note"]  # fmt: skip
    made = show.table("Calibrated presets against published measurements", columns, lines)
    out = {"rows": [r.to_json() for r in rows], "fitted": validation.FITTED_PARAMETERS}
    show.emit(console, made, out, args.json, args.csv)
    if not args.json:
        for name, fitted in validation.FITTED_PARAMETERS.items():
            count = sum(r.preset == name and r.role == "predicted" for r in rows)
            measured = sum(r.preset == name and r.role == "predicted" and r.error is not None
                           for r in rows)  # fmt: skip
            console.print(f"{name}: fitted {fitted}; {count} rows predicted, {measured} measured.")


def save(figure: Figure, path: Path) -> None:
    if path.suffix not in (".png", ".svg"):
        raise ValueError(f"--out: expected a name ending in .png or .svg, got {path.name!r}")
    figure.savefig(path, dpi=110)
