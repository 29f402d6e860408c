"""Scripts: workloads and costs whose every number is given, for tests of whole logs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sim.rounds import Kernel, Round


@dataclass
class ScriptedRounds:
    """Rounds with given hits (whether the outcome of round t is among the guesses), K drafted."""

    hits: Sequence[bool]
    drafted: int = 4
    accepted: Sequence[int] | None = None
    number: int = 0

    def next(self, fell_back: bool = False) -> Round:
        missed = self.number > 0 and (fell_back or not self.hits[self.number - 1])
        accepted = 0 if self.accepted is None else self.accepted[self.number]
        self.number += 1
        hit = self.hits[self.number - 1]
        return Round(self.number, self.drafted, accepted, accepted + 1, int(not hit), int(missed))


@dataclass
class ScriptedCosts:
    """Times of each round, in lists by round; a plain number stands for every round."""

    verify: Sequence[int] | int = 10
    fill: Sequence[Sequence[int]] | Sequence[int] = (2, 2, 2, 2)
    draft: Sequence[int] | int = 8  # SD's drafting, SSD's cold start and backup
    served: Sequence[int] | int = 0
    hand: Sequence[int] | int = 0
    there: Sequence[int] | int = 0  # the speculation's way
    back: Sequence[int] | int = 0  # the outcome's way
    prefill: tuple[int, int] = (0, 0)
    rows: dict[str, int] = field(default_factory=dict)

    def at(self, name: str, round: Round) -> int:
        times = getattr(self, name)
        return times if isinstance(times, int) else times[round.number - 1]

    def kernel(self, kind: str, name: str, round: Round) -> Kernel:
        return Kernel(kind, self.at(name, round), self.rows.get(kind, 0))

    def target_prefill(self, draft_too: bool) -> Kernel:
        return Kernel("prefill", self.prefill[0] + draft_too * self.prefill[1])

    def draft_prefill(self) -> Kernel:
        return Kernel("prefill", self.prefill[1])

    def ar_step(self, round: Round) -> Kernel:
        return self.kernel("verify", "verify", round)

    def verification(self, round: Round) -> Kernel:
        return self.kernel("verify", "verify", round)

    def drafting(self, round: Round) -> list[Kernel]:
        return [self.kernel("draft", "draft", round)]

    def cold_start(self, round: Round) -> list[Kernel]:
        return self.drafting(round)

    def backup(self, round: Round) -> list[Kernel]:
        return [self.kernel("backup", "draft", round)]

    def filling(self, round: Round) -> list[Kernel]:
        times = self.fill[round.number - 1] if self.per_round() else self.fill
        return [Kernel("tree", ns, self.rows.get("tree", 0)) for ns in times]

    def per_round(self) -> bool:
        return not all(isinstance(ns, int) for ns in self.fill)

    def service(self, round: Round) -> Kernel:
        return self.kernel("service", "served", round)

    def handshake(self, round: Round) -> Kernel:
        return self.kernel("handshake", "hand", round)

    def speculation_ns(self, round: Round) -> int:
        return self.at("there", round)

    def outcome_ns(self, round: Round) -> int:
        return self.at("back", round)
