"""Runs one function in a process of its own, and ends it when it takes too much.

Time and output are limited everywhere. Resident memory is watched where /proc shows it (Linux), and
the size of a written file is limited on Unix; an address-space limit would break torch. Where the
platform can fork safely (Linux), the child starts warm: with everything that is imported already.
This limits accidents; it is no security sandbox.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

FORKS = sys.platform == "linux"
POLL_S = 0.01
SHOWN = 2_000  # bytes of a child's output that are kept
FILE_BYTES = 50_000_000  # the largest file it may write


@dataclass(frozen=True)
class Limits:
    """seconds of wall-clock time, megabytes of resident memory beyond the start's, output bytes."""

    seconds: float = 10.0
    megabytes: int = 1_000
    output_bytes: int = 1_000_000


@dataclass(frozen=True)
class Ended:
    """How a child ended: "done" (then `value` is what it returned), "time", "memory", "output" or
    "crash" (then `value` says how). output: the last it printed. seconds: how long it ran."""

    how: str
    value: Any
    output: str
    seconds: float


def run(function: Callable[..., Any], arguments: tuple[Any, ...], limits: Limits) -> Ended:
    """`function(*arguments)` in a child, in an empty folder that is removed afterwards."""
    context: Any = multiprocessing.get_context("fork" if FORKS else "spawn")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        output = Path(folder, "output")
        output.touch()
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=child, args=(theirs, folder, function, arguments))
        process.start()
        theirs.close()
        begin = time.monotonic()
        try:
            how, value = watch(process, ours, output, limits, begin)
        finally:  # also when we are interrupted ourselves
            end(process)
        text = tail(output)
    return Ended(how, value, text, time.monotonic() - begin)


def watch(
    process: Any, ours: Connection, output: Path, limits: Limits, begin: float
) -> tuple[str, Any]:
    """Wait for the child's value, or until it takes too much."""
    start = resident_megabytes(process.pid)
    while not ours.poll(POLL_S):
        if time.monotonic() - begin > limits.seconds:
            return "time", None
        if resident_megabytes(process.pid) - start > limits.megabytes:
            return "memory", None
        if output.stat().st_size > limits.output_bytes:
            return "output", None
    try:
        how, value = ours.recv()
    except Exception:  # it ended without a word, or sent what cannot be read
        process.join(1)
        return "crash", died(process.exitcode)
    return how, value


def end(process: Any) -> None:
    """Kill the child and whatever it started."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.join()


def died(status: int | None) -> str:
    if status is not None and status < 0:
        return f"the process was ended by signal {signal.Signals(-status).name}"
    return f"the process left with status {status} and no result"


def tail(output: Path) -> str:
    with output.open("rb") as file:
        file.seek(max(0, output.stat().st_size - SHOWN))
        return file.read().decode(errors="replace")


def resident_megabytes(pid: int | None) -> float:
    """0 where /proc does not tell."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def child(
    theirs: Connection, folder: str, function: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    """What runs in the child: no terminal, no window, a folder of its own."""
    enclose(folder)
    try:
        message = ("done", function(*arguments))
    except BaseException:  # SystemExit, KeyboardInterrupt, RecursionError, .. of a student's code
        message = ("crash", traceback.format_exc(limit=-3))
    theirs.send(message)
    theirs.close()


def enclose(folder: str) -> None:
    if hasattr(os, "setsid"):
        os.setsid()
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
    os.environ["MPLBACKEND"] = "Agg"
    os.chdir(folder)
    written = os.open("output", os.O_WRONLY | os.O_APPEND)
    for descriptor in (1, 2):
        os.dup2(written, descriptor)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", closefd=False, buffering=1, errors="replace")  # noqa: SIM115
    sys.stderr = open(2, "w", closefd=False, buffering=1, errors="replace")  # noqa: SIM115
