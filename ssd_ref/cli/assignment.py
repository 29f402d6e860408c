"""`ssd-ref assignment`: list the assignments, start one, check one's own answers."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ssd_ref.cli.errors import CommandError
from ssd_ref.cli.pairs import Load
from ssd_ref.testing.check import ASSIGNMENTS

TEXT = "the course's assignments: list them, start one, check your answers"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(
        dest="action", required=True, metavar="list|start|check|nbgrader"
    )
    actions.add_parser("list", help="what there is")
    start = actions.add_parser("start", help="write sheet, starter and public tests into a folder")
    check = actions.add_parser("check", help="run the public checks, each with a time limit")
    for action in (start, check):
        action.add_argument("number", type=int, metavar="N")
        action.add_argument("folder", type=Path, metavar="DIR")
    notebook = actions.add_parser("nbgrader", help="write a source notebook for nbgrader")
    notebook.add_argument("number", type=int, metavar="N")
    notebook.add_argument("file", type=Path, metavar="FILE")
    check.add_argument("--task", metavar="ID", help="one task only, such as 2.1")


def run(args: argparse.Namespace, load: Load, clock: Callable[[], float]) -> int:
    catalogue = course("catalogue")
    if args.action == "list":
        for number in catalogue.numbers():
            one = catalogue.load(number)
            print(f"{number}  {one.title:40} {one.points:3g} points  {one.hours} hours")
        return 0
    assignment = catalogue.load(args.number)
    if args.action == "nbgrader":
        course("notebooks").write_notebook(assignment, args.file)
        return 0
    if args.action == "start":
        for path in course("starter").start(assignment, args.folder):
            print(path)
        return 0
    return check(assignment, args.folder, args.task)


def check(assignment: Any, folder: Path, only: str | None) -> int:
    """Print each verdict; 1 if one of them is not right."""
    path = folder / assignment.file
    notebook = path.with_suffix(".ipynb")
    path = path if path.exists() or not notebook.exists() else notebook
    if not path.is_file():
        raise CommandError(f"{path}: no such file; `ssd-ref assignment start` writes it")
    tasks = [assignment.task(only)] if only else assignment.tasks
    seed = course("spec").PUBLIC_SEED
    for note in course("hints").beside(path):
        print(f"Note: {note}.")
    right = True
    for task in tasks:
        for one in task.checks:
            if one.public:
                result = course("running").run_check(assignment, task.check_id(one), path, seed)
                right = right and result.how == "right"
                print(verdict(result), end="")
    return 0 if right else 1


def verdict(result: Any) -> str:
    if result.how == "right":
        return f"right {result.check}\n"
    if "NotImplementedError: task" in result.text:  # the starter's own
        return f"todo  {result.check}\n"
    return f"WRONG {result.check}\n{indented(result.text)}"


def indented(text: str) -> str:
    return "".join(f"      {line}\n" for line in text.splitlines())


def course(module: str) -> Any:
    """A module of lessons/assignments, which only the repository has."""
    import sys
    from importlib import import_module

    if not ASSIGNMENTS.is_dir():
        raise CommandError(
            f"the assignments are part of the repository, not of the installed package: expected "
            f"them at {ASSIGNMENTS}. Clone the repository and install it with `pip install -e .`"
        )
    root = str(ASSIGNMENTS.parents[1])
    if root not in sys.path:
        sys.path.append(root)
    return import_module(f"lessons.assignments.{module}")
