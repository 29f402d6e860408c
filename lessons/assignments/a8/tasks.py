"""Assignment 8: a file of tests, judged by what it finds among broken decoders and sound ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from lessons.assignments.a8 import broken, runner
from lessons.assignments.a8.loop import Loop
from lessons.assignments.cases import Generator
from lessons.assignments.spec import Assignment, Check, Task
from ssd_ref.testing.check import Trial, Wrong
from ssd_ref.testing.same import Words

SECONDS = 20.0
Broken = tuple[type[Loop], ...]


def tests_of(answer: Any) -> runner.Tests:
    if not isinstance(answer, ModuleType):
        raise Wrong("the answer", Words('your module: check("8.1", assignment8)'), answer)
    return runner.tests_of(answer)


def found(case: str, expected: str, got: str) -> Wrong:
    """With all of the text: there may be many decoders to name."""
    return Wrong(case, expected, got, table=f"  expected {expected}\n  got      {got}")


def sound(answer: Any) -> None:
    """No test fails on a sound decoder, and there is one that finds something."""
    case, tests = "your tests on decoders that are right", tests_of(answer)
    if tests.alarms:
        alarms = "\n".join(
            f"    {a.test} fails on {a.decoder},\n      with {a.error}" for a in tests.alarms
        )
        raise found(case, "no test fails", f"a false alarm:\n{alarms}")
    if all(tests.missed([loop]) for loop in broken.ALL):  # until the first one is found
        none = f"none of {len(broken.ALL)}: tests that never fail acquit everybody"
        none = none if tests.written else "no function test_..(decode) that is written"
        raise found("your tests on decoders that are broken", "one is found", none)


def finds(decoders: Broken, told: bool) -> Callable[[Generator], list[Trial]]:
    """Each of these is found by a test that raises no false alarm."""

    def trial(answer: Any) -> None:
        tests = tests_of(answer)
        missed = tests.missed(decoders)
        if not missed:
            return
        case = f"your tests on {len(decoders)} broken decoder{'s' * (len(decoders) > 1)}"
        wolves = sum(alarm is not None for alarm in tests.known.values())
        if wolves:
            case += f" (without {wolves} that raised a false alarm)"
        faults = "".join(f"\n    The decoder {loop.says}." for loop in missed)
        got = f"{len(missed)} missed" + (f":{faults}" if told else "")
        raise found(case, "every one is found", got)

    return lambda rng: [trial]


def group(name: str, points: float, decoders: Broken, told: bool = True) -> Check:
    return Check(name, points, finds(decoders, told), SECONDS, public=told)


ASSIGNMENT = Assignment(
    number=8,
    title="Tests that find broken decoders",
    hours="4 to 6",
    folder=Path(__file__).parent,
    tasks=(
        Task("8.1", "No false alarm", None,
             (Check("sound", 4, lambda rng: [sound], SECONDS),), read="lesson 03, section 9"),
        Task("8.2", "Faults of one round", None,
             (group("test", 2, broken.TEST), group("replacement", 2, broken.REPLACEMENT),
              group("rows", 2, broken.ROWS), group("temperature", 1, broken.SETTINGS)),
             read="lesson 03, sections 7, 9 and 10"),
        Task("8.3", "Faults of the loop", None,
             (group("context", 2, broken.CONTEXT), group("ends", 2, broken.ENDS),
              group("chance", 2, broken.CHANCE)),
             read="lesson 03, sections 7, 9 and 10"),
        Task("8.4", "Faults of the cache, and faults that nobody told you of", None,
             (group("cache", 3, broken.CACHE), group("untold", 2, broken.UNTOLD, told=False)),
             read="lesson 03, sections 7, 9 and 10"),
    ),
)  # fmt: skip
