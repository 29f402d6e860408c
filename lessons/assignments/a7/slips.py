"""The usual mistakes in assignment 7, each as a process, or a formula, that makes it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from simpy import Environment, Event

from lessons.assignments.spec import Slip
from sim.clock import settle
from sim.recorder import IDLE
from sim.rounds import Costs, Kernel, Round, Workload
from sim.run import Run

Process = Generator[Event, Any, Any]


# SD


def sd(fault: str) -> Callable[..., Process]:
    def process(env: Environment, run: Run, costs: Costs, workload: Workload) -> Process:
        if fault != "prefill":
            yield from run.target.run(costs.target_prefill(draft_too=fault != "one prefill"))
        while True:
            round = workload.next()
            device = run.draft if fault == "device" else run.target
            if fault == "order":
                yield from run.target.run(costs.verification(round))
            yield from device.run_all(costs.drafting(round))
            if fault != "order":
                yield from run.target.run(costs.verification(round))
            if run.count(round):
                return

    return process


SD = (
    Slip("a round is verified before it is drafted", sd("order"), "lesson 04, section 2"),
    Slip(
        "drafting is done on the draft's device: SD has only the target's",
        sd("device"),
        "lesson 04, section 2",
    ),
    Slip("the prefill is left out", sd("prefill")),
    Slip(
        "the prefill is the target's alone: the draft has to read the prompt on this device, too",
        sd("one prefill"),
    ),
)


# The verifier


def verifier(fault: str) -> Callable[..., Process]:
    def process(env: Environment, run: Run, costs: Costs) -> Process:
        if fault != "prefill":
            yield from run.target.run(costs.target_prefill(draft_too=fault == "both prefills"))
        while True:
            round = yield run.speculations.receive()
            if fault == "peek":
                run.outcomes.send(round, costs.outcome_ns(round))
            yield from run.target.run(costs.verification(round))
            if run.count(round):
                return
            if fault != "handshake":
                yield from run.target.run(costs.handshake(round))
            if fault != "peek":
                run.outcomes.send(round, 0 if fault == "no link" else costs.outcome_ns(round))
            if fault == "once":
                return

    return process


VERIFIER = (
    Slip(
        "the outcome is sent before the verification has ended: nobody can know it then",
        verifier("peek"),
        "lesson 05",
    ),
    Slip("only one round is verified", verifier("once")),
    Slip("the prefill is left out", verifier("prefill")),
    Slip(
        "the draft's prefill is charged to the target: the draft has a device of its own",
        verifier("both prefills"),
    ),
    Slip("the hand-shake is left out", verifier("handshake")),
    Slip("the outcome takes no time on the link", verifier("no link")),
)


# The speculator


def speculator(fault: str, abort: str = "never") -> Callable[..., Process]:
    def process(env: Environment, run: Run, costs: Costs, workload: Workload) -> Process:
        if fault != "prefill":
            yield from run.draft.run(costs.draft_prefill())
        round = workload.next()
        if fault != "cold":
            yield from run.draft.run_all(costs.cold_start(round))
        while True:
            if fault == "fill first":
                yield from run.draft.run_all(costs.filling(round))
            run.speculations.send(round, costs.speculation_ns(round))
            outcome = run.outcomes.receive()
            if fault == "wait first":
                yield outcome
            if fault != "fill first":
                yield from filled(env, run, costs.filling(round), outcome, abort)
            if fault != "wait first":
                yield outcome
            if fault != "service":
                yield from run.draft.run(costs.service(round))
            round = workload.next()
            if fault == "always" or (round.backups and fault != "no backup"):
                again = costs.cold_start(round) if fault == "cold again" else costs.backup(round)
                yield from run.draft.run_all(again)

    return process


def filled(env: Environment, run: Run, kernels: Any, outcome: Event, abort: str) -> Process:
    """abort: never, at a miss within a kernel ("instant"), after it ("step"), at any outcome."""
    for kernel in kernels:
        yield settle(env)
        if outcome.triggered and abort != "never" and ends(outcome, abort):
            break
        run.draft.lane.enter(kernel.kind, kernel.rows)
        end = env.timeout(kernel.ns)
        if abort in ("instant", "any"):
            yield end | outcome
            if not end.processed and ends(outcome, abort):
                break
        yield end
    run.draft.lane.enter(IDLE)


def ends(outcome: Event, abort: str) -> bool:
    round: Any = outcome.value
    return bool(abort == "any" or round.misses > 0)


COMMON = {
    "the outcome is awaited before the cache is filled: nothing overlaps": "wait first",
    "the cache is filled before the speculation is sent: the verifier waits for it": "fill first",
    "the backup drafts after a hit, too: the cache has the answer": "always",
    "nobody drafts after a miss": "no backup",
    "round 1 has no cold start: there is no cache yet": "cold",
    "after a miss there is a cold start instead of the backup": "cold again",
    "the service (reading the outcome) is left out": "service",
    "the prefill is left out": "prefill",
}
SPECULATOR = (
    *(Slip(says, speculator(fault), "lesson 05") for says, fault in COMMON.items()),
    Slip(
        "a miss cuts the filling off: this speculator reads the outcome when the cache is full",
        speculator("", "instant"),
        "lesson 05",
    ),
)
IMPATIENT = (
    Slip("a miss does not end the filling", speculator("", "never"), "lesson 05"),
    Slip(
        "the kernel that is running goes on to its end after a miss",
        speculator("", "step"),
        "lesson 05",
    ),
    Slip(
        "a hit ends the filling, too: its answer may not be there yet",
        speculator("", "any"),
        "lesson 05",
    ),
    *(Slip(says, speculator(fault, "instant"), "lesson 05") for says, fault in COMMON.items()),
)


# Theorem 7


def speed(
    hit_time: Callable[[float], float] = lambda t_p: max(1, t_p), abort: bool | None = None,
    miss_time: Callable[[float, float], float] | None = None,
) -> Callable[..., float]:  # fmt: skip
    def formula(
        hit: float, e_hit: float, e_miss: float, t_p: float, t_b: float, aborts: bool
    ) -> float:
        waits = 1 if (aborts if abort is None else abort) else max(1, t_p)
        miss = waits + t_b if miss_time is None else miss_time(t_p, t_b)
        return (hit * e_hit + (1 - hit) * e_miss) / (hit * hit_time(t_p) + (1 - hit) * miss)

    return formula


def mean_of_rates(
    hit: float, e_hit: float, e_miss: float, t_p: float, t_b: float, abort: bool
) -> float:
    full = max(1, t_p)
    return hit * e_hit / full + (1 - hit) * e_miss / ((1 if abort else full) + t_b)


SPEED = (
    Slip(
        "filling and verifying are added: they run at the same time",
        speed(hit_time=lambda t_p: 1 + t_p),
        "lesson 05",
    ),
    Slip(
        "a hit always takes one verification, however long the filling",
        speed(hit_time=lambda t_p: 1),
        "lesson 05",
    ),
    Slip("`abort` plays no part: a miss never waits for the cache", speed(abort=True), "lesson 05"),
    Slip(
        "`abort` plays no part: a miss always waits for the cache", speed(abort=False), "lesson 05"
    ),
    Slip(
        "the backup's time after a miss is left out", speed(miss_time=lambda t_p, t_b: max(1, t_p))
    ),
    Slip(
        "the backup runs beside the verification: it can begin only after it",
        speed(miss_time=lambda t_p, t_b: max(1, t_b)),
    ),
    Slip(
        "rates are averaged: it must be mean tokens over mean time",
        mean_of_rates,
        "lesson 04, section 3",
    ),
)


# One entry after another


def one_by_one(fault: str) -> Callable[..., Process]:
    def process(
        env: Environment, run: Run, costs: Costs, workload: Workload,
        place: Callable[[Round], int | None],
    ) -> Process:  # fmt: skip
        yield from run.draft.run(costs.draft_prefill())
        round = workload.next()
        yield from run.draft.run_all(costs.cold_start(round))
        while True:
            run.speculations.send(round, costs.speculation_ns(round))
            outcome = run.outcomes.receive()
            yield from until_there(env, run, list(costs.filling(round)), outcome, place, fault)
            yield outcome
            yield from run.draft.run(costs.service(round))
            round = workload.next()
            if round.backups:
                yield from run.draft.run_all(costs.backup(round))

    return process


def until_there(
    env: Environment, run: Run, kernels: list[Kernel], outcome: Event,
    place: Callable[[Round], int | None], fault: str,
) -> Process:  # fmt: skip
    def enough(filled: int) -> bool:
        if not outcome.triggered or fault == "fills all":
            return False
        entry = place(outcome.value)  # type: ignore[arg-type]
        if fault == "never ready":
            return entry is None
        return entry is None or entry < filled or fault == "not there"

    for number, kernel in enumerate(kernels):
        yield settle(env)
        if enough(number):
            break
        run.draft.lane.enter(kernel.kind, kernel.rows)
        end = env.timeout(kernel.ns)
        yield end if fault == "step" else end | outcome
        if not end.processed:
            if enough(number):
                break
            yield end
    run.draft.lane.enter(IDLE)


right_one_by_one = one_by_one("")
ONE_BY_ONE = (
    Slip("all entries are filled, whatever the outcome", one_by_one("fills all"), "lesson 05"),
    Slip(
        "a hit waits for the whole cache: its own entry is enough",
        one_by_one("never ready"),
        "lesson 05",
    ),
    Slip("an answer is sent before its entry is filled", one_by_one("not there"), "lesson 05"),
    Slip("the entry that is being filled goes on to its end", one_by_one("step"), "lesson 05"),
)
