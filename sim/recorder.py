"""The recorder: what each device does at each instant, and why the text is not there yet."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from simpy import Environment

IDLE = "idle"


class Interval(NamedTuple):
    """A lane was of one kind from begin to end; rows: token forwards that were computed."""

    lane: str
    kind: str
    begin_ns: int
    end_ns: int
    rows: int = 0


class Total(NamedTuple):
    """All intervals of one kind on one lane: their length, rows and number."""

    ns: int = 0
    rows: int = 0
    intervals: int = 0


class Lane:
    """One time line. It is always of exactly one kind: each interval ends where the next begins.

    So the intervals of a lane tile the run without gap or overlap. Totals are always kept, single
    intervals only in a `log`. Intervals without length are not logged; their rows are counted.
    """

    __slots__ = ("begin", "env", "kind", "log", "name", "rows", "sums")

    def __init__(self, env: Environment, name: str, log: list[Interval] | None) -> None:
        self.env, self.name, self.log = env, name, log
        self.kind, self.begin, self.rows = IDLE, 0, 0
        self.sums: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0, 0])

    def enter(self, kind: str, rows: int = 0) -> None:
        """From now on this lane is of this kind."""
        now: int = self.env.now  # type: ignore[assignment]  # SimPy allows fractions, we do not
        elapsed = now - self.begin
        if elapsed or self.rows:
            sums = self.sums[self.kind]
            sums[0] += elapsed
            sums[1] += self.rows
            sums[2] += 1
            if self.log is not None and elapsed:
                self.log.append(Interval(self.name, self.kind, self.begin, now, self.rows))
        self.kind, self.begin, self.rows = kind, now, rows

    def close(self) -> None:
        """End of the run: clip what is open. What was begun at this very instant never ran."""
        if self.env.now == self.begin:
            self.rows = 0
        self.enter(IDLE)

    def totals(self) -> dict[str, Total]:
        return {kind: Total(*sums) for kind, sums in sorted(self.sums.items())}
