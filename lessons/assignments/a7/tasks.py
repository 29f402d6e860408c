"""Assignment 7: its tasks. Logs are compared as (time, device, kind); ties come in any order."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from lessons.assignments.a7 import slips
from lessons.assignments.a7.script import EVENT, Processes, Script, played
from lessons.assignments.cases import Generator
from lessons.assignments.spec import Assignment, Check, Task
from sim import protocols
from sim.rounds import Rules
from ssd_ref.testing.check import Raised, Trial, Wrong
from ssd_ref.testing.same import Words
from ssd_ref.testing.trials import gives

HIDES = (
    *(f"sim.protocols.{name}" for name in ("autoregressive", "speculative", "verifier",
                                           "speculator", "fill")),
    *(f"sim.theory.{name}" for name in ("ssd_speed", "sd_speed", "batch_speed", "own_draft_ratio")),
)  # fmt: skip
With = Callable[[Any, Script], Processes]  # an answer among the package's own processes
NEVER, INSTANT = Rules(abort="never"), Rules(abort="instant")


def sd(answer: Any, script: Script) -> Processes:
    return lambda env, run, costs, workload: [answer(env, run, costs, workload)]


def target_side(answer: Any, script: Script) -> Processes:
    return lambda env, run, costs, workload: [
        answer(env, run, costs),
        protocols.speculator(env, run, costs, workload, NEVER),
    ]


def draft_side(answer: Any, script: Script) -> Processes:
    return lambda env, run, costs, workload: [
        protocols.verifier(env, run, costs),
        answer(env, run, costs, workload),
    ]


def by_entries(answer: Any, script: Script) -> Processes:
    return lambda env, run, costs, workload: [
        protocols.verifier(env, run, costs),
        answer(env, run, costs, workload, script.place),
    ]


@dataclass(frozen=True)
class Log:
    """A whole log as one value; it prints as a digest, so that two logs never look alike."""

    events: tuple[EVENT, ...]

    def __repr__(self) -> str:
        digest = hashlib.sha256(repr(self.events).encode()).hexdigest()
        return f"a log of {len(self.events)} events, {digest}"


def logs(script: Script, right: Any, around: With) -> Trial:
    """The answer's log must be that of `right`."""

    def trial(answer: Any) -> None:
        expected, _ = played(script, around(right, script))
        case = f"the log of {script}"
        try:
            got, _ = played(script, around(answer, script))
        except Exception as error:
            raise Wrong(case, Words("a log"), Raised(error)) from error
        if got != expected:
            table = parted(got, expected)
            raise Wrong(case, Log(tuple(expected)), Log(tuple(got)), table)

    return trial


def parted(got: list[EVENT], expected: list[EVENT], show: int = 4) -> str:
    """Both logs from the last common event on."""
    pairs = enumerate(zip_longest(got, expected))
    first = max(next(i for i, (a, b) in pairs if a != b) - 1, 0)

    def lines(log: list[EVENT]) -> str:
        events = [f"{time} {device}: {kind}" for time, device, kind in log[first : first + show]]
        return " | ".join([*events, ".." if len(log) > first + show else "(end of the log)"])

    return f"  expected {lines(expected)}\n  got      {lines(got)}"


def scripts(rng: Generator, count: int = 3, **fixed: Any) -> list[Script]:
    """Random times, one after another; a hit or a miss by chance."""
    found = []
    for _ in range(count):
        verify, draft, backup, service, handshake, there, back = rng.integers(1, 12, 7).tolist()
        drawn: dict[str, Any] = {
            "hits": tuple((rng.random(5) < 0.6).tolist()), "verify": verify + 5, "draft": draft,
            "backup": backup, "service": service, "handshake": handshake, "there": there,
            "back": back, "fill": tuple(rng.integers(1, 8, 3).tolist()),
            "prefill": (int(rng.integers(9)), int(rng.integers(9))),
        }  # fmt: skip
        found.append(Script(**(drawn | fixed)))
    return found


def check_logs(name: str, points: float, right: Any, around: With, *cases: Script,
               random: bool = False, **fixed: Any) -> Check:  # fmt: skip
    def trials(rng: Generator) -> Sequence[Trial]:
        more = scripts(rng, **fixed) if random else ()
        return [logs(s, right, around) for s in [*cases, *more]]

    return Check(name, points, trials)


PLAIN = Script(hits=(True, False, True, True))  # 18 + 10 + 18 + 10
ONE = Script(hits=(True,))
LINKED = Script(hits=(True, False, True), there=1, back=2, service=1, handshake=3, prefill=(5, 3))
OVER = Script(hits=(True, True, True), fill=(4, 4, 6))  # T_p = 1.4
OVER_MISS = Script(hits=(False, False, True, True), fill=(4, 4, 6))
LATE = Script(hits=(False, True, True), fill=(3, 6, 7), there=1, back=1)


def never(env: Any, run: Any, costs: Any, workload: Any) -> Any:
    return protocols.speculator(env, run, costs, workload, NEVER)


def instant(env: Any, run: Any, costs: Any, workload: Any) -> Any:
    return protocols.speculator(env, run, costs, workload, INSTANT)


def speed_values(rng: Generator) -> list[Trial]:
    """Thm 7, both of its miss terms."""
    cases: list[tuple[float, float, float, float, float]] = [
        (0.8, 4.0, 3.0, 0.9, 0.5), (0.8, 4.0, 3.0, 1.4, 0.5), (1.0, 5.0, 1.0, 1.5, 0.7),
    ]  # fmt: skip
    for _ in range(3):
        a, b, c, d, e = rng.random(5).round(2).tolist()
        cases.append((a, 1 + 4 * b, 1 + 3 * c, 0.5 + d, e))
    return [
        gives(by_rounds(*case, abort), *case, abort) for case in cases for abort in (True, False)
    ]


def by_rounds(
    hit: float, e_hit: float, e_miss: float, t_p: float, t_b: float, abort: bool
) -> float:
    """Mean tokens over mean time of a round, each kind of round by itself."""
    full = t_p if t_p > 1 else 1.0
    rounds = [(hit, e_hit, full), (1 - hit, e_miss, (1.0 if abort else full) + t_b)]
    return sum(p * e for p, e, _ in rounds) / sum(p * time for p, _, time in rounds)


def speed_on_the_clock(rng: Generator) -> list[Trial]:
    """The closed form against the processes: rounds 2 to 11 of a script."""
    trials = []
    for fill in ((5, 4), (8, 7)):
        for right, abort in ((instant, True), (never, False)):
            hits = (*rng.permutation([True] * 6 + [False] * 4).tolist(), True)
            accepted = (0, *(int(rng.integers(3)) + 2 * hit for hit in hits[:-1]))
            script = Script(hits, fill=fill, backup=6, accepted=accepted)
            _, ends = played(script, draft_side(right, script))
            rate = (sum(accepted[1:]) + 10) / ((ends[-1] - ends[0]) / script.verify)
            of_hits = [a + 1 for a, hit in zip(accepted[1:], hits, strict=False) if hit]
            of_misses = [a + 1 for a, hit in zip(accepted[1:], hits, strict=False) if not hit]
            trials.append(gives(rate, 0.6, sum(of_hits) / 6, sum(of_misses) / 4,
                                sum(fill) / 10, 0.6, abort))  # fmt: skip
    return trials


def entry_scripts(rng: Generator, *fixed: Script) -> list[Script]:
    found = list(fixed)
    for script in scripts(rng, 4 if not fixed else 2, fill=(8, 9, 7, 12)):
        entries = [int(rng.integers(4)) if hit else None for hit in script.hits]
        found.append(Script(**{**vars(script), "entries": tuple(entries)}))
    return found


def entry_trials(*fixed: Script) -> Callable[[Generator], list[Trial]]:
    return lambda rng: [
        logs(s, slips.right_one_by_one, by_entries) for s in entry_scripts(rng, *fixed)
    ]


READY = Script(hits=(True, True), fill=(4, 4, 8), entries=(0, 0))
NOT_YET = Script(hits=(True, True, True), fill=(4, 9, 4), entries=(2, 1, 0))
NO_ENTRY = Script(hits=(False, False, True), fill=(4, 4, 6), entries=(None, None, 0))

ASSIGNMENT = Assignment(
    number=7,
    title="SSD as two processes over a clock",
    hours="4 to 6",
    folder=Path(__file__).parent,
    tasks=(
        Task("7.1", "SD takes turns", "speculative",
             (check_logs("turns", 2, protocols.speculative, sd, ONE, PLAIN),
              check_logs("whole", 1, protocols.speculative, sd, LINKED, random=True)),
             slips.SD, HIDES, "lesson 04, section 2"),
        Task("7.2", "The verifier", "verifier",
             (check_logs("rounds", 2, protocols.verifier, target_side, ONE, PLAIN),
              check_logs("messages", 2, protocols.verifier, target_side, LINKED, random=True)),
             slips.VERIFIER, HIDES, "lesson 04, section 6"),
        Task("7.3", "The speculator", "speculator",
             (check_logs("overlap", 2, never, draft_side, ONE, PLAIN),
              check_logs("overflow", 2, never, draft_side, OVER, OVER_MISS),
              check_logs("whole", 2, never, draft_side, LINKED, random=True)),
             slips.SPECULATOR, HIDES, "lesson 05"),
        Task("7.4", "It need not wait", "impatient",
             (check_logs("miss", 2, instant, draft_side, OVER_MISS, LATE),
              check_logs("hit", 1, instant, draft_side, OVER, PLAIN),
              check_logs("whole", 1, instant, draft_side, random=True, fill=(9, 13, 11, 8))),
             slips.IMPATIENT, HIDES, "lesson 05"),
        Task("7.5", "Theorem 7", "speed",
             (Check("values", 2, speed_values), Check("clock", 1, speed_on_the_clock)),
             slips.SPEED, HIDES, "lesson 04, section 3"),
        Task("7.6", "One entry after another", "one_by_one",
             (Check("entries", 2, entry_trials(READY, NOT_YET, NO_ENTRY)),
              Check("whole", 2, entry_trials())),
             slips.ONE_BY_ONE, HIDES, "lesson 05"),
    ),
)  # fmt: skip
