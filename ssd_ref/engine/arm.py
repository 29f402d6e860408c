"""SSD in two processes as one of the methods that a bench runs in turns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from ssd_ref.engine.causes import Causes, causes, timed
from ssd_ref.engine.engine import Engine, Spans
from ssd_ref.rounds import RoundRecord
from ssd_ref.study.bench import Arm, Task
from ssd_ref.study.meter import Clock
from ssd_ref.study.timing import Timed


class Seen(NamedTuple):
    """What one run showed besides its time."""

    temperature: float
    causes: Causes
    rounds: list[RoundRecord]
    spans: Spans

    @property
    def hits(self) -> int:
        return sum(record.served_by == "cache" for record in self.rounds)


@dataclass(frozen=True)
class TwoProcesses(Arm):
    """An arm that decodes by an engine, whose own clock times it; `seen` keeps every run."""

    engine: Engine | None = None
    abort: bool = True
    seen: list[Seen] = field(default_factory=list)

    def run(self, task: Task, clock: Clock) -> Timed:
        assert self.engine is not None
        text = self.engine.decode(
            task.prompt,
            lookahead=self.lookahead, fan_out=self.fan_out, abort=self.abort, **task.options(),
        )  # fmt: skip
        spans = self.engine.spans
        self.seen.append(Seen(task.temperature, causes(spans), text.rounds, spans))
        return timed(text, spans)
