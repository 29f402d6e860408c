"""The verifier's side of Algorithm 1: the actor of the core, and whom it talks to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ssd_ref.engine.events import Recorder, Span
from ssd_ref.engine.job import Job
from ssd_ref.engine.link import Link
from ssd_ref.engine.messages import (
    CLOSING,
    ERROR,
    Answer,
    Outcomes,
    check,
    receive_object,
    send_object,
)
from ssd_ref.laws import LogitsError
from ssd_ref.rounds import Outcome, Speculation
from ssd_ref.transcript import Transcript
from ssd_ref.verification import Verifier


class Partner(Protocol):
    """Who drafts for the verifier. log: what it did, once the text has ended."""

    @property
    def log(self) -> Sequence[Span]: ...

    def open(self) -> None:
        """Begin, in time to draft while the target reads the prompt."""
        ...

    def send(self, outcome: Outcome) -> None: ...

    def receive(self) -> tuple[int | None, Speculation | None]:
        """The rank of the last outcome's bonus token, and the speculation that follows it."""
        ...


def verify_text(verifier: Verifier, speculator: Partner, recorder: Recorder) -> None:
    """Algorithm 1, left-hand side, until the text ends."""
    transcript = verifier.transcript
    _, speculation = speculator.receive()
    while speculation is not None:
        with recorder.span("verify", len(speculation) + 1):
            outcome = verifier.verify(speculation)
        speculator.send(outcome)
        rank, speculation = speculator.receive()
        transcript.close_round(rank)


class SpeculatorLine:
    """The speculator as the verifier sees it: messages, checked. Raises Fault."""

    def __init__(
        self, link: Link, vocabulary: int, job: Job, transcript: Transcript, seconds: float,
        recorder: Recorder,
    ) -> None:  # fmt: skip
        self.link, self.job, self.transcript = link, job, transcript
        self.seconds, self.recorder = seconds, recorder
        self.answers, self.outcomes = job.answers(vocabulary), Outcomes()
        self.outcome: Outcome | None = None
        self.log: Sequence[Span] = ()  # the speculator's, once the text has ended

    def open(self) -> None:
        """Tell the speculator what to decode."""
        send_object(self.link, self.job.to_json())
        self.link.expect(self.answers.buffer)

    def send(self, outcome: Outcome) -> None:
        with self.recorder.span("send"):
            self.outcome = outcome
            self.outcomes.write(self.transcript.round - 1, outcome)
            self.link.expect(self.answers.buffer)
            self.link.send(self.outcomes.buffer)

    def receive(self) -> tuple[int | None, Speculation | None]:
        with self.recorder.span("wait"):
            self.link.wait(self.seconds)
        answer = self.answers.read(self.job.sequence, self.transcript.round, self.outcome)
        if answer.kind == ERROR:
            self.fail()
        self.check_end(answer)
        if answer.kind == CLOSING:
            self.log = [Span(*span) for span in receive_object(self.link, self.seconds)]
        return answer.rank, answer.speculation

    def fail(self) -> None:
        """Raise here what the draft raised there."""
        error = receive_object(self.link, self.seconds)
        raise (LogitsError if error["logits"] else ValueError)(error["message"])

    def check_end(self, answer: Answer) -> None:
        """Both sides must agree on whether the text has ended."""
        ended = self.transcript.finish_reason is not None
        what = "the text's end" if ended else "a speculation"
        check(what, answer.kind, (answer.kind == CLOSING) == ended)
