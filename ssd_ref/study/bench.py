"""The speed of AR, SD and SSD on one pair: the same prompts, in turns, under several conditions.

On each prompt every method ("arm") runs once under every condition - temperature 0 and 1, one
thread and two - and the next prompt begins with another arm. Ratios are paired by prompt. Time is
seconds per token from the end of the prefill. Texts have a fixed length (an end token does not end
them), but at temperature 0 they count only up to their first repeated block of 32 tokens: a small
model that repeats itself is easy to draft for. All methods are cut at the same token, since their
greedy texts are the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, NamedTuple

from ssd_ref.autoregressive import autoregressive
from ssd_ref.models import Model
from ssd_ref.randomness import SeededRandomness
from ssd_ref.rounds import Generation
from ssd_ref.speculative import speculative
from ssd_ref.ssd import ssd
from ssd_ref.study.meter import Clock
from ssd_ref.study.timing import Timed, bare_forwards, first_repeat, threads, timed
from ssd_ref.transcript import OnRound

CYCLE_ROOM = 64  # greedy tokens generated beyond the timed ones, so that a cycle shows itself
WARM_UP = 8  # tokens


class Condition(NamedTuple):
    """What all arms share while they take turns."""

    temperature: float
    threads: int

    @property
    def suffix(self) -> str:
        """What distinguishes the condition in a result's key: nothing for one thread and T=1."""
        parts = [f"T={self.temperature:g}", *([f"threads={self.threads}"] * (self.threads != 1))]
        return "" if self == (1, 1) else "@" + ",".join(parts)


@dataclass(frozen=True)
class Arm:
    """A method and its settings. method: "ar", "sd", "ssd", or "bare" (forwards without AR)."""

    name: str
    method: str
    lookahead: int = 0
    fan_out: tuple[int, ...] = ()

    def run(self, task: Task, clock: Clock) -> Timed:
        """One timed decoding of the task's prompt."""
        if self.method == "bare":
            return bare_forwards(task.target, task.prompt, task.plan.max_new_tokens, clock)
        return timed(partial(self.decode, task), task.target, task.draft, clock)

    def decode(self, task: Task, target: Model, draft: Model, on_round: OnRound) -> Generation:
        more = task.options() | {"on_round": on_round}
        if self.method == "ar":
            return autoregressive(target, task.prompt, **more)
        if self.method == "sd":
            return speculative(target, draft, task.prompt, lookahead=self.lookahead, **more)
        more |= {"lookahead": self.lookahead, "fan_out": self.fan_out}
        return ssd(target, draft, task.prompt, **more)


Arms = dict[Condition, tuple[Arm, ...]]  # what is run under each condition


@dataclass(frozen=True)
class Task:
    """One prompt under one temperature; `index` numbers the prompt and with it the randomness."""

    target: Model
    draft: Model
    prompt: Sequence[int]
    index: int
    plan: Plan
    temperature: float

    def options(self) -> dict[str, Any]:
        """What all decoders are called with."""
        return {
            "max_new_tokens": self.plan.max_new_tokens,
            "temperature": self.temperature,
            "randomness": SeededRandomness(self.plan.seed, sequence=self.index),
        }


@dataclass(frozen=True)
class Sample:
    """One arm on one prompt. counted: tokens up to the cut, `tokens` without one.

    same_text: at temperature 0, whether the counted tokens are those of the other arms.
    """

    condition: Condition
    arm: str
    prompt: int
    tokens: int
    counted: int
    seconds_per_token: float
    tokens_per_round: float
    outside_share: float
    same_text: bool


@dataclass(frozen=True)
class Plan:
    """What is measured. arms: of each condition; seconds: the budget of each number of threads;
    expected: of it, what the first prompt may take.

    The numbers of threads have budgets of their own so that one cannot starve the other: on a busy
    machine two threads wait for each other, and take ten times as long as one.
    """

    arms: Arms
    seconds: dict[int, float]
    expected: dict[int, float]
    max_new_tokens: int
    seed: int = 0

    def to_json(self) -> dict[str, Any]:
        """The settings; arms as {"ssd@T=0": {"lookahead": .., "fan_out": ..}}."""
        arms = {
            arm.name + condition.suffix: {"lookahead": arm.lookahead, "fan_out": arm.fan_out}
            for condition, chosen in self.arms.items()
            for arm in chosen
            if arm.lookahead
        }
        budget = {str(count): seconds for count, seconds in self.seconds.items()}
        return {
            "arms": arms,
            "budget_seconds": budget,
            "max_new_tokens": self.max_new_tokens,
            "seed": self.seed,
        }


AR, BARE = Arm("ar", "ar"), Arm("bare", "bare")


def comparison(lookaheads: dict[float, tuple[int, int]], fan_out: tuple[int, ...] | None) -> Arms:
    """AR, SD and SSD at each temperature of `lookaheads` (SD's and SSD's), on one thread and two.

    fan_out: one number for every k, or lookahead + 1 of them; None: 2, and 4 at k = lookahead.
    Bare forwards run beside AR on one thread at temperature 1.
    """
    arms: Arms = {}
    for count in (1, 2):
        for temperature, (sd, ssd_) in lookaheads.items():
            lists = fan_out or (2,) * ssd_ + (4,)
            lists = lists * (ssd_ + 1) if len(lists) == 1 else lists
            chosen = (AR, Arm("sd", "sd", sd), Arm("ssd", "ssd", ssd_, lists))
            condition = Condition(temperature, count)
            arms[condition] = (*chosen, BARE) if condition == (1, 1) else chosen
    return arms


def sweep(lookaheads: Iterable[int], temperatures: Iterable[float]) -> Arms:
    """SD with each lookahead beside AR, on one thread; the arms are "ar", "sd,K=1" and so on."""
    chosen = (AR, *(Arm(f"sd,K={k}", "sd", k) for k in lookaheads))
    return {Condition(temperature, 1): chosen for temperature in temperatures}


def measure(
    target: Model,
    draft: Model,
    prompts: Sequence[Sequence[int]],
    plan: Plan,
    clock: Clock = time.perf_counter,
) -> Iterator[Sample]:
    """Samples as they come, prompt by prompt; none is begun that might overrun its budget.

    That is told by the longest prompt so far, and for the first by `plan.expected`.
    """
    left, longest = dict(plan.seconds), dict(plan.expected)
    for index, prompt in enumerate(prompts):
        greedy = cache(partial(greedy_text, target, draft, prompt, plan.max_new_tokens))
        for count in plan.seconds:
            if longest[count] > left[count]:
                continue
            began = clock()
            for condition, arms in plan.arms.items():
                if condition.threads == count:
                    task = Task(target, draft, prompt, index, plan, condition.temperature)
                    yield from turns(condition, arms, task, greedy, clock)
            took = clock() - began
            left[count], longest[count] = left[count] - took, max(longest[count], took)


def warm_up(target: Model, draft: Model, prompt: Sequence[int], plan: Plan) -> None:
    """A few tokens by every arm: a process's first forwards are slower than all others."""
    short = replace(plan, max_new_tokens=min(WARM_UP, plan.max_new_tokens))
    for condition, arms in plan.arms.items():
        if plan.expected[condition.threads] > plan.seconds[condition.threads]:
            continue  # as `measure` will
        task = Task(target, draft, prompt, 0, short, condition.temperature)
        with threads(condition.threads):
            for arm in arms:
                arm.run(task, time.perf_counter)


def turns(
    condition: Condition,
    arms: Sequence[Arm],
    task: Task,
    greedy: Callable[[], list[int]],
    clock: Clock,
) -> Iterator[Sample]:
    """Every arm on one prompt, the first arm being another one for each prompt."""
    text = greedy() if condition.temperature == 0 else None
    first = task.index % len(arms)
    with threads(condition.threads):
        for arm in (*arms[first:], *arms[:first]):
            yield sample(condition, arm, task.index, arm.run(task, clock), text)


def greedy_text(
    target: Model, draft: Model, prompt: Sequence[int], max_new_tokens: int
) -> list[int]:
    """What every arm decodes at temperature 0, and CYCLE_ROOM tokens more; not timed."""
    return speculative(
        target, draft, prompt, max_new_tokens=max_new_tokens + CYCLE_ROOM, lookahead=4,
        temperature=0, randomness=SeededRandomness(0),
    ).tokens  # fmt: skip


def sample(
    condition: Condition, arm: Arm, prompt: int, run: Timed, greedy: Sequence[int] | None
) -> Sample:
    """A run's figures; `greedy` is the text it is cut by, None where nothing is cut."""
    counted = len(run.tokens)
    if greedy is not None:
        counted = min(counted, first_repeat(greedy))
    return Sample(
        condition,
        arm.name,
        prompt,
        len(run.tokens),
        counted,
        run.seconds(counted) / counted,
        counted / run.rounds(counted),
        run.outside_share,
        greedy is None or list(run.tokens[:counted]) == list(greedy[:counted]),
    )
