"""Which core a process stays on, and which host it is on."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SIBLINGS = "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"


def host() -> str:
    """Names the machine whose clock the process reads."""
    return socket.gethostname()


def two_cores() -> tuple[int, int] | None:
    """Two processors that are not threads of one core, if this process may use two.

    None where the platform does not tell, or has only one.
    """
    if not hasattr(os, "sched_getaffinity"):
        return None
    cpus = sorted(os.sched_getaffinity(0))
    by_core = list({core_of(cpu): cpu for cpu in reversed(cpus)}.values())[::-1]
    chosen = by_core if len(by_core) > 1 else cpus
    return (chosen[0], chosen[1]) if len(chosen) > 1 else None


def core_of(cpu: int) -> str:
    """A name that threads of one core share."""
    try:
        return Path(SIBLINGS.format(cpu)).read_text(encoding="ascii")
    except OSError:
        return str(cpu)


def stay_on(cpu: int | None) -> None:
    """Run this thread on one processor from now on; None: wherever it may."""
    if cpu is not None:
        os.sched_setaffinity(0, {cpu})


@contextmanager
def on_processor(cpu: int | None) -> Iterator[None]:
    """Run this thread on one processor inside the block."""
    if cpu is None:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {cpu})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
