"""What an assignment is: tasks, their checks and points, and the slips that are known."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ssd_ref.testing.check import Trial

PUBLIC_SEED = "public"  # students see cases drawn from this one; graders draw from their own


@dataclass(frozen=True)
class Slip:
    """A known mistake. says: completes "This looks as if ..". acts: an answer that errs so.

    read: where the lesson explains it.
    """

    says: str
    acts: Any
    read: str = ""

    @property
    def text(self) -> str:
        return f"{self.says} ({self.read})" if self.read else self.says


@dataclass(frozen=True)
class Check:
    """All or nothing: `points` if the answer passes every trial.

    trials: makes them, smallest first, from a generator that was seeded for this check.
    seconds: of computing, after which the answer is stopped. public: also run by the student's own
    `check`.
    """

    name: str
    points: float
    trials: Callable[[np.random.Generator], Sequence[Trial]]
    seconds: float = 10.0
    public: bool = True


@dataclass(frozen=True)
class Task:
    """One function for the student to write.

    function: its name in the student's file; None: the answer is the student's whole module.
    hides: dotted names of the package that would give the answer away. warm: modules that a grader
    imports once, before it forks (torch, for tasks that need it). read: what to read again.
    """

    id: str
    title: str
    function: str | None
    checks: tuple[Check, ...]
    slips: tuple[Slip, ...] = ()
    hides: tuple[str, ...] = ()
    read: str = ""
    warm: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        names = [check.name for check in self.checks]
        if not names or len(set(names)) < len(names):
            raise ValueError(
                f"task {self.id}: expected checks with names of their own, got {names}"
            )

    @property
    def points(self) -> float:
        return sum(check.points for check in self.checks)

    def check_id(self, check: Check) -> str:
        return f"{self.id}/{check.name}"

    def trials(self, check: Check, seed: str) -> tuple[Trial, ...]:
        return tuple(check.trials(generator(seed, self.check_id(check))))


@dataclass(frozen=True)
class Assignment:
    """A numbered list of tasks; `hours` is an estimate of the work."""

    number: int
    title: str
    tasks: tuple[Task, ...]
    hours: str
    folder: Path = field(repr=False)

    @property
    def points(self) -> float:
        return sum(task.points for task in self.tasks)

    @property
    def file(self) -> str:
        """Name of the file that students hand in."""
        return f"assignment{self.number}.py"

    def checks(self) -> list[tuple[Task, Check]]:
        return [(task, check) for task in self.tasks for check in task.checks]

    def task(self, id: str) -> Task:
        for task in self.tasks:
            if task.id == id:
                return task
        known = ", ".join(task.id for task in self.tasks)
        raise ValueError(f"assignment {self.number} has no task {id!r}; it has {known}")

    def find(self, check_id: str) -> tuple[Task, Check]:
        for task, check in self.checks():
            if task.check_id(check) == check_id:
                return task, check
        raise ValueError(f"assignment {self.number} has no check {check_id!r}")


def generator(seed: str, what: str) -> np.random.Generator:
    """A generator of its own for each check: a new check changes no other check's cases."""
    digest = hashlib.sha256(f"{seed}\n{what}".encode()).digest()
    return np.random.default_rng(int.from_bytes(digest, "big"))
