"""`ssd-ref bench`: how fast AR, SD and SSD are on this machine, measured in turns.

Imports no torch: help and mistyped arguments answer at once.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ssd_ref.cli.errors import CommandError
from ssd_ref.cli.pairs import Load, Pair, add_machine, load_embedded
from ssd_ref.cli.settings import Settings

if TYPE_CHECKING:
    from ssd_ref.study.bench import Plan, Sample

SECONDS = 45.0  # for everything, from the loading of the models on
STEPS_SHARE = 0.04  # of the time, for single forwards on each number of threads
ONE_THREAD = 0.65  # share of the rest; two threads get what is left
LOOKAHEAD = {1.0: 3, 0.0: 4}  # by temperature
SWEEP = range(1, 9)
TOKENS, FEWEST_TOKENS, MOST_TOKENS = 64, 16, 256  # of a text; so many fit into the context
PROMPTS = 10  # that should fit into the time: on a slow machine texts become shorter
COST = {1: 7.5, 2: 5.5}  # of one token by all arms on so many threads, in target steps
SWEEP_COST = {1: 15.0}
PROMPT_STRIDE = 27  # prime to 64: prompts that follow one another come from different documents
CTRL_C = 130

Clock = Callable[[], float]  # seconds


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `bench`."""
    from ssd_ref.cli.arguments import real_number, whole_number, whole_numbers

    def add(option: str, kind: Any, metavar: str, text: str, default: Any = None) -> None:
        parser.add_argument(option, type=kind, metavar=metavar, default=default, help=text)

    usual = ", ".join(f"{k} at temperature {t:g}" for t, k in LOOKAHEAD.items())
    add("--seconds", real_number, "S", f"time to spend; default: {SECONDS:g}", SECONDS)
    add("--lookahead", whole_number, "K", f"of SD and SSD; default: {usual}")
    add("--ssd-lookahead", whole_number, "K", "of SSD alone; default: SD's")
    add("--fan-out", whole_numbers, "F,..", "guesses at k = 0..K accepted, K + 1 numbers, or one "
        "for every k; default: 2 at each k < K and 4 at K")  # fmt: skip
    add("--max-new-tokens", whole_number, "N", f"of each text; default: {TOKENS}, or as many as "
        f"leave time for {PROMPTS} prompts")  # fmt: skip
    add("--seed", whole_number, "N", "default: 0", 0)
    parser.add_argument(
        "--sweep", action="store_true", help="instead: SD with each lookahead from 1 to 8"
    )
    parser.add_argument(
        "--processes", action="store_true",
        help="SSD in two processes, the draft on a core of its own; with --sweep, SSD's lists too",
    )  # fmt: skip
    parser.add_argument(
        "--abort", action=argparse.BooleanOptionalAction, default=True,
        help="with --processes: an outcome that comes early ends the filling of the cache",
    )  # fmt: skip
    add_machine(parser)


def run(
    args: argparse.Namespace,
    load: Load = load_embedded,
    clock: Clock = time.perf_counter,
    prompts: Sequence[Sequence[int]] | None = None,
) -> int:
    """Measure and print; the status is 0, or 130 after Ctrl-C, which keeps what was measured.

    load: gives the models. clock: seconds. prompts: None means the held-out ones.
    """
    check(args)
    if args.processes:
        from ssd_ref.cli import processes

        return processes.run(args, load, clock, prompts)
    began = clock()
    pair = load(args)
    bench = Bench(args, pair, held_out_prompts() if prompts is None else prompts, clock, began)
    bench.run()
    result = bench.to_json()
    if args.json:
        print(json.dumps(result, indent=1))
    else:
        from ssd_ref.cli.bench_report import report

        print("\n".join(report(result)))
    return CTRL_C if bench.interrupted else 0


def check(args: argparse.Namespace) -> None:
    """Raises CommandError for options that no run could honour."""
    if not 0 < args.seconds < float("inf"):
        raise CommandError(f"--seconds: expected a number above 0, got {args.seconds:g}")
    if args.max_new_tokens is not None and not 1 <= args.max_new_tokens <= MOST_TOKENS:
        raise CommandError(
            f"--max-new-tokens: expected 1 to {MOST_TOKENS}, got {args.max_new_tokens}"
        )
    for sd, ssd in lookaheads(args).values():
        Settings(lookahead=sd, seed=args.seed).check()
        Settings(lookahead=ssd, fan_out=args.fan_out).check()


def lookaheads(args: argparse.Namespace) -> dict[float, tuple[int, int]]:
    """SD's and SSD's at each temperature."""
    sd = {t: k if args.lookahead is None else args.lookahead for t, k in LOOKAHEAD.items()}
    ssd = args.ssd_lookahead
    return {t: (k, k if ssd is None else ssd) for t, k in sd.items()}


def held_out_prompts() -> list[list[int]]:
    """64 prompts of 64 bytes that the pair was not trained on, neighbours from other documents."""
    from ssd_ref.pair import corpus

    prompts = corpus.held_out_prompts()
    return [prompts[i * PROMPT_STRIDE % len(prompts)] for i in range(len(prompts))]


@dataclass
class Bench:
    """One run of the command: single forwards first, then decodings until the time is spent."""

    args: argparse.Namespace
    pair: Pair
    prompts: Sequence[Sequence[int]]
    clock: Clock
    began: float  # on the clock
    steps: dict[str, Any] = field(default_factory=dict)
    plan: Plan | None = None
    samples: list[Sample] = field(default_factory=list)
    seconds: float = 0.0
    interrupted: bool = False

    def run(self) -> None:
        """Measure; Ctrl-C ends it early and leaves what was measured."""
        try:
            self.measure()
        except KeyboardInterrupt:
            self.interrupted = True
        self.seconds = self.clock() - self.began

    def measure(self) -> None:
        from ssd_ref.study.bench import measure, warm_up
        from ssd_ref.study.timing import step_times, threads

        target, draft = self.pair.target, self.pair.draft
        for count in (1,) if self.args.sweep else (1, 2):
            with threads(count):
                limit = STEPS_SHARE * self.args.seconds
                times = step_times(target, draft, self.prompts[0], limit, self.clock)
                self.steps[f"threads={count}"] = times
        self.plan = self.make_plan(self.args.seconds - (self.clock() - self.began))
        warm_up(target, draft, self.prompts[0], self.plan)
        samples = measure(target, draft, self.prompts, self.plan, self.clock)
        self.samples.extend(progress(samples, self.plan, self.clock))

    def make_plan(self, seconds: float) -> Plan:
        """All arms under all conditions, in texts short enough for PROMPTS prompts."""
        from ssd_ref.study.bench import Plan, comparison, sweep

        args = self.args
        if args.sweep:
            arms, budget, cost = sweep(SWEEP, LOOKAHEAD), {1: seconds}, SWEEP_COST
        else:
            arms, cost = comparison(lookaheads(args), args.fan_out), COST
            budget = {1: ONE_THREAD * seconds, 2: (1 - ONE_THREAD) * seconds}
        token = {  # seconds
            count: factor * self.steps[f"threads={count}"]["target_ms"]["1"] / 1e3
            for count, factor in cost.items()
        }
        fitting = int(budget[1] / PROMPTS / max(token[1], 1e-6))
        tokens = args.max_new_tokens or max(FEWEST_TOKENS, min(TOKENS, fitting))
        expected = {count: tokens * each for count, each in token.items()}
        return Plan(arms, budget, expected, tokens, args.seed)

    def to_json(self) -> dict[str, Any]:
        """What --json prints."""
        from ssd_ref.cli.bench_report import NOTES
        from ssd_ref.study.results import Results

        results = Results(self.samples)
        speed: dict[str, Any] = {"ratios": results.ratios(("sd", "ar"), ("ssd", "sd"))}
        speed["bare"] = results.ratios(("ar", "bare"))
        if self.args.sweep:
            speed = best_of(results.ratios(*((f"sd,K={k}", "ar") for k in SWEEP)))
        return {
            **speed,
            **results.to_json(),
            "steps": self.steps,
            "hash": self.pair.hash,
            "settings": {} if self.plan is None else self.plan.to_json(),
            "machine": machine(),
            "seconds": self.seconds,
            "interrupted": self.interrupted,
            "notes": NOTES,
        }


def best_of(ratios: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """A sweep's ratios, and of each condition the key with the largest median."""
    best: dict[str, str] = {}
    for key, ratio in ratios.items():
        condition = key.partition("@")[2] or "T=1"
        known = ratios[best[condition]]["median"] if condition in best else -1
        if ratio["median"] is not None and ratio["median"] > known:
            best[condition] = key
    return {"ratios": ratios, "best": best}


def machine() -> dict[str, Any]:
    import torch

    return {
        "processor": platform.processor() or platform.machine(),
        "cpus": os.cpu_count(),
        "python": platform.python_version(),
        "torch": torch.__version__,
    }


def progress(samples: Iterator[Sample], plan: Plan, clock: Clock) -> Iterable[Sample]:
    """The samples, with a bar of the time spent on standard error where that is a terminal."""
    from tqdm import tqdm  # type: ignore[import-untyped]

    total, began = sum(plan.seconds.values()), clock()
    form = "{desc}: {percentage:3.0f}%|{bar}| {postfix}"
    with tqdm(total=total, desc="bench", bar_format=form, disable=None, file=sys.stderr) as bar:
        for sample in samples:
            bar.n = min(total, clock() - began)
            bar.set_postfix_str(
                f"prompt {sample.prompt + 1}, {sample.arm}{sample.condition.suffix}"
            )
            yield sample
