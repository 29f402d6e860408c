"""Recorded rounds as a workload: JSON lines as `ssd-ref --rounds` writes them, one round a line.

Lines with the one key `header` hold the decoders' settings; several recordings may follow each
other in one file. A line may say its `method`: SSD's rounds are used where there are any (they have
the rank at k = K too), else SD's, and AR's are passed over.

One recording answers every fan-out list: a record holds the rank of the bonus token among the
draft's guesses, and the outcome is a hit where that rank is below the fan-out at its k. Exact for a
fixed lookahead and temperature, with the draft as backup and C = 1, where the cache decides the
clock and not the text. Other settings are refused where a header shows them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from sim.checks import need_choice, read_text
from sim.clock import Limit
from sim.intervals import Rate, relative_half_width
from sim.laws import Acceptance, check_fan_out
from sim.report import Report
from sim.rounds import Round
from sim.scenario import Scenario

FEWEST_TEXTS = 6  # for an interval
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


class Recording(NamedTuple):
    """texts: each from its round 1. settings: the first header's, empty without one."""

    texts: Texts
    settings: dict[str, Any]


def read_rounds(path: Path | str) -> Texts:
    """The texts of a recording. Raises ValueError with the line's number."""
    return read_recording(path).texts


def read_recording(path: Path | str) -> Recording:
    """Texts and settings of a recording. Raises ValueError with the line's number."""
    texts: dict[str, Texts] = {"ssd": [], "sd": [], "ar": []}
    settings: dict[str, Any] = {}
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        try:
            data = json.loads(line)
            if isinstance(data, dict) and "header" in data:
                settings = settings_of(data["header"], settings)
            else:
                add(checked(data), texts[method_of(data)])
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from error
    chosen = texts["ssd"] or texts["sd"]
    if not chosen:
        raise ValueError(f"{path}: expected at least one round of SSD or SD, got none")
    return Recording(chosen, settings)


def method_of(data: dict[str, Any]) -> str:
    method: str = data.get("method", "ssd")
    need_choice("method", method, ("ar", "sd", "ssd"))
    return method


def add(record: Record, texts: Texts) -> None:
    """To the last text, or as the first of another one."""
    last = texts[-1][-1].round if texts else 0
    if record.round not in (1, last + 1) or (not texts and record.round != 1):
        expected = f"round 1 or {last + 1}" if texts else "round 1"
        raise ValueError(f"expected {expected}, got {record.round}")
    if record.round == 1:
        texts.append([])
    texts[-1].append(record)


REPLAYABLE = {"saguaro_c": 1, "backup": "draft"}
SAME = ("lookahead", "temperature", *REPLAYABLE)  # in every header of a file


def settings_of(header: Any, before: dict[str, Any]) -> dict[str, Any]:
    """The settings of a header, if its rounds can be replayed, and together with those `before`."""
    settings = header.get("settings", {}) if isinstance(header, dict) else None
    if not isinstance(settings, dict):
        raise ValueError(f"header: expected an object with settings, got {header!r}")
    for name, value in REPLAYABLE.items():
        if settings.get(name, value) != value:
            raise ValueError(
                f"{name}: expected {value!r} (with others the text depends on the cache), "
                f"got {settings[name]!r}"
            )
    for name in SAME:
        if before and settings.get(name) != before.get(name):
            raise ValueError(
                f"{name}: expected {before.get(name)!r} as in the first header, "
                f"got {settings.get(name)!r}"
            )
    return before or settings


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
    def sums(self) -> list[tuple[float, float]]:
        """Tokens and milliseconds of each text, prefill left out."""
        return [
            (r.tokens, r.makespan_ms - r.causes_ms.get("prefill", 0.0)) for r in self.reports
        ]  # fmt: skip

    @property
    def tokens_per_s(self) -> Rate:
        """Over all texts, cold starts included; the interval from how much the texts differ."""
        value = 1e3 * self.tokens / sum(ms for _, ms in self.sums)
        rounds = sum(report.rounds for report in self.reports)
        if len(self.reports) < FEWEST_TEXTS:
            return Rate(value, None, rounds)
        return Rate(value, value * relative_half_width(self.sums), rounds)

    def over(self, other: Replayed) -> Rate:
        """How many times as many tokens/s; text by text, so that what they share cancels."""
        value = self.tokens_per_s.value / other.tokens_per_s.value
        if len(self.reports) < FEWEST_TEXTS:
            return Rate(value, None, self.tokens_per_s.rounds)
        half = value * relative_half_width(self.sums, other.sums)
        return Rate(value, half, self.tokens_per_s.rounds)

    @property
    def chances(self) -> int:
        """Rounds that could be hits: all but each text's first."""
        return sum(report.rounds - 1 for report in self.reports)

    @property
    def hit_rate(self) -> Rate | None:
        """None where nothing is prepared."""
        shares = [(r.hit_rate or 0) * (r.rounds - 1) for r in self.reports]
        if not self.chances or all(report.hit_rate is None for report in self.reports):
            return None
        value = sum(shares) / self.chances
        if len(shares) < FEWEST_TEXTS or not value:
            return Rate(value, None, self.chances)
        sums = [(hits, r.rounds - 1.0) for hits, r in zip(shares, self.reports, strict=True)]
        return Rate(value, value * relative_half_width(sums), self.chances)


def replay(scenario: Scenario, method: str, texts: Texts) -> Replayed:
    """Run a method through recorded rounds; AR emits the recorded number of tokens one by one."""
    check_replayable(scenario)
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


def check_replayable(scenario: Scenario) -> None:
    """A recording is one text at a time, with the draft as backup."""
    if scenario.batch != 1:
        raise ValueError(f"batch: expected 1 (recorded texts are replayed one by one), got "
                         f"{scenario.batch}")  # fmt: skip
    if scenario.backup != "draft" or scenario.is_fast(1):
        fast = "'instant'" if scenario.backup != "draft" else "fast_from = 1"
        raise ValueError(f"backup: expected 'draft' (who drafted the recorded rounds), got {fast}")


def acceptance_of(texts: Iterable[Sequence[Record]], lookahead: int | None = None) -> Acceptance:
    """Hazards of acceptance by position, from whole rounds: accepted over tested.

    lookahead: how far the law shall reach; None: as far as it was recorded. A smaller one needs no
    assumption: hazards do not know what was drafted behind them. For positions never recorded the
    hazard is *assumed* to be that of the later half of the recorded ones, taken together.
    Raises ValueError if no draft was tested.
    """
    records = [record for text in texts for record in text if record.whole]
    tested, passed = list[int](), list[int]()
    for i in range(max((record.drafted for record in records), default=0)):
        reached = [r for r in records if r.drafted > i and r.accepted >= i]
        if not reached:
            break
        tested.append(len(reached))
        passed.append(sum(r.accepted > i for r in reached))
    if not tested:
        raise ValueError("rounds: expected at least one tested draft, got none")
    hazards = [p / t for p, t in zip(passed, tested, strict=True)]
    later = len(hazards) // 2
    beyond = sum(passed[later:]) / sum(tested[later:])
    reach = len(hazards) if lookahead is None else lookahead
    return Acceptance((*hazards, *[beyond] * (reach - len(hazards)))[:reach])
