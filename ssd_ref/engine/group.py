"""The link over `torch.distributed`: two ranks, on one host or on two, started by `torchrun`.

    torchrun --nproc-per-node 2 -m ssd_ref compare --processes

Rank 0 verifies, rank 1 drafts. gloo carries the messages between CPUs, and also where a model is on
a GPU: what crosses is small and lies on the host. A receive of gloo's does not say whether it is
complete, and a wait that runs out of time breaks the connection; so a thread waits.
"""

from __future__ import annotations

import os
from concurrent.futures import Future
from datetime import timedelta
from threading import Thread
from typing import Any

import torch
import torch.distributed as dist

from ssd_ref.engine.link import Bytes, Fault

VERIFIER, SPECULATOR = range(2)
PATIENCE = timedelta(days=1)  # of gloo itself; limits are ours to keep


class GroupLink:
    """One end of a connection between two ranks."""

    def __init__(self, peer: int, group: Any) -> None:
        self.peer, self.group = peer, group
        self.name = ("verifier", "speculator")[peer]
        self.coming: Future[None] = Future()

    def send(self, message: Bytes) -> None:
        try:
            dist.send(torch.from_numpy(message.copy()), self.peer, self.group)
        except RuntimeError as error:
            raise Fault(f"{self.name}: {first_line(error)}") from error

    def expect(self, buffer: Bytes) -> None:
        self.coming = Future()
        arguments = (torch.from_numpy(buffer), self.peer, self.group, self.coming)
        Thread(target=receive, args=arguments, daemon=True).start()

    def arrived(self) -> bool:
        if not self.coming.done():
            return False
        self.wait()
        return True

    def wait(self, seconds: float | None = None) -> None:
        try:
            self.coming.result(seconds)
        except TimeoutError as error:
            message = f"{self.name}: expected a message within {seconds:g} s, got none"
            raise Fault(message) from error
        except RuntimeError as error:
            raise Fault(f"{self.name}: {first_line(error)}") from error

    def close(self) -> None:
        if dist.is_initialized():
            dist.destroy_process_group()


def receive(buffer: torch.Tensor, peer: int, group: Any, coming: Future[None]) -> None:
    try:
        dist.recv(buffer, peer, group)
        coming.set_result(None)
    except RuntimeError as error:
        coming.set_exception(error)


def rank() -> int | None:
    """This process's rank if it was started as one of two; None if it was started alone.

    Raises ValueError for another number of ranks.
    """
    if "RANK" not in os.environ:
        return None
    size = os.environ.get("WORLD_SIZE")
    if size != "2":
        raise ValueError(f"torchrun: expected 2 processes (--nproc-per-node 2), got {size}")
    return int(os.environ["RANK"])


def join(limit_seconds: float = 60.0) -> GroupLink:
    """Meet the other rank where the environment says. Raises Fault where that is not possible.

    The limit is for the meeting; between two texts a speculator waits as long as it takes.
    """
    own = rank()
    assert own is not None
    place = ":".join(os.environ.get(name, "?") for name in ("MASTER_ADDR", "MASTER_PORT"))
    try:
        dist.init_process_group("gloo", timeout=timedelta(seconds=limit_seconds))
        group = dist.new_group(timeout=PATIENCE)
    except (RuntimeError, KeyError, ValueError) as error:
        raise Fault(f"rendez-vous at {place}: {first_line(error)}") from error
    return GroupLink(1 - own, group)


def first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else repr(error)
