"""Devices and the link: who computes, and how messages get across."""

from __future__ import annotations

from collections.abc import Iterable

from simpy import Environment, Event, Store

from sim.clock import Process
from sim.recorder import IDLE, Lane
from sim.rounds import Kernel, Round


class Device:
    """Computes one kernel at a time. Exactly one process uses it, so it needs no queue."""

    def __init__(self, env: Environment, lane: Lane) -> None:
        self.env, self.lane = env, lane

    def run(self, kernel: Kernel) -> Process:
        kind, ns, rows = kernel
        self.lane.enter(kind, rows)
        yield self.env.timeout(ns)
        self.lane.enter(IDLE)

    def run_all(self, kernels: Iterable[Kernel]) -> Process:
        for kind, ns, rows in kernels:
            self.lane.enter(kind, rows)
            yield self.env.timeout(ns)
        self.lane.enter(IDLE)


class Channel:
    """The link in one direction. Rounds alternate, so that there is never more than one on it."""

    def __init__(self, env: Environment, lane: Lane, kind: str) -> None:
        self.env, self.lane, self.kind = env, lane, kind
        self.inbox = Store(env)

    def send(self, message: Round, transfer_ns: int) -> None:
        """Returns at once; the message arrives `transfer_ns` later."""
        self.lane.enter(self.kind)
        delivery = self.env.timeout(transfer_ns, message)
        assert delivery.callbacks is not None
        delivery.callbacks.append(self.deliver)

    def deliver(self, delivery: Event) -> None:
        self.lane.enter(IDLE)
        self.inbox.put(delivery.value)

    def receive(self) -> Event:
        return self.inbox.get()
