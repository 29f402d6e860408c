"""The assignments' tasks in the registry of `ssd_ref.testing.check`: `check("2.1", is_kept)`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from lessons.assignments import catalogue
from lessons.assignments.hiding import as_written, hidden
from lessons.assignments.spec import PUBLIC_SEED, Task
from ssd_ref.testing.check import EXERCISES, Exercise, register


def register_tasks(id: str) -> None:
    """Register the public checks of every task of the assignment that `id` belongs to."""
    number = int(id.partition(".")[0])
    if number in catalogue.numbers():
        for task in catalogue.load(number).tasks:
            if task.id not in EXERCISES:  # an unknown id of the assignment comes here again
                register(public_exercise(task))


def public_exercise(task: Task) -> Exercise:
    trials = [
        trial for check in task.checks if check.public for trial in task.trials(check, PUBLIC_SEED)
    ]
    slips = {slip.text: slip.acts for slip in task.slips}
    return Exercise(task.id, tuple(trials), slips, task.read, guard=partial(guard, task.hides))


@contextmanager
def guard(names: tuple[str, ...], answer: Any) -> Iterator[Any]:
    """The answer, while the package's own is out of reach; restored afterwards."""
    own = as_written(answer, names)
    with hidden(names):
        yield own
