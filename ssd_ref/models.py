"""What a model is to the decoders: something that turns a context into next-token logits.

A *session* is a model reading one text. It is extended by tokens and gives one row of logits for
each: the row at index i says what may follow after `tokens[: i + 1]`. It can be rewound to a
shorter length (rollback), and branched: continuations that share the text read so far.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

Row = NDArray[np.float64]  # (V,): logits or a law over the vocabulary; its name says which
Rows = NDArray[np.float64]  # (n, V)


class Branches(Protocol):
    """Continuations of one session, each from its own length; they last until the session moves
    or is branched again."""

    def extend(self, which: Sequence[int], tokens: Sequence[int]) -> Rows:
        """Feed `tokens[j]` to branch `which[j]`, others rest; the logits (len(which), V) after."""
        ...


class Session(Protocol):
    """A model reading one text."""

    @property
    def length(self) -> int:
        """How many tokens have been read."""
        ...

    def extend(self, tokens: Sequence[int]) -> Rows:
        """Read `tokens`; the logits (len(tokens), V), float64, of what follows each of them.

        Every call returns an array of its own.
        """
        ...

    def rewind(self, length: int) -> None:
        """Forget every token from position `length` on."""
        ...

    def branch(self, lengths: Sequence[int]) -> Branches:
        """One continuation for each entry of `lengths`, after that many tokens of this text."""
        ...


class Model(Protocol):
    """Target or draft. Tokens are integers in [0, vocabulary)."""

    @property
    def vocabulary(self) -> int: ...

    @property
    def context_limit(self) -> int | None:
        """The longest text it can read, in tokens; None: no limit."""
        ...

    @property
    def start_token(self) -> int:
        """What an empty prompt is read as."""
        ...

    def start(self, tokens: Sequence[int]) -> Session:
        """A session that has read `tokens` (the prefill)."""
        ...


class ContextModel(ABC):
    """A model given by a plain function of the context; the slow, obvious form of the interface."""

    start_token = 0

    def __init__(self, vocabulary: int, context_limit: int | None = None) -> None:
        if context_limit is not None:
            check_count("context_limit", context_limit)
        self.vocabulary, self.context_limit = vocabulary, context_limit

    @abstractmethod
    def logits_after(self, context: Sequence[int]) -> Row:
        """Logits (V,) of the token that follows `context`."""

    def start(self, tokens: Sequence[int]) -> ContextSession:
        check_tokens(tokens, self.vocabulary)
        check_room(0, len(tokens), self.context_limit)
        return ContextSession(self, list(tokens))


class ContextSession:
    """Session and branch of a :class:`ContextModel`: no more than the list of tokens read."""

    def __init__(self, model: ContextModel, tokens: list[int]) -> None:
        self.model, self.tokens = model, tokens

    @property
    def length(self) -> int:
        return len(self.tokens)

    def extend(self, tokens: Sequence[int]) -> Rows:
        check_tokens(tokens, self.model.vocabulary)
        check_room(self.length, len(tokens), self.model.context_limit)
        rows = [self.read(token) for token in tokens]
        return np.array(rows, dtype=np.float64).reshape(len(rows), self.model.vocabulary)

    def read(self, token: int) -> Row:
        self.tokens.append(int(token))
        return self.model.logits_after(self.tokens)

    def rewind(self, length: int) -> None:
        check_rewind(length, self.length)
        del self.tokens[length:]

    def branch(self, lengths: Sequence[int]) -> ContextBranches:
        for length in lengths:
            check_rewind(length, self.length)
        sessions = [ContextSession(self.model, self.tokens[:n]) for n in lengths]
        return ContextBranches(self.model, sessions)


class ContextBranches:
    """One copied session a branch."""

    def __init__(self, model: ContextModel, sessions: list[ContextSession]) -> None:
        self.model, self.sessions = model, sessions

    def extend(self, which: Sequence[int], tokens: Sequence[int]) -> Rows:
        check_tokens(tokens, self.model.vocabulary)
        sessions = [self.sessions[b] for b in which]
        check_room(max((s.length for s in sessions), default=-1), 1, self.model.context_limit)
        rows = [session.read(t) for session, t in zip(sessions, tokens, strict=True)]
        return np.array(rows, dtype=np.float64).reshape(len(rows), self.model.vocabulary)


class TableModel(ContextModel):
    """The law of the next token given the last m tokens, as a table of shape (V,)*m + (V,).

    Shorter contexts are left-padded with token 0; m may be 0. Logits are log p, so that temperature
    T gives rows proportional to p^(1/T). Raises ValueError unless every row is a law.
    """

    def __init__(self, table: ArrayLike, context_limit: int | None = None) -> None:
        table = np.array(table, dtype=np.float64)
        if len(set(table.shape)) != 1 or table.size == 0:
            raise ValueError(
                f"TableModel: expected a table of shape (V,)*m + (V,), got {table.shape}"
            )
        worst = np.abs(table.sum(-1) - 1).max()
        if not (table.min() >= 0 and worst <= 1e-9):
            raise ValueError(
                "TableModel: every row must be a law (no negative entry, sum 1 within 1e-9); "
                f"got least entry {table.min():g}, and a row whose sum is off by {worst:g}"
            )
        super().__init__(table.shape[-1], context_limit)
        self.table, self.order = table, table.ndim - 1
        with np.errstate(divide="ignore"):
            self.logits = np.log(table)

    def logits_after(self, context: Sequence[int]) -> Row:
        last = tuple(context[max(0, len(context) - self.order) :]) if self.order else ()
        row: Row = self.logits[(0,) * (self.order - len(last)) + last]
        return row


def read(session: Session, tokens: Sequence[int], vocabulary: int) -> Rows:
    """`session.extend(tokens)`, which must give one row over the vocabulary for each token."""
    logits, expected = session.extend(tokens), (len(tokens), vocabulary)
    if np.shape(logits) != expected:
        raise ValueError(f"model: expected logits of shape {expected}, got {np.shape(logits)}")
    return logits


def check_tokens(tokens: Sequence[int], vocabulary: int, what: str = "tokens") -> None:
    for index, token in enumerate(tokens):
        if not (is_integer(token) and 0 <= token < vocabulary):
            raise ValueError(
                f"{what}[{index}]: expected an integer in [0, {vocabulary}), got {token!r}"
            )


def check_count(name: str, value: int, least: int = 0) -> None:
    if not (is_integer(value) and value >= least):
        raise ValueError(f"{name}: expected an integer >= {least}, got {value!r}")


def is_real(value: object) -> bool:
    return isinstance(value, float | np.floating) or is_integer(value)


def is_integer(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def check_room(length: int, new: int, context_limit: int | None) -> None:
    if context_limit is not None and length + new > context_limit:
        raise ValueError(
            f"context limit {context_limit}: {length} tokens read, no room for {new} more"
        )


def check_rewind(length: int, current: int) -> None:
    if not 0 <= length <= current:
        raise ValueError(f"rewind: expected a length in [0, {current}], got {length}")
