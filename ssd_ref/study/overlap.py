"""What SSD's rounds would take if draft and target worked at the same time: computed, not measured.

One thread runs the two actors in turn, so its own clock shows no gain. But every moment of the run
belongs to one of them, and the moments can be laid on two lanes: the target's and the draft's.

    drafting      from one outcome to the next glue forward: round 1's speculation, the backup's
                  after a miss; after a hit hardly more than the look into the cache
    preparation   from the glue forward to the verification: the guesses and their entries
    verification  from there to the outcome, the acceptance test included

The rule: a round takes drafting + max(verification, preparation). So a hit costs the larger of the
two, and a miss costs the backup's drafting besides; filling the cache is not aborted, as in the
released loop (Sec. 3, Thm 7 presumes an abort). The last round ends with its verification. Messages
take no time, and the lanes do not slow each other down. The prefills are laid one after the other,
as SD has them: the difference is the rounds' alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ssd_ref.rounds import RoundRecord
from ssd_ref.study.meter import GLUE, PREFILL, VERIFICATION, Forward, Log


@dataclass(frozen=True)
class RoundTimes:
    """The measured parts of one round, in seconds; `served_by` as in its record."""

    round: int
    served_by: str
    drafting: float
    preparation: float
    verification: float


class Interval(NamedTuple):
    """Part of a lane: "target" or "draft", busy with `kind` in seconds [begin, end) of the plan."""

    round: int
    lane: str
    kind: str
    begin: float
    end: float


@dataclass(frozen=True)
class Overlap:
    """SSD's rounds on two lanes. prefill: seconds before the first round, both models'."""

    prefill: float
    rounds: tuple[RoundTimes, ...]

    @property
    def seconds(self) -> float:
        """The computed time of the whole decoding."""
        return self.prefill + sum(end - begin for begin, end in self.spans())

    def spans(self) -> Iterator[tuple[float, float]]:
        """Begin and end of each round, counted from the end of the prefill."""
        begin = 0.0
        for times in self.rounds:
            filling = times.preparation if times is not self.rounds[-1] else 0.0
            end = begin + times.drafting + max(times.verification, filling)
            yield begin, end
            begin = end

    def intervals(self) -> list[Interval]:
        """Every lane's work, round by round; times count from the end of the prefill."""
        plan = []
        for times, (begin, _) in zip(self.rounds, self.spans(), strict=True):
            sent = begin + times.drafting
            plan += [
                Interval(times.round, "draft", "drafting", begin, sent),
                Interval(times.round, "draft", "preparation", sent, sent + times.preparation),
                Interval(times.round, "target", "verification", sent, sent + times.verification),
            ]
        return plan


def overlap(log: Log, records: Sequence[RoundRecord]) -> Overlap:
    """The rounds of an SSD run, from the log of its two meters and its round records.

    Raises ValueError unless the log holds one verification and one outcome for each record.
    """
    verifications = [f for f in log.forwards if f.kind == VERIFICATION]
    if not len(verifications) == len(log.outcomes) == len(records):
        raise ValueError(
            f"expected a verification and an outcome for each of {len(records)} rounds, "
            f"got {len(verifications)} and {len(log.outcomes)}"
        )
    prefill = max((f.end for f in log.forwards if f.kind == PREFILL), default=log.begin)
    rounds, told = [], prefill
    for record, verification, outcome in zip(records, verifications, log.outcomes, strict=True):
        glue = glue_begin(log.forwards, told, verification.begin)
        rounds.append(
            RoundTimes(
                record.round,
                record.served_by,
                drafting=glue - told,
                preparation=verification.begin - glue,
                verification=outcome - verification.begin,
            )
        )
        told = outcome
    return Overlap(prefill - log.begin, tuple(rounds))


def glue_begin(forwards: Sequence[Forward], begin: float, end: float) -> float:
    """When preparation began between two moments; `end` where the text outgrew the draft."""
    return next((f.begin for f in forwards if f.kind == GLUE and begin <= f.begin < end), end)


MARKS = {"drafting": "d", "preparation": "p", "verification": "V"}
SERVED = {"first": "first", "cache": "hit", "backup": "miss"}  # where a round's speculation is from
LEGEND = "V verifying   d drafting, the target waits   p preparing the cache   . waiting"


def time_line(plan: Overlap, rounds: int = 5, width: int = 80) -> list[str]:
    """The first `rounds` rounds drawn to scale in lines of `width` characters, both lanes."""
    times, spans = plan.rounds[:rounds], list(plan.spans())[:rounds]
    if not spans:
        return ["no rounds"]
    cells, total = max(20, width - 8), spans[-1][1]
    scale = cells / total if total else 0.0
    lanes = {"target": ["."] * cells, "draft": ["."] * cells}
    for part in plan.intervals():
        begin, end = (min(cells, round(moment * scale)) for moment in (part.begin, part.end))
        if part.round <= times[-1].round:
            lanes[part.lane][begin:end] = MARKS[part.kind] * (end - begin)
    starts = [round(begin * scale) for begin, _ in spans]
    names = [f"|{t.round} {SERVED[t.served_by]}" for t in times]
    room = [after - at for at, after in zip(starts, [*starts[1:], cells], strict=True)]
    ruler = "".join(name[:n].ljust(n) for name, n in zip(names, room, strict=True))
    scale_bar = "0" + f"{total * 1e3:.1f} ms".rjust(cells - 1)
    rows = {"round": ruler, **{lane: "".join(row) for lane, row in lanes.items()}, "": scale_bar}
    return [f"{name:8}{row}".rstrip() for name, row in rows.items()]
