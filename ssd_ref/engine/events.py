"""What each process did and when, on one clock.

`time.perf_counter` is the monotonic clock of the whole host on Linux and macOS, the same for every
process. Two hosts have two clocks: their spans must not be laid side by side.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple


class Span(NamedTuple):
    """Something a process did. begin, end: seconds of the host's clock. rows: tokens it computed.

    kind: in the verifier "prefill", "verify", "send", "wait"; in the speculator "prefill", "draft"
    (a step of round 1), "glue", "tree", "backup" (one of its steps), "send", "wait".
    """

    kind: str
    begin: float
    end: float
    rows: int = 0


@dataclass
class Recorder:
    """The spans of one process, in order."""

    spans: list[Span] = field(default_factory=list)

    @contextmanager
    def span(self, kind: str, rows: int = 0) -> Iterator[None]:
        """What happens inside is one span, unless it fails."""
        begin = time.perf_counter()
        yield
        self.spans.append(Span(kind, begin, time.perf_counter(), rows))
