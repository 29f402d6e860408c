"""`ssd-ref predict`: SD/AR from rounds recorded on other prompts, beside what is then measured.

One half of the prompts is decoded by AR and by SD at one lookahead K. Three things are taken from
it: how long the accepted prefixes are, how long forwards take, and what the decoders cost besides.
The simulator makes of these what SD/AR should be on the other half - at this K, and at others that
were never decoded. Only then the other half is decoded, all methods in turns on each prompt.

The model. A draft's chance of being accepted, given that those before it were, is read off by
position; a smaller K needs nothing else, and for positions never recorded the later half of the
recorded ones, taken together, stands in (assumed). Forwards of every size are timed as a round has
them: K steps of the draft, then K + 1 tokens of the target. The time outside forwards grows by a
line in the rows that are made into laws, 1 in AR and 2K + 1 in SD, through the two that were
recorded (assumed). The sum is brought to the level of the rounds that were recorded at their K, and
AR's time per token is its recorded one. Texts end after N tokens; their last rounds are shorter.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any

from ssd_ref.cli.bench import MOST_TOKENS, held_out_prompts
from ssd_ref.cli.errors import CommandError
from ssd_ref.cli.pairs import Load, Pair, add_machine, load_embedded
from ssd_ref.cli.settings import Settings
from ssd_ref.rounds import RoundRecord
from ssd_ref.study.paired import LEAST

if TYPE_CHECKING:
    from sim.replay import Texts
    from ssd_ref.study.bench import Arm, Condition, Sample, Task
    from ssd_ref.study.results import Results
    from ssd_ref.study.timing import Timed

LOOKAHEAD, OTHERS = 4, (2, 6)
PROMPTS, TOKENS = 20, 64
LAPS = 3  # rounds timed at each K on each prompt
SIMULATED = 20_000  # rounds
RESAMPLES = 400

Clock = Callable[[], float]  # seconds


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `predict`."""
    from ssd_ref.cli.arguments import real_number, whole_number, whole_numbers

    def add(option: str, kind: Any, metavar: str, text: str, default: Any) -> None:
        shown = ",".join(map(str, default)) if isinstance(default, tuple) else default
        text = f"{text}; default: {shown}"
        parser.add_argument(option, type=kind, metavar=metavar, default=default, help=text)

    add("--lookahead", whole_number, "K", "drafts a round in the recording", LOOKAHEAD)
    add("--others", whole_numbers, "K,..", "predicted without being recorded", OTHERS)
    add("--prompts", whole_number, "N", f"in each half, {LEAST} to 32", PROMPTS)
    add("--max-new-tokens", whole_number, "N", "of each text", TOKENS)
    add("--temperature", real_number, "T", "above 0 (greedy texts of this pair soon repeat "
        "themselves, and are then easy to draft for)", 1.0)  # fmt: skip
    add("--seed", whole_number, "N", "of the decodings", 0)
    add_machine(parser)


def run(
    args: argparse.Namespace,
    load: Load = load_embedded,
    clock: Clock = time.perf_counter,
    prompts: Sequence[Sequence[int]] | None = None,
) -> int:
    """Predict, then measure, and print both. prompts: None means the held-out ones."""
    check(args)
    pair = load(args)
    prompts = held_out_prompts() if prompts is None else prompts
    if len(prompts) < 2 * args.prompts:
        raise CommandError(f"--prompts: expected at most {len(prompts) // 2}, got {args.prompts}")
    result = Study(args, pair, prompts[: 2 * args.prompts], clock).run()
    if args.json:
        print(json.dumps(result, indent=1))
    else:
        from ssd_ref.cli.predict_report import report

        print("\n".join(report(result)))
    return 0


def check(args: argparse.Namespace) -> None:
    """Raises CommandError for options that no run could honour."""
    lookaheads = (args.lookahead, *args.others)
    for k in lookaheads:
        Settings(lookahead=k, seed=args.seed, temperature=args.temperature).check()
    if min(lookaheads) < 1 or len(set(lookaheads)) < len(lookaheads):
        raise CommandError(
            "--others: expected numbers above 0 that differ from each other and from "
            f"--lookahead, got {args.lookahead} and {','.join(map(str, args.others))}"
        )
    if args.temperature == 0:
        raise CommandError("--temperature: expected a number above 0, got 0")
    if args.prompts < LEAST:
        raise CommandError(f"--prompts: expected at least {LEAST}, got {args.prompts}")
    if not 1 <= args.max_new_tokens <= MOST_TOKENS:
        raise CommandError(
            f"--max-new-tokens: expected 1 to {MOST_TOKENS}, got {args.max_new_tokens}"
        )


@dataclass
class Measured:
    """What the first half taught. forward_ms: by K, of the draft's step and of the verification.
    outside_ms: of a round outside forwards, in AR and in SD, at the recorded K.
    round_ms: of a whole round, likewise.
    """

    texts: list[list[RoundRecord]] = field(default_factory=list)
    forward_ms: dict[int, tuple[float, float]] = field(default_factory=dict)
    outside_ms: tuple[float, float] = (0.0, 0.0)
    round_ms: tuple[float, float] = (1.0, 1.0)

    def parts_ms(self, lookahead: int, recorded: int) -> tuple[float, float]:
        """Of a draft step, and of what the target and the rest of the round take, as timed apart
        and brought to the level of the rounds at the recorded K.
        """
        step, rest = self.apart_ms(recorded, recorded)
        level = self.round_ms[1] / (recorded * step + rest)
        step, rest = self.apart_ms(lookahead, recorded)
        return step * level, rest * level

    def apart_ms(self, lookahead: int, recorded: int) -> tuple[float, float]:
        step, verify = self.forward_ms[lookahead]
        return step, verify + outside(self, lookahead, recorded)


@dataclass
class Study:
    """One run of the command."""

    args: argparse.Namespace
    pair: Pair
    prompts: Sequence[Sequence[int]]
    clock: Clock

    def run(self) -> dict[str, Any]:
        """What --json prints."""
        from sim.replay import acceptance_of
        from ssd_ref.study.results import Results
        from ssd_ref.study.timing import threads

        known, unknown = range(0, len(self.prompts), 2), range(1, len(self.prompts), 2)
        began = self.clock()
        with threads(1):
            self.warm_up()
            first = self.record(self.shown(known, "recording"))
            rows = [predicted(first, k, self.args) for k in self.lookaheads]
            samples = [s for i in self.shown(unknown, "measuring") for s in self.turns(i)]
        results = Results(samples)
        for row in rows:
            row |= compared(row, results, self.condition)
        names = ("lookahead", "others", "prompts", "max_new_tokens", "temperature", "seed")
        return {
            "rows": rows,
            "hazards": acceptance_of(texts_of(first.texts), max(self.lookaheads)).hazards,
            "recorded_rounds": sum(map(len, first.texts)),
            "forward_ms": {str(k): ms for k, ms in first.forward_ms.items()},
            "outside_ms": first.outside_ms,
            "round_ms": first.round_ms,
            "hash": self.pair.hash,
            "settings": {name: getattr(self.args, name) for name in names},
            "seconds": self.clock() - began,
        }

    @property
    def lookaheads(self) -> tuple[int, ...]:
        return tuple(sorted((self.args.lookahead, *self.args.others)))

    @property
    def condition(self) -> Condition:
        from ssd_ref.study.bench import Condition

        return Condition(self.args.temperature, 1)

    def arms(self, lookaheads: Iterable[int]) -> list[Arm]:
        from ssd_ref.study.bench import AR, Arm

        return [AR, *(Arm(name_of(k), "sd", k) for k in lookaheads)]

    def task(self, index: int, tokens: int | None = None) -> Task:
        from ssd_ref.study.bench import Plan, Task

        plan = Plan({}, {}, {}, tokens or self.args.max_new_tokens, self.args.seed)
        target, draft = self.pair.target, self.pair.draft
        return Task(target, draft, self.prompts[index], index, plan, self.args.temperature)

    def shown(self, indices: range, what: str) -> Iterator[int]:
        """The indices, with a bar on standard error where that is a terminal."""
        from tqdm import tqdm  # type: ignore[import-untyped]

        yield from tqdm(indices, desc=what, disable=None, file=sys.stderr)

    def warm_up(self) -> None:
        """A few tokens: a process's first forwards are slower than all others."""
        for arm in self.arms(self.lookaheads):
            arm.run(self.task(0, min(8, self.args.max_new_tokens)), time.perf_counter)

    def record(self, indices: Iterable[int]) -> Measured:
        """Decode by AR and SD, and time forwards of every K behind each text."""
        found, outside = Measured(), {"ar": list[float](), "sd": list[float]()}
        whole = {"ar": list[float](), "sd": list[float]()}
        laps: dict[int, list[tuple[float, float]]] = {}
        for index in indices:
            task = self.task(index)
            for arm in self.arms([self.args.lookahead]):
                rounds, timed = recorded(arm, task, self.clock)
                outside[arm.method].append(1e3 * timed.outside / len(rounds))
                full = max(1, len(rounds) - 1)  # the last one may be shortened
                whole[arm.method].append(1e3 * timed.ends[full - 1] / full)
            found.texts.append(rounds)  # SD's, which came last
            context = [*task.prompt, *timed.tokens[: len(timed.tokens) // 2]]
            for k in self.lookaheads * LAPS:
                laps.setdefault(k, []).append(forwards(task, context, k, self.clock))
        found.forward_ms = {
            k: (1e3 * median(d for d, _ in both), 1e3 * median(v for _, v in both))
            for k, both in laps.items()
        }
        found.outside_ms = median(outside["ar"]), median(outside["sd"])
        found.round_ms = median(whole["ar"]), median(whole["sd"])
        return found

    def turns(self, index: int) -> Iterator[Sample]:
        from ssd_ref.study.bench import turns

        arms = self.arms(self.lookaheads)
        return turns(self.condition, arms, self.task(index), list, self.clock)


def name_of(lookahead: int) -> str:
    return f"sd,K={lookahead}"


def recorded(arm: Arm, task: Task, clock: Clock) -> tuple[list[RoundRecord], Timed]:
    """A timed decoding and its rounds."""
    from ssd_ref.study.timing import timed

    kept = list[RoundRecord]()

    def decode(target: Any, draft: Any, on_round: Any) -> Any:
        generation = arm.decode(task, target, draft, on_round)
        kept.extend(generation.rounds)
        return generation

    return kept, timed(decode, task.target, task.draft, clock)


def forwards(
    task: Task, context: Sequence[int], lookahead: int, clock: Clock
) -> tuple[float, float]:
    """Seconds of a draft step (mean of K) and of the verification behind them, as in a round."""
    draft, target = task.draft.start(context), task.target.start(context)
    block = [context[i % len(context)] for i in range(lookahead + 1)]
    times = [clock()]
    for token in block[:lookahead]:
        draft.extend([token])
    times.append(clock())
    target.extend(block)
    times.append(clock())
    return (times[1] - times[0]) / lookahead, times[2] - times[1]


def texts_of(texts: Iterable[Sequence[RoundRecord]]) -> Texts:
    """The rounds as the simulator has them."""
    from sim.replay import checked

    return [[checked(record.to_json()) for record in text] for text in texts]


def predicted(first: Measured, lookahead: int, args: argparse.Namespace) -> dict[str, Any]:
    """SD/AR at one K in the simulator; the interval is that of the recorded acceptance alone."""
    from sim.clock import Limit
    from sim.costs import Linear, Times
    from sim.laws import Rates, Text
    from sim.replay import acceptance_of
    from sim.scenario import Scenario
    from sim.workloads import Shortened

    recorded = texts_of(first.texts)
    law = acceptance_of(recorded, lookahead)
    step, rest = first.parts_ms(lookahead, args.lookahead)
    ar = first.round_ms[0]
    times = Times(Linear(rest), Linear(step), Linear(ar))
    scenario = Scenario(Text.simple(law, Rates(0.0, 0.0)), times, lookahead, (0,) * (lookahead + 1),
                        sd_extra_step=False)  # fmt: skip
    texts = Shortened(scenario.workload("sd", args.seed), args.max_new_tokens)
    sd = scenario.run("sd", Limit(rounds=SIMULATED), workload=texts)
    ratio: float = sd.tokens_per_s.value * ar / 1e3

    tokens = law.tokens(lookahead)

    def redrawn(part: Texts) -> float:
        return ratio * acceptance_of(part, lookahead).tokens(lookahead) / tokens

    low, high = resampled(recorded, redrawn, args.seed)
    return {
        "lookahead": lookahead, "recorded": lookahead == args.lookahead,
        "predicted": ratio, "predicted_low": low, "predicted_high": high,
        "predicted_tokens_per_round": sd.tokens_per_round,
        "outside_ms": outside(first, lookahead, args.lookahead),
        "round_ms": lookahead * step + rest,
    }  # fmt: skip


def outside(first: Measured, lookahead: int, recorded: int) -> float:
    """Milliseconds of a round outside forwards: a line in the rows that are made into laws."""
    ar, sd = first.outside_ms
    more: float = (sd - ar) * lookahead / recorded  # 2K + 1 rows; AR has 1
    return max(0.0, ar + more)


def resampled(parts: Texts, statistic: Callable[[Texts], float], seed: int) -> tuple[float, float]:
    """The middle 95 % of the statistic over samples of as many parts, drawn with replacement."""
    import numpy as np

    draws = np.random.default_rng(seed).integers(len(parts), size=(RESAMPLES, len(parts)))
    values = [statistic([parts[i] for i in draw]) for draw in draws]
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


def compared(row: dict[str, Any], results: Results, condition: Condition) -> dict[str, Any]:
    """What was measured at a row's K, and how far off the prediction is."""
    name = name_of(row["lookahead"])
    pairs, ratio = results.both(name, "ar", condition), results.ratio(name, "ar", condition)
    of_sums = sum(ar.seconds_per_token for _, ar in pairs)
    of_sums /= sum(sd.seconds_per_token for sd, _ in pairs)
    rounds = sum(sd.tokens / sd.tokens_per_round for sd, _ in pairs)
    return {
        "measured": ratio.to_json(),
        "error": row["predicted"] / ratio.median - 1,
        "measured_of_sums": of_sums,
        "error_of_sums": row["predicted"] / of_sums - 1,
        "tokens_per_round": sum(sd.tokens for sd, _ in pairs) / rounds,
    }
