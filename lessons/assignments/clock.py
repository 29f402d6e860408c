"""A clock that interrupts an answer where it hangs, so that the feedback can name the case."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator, Sequence
from functools import partial
from types import FrameType
from typing import Any

from ssd_ref.testing.check import Trial, Wrong
from ssd_ref.testing.same import Words

WALL = 5  # seconds by the clock on the wall for each of computing: other work may share the core


class TimeIsUp(Exception):
    """Raised within the student's code."""


class Clock:
    """For all trials of one answer together: `seconds` of computing, or `by_the_wall` with sleeps.

    Computing time does not depend on what else the machine does. Without alarms (Windows) it never
    rings.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds, self.by_the_wall, self.rang = seconds, WALL * seconds, False

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        self.set(self.seconds, self.by_the_wall)
        try:
            yield
        finally:
            self.set(0, 0)

    def set(self, seconds: float, by_the_wall: float) -> None:
        if hasattr(signal, "setitimer"):
            signal.signal(signal.SIGPROF, partial(self.ring, self.seconds))
            signal.signal(signal.SIGALRM, partial(self.ring, self.by_the_wall))
            signal.setitimer(signal.ITIMER_PROF, seconds)
            signal.setitimer(signal.ITIMER_REAL, by_the_wall)

    def ring(self, seconds: float, number: int, frame: FrameType | None) -> None:
        self.rang = True
        raise TimeIsUp(f"it had not ended after {seconds:g} s")

    def over(self, trials: Sequence[Trial], answer: Any) -> tuple[Trial, ...]:
        """The trials, of which none is begun for `answer` once the clock has rung."""

        def timed(trial: Trial) -> Trial:
            def run(one: Any) -> None:
                if self.rang and one is answer:
                    raise Wrong("a case that was not tried", Words("time"), Words("none left"))
                trial(one)

            return run

        return tuple(timed(trial) for trial in trials)
