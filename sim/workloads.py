"""Workloads drawn from laws: one stream of uniforms decides every round.

The uniforms of a round are addressed by round and row and do not depend on the method. So SD and
SSD with the draft as backup see the same outcomes, and a comparison has common random numbers.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from sim.checks import need_integer
from sim.laws import Context, Text, check_fan_out
from sim.rounds import Round

FIRST_BLOCK, BLOCK = 16, 4096  # rounds drawn at first, uniforms drawn at once later


@dataclass
class Drawn:
    """Rounds of `rows` sequences in lock-step, drawn from the laws of `text`.

    fan_out applies after a round that the cache served (or the first), fan_out_miss after one that
    the backup served; without fan_out nothing is prepared and the draft drafts every round (SD).
    Each row has its own context and outcome. One seed, one sequence of rounds. fast: the backup is
    an instant one beside the draft (`Context.fast`); it may change from round to round.
    """

    text: Text
    lookahead: int
    seed: int
    rows: int = 1
    fan_out: Sequence[int] | None = None
    fan_out_miss: Sequence[int] | None = None
    fast: bool = False

    def __post_init__(self) -> None:
        need_integer("lookahead", self.lookahead)
        need_integer("rows", self.rows, least=1)
        need_integer("seed", self.seed)
        lists = [self.fan_out, self.fan_out_miss or self.fan_out]
        for name, widths in zip(("fan_out", "fan_out_miss"), lists, strict=True):
            if widths is not None:
                check_fan_out(name, widths, self.lookahead)
        self.laws = [self.law(context, lists) for context in self.text.contexts]
        self.uniforms = uniforms(self.seed, self.rows)
        self.number = 0
        self.contexts = [0] * self.rows
        self.missed = [False] * self.rows

    def law(self, context: Context, lists: Sequence[Sequence[int] | None]) -> list[RoundLaw]:
        """Of a round that the cache served, the backup, and the instant backup."""
        laws = []
        for served_by, widths in enumerate((*lists, lists[-1])):
            backup = served_by > 0
            weights = context.drafted_by(backup, served_by == 2).weights(self.lookahead)
            hits = [1.0] * len(weights) if widths is None else context.hits.hits(widths, backup)
            laws.append(RoundLaw(list(accumulate(weights[:-1])), hits, context.stay))
        return laws

    def next(self, fell_back: bool = False) -> Round:
        self.number += 1
        accepted = misses = backups = by_backup = 0
        for row, (u_accept, u_hit, u_stay) in enumerate(next(self.uniforms)):
            backup = self.missed[row] or fell_back
            law = backup + (backup and self.fast)
            cumulative, hits, stay = self.laws[self.contexts[row]][law]
            k = bisect_right(cumulative, u_accept)
            miss = u_hit >= hits[k]
            if u_stay >= stay:
                self.contexts[row] = 1 - self.contexts[row]
            self.missed[row] = miss
            accepted, misses = accepted + k, misses + miss
            if backup:
                backups, by_backup = backups + 1, by_backup + k + 1
        return Round(
            self.number, self.lookahead, accepted, accepted + self.rows, misses, backups,
            self.rows, by_backup,
        )  # fmt: skip


@dataclass
class Shortened:
    """Texts of `length` tokens one after another, each shortened at its end as the decoders do.

    A round drafts at most what is left of its text, and its last tokens may be cut off. Only for
    one sequence, and for methods without a cache (which would be cold in each text): AR and SD.
    """

    rounds: Drawn
    length: int

    def __post_init__(self) -> None:
        need_integer("length", self.length, least=1)
        if self.rounds.rows != 1 or self.rounds.fan_out is not None:
            raise ValueError(
                "texts: expected one sequence without a cache, got "
                f"{self.rounds.rows} and fan_out {self.rounds.fan_out}"
            )
        self.left = self.length

    def next(self, fell_back: bool = False) -> Round:
        whole = self.rounds.next(fell_back)
        drafted = min(whole.drafted, self.left)
        accepted = min(whole.accepted, drafted)
        emitted = min(accepted + 1, self.left)
        self.left = self.left - emitted or self.length
        return whole._replace(drafted=drafted, accepted=accepted, emitted=emitted)


class RoundLaw(NamedTuple):
    cumulative: list[float]  # chance of at most k accepted, k = 0..K-1
    hits: list[float]  # chance of a hit at each k
    stay: float


def uniforms(seed: int, rows: int) -> Iterator[list[list[float]]]:
    """For each round and row three uniforms: acceptance, hit, change of context."""
    generator = np.random.Generator(np.random.Philox(seed))
    most = max(1, BLOCK // (3 * rows))
    size = min(FIRST_BLOCK, most)
    while True:
        yield from generator.random((size, rows, 3)).tolist()
        size = min(2 * size, most)
