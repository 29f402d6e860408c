"""How one forward serves many texts: every actor asks before any is answered.

The core's actors call a model wherever they need rows (`Verifier.verify`, `Speculator.glue`, ..).
Here each has a *seat*: a session that does not answer at once. An *action*, a call of one such
method, is started and stops at its read, by an exception (`Waiting`); when all have asked, one
forward reads for all of them, and each action is started again and finds its rows. So the core's
code runs as it stands.

It takes actions that read at most once, and before that do nothing that cannot be done twice. What
comes after the read happens once: draws, what is written, a caller's predictor. A second read, or
another one in the second run, is an error (`NotRepeatable`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from ssd_ref.laws import LogitsError
from ssd_ref.models import Branches, Model, Rows, Session

Key = TypeVar("Key", bound=Hashable)  # names a row
T = TypeVar("T")


class Waiting(Exception):
    """A seat was asked for rows that have not been read yet."""

    def __init__(self, seat: Seat) -> None:
        super().__init__(f"not read yet: {seat.asked}")
        self.seat = seat


class NotRepeatable(RuntimeError):
    """An action that cannot be run together with others: it does not read the same thing once."""


class Call(NamedTuple):
    """What a seat was asked to read: a method of its session or of its branches."""

    method: Callable[..., Rows]
    arguments: tuple[list[int], ...]


class Seat:
    """A text's session as its actor sees it (the core's `Session`).

    Its length grows when the actor is given its rows, not when the session reads.
    """

    def __init__(self, session: Session) -> None:
        self.session, self.length = session, session.length
        self.asked: Call | None = None
        self.rows: Rows | None = None

    def extend(self, tokens: Sequence[int]) -> Rows:
        rows = self.read(Call(self.session.extend, (list(tokens),)))
        self.length += len(tokens)
        return rows

    def rewind(self, length: int) -> None:
        if length == self.length:
            return  # as when an action is started again: its rows are behind this length
        if self.rows is not None:
            raise NotRepeatable(f"an action rewinds from {self.length} to {length} after its read")
        self.session.rewind(length)
        self.length = length

    def branch(self, lengths: Sequence[int]) -> SeatBranches:
        return SeatBranches(self, self.session.branch(lengths))

    def read(self, call: Call) -> Rows:
        """The rows, if they have been read; otherwise `Waiting`, which asks for them."""
        if self.rows is None:
            self.asked = call
            raise Waiting(self)
        if call != self.asked:
            raise NotRepeatable(f"an action asked for {self.asked} and, started again, for {call}")
        rows, self.rows = self.rows, None
        return rows

    def fetch(self) -> None:
        """Read what was asked for."""
        assert self.asked is not None
        self.rows = self.asked.method(*self.asked.arguments)


class SeatBranches:
    """The branches of a seat's session (the core's `Branches`)."""

    def __init__(self, seat: Seat, branches: Branches) -> None:
        self.seat, self.branches = seat, branches

    def extend(self, which: Sequence[int], tokens: Sequence[int]) -> Rows:
        return self.seat.read(Call(self.branches.extend, (list(which), list(tokens))))


class BatchedModel:
    """A model read by many texts (the core's `Model`); this one loops over them.

    forwards: how many there were. A prompt is read by the first forward after its `start`.
    """

    def __init__(self, model: Model) -> None:
        self.model, self.forwards = model, 0
        self.vocabulary, self.start_token = model.vocabulary, model.start_token
        self.context_limit = model.context_limit
        self.seats: list[Seat] = []
        self.peak_bytes = self.peak_positions = 0  # of the KV caches

    def start(self, tokens: Sequence[int]) -> Seat:
        self.seats.append(Seat(self.open(tokens)))
        return self.seats[-1]

    def leave(self, session: Session) -> None:
        """The seat of this session is free."""
        self.seats = [seat for seat in self.seats if seat is not session]

    def open(self, tokens: Sequence[int]) -> Session:
        return self.model.start(tokens)

    def forward(self) -> None:
        """Complete what sessions were asked to read since the last forward: here they did."""
        self.forwards += 1

    def memory(self) -> tuple[int, int]:
        """Bytes of the KV caches, and their positions in use; tables have none."""
        return 0, 0

    def note_memory(self) -> None:
        bytes, positions = self.memory()
        self.peak_bytes = max(self.peak_bytes, bytes)
        self.peak_positions = max(self.peak_positions, positions)

    def together(
        self, actions: Mapping[Key, Callable[[], T]]
    ) -> tuple[dict[Key, T], dict[Key, Exception]]:
        """Run one action a row, all their reads in one forward; the results, and who failed.

        A row fails alone if its logits are no law, or by any error of its session while it reads.
        Other errors are not its model's, and are raised; so is an error of the common forward.
        """
        done, failed = attempt(actions, (LogitsError, Waiting))
        asking = {row: e.seat for row, e in failed.items() if isinstance(e, Waiting)}
        if asking:
            fetched, lost = attempt({row: seat.fetch for row, seat in asking.items()}, (Exception,))
            if fetched:
                self.forward()
                self.note_memory()
            late, wrong = attempt({row: actions[row] for row in fetched}, (LogitsError, Waiting))
            if any(isinstance(error, Waiting) for error in wrong.values()):
                raise NotRepeatable("an action reads twice: it may read once")
            done |= late
            failed = {row: e for row, e in failed.items() if row not in asking} | lost | wrong
        return done, failed


def attempt(
    actions: Mapping[Key, Callable[[], T]], errors: tuple[type[Exception], ...]
) -> tuple[dict[Key, T], dict[Key, Exception]]:
    """Run each action; the results, and for those that raised one of `errors`, the error."""
    done, failed = dict[Key, T](), dict[Key, Exception]()
    for row, action in actions.items():
        try:
            done[row] = action()
        except errors as error:
            failed[row] = error
    return done, failed
