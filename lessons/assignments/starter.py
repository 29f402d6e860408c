"""The student's folder, generated from the reference without what stands between its markers."""

from __future__ import annotations

import re
from pathlib import Path

from lessons.assignments.spec import Assignment

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"

PUBLIC_TESTS = '''\
"""The public tests of assignment {number}. They say which tasks are right already.

    python -m pytest test_assignment{number}.py -k 2_1       one task, here 2.1
    ssd-ref assignment check {number} .                      all of them, each with a time limit

A copy of this file that was changed is not used for grading.
"""

import assignment{number} as mine

from ssd_ref.testing import check
'''
ONE_TEST = '''

def test_task_{name}() -> None:
    """{title}."""
    assert check("{id}", mine{function})
'''


def start(assignment: Assignment, folder: Path) -> list[Path]:
    """Write the starter into `folder`; the files written. An existing file is an error."""
    number = assignment.number
    files = {
        assignment.file: starter(assignment),
        f"test_assignment{number}.py": public_tests(assignment),
        "sheet.md": sheet(assignment),
    }
    paths = {folder / name: text for name, text in files.items()}
    for path in paths:
        if path.exists():
            raise ValueError(f"{path} exists already; nothing was written. Name another folder")
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in paths.items():
        path.write_text(text, encoding="utf-8")
    return list(paths)


def sheet(assignment: Assignment) -> str:
    """The sheet; its links say where in the repository a lesson is, since they lead there only."""
    text = (assignment.folder / "sheet.md").read_text(encoding="utf-8")
    return re.sub(r"\[([^]]+)\]\(\.\./\.\./([^)]+)\)", r"\1 (`lessons/\2`)", text)


def starter(assignment: Assignment) -> str:
    source = (assignment.folder / "reference.py").read_text(encoding="utf-8")
    ids = {task.function: task.id for task in assignment.tasks if task.function}
    return without_solutions(source, ids)


def without_solutions(source: str, ids: dict[str, str]) -> str:
    """The source with each solution replaced: in a function by an error that names its task.

    ids: {function: task}. Raises ValueError unless every marker has its partner.
    """
    kept: list[str] = []
    function, inside = "", False
    for number, line in enumerate(source.splitlines(), start=1):
        marker = line.strip()
        if (marker == BEGIN and inside) or (marker == END and not inside):
            raise ValueError(f"line {number}: {marker!r} without its partner")
        if match := re.match(r"def (\w+)", line):
            function = match[1]
        if marker == BEGIN and line != marker:
            indent = line[: line.index(marker)]
            task = ids.get(function, function)
            kept.append(f'{indent}raise NotImplementedError("task {task}: yours to write")')
        if marker in (BEGIN, END):
            inside = marker == BEGIN
        elif not inside:
            kept.append(line)
    if inside:
        raise ValueError(f"the last {BEGIN!r} has no partner")
    return re.sub(r"\n{4,}", "\n\n\n", "\n".join(kept)) + "\n"


def public_tests(assignment: Assignment) -> str:
    tests = [
        ONE_TEST.format(
            name=task.id.replace(".", "_"),
            title=task.title,
            id=task.id,
            function=f".{task.function}" if task.function else "",
        )
        for task in assignment.tasks
    ]
    return PUBLIC_TESTS.format(number=assignment.number) + "".join(tests)
