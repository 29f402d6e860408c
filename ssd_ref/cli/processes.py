"""`ssd-ref bench --processes`: SSD in two processes against SD and AR, in turns."""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Any

from ssd_ref.cli.bench import CTRL_C, PROMPTS, Clock, held_out_prompts, machine, progress
from ssd_ref.cli.errors import CommandError
from ssd_ref.cli.load import reading
from ssd_ref.cli.pairs import Load, load_embedded

if TYPE_CHECKING:
    from ssd_ref.engine import Engine, Link, Source
    from ssd_ref.study.bench import Arms, Plan, Sample

TOKENS, FEWEST_TOKENS = 64, 16  # of a text
TWO_THREADS = 0.38  # share of the time for AR and SD on two threads
COST = {1: 4.9, 2: 3.0}  # of one token by all arms on so many threads, in target steps
STEP_SECONDS = 0.007  # a target step, before one was measured
# K of SD; K and guesses at k = 0..K of SSD: the best of `--sweep` on the machine of the README.
BEST: dict[float, tuple[int, tuple[int, ...]]] = {
    1.0: (4, (2, 2, 2, 4)),
    0.0: (6, (1, 1, 1, 1, 2)),
}
SWEEP_SD = range(2, 7)
SWEEP_SSD = (
    (2, 2, 2, 4), (3, 3, 3, 6), (1, 1, 1, 1, 2), (2, 2, 2, 2, 4), (3, 3, 3, 3, 6),
    (1, 1, 1, 1, 1, 2), (2, 2, 2, 2, 2, 4), (1, 1, 1, 1, 1, 1, 2), (2, 2, 2, 2, 2, 2, 4),
)  # fmt: skip


def draft_source(args: argparse.Namespace) -> Source:
    """The embedded draft, on the device that the options name."""
    from ssd_ref.engine import EMBEDDED, Source

    device = args.draft_device or args.device
    return Source(EMBEDDED.function, {"device": device, "dtype": args.dtype})


def open_engine(args: argparse.Namespace, pair: Any, draft: Source | None = None) -> Engine:
    """An engine that has started; under torchrun, with the other rank as its speculator.

    Raises CommandError where there is no second process.
    """
    from ssd_ref.engine import Engine, Fault

    try:
        engine = Engine(pair.target, draft or draft_source(args), link=group_link())
        engine.start()
    except Fault as fault:
        raise CommandError(str(fault)) from fault
    return engine


def group_link() -> Link | None:
    """The link to the other rank, if this process is one of two."""
    if "RANK" not in os.environ:
        return None
    from ssd_ref.engine import group

    return group.join()


def draft_as_second_rank(args: argparse.Namespace) -> bool:
    """Under torchrun rank 1 drafts, whatever the command, until rank 0 has done with it."""
    if os.environ.get("RANK") != "1":
        return False
    from ssd_ref.engine import Fault, group
    from ssd_ref.engine.serve import serve

    try:
        link = group.join()
    except Fault as fault:
        raise CommandError(str(fault)) from fault
    with suppress(Fault):  # the verifier has gone
        serve(link, draft_source(args).load())
    link.close()
    return True


def run(
    args: argparse.Namespace,
    load: Load = load_embedded,
    clock: Clock = time.perf_counter,
    prompts: Sequence[Sequence[int]] | None = None,
    draft: Source | None = None,
) -> int:
    """Measure and print; 130 after Ctrl-C, which keeps what was measured."""
    if draft_as_second_rank(args):
        return 0
    began = clock()
    pair = load(args)
    prompts = held_out_prompts() if prompts is None else prompts
    samples: list[Sample] = []
    with open_engine(args, pair, draft) as engine:
        plan = make_plan(args, engine, args.seconds - (clock() - began))
        own = [os.getpid(), *engine.processes]
        before = reading(own)
        try:
            measure(pair, prompts, plan, samples, clock)
            interrupted = False
        except KeyboardInterrupt:
            interrupted = True
        after = reading(own)
        foreign = before.until(after) if before and after else None
    result = to_json(samples, plan) | {
        "hash": pair.hash, "settings": plan.to_json(), "machine": machine(),
        "seconds": clock() - began, "interrupted": interrupted, "foreign_cores": foreign,
    }  # fmt: skip
    from ssd_ref.cli.processes_report import report

    print(json.dumps(result, indent=1) if args.json else "\n".join(report(result)))
    return CTRL_C if interrupted else 0


def measure(
    pair: Any, prompts: Sequence[Sequence[int]], plan: Plan, samples: list[Sample], clock: Clock
) -> None:
    from ssd_ref.study import bench

    bench.warm_up(pair.target, pair.draft, prompts[0], plan)
    for arm in two_process_arms(plan):
        arm.seen.clear()
    found = bench.measure(pair.target, pair.draft, prompts, plan, clock)
    samples.extend(progress(found, plan, clock))


def make_plan(args: argparse.Namespace, engine: Engine, seconds: float) -> Plan:
    from ssd_ref.study.bench import Plan

    arms = sweep_arms(args, engine) if args.sweep else arms_of(args, engine)
    counts = sorted({condition.threads for condition in arms})
    shares = {1: 1 - TWO_THREADS, 2: TWO_THREADS} if len(counts) == 2 else {1: 1.0}
    budget = {count: shares[count] * seconds for count in counts}
    each = {n: COST[n] * STEP_SECONDS * (2.5 if args.sweep else 1) for n in counts}
    fitting = int(budget[1] / PROMPTS / each[1])
    tokens = args.max_new_tokens or max(FEWEST_TOKENS, min(TOKENS, fitting))
    expected = {count: min(budget[count], tokens * each[count]) for count in counts}
    return Plan(arms, budget, expected, tokens, args.seed)


def arms_of(args: argparse.Namespace, engine: Engine) -> Arms:
    """AR, SD and SSD on one thread each; AR and SD also on two."""
    from ssd_ref.engine.arm import TwoProcesses
    from ssd_ref.study.bench import AR, Arm, Condition

    arms: Arms = {}
    for temperature, (sd, lists) in BEST.items():
        sd = args.lookahead or sd
        lookahead = args.ssd_lookahead or args.lookahead or len(lists) - 1
        if args.fan_out:
            lists = args.fan_out * (lookahead + 1) if len(args.fan_out) == 1 else args.fan_out
        elif lookahead != len(lists) - 1:
            lists = (2,) * lookahead + (4,)
        ssd = TwoProcesses("ssd", "ssd", lookahead, lists, engine=engine, abort=args.abort)
        arms[Condition(temperature, 1)] = (AR, Arm("sd", "sd", sd), ssd)
        arms[Condition(temperature, 2)] = (AR, Arm("sd", "sd", sd))
    return arms


def sweep_arms(args: argparse.Namespace, engine: Engine) -> Arms:
    """SD with each lookahead, SSD with each list, on one thread each."""
    from ssd_ref.engine.arm import TwoProcesses
    from ssd_ref.study.bench import Arm, Condition

    chosen = [Arm(f"sd,K={k}", "sd", k) for k in SWEEP_SD]
    chosen += [
        TwoProcesses(
            f"ssd,F={'-'.join(map(str, lists))}", "ssd", len(lists) - 1, lists,
            engine=engine, abort=args.abort,
        )
        for lists in SWEEP_SSD
    ]  # fmt: skip
    # An engine's notes are by arm: each temperature has arms of its own.
    return {
        Condition(temperature, 1): tuple(
            replace(arm, seen=[]) if isinstance(arm, TwoProcesses) else arm for arm in chosen
        )
        for temperature in BEST
    }


def two_process_arms(plan: Plan) -> Iterator[Any]:
    from ssd_ref.engine.arm import TwoProcesses

    for arms in plan.arms.values():
        yield from (arm for arm in arms if isinstance(arm, TwoProcesses))


def to_json(samples: Sequence[Sample], plan: Plan) -> dict[str, Any]:
    """Ratios against the better baseline, medians, and where SSD's time went."""
    from ssd_ref.study.results import Results

    results = Results(samples)
    ratios: dict[str, Any] = {}
    for condition in results.conditions:
        if condition.threads == 1:
            ratios |= ratios_at(results, condition.temperature)
    names = "seconds_per_token", "tokens_per_round"
    return {
        "ratios": ratios,
        **{name: results.medians(name) for name in names},
        "cut": results.cut(),
        "diverged": results.diverged(),
        "where": {f"{a.name}@T={t:g}": where(a) for t, a in of_temperatures(plan) if a.seen},
    }


def of_temperatures(plan: Plan) -> Iterator[tuple[float, Any]]:
    from ssd_ref.engine.arm import TwoProcesses

    for condition, arms in plan.arms.items():
        for arm in arms:
            if isinstance(arm, TwoProcesses):
                yield condition.temperature, arm


def ratios_at(results: Any, temperature: float) -> dict[str, Any]:
    """ "sd/ar" and "ssd/sd" at one temperature, each against the faster of one thread and two.

    In a sweep: every arm of SSD against the best of SD's.
    """
    from ssd_ref.study.bench import Condition

    one = Condition(temperature, 1)
    names = [arm for condition, arm in results.samples if condition == one]
    sds = [n for n in names if n.startswith("sd")]
    base = best(results, temperature, sds)
    pairs = [(one, n, *base) for n in names if n.startswith("ssd")] if base else []
    if ar := best(results, temperature, [n for n in names if n == "ar"]):
        pairs = [(*base, *ar), *pairs] if base else pairs
    suffix = "" if temperature == 1 else f"@T={temperature:g}"
    return {
        f"{fast_name}/{slow_name.partition(',')[0]}{suffix}": paired(
            results, (fast, fast_name), (slow, slow_name)
        )
        for fast, fast_name, slow, slow_name in pairs
    }


def best(results: Any, temperature: float, names: Sequence[str]) -> tuple[Any, str] | None:
    """The fastest of some methods on one thread and two: (condition, name)."""
    from ssd_ref.study.paired import LEAST

    found = {
        (condition, name): of_arm
        for (condition, name), of_arm in results.samples.items()
        if condition.temperature == temperature and name in names
    }
    enough = {key: of_arm for key, of_arm in found.items() if len(of_arm) >= LEAST} or found
    speeds = {k: median(s.seconds_per_token for s in of.values()) for k, of in enough.items()}
    return min(speeds, key=speeds.__getitem__, default=None)


def paired(results: Any, fast: Any, slow: Any) -> dict[str, Any]:
    """The median ratio of two methods over the prompts that both decoded, with its interval."""
    from ssd_ref.study.paired import WeakEvidence, paired_ratio

    fasts, slows = results.samples[fast], results.samples[slow]
    common = [prompt for prompt in fasts if prompt in slows]
    try:
        ratio = paired_ratio(
            [slows[p].seconds_per_token for p in common],
            [fasts[p].seconds_per_token for p in common],
        ).to_json()
    except WeakEvidence as error:
        ratio = dict.fromkeys(("median", "low", "high")) | {"n": len(common), "refused": str(error)}
    return ratio | {"baseline": slow[1], "threads": slow[0].threads}


def where(arm: Any) -> dict[str, Any]:
    """Shares of SSD's time over all its runs, and how often it hit."""
    total = sum(seen.causes.total for seen in arm.seen)
    sums = [sum(each) for each in zip(*(seen.causes for seen in arm.seen), strict=True)]
    chances = sum(len(seen.rounds) - 1 for seen in arm.seen)
    names = ("verifying", "misses", "overflow", "handshake")
    shares = dict(zip(names, (s / total for s in sums), strict=True))
    rounds = sum(len(seen.rounds) for seen in arm.seen)
    return shares | {
        "hit_rate": sum(seen.hits for seen in arm.seen) / max(1, chances),
        "verification_ms": 1e3 * sums[0] / rounds,
        "handshake_ms": 1e3 * sums[3] / max(1, chances),
        "rounds": rounds,
    }
