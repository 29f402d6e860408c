"""`check("L02.1", my_alpha)`: is this answer to an exercise right, and if not, where is it wrong?

An exercise is a list of trials, the smallest first. A trial puts one case to the answer and raises
`Wrong` if something else came than expected. The verdict names the first such case; if the answer
errs there just as a known *slip* does, it says which. It never shows how to do it right.

There is no time limit: a loop that does not end is yours to interrupt (Ctrl-C, or the notebook's
stop button).
"""

from __future__ import annotations

import difflib
import importlib
import re
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ssd_ref.testing.same import same, shown

Trial = Callable[[Any], None]  # puts one case to an answer; raises Wrong

PACKAGE = Path(__file__).parents[1]
ASSIGNMENTS = PACKAGE.parent / "lessons" / "assignments"  # in the repository; no wheel has them


class Wrong(Exception):
    """An answer fails on a case: what was asked, what was expected, and what came."""

    def __init__(self, case: str, expected: object, got: object, table: str | None = None) -> None:
        values = f"  expected {shown(expected)}\n  got      {shown(got)}"
        super().__init__(f"{case}\n{table or values}")
        self.case, self.expected, self.got = case, expected, got


class Raised:
    """What came instead of a value: an exception of the answer's own."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __repr__(self) -> str:
        frames = traceback.extract_tb(self.error.__traceback__)
        frame = next((f for f in reversed(frames) if not is_ours(f.filename)), frames[-1])
        return f"{type(self.error).__name__}: {self.error} (line {frame.lineno}, {frame.name})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Raised) or type(self.error) is not type(other.error):
            return False
        return str(self.error) == str(other.error)

    __hash__ = None  # type: ignore[assignment]


def is_ours(filename: str) -> bool:
    """Whether a frame is of this package or of the assignments, and not of the answer."""
    path = Path(filename)
    return path.is_relative_to(PACKAGE) or path.is_relative_to(ASSIGNMENTS)


@dataclass(frozen=True)
class Exercise:
    """What `check` knows of an exercise.

    id: "L" and the lesson's number for the lessons', without "L" for an assignment's.
    trials: smallest first. slips: {what it means: an answer that does so}, the usual mistakes.
    pointer: what to read again after a miss. guard: a context for all trials, which makes the
    answer that they are put to of the answer that was given.
    """

    id: str
    trials: tuple[Trial, ...]
    slips: Mapping[str, Any] = field(default_factory=dict)
    pointer: str = ""
    guard: Callable[[Any], AbstractContextManager[Any]] = nullcontext

    def __post_init__(self) -> None:
        if not self.trials:
            raise ValueError(f"exercise {self.id}: expected at least one trial, got none")


@dataclass(frozen=True)
class Verdict:
    """True if every trial passed; `text` says so, or which case did not and what came."""

    id: str
    passed: bool
    text: str

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        return self.text

    def _ipython_display_(self) -> None:
        """`check` has printed it already: a notebook need not show it again."""


EXERCISES: dict[str, Exercise] = {}


def register(exercise: Exercise) -> None:
    """Make an exercise known to `check`. Raises ValueError if its id is taken."""
    if exercise.id in EXERCISES:
        raise ValueError(f"exercise {exercise.id} is registered already")
    EXERCISES[exercise.id] = exercise


def check(id: str, answer: Any) -> Verdict:
    """Try an answer (mostly a function, sometimes a value), print the verdict and return it.

    Raises ValueError for an id that nobody registered; it lists the nearest ones.
    """
    exercise = find(id)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of slips that are tried; a verdict says enough
        verdict = judge(exercise, answer)
    print(verdict)
    return verdict


def find(id: str) -> Exercise:
    importlib.import_module("ssd_ref.testing.exercises")  # registers the lessons' exercises
    if id not in EXERCISES and re.fullmatch(r"\d+\.\d+", str(id)) and ASSIGNMENTS.is_dir():
        importlib.import_module("lessons.assignments.exercises").register_tasks(str(id))
    if id not in EXERCISES:
        near = difflib.get_close_matches(str(id), EXERCISES, n=3, cutoff=0.3)
        known = ", ".join(near or sorted(EXERCISES, key=lambda known: (known[0] != "L", known)))
        raise ValueError(f"check: no exercise {id!r}; did you mean one of {known}?")
    return EXERCISES[id]


def judge(exercise: Exercise, answer: Any) -> Verdict:
    """The verdict on an answer, without printing."""
    with exercise.guard(answer) as own:
        failures = [failure(trial, own) for trial in exercise.trials]
        wrong = next((f for f in failures if f is not None), None)
        slip = nearest_slip(exercise, failures) if wrong else None
    if wrong is None:
        return Verdict(
            exercise.id, True, f"{exercise.id}: right ({len(failures)} of {len(failures)} cases)."
        )
    passed = failures.count(None)
    lines = [
        f"{exercise.id}: not yet, {passed} of {len(failures)} cases right. The smallest wrong one:",
        f"{wrong}",
    ]
    lines += [f"This looks as if {slip}."] if slip else []
    lines += [f"Read again: {exercise.pointer}."] if exercise.pointer else []
    return Verdict(exercise.id, False, "\n".join(lines))


def failure(trial: Trial, answer: Any) -> Wrong | None:
    try:
        trial(answer)
    except Wrong as wrong:
        return wrong
    return None


def nearest_slip(exercise: Exercise, failures: Sequence[Wrong | None]) -> str | None:
    """The slip that errs alike on the first failing case, and on most of the others."""
    if all(wrong is None or wrong.got is None for wrong in failures):
        return "nothing is returned"
    first = next(i for i, wrong in enumerate(failures) if wrong is not None)
    suspects = {
        text: slip
        for text, slip in exercise.slips.items()
        if errs_alike(failure(exercise.trials[first], slip), failures[first])
    }
    if len(suspects) < 2:
        return next(iter(suspects), None)
    agreeing = {
        text: sum(
            errs_alike(failure(t, slip), f) for t, f in zip(exercise.trials, failures, strict=True)
        )
        for text, slip in suspects.items()
    }
    return max(agreeing, key=agreeing.__getitem__)


def errs_alike(one: Wrong | None, other: Wrong | None) -> bool:
    if one is None or other is None:
        return one is other
    return same(one.got, other.got) or shown(one.got) == shown(other.got)  # or both NaN
