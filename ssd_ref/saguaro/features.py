"""What the draft knows of a round before its outcome: the numbers that a belief is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ssd_ref.fan_out import bonus_ranking
from ssd_ref.models import Row, check_count
from ssd_ref.rounds import Speculation

DIGITS = 4  # significant ones: a recording stays small, and a replay sees what the decoder saw


@dataclass(frozen=True)
class Position:
    """The draft's confidence in the drafted token d_{i+1}.

    raw: its probability under the softmax of the draft's logits; drawn: under the row it was drawn
    from (temperature, truncation, C; or a backup's row). margin: probability of the first choice
    less that of the second, softmax. raw and margin are 0 where the row is no law.
    """

    raw: float
    drawn: float
    margin: float


@dataclass(frozen=True)
class Features:
    """Draft-side numbers of one round of n drafted tokens, each to 4 significant digits.

    served_by: as in the round record. positions: n of them. guesses: n + 1 tuples (none if the text
    has outgrown the draft); [k][r] is the softmax probability of the r-th guess at "k accepted",
    without d_{k+1}, at most `width` of them, likeliest first; empty where the row is no law.
    """

    served_by: str
    positions: tuple[Position, ...]
    guesses: tuple[tuple[float, ...], ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "served_by": self.served_by,
            "positions": [list(asdict(p).values()) for p in self.positions],
            "guesses": [list(row) for row in self.guesses],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Features:
        return cls(
            data["served_by"],
            tuple(Position(*numbers) for numbers in data["positions"]),
            tuple(tuple(row) for row in data["guesses"]),
        )


def features(logits: Sequence[Row], speculation: Speculation, width: int) -> Features:
    """The features of a round, from the draft's raw rows after d_1..d_k and its speculation.

    logits: n + 1 rows (V,), or none. width: guesses that are kept at each k.
    """
    check_count("width", width, least=1)
    if len(logits) not in (0, len(speculation) + 1):
        expected = len(speculation) + 1
        raise ValueError(f"logits: expected {expected} rows (or none), got {len(logits)}")
    tokens, drawn = speculation.tokens, speculation.rows
    rows = [softmax(row) for row in logits]
    positions = tuple(
        position(p, token, float(q[token]))
        for p, token, q in zip(rows, tokens, drawn, strict=False)
    )
    guesses = []
    for k, (row, p) in enumerate(zip(logits, rows, strict=True)):
        order = bonus_ranking(row, tokens[k] if k < len(tokens) else None)[:width]
        guesses.append(tuple(rounded(x) for x in p[order].tolist()))
    return Features(speculation.served_by, positions, tuple(guesses))


def position(p: Row, token: int, drawn: float) -> Position:
    second, first = np.partition(p, -2)[-2:] if len(p) > 1 else (0.0, p[0])
    return Position(rounded(p[token]), rounded(drawn), rounded(first - second))


def softmax(logits: Row) -> Row:
    """The law of the logits at temperature 1; all 0 where they are no law."""
    top = logits.max()
    if not np.isfinite(top):
        return np.zeros(len(logits))
    p = np.exp(logits - top)
    law: Row = p / p.sum()
    return law


def rounded(x: float) -> float:
    return float(f"{x:.{DIGITS - 1}e}")
