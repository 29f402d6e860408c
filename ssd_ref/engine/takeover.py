"""What the verifier does when the speculator fails: it drafts itself, or does without.

Is the text's law still the target's? A speculation that was lost was never seen, and its acceptance
coins are untouched (A1). But *whether* it was lost may depend on what was in it: a longer one takes
longer, and runs into the time limit more often. To put another in the place of those that are lost
is then to choose among speculations by their content, which is not exact.

- `fallback="draft"`: the lost speculation is drafted again, the very same. Hit or miss is a
  function of the outcome and the draft's rows, and every draw one of its address, so that this
  process gets the same guess set, the same server and the same tokens. Nothing depends on the loss:
  tokens and rounds are those of a run without one.
- `fallback="ar"`: the rest of the text goes without drafts. That has the target's law if the loss
  does not depend on what the lost round had drafted (a killed process, a broken cable).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from ssd_ref.engine.events import Span
from ssd_ref.engine.job import Job
from ssd_ref.engine.link import Fault
from ssd_ref.engine.speculator import SteppedSpeculator, speculator_of
from ssd_ref.engine.verifier import Partner
from ssd_ref.models import Model
from ssd_ref.rounds import Outcome, Speculation
from ssd_ref.transcript import Transcript

FALLBACKS = ("draft", "ar")
T = TypeVar("T")


class Guarded:
    """The speculator, until it fails; from then on whoever `replace` brings.

    `replace(fault, speculation, outcome)` is told the last speculation that came, and its outcome.
    """

    def __init__(self, speculator: Partner, replace: Replace) -> None:
        self.speculator, self.replace = speculator, replace
        self.speculation: Speculation | None = None
        self.outcome: Outcome | None = None

    @property
    def log(self) -> Sequence[Span]:
        """What the speculator did, if it saw the text to its end."""
        return self.speculator.log

    def open(self) -> None:
        self.guarded(lambda: self.speculator.open())

    def send(self, outcome: Outcome) -> None:
        self.outcome = outcome
        self.guarded(lambda: self.speculator.send(outcome))

    def receive(self) -> tuple[int | None, Speculation | None]:
        answer = self.guarded(lambda: self.speculator.receive()) or self.speculator.receive()
        self.speculation = answer[1]
        return answer

    def guarded(self, call: Callable[[], T]) -> T | None:
        """What `call` returns; None where it fails, and somebody else has taken over."""
        try:
            return call()
        except Fault as fault:
            self.speculator = self.replace(fault, self.speculation, self.outcome)
            return None


Replace = Callable[[Fault, Speculation | None, Outcome | None], Partner]


class NoDraft:
    """Empty speculations: each round is a step of AR."""

    log: Sequence[Span] = ()

    def __init__(self, transcript: Transcript, vocabulary: int) -> None:
        self.transcript = transcript
        self.empty = Speculation((), np.empty((0, vocabulary)), (), "target")

    def open(self) -> None:
        pass

    def send(self, outcome: Outcome) -> None:
        pass

    def receive(self) -> tuple[int | None, Speculation | None]:
        return None, None if self.transcript.finish_reason else self.empty


class OwnDraft:
    """The speculator in the verifier's process: it fills its cache when the outcome is known.

    So the cache has one entry at most, and a round costs what SD's does, and the glue forward.
    """

    log: Sequence[Span] = ()

    def __init__(self, speculator: SteppedSpeculator, outcome: Outcome | None) -> None:
        self.speculator, self.outcome = speculator, outcome
        speculator.early = lambda: self.outcome

    def open(self) -> None:
        pass

    def send(self, outcome: Outcome) -> None:
        self.outcome = outcome

    def receive(self) -> tuple[int | None, Speculation | None]:
        if self.outcome is None:
            return None, self.speculator.first()
        self.speculator.prepare()
        rank, ended = self.speculator.rank(self.outcome), self.speculator.ends(self.outcome)
        return rank, None if ended else self.speculator.answer(self.outcome)


def own_draft(
    job: Job, draft: Model, transcript: Transcript,
    speculation: Speculation | None, outcome: Outcome | None,
) -> OwnDraft:  # fmt: skip
    """One that continues where the speculator failed, after `outcome` of `speculation`."""
    if speculation is None:
        return OwnDraft(speculator_of(job, draft), None)
    written = transcript.tokens[: -transcript.rounds[-1].emitted]  # when that was drafted
    speculator = speculator_of(job, draft, (*transcript.prompt, *written))
    speculator.resume(transcript.round - 1, speculation)
    return OwnDraft(speculator, outcome)
