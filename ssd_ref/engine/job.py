"""A text to decode, as the speculator is told: everything that its tokens depend on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ssd_ref.engine.messages import Answers
from ssd_ref.laws import Law
from ssd_ref.randomness import SeededRandomness
from ssd_ref.transcript import Limits


@dataclass(frozen=True)
class Job:
    """Arguments of the speculator; they cross the link as JSON, once for each text.

    abort: whether an outcome that comes before the cache is full ends the filling.
    """

    prompt: tuple[int, ...]
    limits: Limits
    lookahead: int
    law: Law  # the draft's
    fan_out: tuple[int, ...]
    fan_out_miss: tuple[int, ...] | None
    saguaro_c: float
    backup: str
    seed: int
    sequence: int
    abort: bool = False

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Job:
        given = dict(data)
        given |= {"limits": Limits(**given["limits"]), "law": Law(**given["law"])}
        return cls(**given)

    @property
    def randomness(self) -> SeededRandomness:
        """Equal in both processes: what is drawn depends on the address alone."""
        return SeededRandomness(self.seed, self.sequence)

    def answers(self, vocabulary: int) -> Answers:
        """The buffer of the speculator's messages. A greedy draft's rows are not sent."""
        rows = self.law.temperature > 0
        return Answers(self.lookahead, vocabulary, rows, uniform_backup=self.backup == "uniform")
