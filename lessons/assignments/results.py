"""What came of a check, and the file of results in which a batch can be resumed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Result:
    """A check of one submission.

    how: "right", "wrong", "missing" (no such function), "broken" (cannot be loaded), "time",
    "memory", "output" or "crash". text: what the student reads. marks: `got` of `points`.
    """

    check: str
    points: float
    got: float
    how: str
    text: str
    seconds: float = 0.0


@dataclass(frozen=True)
class Graded:
    """A submission, all its checks, and a digest of all that the result depends on.

    id: the student's on the learning platform, "" if it gave none.
    """

    student: str
    id: str
    assignment: int
    digest: str
    results: tuple[Result, ...]
    notes: tuple[str, ...] = ()

    @property
    def points(self) -> float:
        return sum(result.got for result in self.results)

    @property
    def most(self) -> float:
        return sum(result.points for result in self.results)

    def lost(self) -> list[str]:
        return [result.check for result in self.results if result.got < result.points]

    def by_task(self) -> dict[str, tuple[float, float]]:
        """task -> (marks, of)."""
        tasks: dict[str, tuple[float, float]] = {}
        for result in self.results:
            task = result.check.partition("/")[0]
            got, most = tasks.get(task, (0.0, 0.0))
            tasks[task] = (got + result.got, most + result.points)
        return tasks

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, line: str) -> Graded:
        fields = json.loads(line)
        fields["results"] = tuple(Result(**result) for result in fields["results"])
        fields["notes"] = tuple(fields["notes"])
        return cls(**fields)


def read(path: Path) -> dict[str, Graded]:
    """digest -> graded; a last line that was cut off by an interruption is left out."""
    if not path.exists():
        return {}
    done = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            graded = Graded.from_json(line)
        except (ValueError, TypeError, KeyError):
            continue
        done[graded.digest] = graded
    return done


def append(path: Path, all_graded: Iterable[Graded]) -> None:
    with path.open("a", encoding="utf-8") as file:
        for graded in all_graded:
            file.write(graded.to_json() + "\n")
