"""Lesson 05: hit rates, replays of a recording, a redraw that breaks A2, the least drafting."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ssd_ref.exact_law import Decode, OutputLaw
from ssd_ref.models import TableModel
from ssd_ref.randomness import Randomness, Site
from ssd_ref.rounds import RoundRecord
from ssd_ref.speculative import speculative
from ssd_ref.testing.check import Exercise, register
from ssd_ref.testing.trials import gives, has_law

Records = Sequence[RoundRecord]


def round_(served_by: str, accepted: int = 0, rank: int | None = 0) -> RoundRecord:
    return RoundRecord(1, served_by, 2, accepted, 0, accepted + 1, rank)


FIRST, HIT, MISS = round_("first"), round_("cache"), round_("backup")


def numbered(*records: RoundRecord) -> list[RoundRecord]:
    """The records with their rounds counted: each first round begins another run."""
    counted: list[RoundRecord] = []
    for record in records:
        number = 1 if record.served_by == "first" or not counted else counted[-1].round + 1
        counted.append(replace(record, round=number))
    return counted


def share(records: Records, of: Callable[[RoundRecord], bool]) -> float | None:
    served = [r.served_by == "cache" for r in records if of(r)]
    return sum(served) / len(served) if served else None


def later(record: RoundRecord) -> bool:
    return record.served_by != "first"


def misses(records: Records) -> float | None:
    hits = share(records, later)
    return None if hits is None else 1 - hits


register(
    Exercise(
        "L05.1",
        (
            gives(None, numbered(FIRST)),
            gives(1.0, numbered(FIRST, HIT)),
            gives(0.0, numbered(FIRST, MISS)),
            gives(0.75, numbered(FIRST, HIT, MISS, HIT, HIT)),
            gives(0.5, numbered(FIRST, HIT, FIRST, MISS)),
        ),
        {
            "the first round is counted; it has no cache to be served from": lambda r: share(
                r, lambda _: True
            ),
            "you gave the share of misses": misses,
            "0 is given where there is no round to count: say None": lambda r: (
                share(r, later) or 0.0
            ),
            "only the very first record is left out; several runs have several firsts": lambda r: (
                share(r[1:], lambda _: True)
            ),
        },
        pointer="lesson 05, section 10",
    )
)


def replay(shift: int, over: int) -> Callable[[Records, list[int]], list[bool]]:
    """Slips: the round's own outcome instead of the one before; rank <= width."""

    def answer(records: Records, fan_out: list[int]) -> list[bool]:
        rounds = records[1:] if shift else records[:-1]
        return [r.rank is not None and r.rank < fan_out[r.accepted] + over for r in rounds]

    return answer


RECORDS = numbered(
    round_("first", 0, 0), round_("backup", 2, 1), round_("backup", 1, 2), round_("cache", 0, 1)
)
register(
    Exercise(
        "L05.2",
        (
            gives([True], RECORDS[:2], [1, 0, 0]),
            gives([False], RECORDS[:2], [0, 3, 3]),
            gives([False], RECORDS[1:3], [5, 5, 0]),
            gives([False, True], RECORDS[1:], [0, 3, 1]),
            gives([True, True, True], RECORDS, [1, 3, 2]),
            gives([True, False, False], RECORDS, [2, 2, 1]),
        ),
        {
            "the outcome of the same round is looked at; the cache answers the one before": replay(
                1, 0
            ),
            "ranks were counted from 1: the first guess has rank 0": replay(0, 1),
            "the whole list was counted; only its entry at this k is asked": lambda r, f: [
                x.rank < sum(f) for x in r[:-1]
            ],
            "the last verdict was answered, too: there is no round behind it": lambda r, f: [
                x.rank < f[x.accepted] for x in r
            ],
        },
        pointer="lesson 05, section 3, for what decides a hit",
    )
)

P = np.array([[0.7, 0.3], [0.3, 0.7]])
EXACT = {(a, b): float(P[0, a] * P[a, b]) for a in (0, 1) for b in (0, 1)}


def redrawing(answer: object) -> Decode:
    return lambda r: answer(0, 2, r)  # type: ignore[operator]


def never_redraws(prompt: int, n: int, randomness: Randomness) -> list[int]:
    target, draft = TableModel(P), TableModel([[0.8, 0.2], [0.2, 0.8]])
    return speculative(
        target, draft, [prompt], max_new_tokens=n, lookahead=1, randomness=randomness
    ).tokens


def draws_the_draft(prompt: int, n: int, randomness: Randomness) -> list[int]:
    rows, last, text = np.array([[0.8, 0.2], [0.2, 0.8]]), prompt, []
    for i in range(n):
        last = randomness.choose(rows[last], Site(0, 1, "bonus", i))
        text.append(last)
    return text


# By hand: a second round follows only (1, rejected); its draft 0 (.2) is redrawn: .04.
REDRAWN: OutputLaw = {(0, 0): 0.49, (0, 1): 0.21, (1, 0): 0.076, (1, 1): 0.224}
register(
    Exercise(
        "L05.3",
        (
            has_law(
                "the law of two tokens after the prompt 0", redrawing, REDRAWN, marginalise=False
            ),
        ),
        {
            "nothing is redrawn: this decoder is exact, and the task is to break it": never_redraws,
            "nothing is verified: this is the draft's own law": draws_the_draft,
        },
        pointer="lesson 05, section 7",
    )
)
register(
    Exercise(
        "L05.4",
        (
            gives(0.2, 1.0, 1.2),
            gives(0.5, 1.0, 1.5),
            gives(5 / 19, 0.8, 1.2),
            gives(5 / 13, 0.6, 1.2),
            gives(None, 0.2, 1.5),
            gives(None, 0.5, 2.0),
        ),
        {
            "the hit rate was ignored: only a hit hides the drafting": lambda h, gain: gain - 1,
            "a time was given where none is enough: at some hit rates SSD never gains so much": (
                lambda h, gain: (gain - 1) / (1 - gain * (1 - h))
            ),
            "hit rate and miss rate are exchanged": lambda h, gain: (
                (gain - 1) / (1 - gain * h) if gain * h != 1 else None
            ),
            "the drafting of a miss is forgotten: it takes 1 + T there": lambda h, gain: (
                (gain - 1) / h
            ),
        },
        pointer="lesson 05, section 9",
    )
)
