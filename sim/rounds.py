"""What passes between draft and target: a round, and the work that it costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from sim.checks import need_choice, need_flag


class Round(NamedTuple):
    """One round of a batch of `rows` sequences in lock-step (one sequence: rows = 1).

    It travels to the target as the speculation and back as the outcome. The outcome lies in it
    like a letter in an envelope: it is settled by the tokens, and nobody reads it before
    verification has ended.

    drafted: tokens drafted for each row. backups: rows whose speculation the backup had to draft.
    accepted, emitted: tokens over all rows; emitted has the bonus tokens too.
    emitted_backup: of these, the tokens of rows that the backup served.
    misses: rows whose outcome is not among the guesses that the cache is built for.
    """

    number: int
    drafted: int = 0
    accepted: int = 0
    emitted: int = 1
    misses: int = 0
    backups: int = 0
    rows: int = 1
    emitted_backup: int = 0


class Workload(Protocol):
    """Where the rounds come from: a law, a script or a recording."""

    def next(self, fell_back: bool = False) -> Round:
        """The next round. fell_back: the cache was not completed, all rows went to the backup."""
        ...


class Kernel(NamedTuple):
    """A piece of work that a device does without interruption, and the rows it computes."""

    kind: str
    ns: int
    rows: int = 0


class Costs(Protocol):
    """How long each piece of work takes. A method is asked once for each piece, in order."""

    def target_prefill(self, draft_too: bool) -> Kernel: ...
    def draft_prefill(self) -> Kernel: ...
    def ar_step(self, round: Round) -> Kernel: ...
    def verification(self, round: Round) -> Kernel: ...
    def drafting(self, round: Round) -> Sequence[Kernel]: ...  # SD
    def cold_start(self, round: Round) -> Sequence[Kernel]: ...  # SSD, round 1
    def filling(self, round: Round) -> Sequence[Kernel]: ...  # glue and tree steps
    def backup(self, round: Round) -> Sequence[Kernel]: ...
    def service(self, round: Round) -> Kernel: ...
    def handshake(self, round: Round) -> Kernel: ...
    def speculation_ns(self, round: Round) -> int: ...  # on the link
    def outcome_ns(self, round: Round) -> int: ...


ABORT, LATE_HIT = ("never", "step", "instant"), ("wait", "fallback")


@dataclass(frozen=True)
class Rules:
    """The choices of SSD that change a result.

    abort: when the draft may stop filling the cache after an outcome that the cache cannot answer.
    `never`: it reads the outcome only when the cache is full (the released loop). `step`: at the
    end of the kernel that is running. `instant`: at once (what the miss term of Thm 7 presumes).
    late_hit: an outcome that was guessed arrives before the cache is full. `wait` for it, or
    `fallback`: draft anew as after a miss. A cache that is full exactly then is ready.
    A backup after an aborted filling reads what a cut-off glue forward did not: no extra step.
    sending_occupies_draft: the draft cannot fill while its speculation is on the link.
    """

    abort: str = "never"
    late_hit: str = "wait"
    sending_occupies_draft: bool = False

    def __post_init__(self) -> None:
        need_choice("abort", self.abort, ABORT)
        need_choice("late_hit", self.late_hit, LATE_HIT)
        need_flag("sending_occupies_draft", self.sending_occupies_draft)
        if self.abort == "never" and self.late_hit == "fallback":
            raise ValueError(
                "late_hit: expected 'wait' with abort 'never' (a draft that reads the outcome "
                "only when the cache is full never sees a late hit), got 'fallback'"
            )
