"""Recorded rounds as a workload: JSON lines as `ssd-ref` writes them, one round a line.

One recording answers every fan-out list: a record holds the rank of the bonus token among the
draft's guesses, and the outcome is a hit where that rank is below the fan-out at its k. Exact for a
fixed lookahead and temperature, with the draft as backup and C = 1, where the cache decides the
clock and not the text; a record does not show these settings, so they are the caller's to keep.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from sim.clock import Limit
from sim.laws import Acceptance, check_fan_out
from sim.report import Report
from sim.rounds import Round
from sim.scenario import Scenario

FIELDS = ("round", "served_by", "drafted", "accepted", "bonus", "emitted", "rank")
SERVED_BY = ("target", "draft", "first", "cache", "backup")


class Record(NamedTuple):
    """One round as it shows in the text; `bonus` and `rank` are None where it was cut off."""

    round: int
    served_by: str
    drafted: int
    accepted: int
    bonus: int | None
    emitted: int
    rank: int | None

    @property
    def whole(self) -> bool:
        return self.bonus is not None


Texts = list[list[Record]]


def read_rounds(path: Path | str) -> Texts:
    """The texts of a recording, each from its round 1. Raises ValueError with the line's number."""
    texts: Texts = []
    for number, line in enumerate(Path(path).read_text().splitlines(), start=1):
        try:
            record = checked(json.loads(line))
            last = texts[-1][-1].round if texts else 0
            if record.round not in (1, last + 1) or (not texts and record.round != 1):
                expected = f"round 1 or {last + 1}" if texts else "round 1"
                raise ValueError(f"expected {expected}, got {record.round}")
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from error
        if record.round == 1:
            texts.append([])
        texts[-1].append(record)
    if not texts:
        raise ValueError(f"{path}: expected at least one round, got none")
    return texts


def checked(data: Any) -> Record:
    """A record from one line's content. Fields that are not ours are ignored."""
    if not isinstance(data, dict):
        raise ValueError(f"expected an object, got {data!r}")
    missing = [name for name in FIELDS if name not in data]
    if missing:
        raise ValueError(f"expected a field {missing[0]!r}, got {sorted(data)}")
    record = Record(**{name: data[name] for name in FIELDS})
    for name in ("round", "drafted", "accepted", "emitted", "bonus", "rank"):
        value = getattr(record, name)
        optional = name in ("bonus", "rank") and value is None
        if not optional and (type(value) is not int or value < (name == "round")):
            raise ValueError(f"{name}: expected a whole number, got {value!r}")
    if record.served_by not in SERVED_BY:
        raise ValueError(f"served_by: expected one of {SERVED_BY}, got {record.served_by!r}")
    if record.accepted > record.drafted:
        raise ValueError(
            f"accepted: expected at most {record.drafted} drafted, got {record.accepted}"
        )
    if record.emitted != record.accepted + record.whole:
        raise ValueError(
            f"emitted: expected {record.accepted + record.whole}, got {record.emitted}"
        )
    return record


@dataclass
class Replay:
    """The rounds of one recorded text, with hits under any fan-out lists."""

    text: Sequence[Record]
    fan_out: Sequence[int]
    fan_out_miss: Sequence[int]

    def __post_init__(self) -> None:
        lookahead = len(self.fan_out) - 1
        check_fan_out("fan_out_miss", self.fan_out_miss, lookahead)
        longest = max(record.drafted for record in self.text)
        if longest > lookahead:
            raise ValueError(
                f"fan_out: expected {longest + 1} entries for the recorded lookahead, "
                f"got {lookahead + 1}"
            )
        self.number = 0
        self.missed = False

    def next(self, fell_back: bool = False) -> Round:
        record = self.text[self.number]
        backup = self.number > 0 and (self.missed or fell_back)
        self.number += 1
        self.missed = not self.is_hit(record, self.fan_out_miss if backup else self.fan_out)
        tokens = record.emitted if backup else 0
        return Round(
            self.number, record.drafted, record.accepted, record.emitted,
            int(self.missed), int(backup), emitted_backup=tokens,
        )  # fmt: skip

    def is_hit(self, record: Record, widths: Sequence[int]) -> bool:
        """The all-accepted place of a shortened speculation uses the last entry of the list."""
        if not record.whole:
            return False
        if record.rank is None:
            raise ValueError(
                f"round {record.round}: expected a rank, got none (recorded from SD, which has no "
                "row after its last draft; record SSD)"
            )
        place = -1 if record.accepted == record.drafted else record.accepted
        return record.rank < widths[place]


@dataclass(frozen=True)
class Replayed:
    """Reports of all texts of a recording; each text is a run of its own, with its cold start."""

    reports: tuple[Report, ...]

    @property
    def tokens(self) -> int:
        return sum(report.tokens for report in self.reports)

    @property
    def makespan_ms(self) -> float:
        return sum(report.makespan_ms for report in self.reports)

    @property
    def tokens_per_s(self) -> float:
        """Over the whole makespans, prefill left out."""
        prefill = sum(report.causes_ms.get("prefill", 0.0) for report in self.reports)
        return 1e3 * self.tokens / (self.makespan_ms - prefill)


def replay(scenario: Scenario, method: str, texts: Texts) -> Replayed:
    """Run a method through recorded rounds; AR emits the recorded number of tokens one by one."""
    reports = []
    miss = scenario.fan_out_miss or scenario.fan_out
    for text in texts:
        if method == "ar":
            tokens = sum(record.emitted for record in text)
            reports.append(scenario.run("ar", Limit(tokens=tokens)))
        else:
            rounds = Replay(text, scenario.fan_out, miss)
            limit = Limit(rounds=len(text))
            reports.append(scenario.run(method, limit, workload=rounds))
    return Replayed(tuple(reports))


def acceptance_of(texts: Iterable[Sequence[Record]]) -> Acceptance:
    """Hazards of acceptance by position, from whole rounds: accepted over tested.

    A law fitted at one lookahead K predicts every smaller one, not larger ones.
    """
    records = [record for text in texts for record in text if record.whole]
    hazards = []
    for i in range(max((record.drafted for record in records), default=0)):
        tested = [record for record in records if record.drafted > i and record.accepted >= i]
        if not tested:
            break
        hazards.append(sum(record.accepted > i for record in tested) / len(tested))
    return Acceptance(tuple(hazards))
