"""A meter around a model: when each of its forwards began and ended, and what it was for.

The decoders are not touched: a `Meter` is a model like any other, and hands every call on. What a
forward is for follows from the order of the calls. Reading the prompt is the prefill. The target's
other forwards are verifications (in AR, of an empty speculation). The draft's are draft steps; but
those on branches are tree steps, and the one just before a session branches is the glue forward.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from ssd_ref.models import Branches, Model, Rows, Session

PREFILL, VERIFICATION = "prefill", "verification"
DRAFT_STEP, GLUE, TREE_STEP = "draft step", "glue", "tree step"
KINDS = {"target": VERIFICATION, "draft": DRAFT_STEP}  # what extending a session is called

Clock = Callable[[], float]  # seconds, from any origin
T = TypeVar("T")


class Forward(NamedTuple):
    """One forward of one model. begin, end: seconds of the log's clock. tokens: how many it read,
    over all branches.
    """

    device: str  # "target" or "draft"
    kind: str
    begin: float
    end: float
    tokens: int


@dataclass
class Log:
    """What one decoding did, in order of time: both models' forwards, and the outcomes.

    outcomes: when each round's outcome was written; call `outcome` from the decoder's `on_round`.
    begin, end: of the decoding as a whole; set by `run`.
    """

    clock: Clock = time.perf_counter
    forwards: list[Forward] = field(default_factory=list)
    outcomes: list[float] = field(default_factory=list)
    begin: float = 0.0
    end: float = 0.0

    def run(self, decode: Callable[[], T]) -> T:
        """The result of `decode`, timed as a whole, even if it is interrupted."""
        self.begin = self.clock()
        try:
            return decode()
        finally:
            self.end = self.clock()

    def forward(self, device: str, kind: str, tokens: int, call: Callable[[], T]) -> T:
        """The result of `call`, logged as one forward."""
        begin = self.clock()
        result = call()
        self.forwards.append(Forward(device, kind, begin, self.clock(), tokens))
        return result

    def outcome(self) -> None:
        """A round's outcome is known now."""
        self.outcomes.append(self.clock())

    def branched(self) -> None:
        """A session branches: if the last forward was its draft's, that was the glue forward."""
        if self.forwards and self.forwards[-1].kind == DRAFT_STEP:
            self.forwards[-1] = self.forwards[-1]._replace(kind=GLUE)

    @property
    def seconds(self) -> float:
        """How long the decoding took."""
        return self.end - self.begin

    def count(self, device: str) -> int:
        """Forwards of one model, without the prefill; a tree step over all branches is one."""
        return sum(f.device == device and f.kind != PREFILL for f in self.forwards)

    def kinds(self) -> dict[str, dict[str, float]]:
        """For each device and kind, as "draft glue": forwards, tokens read, and seconds."""
        sums: dict[str, dict[str, float]] = {}
        for device, kind, begin, end, tokens in self.forwards:
            entry = sums.setdefault(f"{device} {kind}", {"forwards": 0, "tokens": 0, "seconds": 0})
            entry["forwards"] += 1
            entry["tokens"] += tokens
            entry["seconds"] += end - begin
        return sums


class Meter:
    """`model` with its forwards written to `log`, under the name `device`: "target" or "draft"."""

    def __init__(self, model: Model, device: str, log: Log) -> None:
        if device not in KINDS:
            raise ValueError(f"device: expected one of {tuple(KINDS)}, got {device!r}")
        self.model, self.device, self.log = model, device, log

    @property
    def vocabulary(self) -> int:
        return self.model.vocabulary

    @property
    def context_limit(self) -> int | None:
        return self.model.context_limit

    @property
    def start_token(self) -> int:
        return self.model.start_token

    def start(self, tokens: Sequence[int]) -> MeteredSession:
        if not tokens:  # nothing is read, no forward is made
            return MeteredSession(self, self.model.start(tokens))
        session = self.time(PREFILL, len(tokens), lambda: self.model.start(tokens))
        return MeteredSession(self, session)

    def time(self, kind: str, tokens: int, call: Callable[[], T]) -> T:
        return self.log.forward(self.device, kind, tokens, call)


class MeteredSession:
    """Session of a :class:`Meter`."""

    def __init__(self, meter: Meter, session: Session) -> None:
        self.meter, self.session = meter, session

    @property
    def length(self) -> int:
        return self.session.length

    def extend(self, tokens: Sequence[int]) -> Rows:
        kind = KINDS[self.meter.device]
        return self.meter.time(kind, len(tokens), lambda: self.session.extend(tokens))

    def rewind(self, length: int) -> None:
        self.session.rewind(length)

    def branch(self, lengths: Sequence[int]) -> MeteredBranches:
        self.meter.log.branched()
        return MeteredBranches(self.meter, self.session.branch(lengths))


class MeteredBranches:
    """Branches of a :class:`MeteredSession`."""

    def __init__(self, meter: Meter, branches: Branches) -> None:
        self.meter, self.branches = meter, branches

    def extend(self, which: Sequence[int], tokens: Sequence[int]) -> Rows:
        call = self.branches.extend
        return self.meter.time(TREE_STEP, len(tokens), lambda: call(which, tokens))
