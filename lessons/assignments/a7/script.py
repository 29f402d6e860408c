"""Scripts: rounds and times of which every number is given, so that a log can be done by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from simpy import Environment

from sim.clock import Limit
from sim.recorder import Interval
from sim.rounds import Kernel, Round
from sim.run import Run

HORIZON = 100_000  # no script takes so long
EVENT = tuple[int, str, str]  # (time, device, kind): from then on


@dataclass(frozen=True)
class Script:
    """hits: whether the outcome of round 1, 2, .. is among its guesses. Times in ns.

    What is 0 is not printed. fill: the kernels that fill a cache, one time each. entries: for
    `one_by_one`, which entry has the answer (None: no entry). accepted: drafts accepted by round.
    """

    hits: Sequence[bool]
    verify: int = 10
    fill: tuple[int, ...] = (2, 2, 2, 2)
    draft: int = 8
    backup: int = 8
    service: int = 0
    handshake: int = 0
    there: int = 0
    back: int = 0
    prefill: tuple[int, int] = (0, 0)
    accepted: Sequence[int] = ()
    entries: Sequence[int | None] = ()

    def __str__(self) -> str:
        named = {f.name: getattr(self, f.name) for f in fields(self)}
        return ", ".join(f"{k}={v}" for k, v in named.items() if v not in (0, (), (0, 0)))

    def place(self, outcome: Round) -> int | None:
        return self.entries[outcome.number - 1]


@dataclass
class Rounds:
    """The script's rounds, one after another."""

    script: Script
    number: int = field(default=0, init=False)

    def next(self, fell_back: bool = False) -> Round:
        hits, n = self.script.hits, self.number
        self.number += 1
        accepted = self.script.accepted[n] if self.script.accepted else 0
        hit = n < len(hits) and hits[n]
        missed = n > 0 and (fell_back or not (n - 1 < len(hits) and hits[n - 1]))
        return Round(n + 1, 4, accepted, accepted + 1, int(not hit), int(missed))


@dataclass(frozen=True)
class Times:
    """The script's kernels, with names of their own."""

    script: Script

    def target_prefill(self, draft_too: bool) -> Kernel:
        target, draft = self.script.prefill
        return Kernel("prefill", target + draft_too * draft)

    def draft_prefill(self) -> Kernel:
        return Kernel("prefill", self.script.prefill[1])

    def ar_step(self, round: Round) -> Kernel:
        return self.verification(round)

    def verification(self, round: Round) -> Kernel:
        return Kernel("verify", self.script.verify)

    def drafting(self, round: Round) -> list[Kernel]:
        return [Kernel("draft", self.script.draft)]

    def cold_start(self, round: Round) -> list[Kernel]:
        return [Kernel("cold start", self.script.draft)]

    def filling(self, round: Round) -> list[Kernel]:
        return [Kernel(f"fill {i}", ns) for i, ns in enumerate(self.script.fill)]

    def backup(self, round: Round) -> list[Kernel]:
        return [Kernel("backup", self.script.backup)]

    def service(self, round: Round) -> Kernel:
        return Kernel("service", self.script.service)

    def handshake(self, round: Round) -> Kernel:
        return Kernel("handshake", self.script.handshake)

    def speculation_ns(self, round: Round) -> int:
        return self.script.there

    def outcome_ns(self, round: Round) -> int:
        return self.script.back


Processes = Callable[[Environment, Run, Times, Rounds], Iterable[Any]]


def played(script: Script, processes: Processes) -> tuple[list[EVENT], list[int]]:
    """The log of target, draft and link, and when each verification ended.

    A run that comes to a standstill, or never counts a round, has the log of what happened.
    """
    env, log, ends = Environment(), list[Interval](), list[int]()
    run = Run(env, Limit(rounds=len(script.hits)), log, lambda _, now: ends.append(int(now)))
    for process in processes(env, run, Times(script), Rounds(script)):
        env.process(process)
    env.run(until=run.ended | env.timeout(HORIZON))
    for lane in run.lanes.values():
        lane.close()
    events = [(i.begin_ns, i.lane, i.kind) for i in log if i.lane != "path"]
    return sorted(events), ends
