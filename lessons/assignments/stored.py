"""Stored solutions, right and wrong: what each is expected to lose, and to be told.

The first lines of a wrong one are comments:

    # loses: 2.3/several 2.3/accepted      exactly these checks fail
    # says: drawn from the draft's law     words that the feedback contains; may be repeated
    # whole                                the file is a whole submission
    # sandbox                              it hangs or crashes: run it only within limits

Without `# whole` it holds only what differs from `right/plain.py`, to which it is appended.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lessons.assignments import catalogue


@dataclass(frozen=True)
class Stored:
    path: Path
    assignment: int
    loses: frozenset[str] = frozenset()
    says: tuple[str, ...] = ()
    whole: bool = True
    sandbox: bool = False

    @property
    def id(self) -> str:
        return f"a{self.assignment}/{self.path.parent.name}/{self.path.stem}"

    def source(self) -> str:
        """The file as a student would have handed it in."""
        text = self.path.read_text(encoding="utf-8")
        if self.whole:
            return text
        return (self.path.parents[1] / "right/plain.py").read_text(encoding="utf-8") + "\n\n" + text


def right(number: int) -> list[Stored]:
    folder = catalogue.FOLDER / f"a{number}/right"
    return [Stored(path, number) for path in sorted(folder.glob("*.py"))]


def wrong(number: int) -> list[Stored]:
    folder = catalogue.FOLDER / f"a{number}/wrong"
    return [read(path, number) for path in sorted(folder.glob("*.py"))]


def read(path: Path, number: int) -> Stored:
    header = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("# "):
            break
        header.append(line[2:].strip())
    values = [(key, value.strip()) for key, _, value in (line.partition(":") for line in header)]
    loses = frozenset(check for key, value in values if key == "loses" for check in value.split())
    known = {task.check_id(check) for task, check in catalogue.load(number).checks()}
    if not loses or not loses <= known:
        raise ValueError(
            f"{path.name}: '# loses:' expects some of {sorted(known)}, got {set(loses)}"
        )
    says = tuple(value for key, value in values if key == "says")
    return Stored(path, number, loses, says, "whole" in header, "sandbox" in header)
