"""Where the time of a two-process run went, and when its rounds ended: read from its spans."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from ssd_ref.engine.engine import Spans
from ssd_ref.engine.events import Span
from ssd_ref.rounds import Generation
from ssd_ref.study.timing import Timed


class Causes(NamedTuple):
    """Seconds from the first verification's begin to the last one's end, by what they went into.

    Between two verifications the verifier waits, for a reason: misses (the backup's steps),
    overflow (steps of glue and tree that were not done when the outcome was sent), or else
    handshake (messages, waking up, looking up). If every round were a hit, prepared in time and
    handed over in no time, only `verifying` would be left.
    """

    verifying: float
    misses: float
    overflow: float
    handshake: float

    @property
    def total(self) -> float:
        return sum(self)


def causes(spans: Spans) -> Causes:
    """What the verifier's time went into."""
    verifications = [span for span in spans.verifier if span.kind == "verify"]
    misses = overflow = gaps = 0.0
    for before, after in pairwise(verifications):
        gap = (before.end, after.begin)
        misses += inside(gap, (s for s in spans.speculator if s.kind == "backup"))
        overflow += inside(gap, (s for s in spans.speculator if s.kind in ("glue", "tree")))
        gaps += gap[1] - gap[0]
    verifying = sum(span.end - span.begin for span in verifications)
    return Causes(verifying, misses, overflow, gaps - misses - overflow)


def inside(gap: tuple[float, float], spans: Iterable[Span]) -> float:
    """Seconds of the gap in which the spans, which do not overlap, were busy."""
    return sum(max(0.0, min(s.end, gap[1]) - max(s.begin, gap[0])) for s in spans)


def timed(text: Generation, spans: Spans) -> Timed:
    """The run as the other methods' runs are timed: from the end of the prefills on."""
    begin = max(span.end for span in (*spans.verifier, *spans.speculator) if span.kind == "prefill")
    verifications = [span for span in spans.verifier if span.kind == "verify"]
    ends = tuple(span.end - begin for span in verifications)
    verifying = sum(span.end - span.begin for span in verifications)
    emitted = tuple(record.emitted for record in text.rounds)
    return Timed(tuple(text.tokens), ends, emitted, outside=ends[-1] - verifying)
