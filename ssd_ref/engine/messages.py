"""The messages of Algorithm 1 as numbers in preallocated buffers, and as objects again.

    job       verifier -> speculator   what to decode, as JSON
    answer    speculator -> verifier   a speculation: tokens, and the rows they were drawn from
    outcome   verifier -> speculator   how many drafts were accepted, and the bonus token

With each answer comes the rank of the last outcome's bonus token among the guesses, which only the
speculator knows. KV caches never cross the link. Neither do rows where the draft is greedy: they
are one-hot at the token. What arrives is checked before it is believed.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ssd_ref.engine.link import Fault, Link
from ssd_ref.models import Row, Rows
from ssd_ref.randomness import Site
from ssd_ref.rounds import Outcome, Speculation

SPECULATION, CLOSING, ERROR = range(3)  # kinds of answers; objects follow the last two
SERVED_BY = ("first", "cache", "backup")
FIELDS = ("kind", "round", "served_by", "rank", "drafted")
NONE = -1  # as a rank
SUM_ERROR = 1e-9  # how far a row's sum may be from 1
LARGEST = 1 << 28  # bytes of an object


class Answer(NamedTuple):
    """speculation: None where the text has ended, or where an error follows. rank: of the last
    outcome's bonus token."""

    kind: int
    rank: int | None
    speculation: Speculation | None


class Answers:
    """The buffer of a text's answers: five integers, K tokens, and K rows unless `rows` is false.

    uniform_backup: rows that are not sent are 1/V where the backup drafted.
    """

    def __init__(
        self, lookahead: int, vocabulary: int, rows: bool, uniform_backup: bool = False
    ) -> None:
        head = len(FIELDS) + lookahead
        self.buffer = np.zeros(8 * (head + rows * lookahead * vocabulary), dtype=np.uint8)
        words = self.buffer.view(np.int64)
        self.fields, self.tokens = words[: len(FIELDS)], words[len(FIELDS) : head]
        self.rows = self.buffer.view(np.float64)[head:].reshape(-1, vocabulary) if rows else None
        self.vocabulary, self.uniform_backup = vocabulary, uniform_backup

    def write(self, round: int, rank: int | None, speculation: Speculation) -> None:
        """Put an answer for `round` into the buffer."""
        n, served_by = len(speculation), SERVED_BY.index(speculation.served_by)
        self.fields[:] = SPECULATION, round, served_by, NONE if rank is None else rank, n
        self.tokens[:n] = speculation.tokens
        if self.rows is not None:
            self.rows[:n] = speculation.rows

    def write_other(self, kind: int, round: int, rank: int | None = None) -> None:
        """An answer without a speculation: the text has ended, or there was an error."""
        self.fields[:] = kind, round, 0, NONE if rank is None else rank, 0

    def read(self, sequence: int, round: int, outcome: Outcome | None) -> Answer:
        """The answer in the buffer, which is to be for `round`, after `outcome`.

        Raises Fault unless it could be one.
        """
        kind, number, served_by, rank, n = self.fields.tolist()
        check("a kind of answer", kind, kind in (SPECULATION, CLOSING, ERROR))
        check(f"an answer for round {round}", number, number == round or kind == ERROR)
        check("a rank", rank, NONE <= rank < self.vocabulary)
        known = None if rank == NONE else rank
        if kind != SPECULATION:
            return Answer(kind, known, None)
        check("who served", served_by, served_by in range(len(SERVED_BY)))
        check(f"0 to {len(self.tokens)} tokens", n, 0 <= n <= len(self.tokens))
        tokens, server = tuple(self.tokens[:n].tolist()), SERVED_BY[served_by]
        check(f"tokens below {self.vocabulary}", tokens, self.are_tokens(tokens))
        rows = self.rows_of(tokens, server)
        check_rows(rows, tokens)
        branch = outcome if server == "cache" else None
        sites = tuple(Site(sequence, round, "draft", i, branch) for i in range(n))
        return Answer(kind, known, Speculation(tokens, rows, sites, server))

    def are_tokens(self, tokens: tuple[int, ...]) -> bool:
        return all(0 <= token < self.vocabulary for token in tokens)

    def rows_of(self, tokens: tuple[int, ...], served_by: str) -> Rows:
        """The rows that were sent, or what they must have been."""
        if self.rows is not None:
            return self.rows[: len(tokens)].copy()
        if self.uniform_backup and served_by == "backup":
            return np.full((len(tokens), self.vocabulary), 1 / self.vocabulary)
        rows = np.zeros((len(tokens), self.vocabulary))
        rows[np.arange(len(tokens)), tokens] = 1
        return rows


class Outcomes:
    """The buffer of a text's outcomes: round, accepted, bonus."""

    def __init__(self) -> None:
        self.buffer = np.zeros(8 * 3, dtype=np.uint8)
        self.fields = self.buffer.view(np.int64)

    def write(self, round: int, outcome: Outcome) -> None:
        self.fields[:] = round, *outcome

    def read(self, round: int, drafted: int, vocabulary: int) -> Outcome:
        """The outcome in the buffer; Fault unless it can be that of `round`, of so many drafts."""
        number, accepted, bonus = self.fields.tolist()
        check(f"an outcome of round {round}", number, number == round)
        check(f"0 to {drafted} accepted", accepted, 0 <= accepted <= drafted)
        check(f"a token below {vocabulary}", bonus, 0 <= bonus < vocabulary)
        return Outcome(accepted, bonus)


def check(what: str, got: object, good: bool) -> None:
    if not good:
        raise Fault(f"message: expected {what}, got {got}")


def check_rows(rows: Rows, tokens: tuple[int, ...]) -> None:
    """Every row must be a law from which its token can have been drawn."""
    sums: Row = rows.sum(axis=1)
    wrong = ~(np.abs(sums - 1) <= SUM_ERROR) | ~(rows >= 0).all(axis=1)
    check("rows that are laws", f"sums {sums.tolist()}", not wrong.any())
    drawn: NDArray[np.bool_] = rows[np.arange(len(tokens)), list(tokens)] > 0
    check("tokens drawn from their rows", tokens, bool(drawn.all()))


def send_object(link: Link, data: object) -> None:
    """Send what JSON can hold: its length, then its text."""
    text = np.frombuffer(json.dumps(data, default=np.generic.item).encode(), dtype=np.uint8)
    link.send(np.array([len(text)], dtype=np.int64).view(np.uint8))
    link.send(text)


def receive_object(link: Link, seconds: float | None = None) -> Any:
    """What `send_object` sent at the other end. Raises Fault, also for what is no JSON."""
    length = np.zeros(8, dtype=np.uint8)
    link.expect(length)
    link.wait(seconds)
    size = int(length.view(np.int64)[0])
    check(f"an object of 1 to {LARGEST} bytes", size, 0 < size <= LARGEST)
    text = np.empty(size, dtype=np.uint8)
    link.expect(text)
    link.wait(seconds)
    try:
        return json.loads(text.tobytes())
    except ValueError as error:
        raise Fault(f"message: expected JSON, got {text[:40].tobytes()!r}") from error
