"""One check of one submission: load what it needs, put the trials to it, say what came."""

from __future__ import annotations

import traceback
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

from lessons.assignments import catalogue, hints, slices
from lessons.assignments.clock import WALL, Clock, TimeIsUp
from lessons.assignments.hiding import as_written, hidden
from lessons.assignments.results import Result
from lessons.assignments.sandbox import Ended, Limits, run
from lessons.assignments.spec import Assignment, Check, Task
from ssd_ref.testing.check import Exercise, judge

STOPPED = {
    "time": "It had not ended after {seconds:g} s and was stopped. Does every loop move on?",
    "memory": "It took more than {megabytes} MB of memory and was stopped.",
    "output": "It printed more than {kilobytes} kB and was stopped.",
    "crash": "Its process ended without a result: {value}",
}


class Missing(Exception):
    """The student's file does not define what the task asks for."""


def run_check(assignment: Assignment, check_id: str, path: Path, seed: str) -> Result:
    """The check in a process of its own, within its limits."""
    task, check = assignment.find(check_id)
    for module in task.warm:
        import_module(module)
    limits = Limits(seconds=WALL * check.seconds + 2)  # the clock within rings first: it says where
    ended = run(in_child, (assignment.number, check_id, path.resolve(), seed), limits)
    done = ended.how == "done"
    how, got, text = ended.value if done else (ended.how, 0.0, stopped(ended, limits))
    if ended.output and how != "right":
        text += f"\nIt printed, at the end:\n{indented(ended.output)}"
    return Result(check_id, check.points, got, how, text, round(ended.seconds, 3))


def stopped(ended: Ended, limits: Limits) -> str:
    return STOPPED[ended.how].format(
        seconds=limits.seconds,
        megabytes=limits.megabytes,
        kilobytes=limits.output_bytes // 1000,
        value=str(ended.value).strip(),
    )


def in_child(number: int, check_id: str, path: Path, seed: str) -> tuple[str, float, str]:
    """(how, marks, text). Runs where the student's code may do harm."""
    assignment = catalogue.load(number)
    task, check = assignment.find(check_id)
    clock = Clock(check.seconds)
    with hidden(task.hides), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            answer = answer_of(assignment, task, path)
        except Missing as missing:
            return "missing", 0.0, str(missing)
        except Exception as error:
            return "broken", 0.0, cannot_load(error, path)
        try:
            with clock.running():
                verdict = judge(exercise(task, check, seed, clock, answer), answer)
        except TimeIsUp as error:  # it rang between two cases
            return "time", 0.0, str(error)
    if verdict:
        return "right", check.points, verdict.text
    notes = [f"Note: {hint}." for hint in hints.of(path, task, verdict.text)]
    return "time" if clock.rang else "wrong", 0.0, "\n".join([verdict.text, *notes])


def exercise(task: Task, check: Check, seed: str, clock: Clock, answer: Any) -> Exercise:
    slips = {slip.text: slip.acts for slip in task.slips}
    trials = clock.over(task.trials(check, seed), answer)
    return Exercise(task.check_id(check), trials, slips, task.read)


def answer_of(assignment: Assignment, task: Task, path: Path) -> Any:
    """The student's function; the file's earlier tasks are the reference's.

    So a fault costs its own task only. Later tasks stay the student's own: an answer that leaves
    its work to them must have done it there.
    """
    if task.function is None:
        return slices.load(path, None)
    reference = catalogue.reference(assignment.number)
    if path == Path(str(reference.__file__)):
        return getattr(reference, task.function)  # which may call the package
    module = slices.load(path, [task.function])
    if task.function not in vars(module):
        raise Missing(f"{path.name} defines no {task.function}")
    for other in assignment.tasks[: assignment.tasks.index(task)]:
        if other.function in vars(module):
            setattr(module, other.function, getattr(reference, other.function))
    return as_written(getattr(module, task.function), task.hides)


def cannot_load(error: Exception, path: Path) -> str:
    if isinstance(error, SyntaxError):
        line = f"line {error.lineno}: " if error.lineno else ""
        return f"{path.name} cannot be read: {line}{error.msg}"
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == path.name]
    where = f", line {lines[-1]}" if lines else ""
    return f"{path.name}{where}: {type(error).__name__}: {error}"


def indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines()[-20:])
