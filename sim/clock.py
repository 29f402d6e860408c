"""The clock: integer nanoseconds, and what comes first when two things happen at one instant.

SimPy handles events of one instant in the order in which they were scheduled, which would let
results depend on the order of lines in a program. Two rules replace that order:

- what ends or arrives at an instant has happened before anybody decides at that instant (`settle`);
- the horizon of a run comes last: a verification that ends exactly there has ended.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from simpy import Environment, Event
from simpy.events import EventPriority

from sim.checks import need_integer

Process = Generator[Event, Any, Any]
# SimPy's own priorities are 0 (urgent) and 1 (normal).
AFTER_ALL, AT_THE_END = EventPriority(2), EventPriority(3)


def settle(env: Environment) -> Event:
    """An event of this instant that comes after everything else that happens in it."""
    return late_event(env, 0, AFTER_ALL)


def late_event(env: Environment, delay_ns: int, priority: EventPriority) -> Event:
    event = env.event()
    event._ok, event._value = True, None
    env.schedule(event, priority, delay_ns)
    return event


@dataclass(frozen=True)
class Limit:
    """When a run ends; exactly one of the three is given.

    rounds, tokens: with the verification that reaches this many (tokens may overshoot: a round is
    never cut). until_ns: at this time; intervals still open are clipped there, and a verification
    that ends exactly there counts.
    """

    rounds: int | None = None
    tokens: int | None = None
    until_ns: int | None = None

    def __post_init__(self) -> None:
        given = {name: value for name, value in vars(self).items() if value is not None}
        if len(given) != 1:
            raise ValueError(f"Limit: expected one of rounds, tokens, until_ns, got {given}")
        for name, value in given.items():
            need_integer(name, value, least=1)

    def reached(self, rounds: int, tokens: int) -> bool:
        if self.rounds is not None:
            return rounds >= self.rounds
        return self.tokens is not None and tokens >= self.tokens
