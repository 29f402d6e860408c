"""Who is in the batch: texts join and leave between its rounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from ssd_ref.batched.actors import NoDrafter, StepDrafter, StepSpeculator
from ssd_ref.batched.ragged import batched
from ssd_ref.batched.reading import BatchedModel, attempt
from ssd_ref.batched.report import BatchRound
from ssd_ref.batched.requests import Request, Settings
from ssd_ref.laws import Law
from ssd_ref.models import Model, check_count
from ssd_ref.randomness import Randomness
from ssd_ref.rounds import Generation, RoundRecord
from ssd_ref.transcript import Transcript, open_transcript
from ssd_ref.verification import Verifier

T = TypeVar("T")
OnRound = Callable[[int, list[int], RoundRecord], None]  # sequence, tokens emitted, record


@dataclass(eq=False)
class Row:
    """A text in the batch, and its two actors."""

    sequence: int
    transcript: Transcript
    verifier: Verifier
    drafter: NoDrafter | StepDrafter


@dataclass
class Arrival:
    """A request whose text has not joined yet."""

    round: int  # it joins before this one
    request: Request
    transcript: Transcript


class Roster:
    """The texts of a batch: those to come, those in it, and what became of the others.

    `randomness(sequence)` is the source of a text's draws. on_round: called with the sequence
    number of a text, the tokens that a round emitted, and the round's record.
    """

    def __init__(
        self,
        target: Model,
        draft: Model | None,
        settings: Settings,
        randomness: Callable[[int], Randomness],
        on_round: OnRound | None = None,
    ) -> None:
        settings.check_models(target, draft)
        self.settings, self.randomness, self.on_round = settings, randomness, on_round
        self.target, self.draft = batched(target), batched(draft or target)  # AR asks no draft
        self.round = 1  # number of the round in progress, or to come
        self.arrivals: dict[int, Arrival] = {}
        self.cancels: dict[int, int] = {}  # sequence -> before which round
        self.rows: list[Row] = []
        self.texts, self.errors = dict[int, Generation](), dict[int, Exception]()
        self.rounds: list[BatchRound] = []
        self.reserved = 0  # most positions of the target's caches that a verification might take

    @property
    def busy(self) -> bool:
        return bool(self.rows or self.arrivals)

    def knows(self, sequence: int) -> bool:
        there = any(row.sequence == sequence for row in self.rows)
        return there or any(sequence in d for d in (self.arrivals, self.texts, self.errors))

    def join(self, request: Request, round: int = 1) -> None:
        """Take a text in before a round, at the earliest the next; the request is checked now."""
        sequence = request.sequence
        if self.knows(sequence):
            raise ValueError(f"sequence: expected numbers that differ, got {sequence} twice")
        check_count("round", round, least=1)
        source = self.randomness(sequence).sequence
        if source != sequence:
            raise ValueError(f"randomness({sequence}): expected its sequence, got that of {source}")
        self.settings.draft_law(request.temperature)
        on_round = None if self.on_round is None else partial(self.on_round, sequence)
        transcript = open_transcript(
            self.target, request.prompt, request.max_new_tokens, self.settings.eos, on_round
        )
        self.arrivals[sequence] = Arrival(round, request, transcript)

    def cancel(self, sequence: int, round: int = 1) -> None:
        """End a text before a round, at the earliest the next, unless it has ended by then."""
        if not self.knows(sequence):
            raise ValueError(f"cancel: no text has the sequence number {sequence}")
        check_count("round", round, least=1)
        self.cancels[sequence] = min(round, self.cancels.get(sequence, round))

    def come_and_go(self) -> None:
        """Before a round: who is cancelled leaves, and who is due joins."""
        if not self.rows and self.arrivals:  # time goes on to the next who comes
            self.round = max(self.round, min(a.round for a in self.arrivals.values()))
        for sequence in [s for s, round in self.cancels.items() if round <= self.round]:
            del self.cancels[sequence]
            self.end_early(sequence)
        for sequence in [s for s, arrival in self.arrivals.items() if arrival.round <= self.round]:
            self.admit(sequence, self.arrivals.pop(sequence))

    def end_early(self, sequence: int) -> None:
        """Keep what there is of a text that has not ended, as one that was cancelled."""
        transcript = None
        if sequence in self.arrivals:
            transcript = self.arrivals.pop(sequence).transcript
        for row in [row for row in self.rows if row.sequence == sequence]:
            transcript = row.transcript
            self.leave(row)
        if transcript is not None:
            transcript.finish_reason = "cancelled"
            self.texts[sequence] = transcript.generation()

    def admit(self, sequence: int, arrival: Arrival) -> None:
        """Give a text its row, if there is anything to decode."""
        if arrival.transcript.finish_reason:
            self.texts[sequence] = arrival.transcript.generation()
            return
        seats = self.target.seats.copy(), self.draft.seats.copy()
        rows, errors = attempt({sequence: partial(self.row, arrival)}, (Exception,))
        if errors:  # it may have got the one seat and not the other
            self.target.seats, self.draft.seats = seats
        self.rows += rows.values()
        self.errors |= errors

    def row(self, arrival: Arrival) -> Row:
        """A row with the core's actors; their models read its prompt with the next forward."""
        request, transcript, settings = arrival.request, arrival.transcript, self.settings
        source = self.randomness(request.sequence)
        verifier = Verifier(self.target, transcript, settings.law(request.temperature), source)
        drafter = self.drafter(transcript, settings.draft_law(request.temperature), source)
        drafter.first()
        return Row(request.sequence, transcript, verifier, drafter)

    def drafter(
        self, transcript: Transcript, law: Law, source: Randomness
    ) -> NoDrafter | StepDrafter:
        settings = self.settings
        if settings.lookahead is None:
            return NoDrafter(self.target.vocabulary)
        limits, lookahead = transcript.limits, settings.lookahead
        common = (self.draft, transcript.prompt, limits, lookahead, law, source)
        if settings.fan_out is None:
            return StepDrafter(*common)
        return StepSpeculator(
            *common, settings.fan_out, settings.fan_out_miss, settings.saguaro_c,
            settings.backup, settings.predict,
        )  # fmt: skip

    def leave(self, row: Row) -> None:
        self.rows.remove(row)
        self.target.leave(row.verifier.session)
        if isinstance(row.drafter, StepDrafter):
            self.draft.leave(row.drafter.session)

    def together(self, model: BatchedModel, actions: Mapping[Row, Callable[[], T]]) -> dict[Row, T]:
        """One action a row, with one forward; rows that fail leave the batch with their error."""
        done, failed = model.together(actions)
        for row, error in failed.items():
            self.errors[row.sequence] = error
            self.leave(row)
        return done
