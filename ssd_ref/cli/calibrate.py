"""`ssd-ref calibrate`: measure steps, predict speeds by the simulator, measure the speeds.

The prompts are dealt into two halves. On the first, steps are timed while the other process runs,
and rounds are recorded: from these the simulator predicts AR, SD and SSD. On the second the three
are then measured. A second prediction, from the rounds of the measured texts themselves, tells the
cost model's error from the difference between texts.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssd_ref.cli.bench import Clock, held_out_prompts
from ssd_ref.cli.errors import CommandError
from ssd_ref.cli.pairs import Load, add_machine, load_embedded
from ssd_ref.cli.processes import BEST, open_engine

if TYPE_CHECKING:
    from ssd_ref.engine import Engine, Source
    from ssd_ref.rounds import RoundRecord
    from ssd_ref.study.timing import Timed

SECONDS, TOKENS = 45.0, 64
METHODS = ("ar", "sd", "ssd")
AIM = 0.15  # how far a prediction may be off


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `calibrate`."""
    from ssd_ref.cli.arguments import real_number, whole_number

    text = "folder for T=0.toml, T=1.toml (for ssd-sim --config) and the recorded rounds"
    parser.add_argument("--out", type=Path, metavar="DIR", help=text)
    parser.add_argument(
        "--seconds", type=real_number, metavar="S", default=SECONDS,
        help=f"time to spend; default: {SECONDS:g}",
    )  # fmt: skip
    parser.add_argument(
        "--max-new-tokens", type=whole_number, metavar="N", default=TOKENS,
        help=f"of each text; default: {TOKENS}",
    )  # fmt: skip
    parser.add_argument("--seed", type=whole_number, metavar="N", default=0, help="default: 0")
    parser.add_argument("--abort", action=argparse.BooleanOptionalAction, default=True,
                        help="an outcome that comes early ends the filling")  # fmt: skip
    add_machine(parser)


def run(
    args: argparse.Namespace,
    load: Load = load_embedded,
    clock: Clock = time.perf_counter,
    prompts: Sequence[Sequence[int]] | None = None,
    draft: Source | None = None,
) -> int:
    """Calibrate, predict, measure, print."""
    if not 0 < args.seconds < float("inf"):
        raise CommandError(f"--seconds: expected a number above 0, got {args.seconds:g}")
    if args.out is not None and not args.out.is_dir():
        raise CommandError(f"--out: expected a folder, got {args.out}")
    began, pair = clock(), load(args)
    prompts = held_out_prompts() if prompts is None else prompts
    with open_engine(args, pair, draft) as engine:
        halves = {t: Halves(args, pair, engine, t) for t in BEST}
        for half in halves.values():
            half.warm_up(prompts[0])
        for turn, number in enumerate(range(0, len(prompts) - 1, 2)):
            if turn >= 2 and (clock() - began) * (turn + 1) / turn > args.seconds:
                break  # another turn would not fit
            for half in halves.values():
                half.take(half.first, prompts[number], number)
                half.take(half.second, prompts[number + 1], number + 1)
        found = {f"T={t:g}": half.result(args.out) for t, half in halves.items()}
    print(json.dumps(found, indent=1) if args.json else "\n".join(report(found)))
    return 0


@dataclass
class Decoded:
    """The runs of one half of the prompts, by method, and SSD's records at both lookaheads."""

    timed: dict[str, list[Timed]] = field(default_factory=lambda: {m: [] for m in METHODS})
    rounds: dict[str, list[RoundRecord]] = field(default_factory=lambda: {"sd": [], "ssd": []})

    def tokens_per_s(self, method: str) -> float:
        runs = self.timed[method]
        return sum(len(run.tokens) for run in runs) / sum(run.ends[-1] for run in runs)


@dataclass
class Halves:
    """Both halves of the prompts at one temperature."""

    args: argparse.Namespace
    pair: Any
    engine: Engine
    temperature: float
    first: Decoded = field(default_factory=Decoded)
    second: Decoded = field(default_factory=Decoded)

    def __post_init__(self) -> None:
        from ssd_ref.engine.arm import TwoProcesses
        from ssd_ref.study.bench import AR, Arm, Plan

        self.sd_lookahead, self.fan_out = BEST[self.temperature]
        self.lookahead = len(self.fan_out) - 1
        more = {"engine": self.engine, "abort": self.args.abort}
        self.ssd = TwoProcesses("ssd", "ssd", self.lookahead, self.fan_out, **more)
        lists = (1,) * (self.sd_lookahead + 1)  # for SD's rounds, with their ranks
        self.recorder = TwoProcesses("sd", "ssd", self.sd_lookahead, lists, **more)
        self.arms = {"ar": AR, "sd": Arm("sd", "sd", self.sd_lookahead), "ssd": self.ssd}
        self.plan = Plan({}, {}, {}, self.args.max_new_tokens, self.args.seed)

    def warm_up(self, prompt: Sequence[int]) -> None:
        self.take(Decoded(), prompt, 0)
        self.ssd.seen.clear()

    def take(self, into: Decoded, prompt: Sequence[int], number: int) -> None:
        """All methods on one prompt."""
        from ssd_ref.study.bench import Task

        target, draft = self.pair.target, self.pair.draft
        task = Task(target, draft, prompt, number, self.plan, self.temperature)
        for method, arm in self.arms.items():
            into.timed[method].append(arm.run(task, time.perf_counter))
        self.recorder.run(task, time.perf_counter)
        into.rounds["ssd"] += self.ssd.seen[-1].rounds
        into.rounds["sd"] += self.recorder.seen[-1].rounds

    def result(self, out: Path | None) -> dict[str, Any]:
        """Costs, predictions and measurements; costs and rounds also as files."""
        costs = self.costs()
        if out is None:
            with tempfile.TemporaryDirectory() as folder:
                return self.compared(costs, Path(folder))
        return self.compared(costs, out)

    def costs(self) -> dict[str, dict[str, Any]]:
        """From the first half alone."""
        from ssd_ref.cli.costs import tables

        seen = self.ssd.seen[::2]  # the halves take turns
        ar_ms = 1e3 / self.first.tokens_per_s("ar")
        common = (seen, self.lookahead, self.fan_out, self.sd_lookahead)
        found = tables(*common, 0.0, ar_ms, self.args.abort)
        target = found["target"]
        rest_ms = 1e3 * sum(run.ends[-1] for run in self.first.timed["sd"])
        steps = 0
        for record in self.first.rounds["sd"]:
            rest_ms -= target["base_ms"] + target["row_ms"] * (record.drafted + 1)
            steps += record.drafted
        # SD's step is what verification leaves of its time: the step, its law, its draw, and what
        # the target loses by sharing the processor's caches.
        found["draft"]["base_ms"] = max(0.0, rest_ms / max(1, steps))
        return found

    def compared(self, costs: dict[str, dict[str, Any]], folder: Path) -> dict[str, Any]:
        from ssd_ref.cli.costs import to_toml

        name = f"T={self.temperature:g}"
        comment = f"Measured by ssd-ref calibrate, temperature {self.temperature:g}"
        (folder / f"{name}.toml").write_text(to_toml(costs, comment), encoding="utf-8")
        rows = {}
        for half in ("first", "second"):
            decoded = getattr(self, half)
            rows[half] = self.predicted(folder, decoded, name if half == "first" else f"{name}-own")
        measured = {method: self.second.tokens_per_s(method) for method in METHODS}
        return {
            "costs": costs,
            "texts": len(self.second.timed["ssd"]),
            "predicted": with_ratios(rows["first"]),
            "predicted_from_own_rounds": with_ratios(rows["second"]),
            "measured": with_ratios(measured),
        }

    def predicted(self, folder: Path, decoded: Decoded, name: str) -> dict[str, float]:
        """Tokens per second of each method on recorded rounds, by the simulator."""
        from sim.config import load, scenario_of
        from sim.replay import read_rounds, replay
        from ssd_ref.study.recording import write_rounds

        scenario = scenario_of(load(folder / f"T={self.temperature:g}.toml"))
        rates = {}
        for method in METHODS:
            kind = "ssd" if method == "ssd" else "sd"
            path = folder / f"{name}-{kind}.jsonl"
            lookahead = self.lookahead if kind == "ssd" else self.sd_lookahead
            settings = {"lookahead": lookahead, "temperature": self.temperature}
            write_rounds(path, {"settings": settings}, {"ssd": decoded.rounds[kind]})
            fitting = scenario
            if kind == "sd":
                fitting = scenario.with_(lookahead=lookahead, fan_out=(1,) * (lookahead + 1))
            rates[method] = replay(fitting, method, read_rounds(path)).tokens_per_s.value
        return rates


def with_ratios(rates: dict[str, float]) -> dict[str, float]:
    return rates | {"sd/ar": rates["sd"] / rates["ar"], "ssd/sd": rates["ssd"] / rates["sd"]}


def report(found: dict[str, Any]) -> Iterator[str]:
    """Predicted beside measured."""
    yield "tokens per second, prefill left out, and ratios of speeds"
    yield f"{'':14}{'predicted':>11}{'measured':>11}{'off by':>9}   from own rounds  off by"
    for temperature, result in found.items():
        yield f"{temperature}, {result['texts']} texts measured, as many others recorded"
        for name, measured in result["measured"].items():
            other, own = result["predicted"][name], result["predicted_from_own_rounds"][name]
            form = "8.2f" if "/" in name else "8.0f"
            yield (
                f"  {name:<12}{other:>11{form[1:]}}{measured:>11{form[1:]}}"
                f"{other / measured - 1:>+9.0%}{own:>18{form[1:]}}{own / measured - 1:>+8.0%}"
            )
    yield (
        f"Aim: within {AIM:.0%}. The first prediction knows other prompts only: with few texts much"
        " of its error is theirs. The second knows which tokens were accepted, but no times."
    )
