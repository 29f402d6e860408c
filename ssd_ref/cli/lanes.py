"""A measured run as the simulator's intervals, so that both are drawn by the same code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sim.recorder import Interval
from ssd_ref.engine.engine import Spans
from ssd_ref.engine.events import Span

WORK = ("prefill", "verify", "draft", "glue", "tree", "backup")  # named alike in the simulator
MARKS = {"verify": "V", "draft": "d", "backup": "d", "glue": "p", "tree": "p"}
LEGEND = "V verifying   d drafting, the target waits   p preparing the cache   . waiting"


def begin_of(spans: Spans) -> float:
    """The end of the prefills."""
    both = (*spans.verifier, *spans.speculator)
    return max(span.end for span in both if span.kind == "prefill")


def first_rounds(spans: Spans, rounds: int) -> Spans:
    """What was done until the end of so many verifications."""
    ends = [span.end for span in spans.verifier if span.kind == "verify"]
    end = ends[min(rounds, len(ends)) - 1]
    return Spans(*([span for span in part if span.begin < end] for part in spans))


def intervals(spans: Spans, begin: float) -> list[Interval]:
    """Lanes "target", "draft" and "link"; nanoseconds from `begin` on, nothing before it.

    A speculation is on the link from its sending until the verifier has it; of an outcome, whose
    reader may be busy, only the sending shows.
    """
    found = [*work("target", spans.verifier), *work("draft", spans.speculator), *link(spans)]
    return [
        Interval(lane, span.kind, nanoseconds(span.begin - begin), nanoseconds(span.end - begin),
                 span.rows)
        for lane, span in found
        if span.begin >= begin
    ]  # fmt: skip


def work(lane: str, spans: Sequence[Span]) -> Iterator[tuple[str, Span]]:
    return ((lane, span) for span in spans if span.kind in WORK)


def link(spans: Spans) -> Iterator[tuple[str, Span]]:
    """The messages."""
    sent = [span for span in spans.speculator if span.kind == "send"]
    received = [span for span in spans.verifier if span.kind == "wait"]
    for one, other in zip(sent, received, strict=False):
        yield "link", Span("speculation", one.begin, max(one.end, other.end))
    for span in spans.verifier:
        if span.kind == "send":
            yield "link", Span("outcome", span.begin, span.end)


def nanoseconds(seconds: float) -> int:
    return round(1e9 * seconds)


def time_line(spans: Spans, rounds: int, width: int) -> list[str]:
    """The first rounds to scale, in lines of `width` characters."""
    log = intervals(first_rounds(spans, rounds), begin_of(spans))
    end = max((x.end_ns for x in log if x.kind == "verify"), default=0)
    cells = max(20, width - 8)
    lanes = {"target": ["."] * cells, "draft": ["."] * cells}
    for x in log:
        if x.lane in lanes and x.kind in MARKS:
            left, right = (min(cells, round(ns * cells / end)) for ns in (x.begin_ns, x.end_ns))
            lanes[x.lane][left:right] = MARKS[x.kind] * (right - left)
    scale = "0" + f"{end / 1e6:.1f} ms".rjust(cells - 1)
    return [f"{name:8}{''.join(row)}" for name, row in lanes.items()] + [f"{'':8}{scale}"]
