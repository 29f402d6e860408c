"""Lock-step decoding of a batch: all rows draft, all rows are verified, all rows are answered.

A round ends for all rows at once. So a row without a speculation - its outcome was not in its
cache, or it has just joined - makes the others wait until it has one (Sec. 4.3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from ssd_ref.batched.actors import StepSpeculator
from ssd_ref.batched.report import BatchRound, Decoded, Memory
from ssd_ref.batched.requests import Request, Settings, check_backup
from ssd_ref.batched.roster import OnRound, Roster, Row
from ssd_ref.models import Model
from ssd_ref.randomness import Randomness
from ssd_ref.rounds import Outcome


class LockStep(Roster):
    """A batch of texts, decoded a round at a time by `step`, while it is `busy`."""

    under_way = False  # a step has begun and has not ended

    def step(self) -> None:
        """One round of the batch.

        After an error that it raises the batch cannot go on: some texts have been told their
        outcome, others have not. Another step, or one from within a callback, is a RuntimeError.
        """
        if self.under_way:
            raise RuntimeError("step: the one before has not ended; it raised, or is under way")
        self.under_way = True
        self.come_and_go()
        waited = self.draft_in_time()
        prepared = self.prepare()
        outcomes = self.verify()
        if outcomes:
            served_by = tuple(row.transcript.rounds[-1].served_by for row in outcomes)
            sequences = tuple(row.sequence for row in outcomes)
            self.rounds.append(BatchRound(self.round, sequences, served_by, waited, prepared))
            self.round += 1
        self.answer(outcomes)
        self.under_way = False

    def draft_in_time(self) -> int:
        """Draft where there is no speculation, while the others wait; how many forwards."""
        before = self.draft.forwards
        while drafting := [row for row in self.rows if row.drafter.drafts()]:
            self.together(self.draft, {row: row.drafter.draft_step for row in drafting})
        for row in self.rows:
            row.drafter.settle()
        return self.draft.forwards - before

    def prepare(self) -> int:
        """Fill the caches of all rows (SSD); how many forwards."""
        before = self.draft.forwards
        self.together(self.draft, {row: s.open_cache for row, s in self.speculators()})
        while growing := {
            row: partial(s.tree_step, entries)
            for row, s in self.speculators()
            if (entries := s.growing())
        }:
            self.together(self.draft, growing)
        for _, speculator in self.speculators():
            speculator.close_cache()
        return self.draft.forwards - before

    def verify(self) -> dict[Row, Outcome]:
        """One target forward for all."""
        ahead = (self.settings.lookahead or 0) + 1
        reserved = sum(row.verifier.session.length + ahead for row in self.rows)
        self.reserved = max(self.reserved, reserved)
        return self.together(
            self.target,
            {row: partial(row.verifier.verify, row.drafter.speculation) for row in self.rows},
        )

    def answer(self, outcomes: Mapping[Row, Outcome]) -> None:
        """Tell the rows their outcomes: after a hit there is a speculation, after a miss none."""
        for row, outcome in outcomes.items():
            row.transcript.close_round(row.drafter.rank(outcome))
            if row.transcript.finish_reason:
                self.texts[row.sequence] = row.transcript.generation()
                self.leave(row)
        self.choose_backup()
        answers = {row: partial(row.drafter.answer, outcomes[row]) for row in self.rows}
        self.together(self.draft, answers)

    def choose_backup(self) -> None:
        """Thm 17: who drafts after a miss may depend on how many would wait."""
        if self.settings.backup_for is not None and self.rows:
            backup = self.settings.backup_for(len(self.rows))
            check_backup(backup)
            for _, speculator in self.speculators():
                speculator.backup = backup

    def speculators(self) -> Iterator[tuple[Row, StepSpeculator]]:
        for row in self.rows:
            if isinstance(row.drafter, StepSpeculator):
                yield row, row.drafter

    def decoded(self) -> Decoded:
        """What has come of it so far."""
        target, draft = (Memory(m.peak_bytes, m.peak_positions) for m in (self.target, self.draft))
        return Decoded(self.texts, self.errors, self.rounds, target, draft, self.reserved)


def decode(
    target: Model,
    draft: Model | None,
    requests: Sequence[Request],
    *,
    randomness: Callable[[int], Randomness],
    joins: Mapping[int, Sequence[Request]] | None = None,
    cancels: Mapping[int, Sequence[int]] | None = None,
    on_round: OnRound | None = None,
    **settings: Any,
) -> Decoded:
    """Decode a batch of texts in lock-step; each as it would be alone, from its own draws.

    randomness: the source of a sequence number's draws, such as
    `lambda sequence: SeededRandomness(0, sequence)`. joins, cancels: requests, and sequence
    numbers, by the round before which they come and go; time without any text is passed over.
    settings: see :class:`Settings`. Raises
    ValueError on arguments out of range, before anything is decoded. What is wrong with one text
    later on ends that text alone: see :class:`Decoded`.
    """
    batch = LockStep(target, draft, Settings(**settings), randomness, on_round)
    for request in requests:
        batch.join(request)
    for round, later in (joins or {}).items():
        for request in later:
            batch.join(request, round)
    for round, sequences in (cancels or {}).items():
        for sequence in sequences:
            batch.cancel(sequence, round)
    while batch.busy:
        batch.step()
    return batch.decoded()
