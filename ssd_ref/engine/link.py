"""What the two processes talk through, and what can go wrong with it.

A message is a buffer of bytes whose size both sides know beforehand. `SocketLink` joins two
processes of one host; `ssd_ref.engine.group` does the same over `torch.distributed`.
"""

from __future__ import annotations

import os
import select
import socket
import time
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

SPIN_SECONDS = 0.05  # how long a wait keeps the processor before it sleeps
SEND_SECONDS = 30.0  # how long a full connection may stay full


class Fault(Exception):
    """The other process cannot be relied on any more; the message says why."""


class Link(Protocol):
    """One end of a connection between two processes. Every method raises Fault."""

    def send(self, message: Bytes) -> None:
        """Send a message; it may be overwritten afterwards."""
        ...

    def expect(self, buffer: Bytes) -> None:
        """The next message, which is as long as `buffer`, goes there."""
        ...

    def arrived(self) -> bool:
        """Whether it is there. Never waits."""
        ...

    def wait(self, seconds: float | None = None) -> None:
        """Wait until it is there; no longer than `seconds`, if given."""
        ...

    def close(self) -> None: ...


class SocketLink:
    """A stream socket between two processes of one host.

    A process that sleeps in a system call needs 50 to 100 microseconds to wake up, here as much as
    a tenth of a draft step, twice a round. So a wait first asks again and again, for SPIN_SECONDS.
    """

    def __init__(self, connection: socket.socket, peer: str) -> None:
        connection.setblocking(False)
        self.connection, self.peer = connection, peer
        self.missing = memoryview(b"")  # what is still to come of the message expected

    def send(self, message: Bytes) -> None:
        rest, began = message.data, time.monotonic()
        while rest:
            try:
                rest = rest[self.connection.send(rest) :]
            except BlockingIOError:
                left = SEND_SECONDS - (time.monotonic() - began)
                if left <= 0 or not select.select([], [self.connection], [], left)[1]:
                    raise Fault(f"{self.peer}: read nothing for {SEND_SECONDS:g} s") from None
            except OSError as error:
                raise self.gone() from error

    def expect(self, buffer: Bytes) -> None:
        self.missing = buffer.data

    def arrived(self) -> bool:
        while self.missing:
            try:
                count = self.connection.recv_into(self.missing)
            except BlockingIOError:
                return False
            except OSError as error:
                raise self.gone() from error
            if count == 0:
                raise self.gone()
            self.missing = self.missing[count:]
        return True

    def wait(self, seconds: float | None = None) -> None:
        began = time.monotonic()
        while not self.arrived():
            waited = time.monotonic() - began
            if seconds is not None and waited > seconds:
                raise Fault(f"{self.peer}: expected a message within {seconds:g} s, got none")
            if waited < SPIN_SECONDS:
                yield_processor()
            else:
                left = None if seconds is None else seconds - waited
                select.select([self.connection], [], [], left)

    def gone(self) -> Fault:
        return Fault(f"{self.peer}: closed the connection")

    def close(self) -> None:
        self.connection.close()


def yield_processor() -> None:
    """Let another process run that waits for this core; else return at once."""
    if hasattr(os, "sched_yield"):
        os.sched_yield()
