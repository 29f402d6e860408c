"""The speculator's side of Algorithm 1: the actor of the core, who now looks up from its work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ssd_ref.engine.events import Recorder
from ssd_ref.engine.job import Job
from ssd_ref.engine.link import Link
from ssd_ref.engine.messages import Outcomes
from ssd_ref.models import Model, Row
from ssd_ref.rounds import Outcome, Speculation
from ssd_ref.ssd import Entry, Speculator


def draft_text(speculator: SteppedSpeculator, verifier: VerifierLine) -> int | None:
    """Algorithm 1, right-hand side, until the text ends; the rank of the last outcome's bonus."""
    rank, speculation = None, speculator.first()
    while True:
        verifier.send(rank, speculation)
        speculator.prepare()  # meanwhile the target verifies
        outcome = verifier.receive()
        rank = speculator.rank(outcome)
        if speculator.ends(outcome):
            return rank
        speculation = speculator.answer(outcome)


def nothing_yet() -> Outcome | None:
    return None


@dataclass(eq=False)
class SteppedSpeculator(Speculator):
    """A speculator that asks between tree steps whether the outcome is there (`early`).

    An outcome that is among the guesses when it comes needs one entry only, and any other needs
    none: the rest of the filling is given up. The guesses were fixed before, and an entry that
    serves is always complete. So whether a round is a hit, and what it is served, do not depend on
    when the outcome came: neither do tokens and rounds.
    """

    early: Callable[[], Outcome | None] = nothing_yet
    recorder: Recorder = field(default_factory=Recorder)

    def __post_init__(self) -> None:
        with self.recorder.span("prefill", len(self.prompt) - 1):
            super().__post_init__()

    def prepare(self) -> None:
        with self.recorder.span("glue", len(self.speculation) + 1):
            self.logits = self.glue()
            self.guesses = self.guess()
            entries = self.open_entries()
        while growing := [e for e in self.wanted(entries) if e.grows(self.limits.end_token)]:
            with self.recorder.span("tree", len(growing)):
                self.tree_step(growing)
        self.cache = {entry.outcome: entry for entry in self.wanted(entries)}

    def resume(self, round: int, speculation: Speculation) -> None:
        """Go on as the one who has just sent `speculation`, for `round`."""
        missed = speculation.served_by == "backup"
        self.widths = (self.fan_out_miss if missed else None) or self.fan_out
        self.round, self.speculation = round, speculation

    def wanted(self, entries: list[Entry]) -> list[Entry]:
        """All entries; but once the outcome is known, its own, or none if it was not guessed."""
        outcome = self.early()
        return [entry for entry in entries if outcome in (None, entry.outcome)]

    def ends(self, outcome: Outcome) -> bool:
        """Whether the text ends with this outcome of the speculation being verified."""
        emitted = [*self.speculation.tokens[: outcome.accepted], outcome.bonus]
        return self.limits.cut(len(self.text), emitted)[1] is not None

    def speculate(self, row_after: Callable[[list[int]], Row], served_by: str) -> Speculation:
        self.step = "backup" if served_by == "backup" else "draft"
        return super().speculate(row_after, served_by)

    def draft_row(self, tokens: list[int]) -> Row:
        with self.recorder.span(self.step, 1):
            return super().draft_row(tokens)


class VerifierLine:
    """The verifier as the speculator sees it: messages. Both number the rounds alike.

    An outcome is expected from the moment its speculation is sent, so that it can be seen early.
    """

    def __init__(self, link: Link, job: Job, vocabulary: int, recorder: Recorder) -> None:
        self.link, self.vocabulary, self.recorder = link, vocabulary, recorder
        self.answers, self.outcomes = job.answers(vocabulary), Outcomes()
        self.round, self.drafted = 0, 0

    def send(self, rank: int | None, speculation: Speculation) -> None:
        with self.recorder.span("send"):
            self.round, self.drafted = self.round + 1, len(speculation)
            self.answers.write(self.round, rank, speculation)
            self.link.send(self.answers.buffer)
            self.link.expect(self.outcomes.buffer)

    def early(self) -> Outcome | None:
        """The outcome, if it is there."""
        return self.read() if self.link.arrived() else None

    def receive(self) -> Outcome:
        with self.recorder.span("wait"):
            self.link.wait()
        return self.read()

    def read(self) -> Outcome:
        return self.outcomes.read(self.round, self.drafted, self.vocabulary)

    def send_other(self, kind: int, rank: int | None = None) -> None:
        """That the text has ended, or that there was an error; an object follows."""
        self.answers.write_other(kind, self.round + 1, rank)
        self.link.send(self.answers.buffer)


def speculator_of(
    job: Job, draft: Model, text: Sequence[int] | None = None, **more: Any
) -> SteppedSpeculator:
    """The job's speculator; `text`: what has been decoded already, prompt included."""
    return SteppedSpeculator(
        draft, job.prompt if text is None else text, job.limits, job.lookahead, job.law,
        job.randomness, job.fan_out, job.fan_out_miss, job.saguaro_c, job.backup, **more,
    )  # fmt: skip
