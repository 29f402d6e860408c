"""SSD's two actors in two processes, behind one call."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from types import TracebackType
from typing import NamedTuple

from ssd_ref.engine.events import Recorder, Span
from ssd_ref.engine.job import Job
from ssd_ref.engine.link import Fault, Link
from ssd_ref.engine.place import on_processor, two_cores
from ssd_ref.engine.source import Source
from ssd_ref.engine.takeover import FALLBACKS, Guarded, NoDraft, own_draft
from ssd_ref.engine.verifier import Partner, SpeculatorLine, verify_text
from ssd_ref.engine.worker import COMMAND, STOP_SECONDS, Peer, Worker
from ssd_ref.laws import Law
from ssd_ref.models import Model, is_real
from ssd_ref.randomness import SeededRandomness
from ssd_ref.rounds import Generation, Outcome, Speculation
from ssd_ref.speculative import law_of_draft
from ssd_ref.ssd import BACKUPS, ssd
from ssd_ref.transcript import OnRound, Transcript, open_transcript
from ssd_ref.verification import Verifier

TIMEOUT = 30.0  # seconds without an answer after which the speculator counts as lost


class Spans(NamedTuple):
    """What both processes did for one text; the speculator's list is empty if it was lost."""

    verifier: Sequence[Span]
    speculator: Sequence[Span]


class Engine:
    """A target in this process and its draft in another one, which is started once.

        with Engine(target, draft) as engine:
            engine.decode(prompt, ...)

    draft: where both processes find the draft. fallback: what the verifier does in the rest of a
    text whose speculator fails: "draft" (drafts itself, the same tokens) or "ar" (does without).
    One RuntimeWarning says so; the next text gets a new speculator. timeout: seconds that an answer
    may take. pin: keep each process on a core of its own where the platform allows. link: to a
    speculator that runs already (`ssd_ref.engine.group`) and is not replaced if it fails. The
    target computes on as many threads as the caller has set: one, if the draft is to have a core.
    """

    def __init__(
        self, target: Model, draft: Source, *, fallback: str = "draft", timeout: float = TIMEOUT,
        pin: bool = True, command: Sequence[str] = COMMAND, link: Link | None = None,
    ) -> None:  # fmt: skip
        if fallback not in FALLBACKS:
            raise ValueError(f"fallback: expected one of {FALLBACKS}, got {fallback!r}")
        if not (is_real(timeout) and timeout > 0):
            raise ValueError(f"timeout: expected seconds above 0, got {timeout!r}")
        self.target, self.source, self.fallback = target, draft, fallback
        self.timeout, self.command = timeout, command
        self.cores = (two_cores() if pin else None) or (None, None)
        self.link, self.greeted = link, False
        self.worker: Worker | Peer | None = None
        self.spans = Spans([], [])  # of the last text

    def __enter__(self) -> Engine:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.stop()

    def start(self) -> Worker | Peer:
        """The speculator, started if there is none. Raises Fault, or ValueError for its draft."""
        if self.worker is None:
            worker = self.new_speculator()
            if worker.vocabulary != self.target.vocabulary:
                worker.stop()
                raise ValueError(
                    "target and draft must have the same vocabulary: "
                    f"got {self.target.vocabulary} and {worker.vocabulary} tokens"
                )
            self.worker = worker
        return self.worker

    def new_speculator(self) -> Worker | Peer:
        """A process of our own; or the one at the other end of the link, which comes only once."""
        if self.link is None:
            return Worker.start(self.source, self.cores[1], self.command)
        if self.greeted:
            raise Fault("speculator: failed in an earlier text")
        peer, self.greeted = Peer(self.link), True
        peer.greet()
        return peer

    def stop(self, patience: float = STOP_SECONDS) -> str:
        """End the speculator, by force after `patience` seconds; the last line of its errors."""
        worker, self.worker = self.worker, None
        return "" if worker is None else worker.stop(patience)

    @property
    def processes(self) -> list[int]:
        """Process numbers of the speculator, if it is our own."""
        return [self.worker.process.pid] if isinstance(self.worker, Worker) else []

    def decode(
        self,
        prompt: Sequence[int],
        *,
        max_new_tokens: int, lookahead: int,
        fan_out: Sequence[int], fan_out_miss: Sequence[int] | None = None,
        saguaro_c: float = 1.0, backup: str = "draft",
        temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None,
        draft_temperature: float | None = None,
        draft_top_k: int | None = None, draft_top_p: float | None = None,
        eos: int | None = None, randomness: SeededRandomness, abort: bool = False,
        on_round: OnRound | None = None,
    ) -> Generation:  # fmt: skip
        """What `ssd_ref.ssd` decodes for the same arguments, in less time.

        abort: an outcome that comes before the cache is full ends the filling; otherwise it is
        finished first. Only time depends on it. The backup is named, for a function does not cross
        to another process. `on_round` is called when the next round's speculation is there. Raises
        what `ssd` raises.
        """
        if backup not in BACKUPS:
            raise ValueError(f"backup: expected one of {BACKUPS}, got {backup!r}")
        if not isinstance(randomness, SeededRandomness):
            raise ValueError(f"randomness: expected SeededRandomness, got {randomness!r}")
        ssd(  # for no tokens: its checks of the arguments, and nothing else
            self.target, self.target, prompt, max_new_tokens=0, lookahead=lookahead,
            fan_out=fan_out, fan_out_miss=fan_out_miss, saguaro_c=saguaro_c,
            temperature=temperature, top_k=top_k, top_p=top_p, draft_temperature=draft_temperature,
            draft_top_k=draft_top_k, draft_top_p=draft_top_p, eos=eos, randomness=randomness,
        )  # fmt: skip
        law = Law(temperature, top_k, top_p)
        transcript = open_transcript(self.target, prompt, max_new_tokens, eos, on_round)
        job = Job(
            transcript.prompt, transcript.limits, lookahead,
            law_of_draft(law, draft_temperature, draft_top_k, draft_top_p),
            tuple(fan_out), None if fan_out_miss is None else tuple(fan_out_miss),
            saguaro_c, backup, randomness.seed, randomness.sequence, abort,
        )  # fmt: skip
        if not transcript.finish_reason:
            self.run(job, transcript, law)
        return transcript.generation()

    def run(self, job: Job, transcript: Transcript, law: Law) -> None:
        """Decode to the end of the text. Whatever breaks it off also ends the speculator."""
        recorder = Recorder()
        try:
            with on_processor(self.cores[0]):
                speculator = self.open(job, transcript, recorder)
                with recorder.span("prefill", len(transcript.prompt) - 1):
                    verifier = Verifier(self.target, transcript, law, job.randomness)
                verify_text(verifier, speculator, recorder)
        except BaseException:
            self.stop()
            raise
        self.spans = Spans(recorder.spans, speculator.log)

    def open(self, job: Job, transcript: Transcript, recorder: Recorder) -> Guarded:
        """Tell the speculator what to decode; one that cannot be had is a fault like others."""
        replace = partial(self.take_over, job, transcript)
        try:
            worker = self.start()
        except Fault as fault:
            return Guarded(replace(fault, None, None), replace)
        line = SpeculatorLine(
            worker.link, worker.vocabulary, job, transcript, self.timeout, recorder
        )
        speculator = Guarded(line, replace)
        speculator.open()
        return speculator

    def take_over(
        self, job: Job, transcript: Transcript,
        fault: Fault, speculation: Speculation | None, outcome: Outcome | None,
    ) -> Partner:  # fmt: skip
        """End a speculator that has failed, say so, and bring who drafts instead of it."""
        ended = self.stop(patience=0.1)
        why = f"{fault} ({ended})" if ended else f"{fault}"
        rest = "drafts of this process" if self.fallback == "draft" else "AR"
        warnings.warn(
            f"{why}; the text goes on with {rest} from round {transcript.round}",
            RuntimeWarning,
            stacklevel=2,
        )
        if self.fallback == "ar":
            return NoDraft(transcript, self.target.vocabulary)
        return own_draft(job, self.source.load(), transcript, speculation, outcome)
