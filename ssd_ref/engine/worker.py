"""The speculator's process as its owner sees it: started, asked, and stopped in any case."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import IO

from ssd_ref.engine.link import Fault, Link, SocketLink
from ssd_ref.engine.messages import receive_object, send_object
from ssd_ref.engine.serve import STOP
from ssd_ref.engine.source import Source

START_SECONDS = 120.0  # to import torch and to load the draft
STOP_SECONDS = 2.0  # to end by itself
COMMAND = (sys.executable, "-m", "ssd_ref.engine")


@dataclass
class Peer:
    """A speculator that somebody else has started, as the other rank of two."""

    link: Link
    vocabulary: int = 0
    host: str = ""

    def greet(self, seconds: float = START_SECONDS) -> None:
        """Hear what the speculator says of itself when it has loaded its draft. Raises Fault."""
        facts = receive_object(self.link, seconds)
        self.vocabulary, self.host = facts["vocabulary"], facts["host"]

    def stop(self, patience: float = STOP_SECONDS) -> str:
        """Tell it to end."""
        with suppress(Fault):  # it may be gone already
            send_object(self.link, STOP)
        self.link.close()
        return ""


@dataclass
class Worker(Peer):
    """A speculator of our own. It has its own session, so that Ctrl-C reaches its owner only."""

    process: subprocess.Popen[bytes] = field(kw_only=True)
    errors: IO[bytes] = field(kw_only=True)

    @classmethod
    def start(
        cls, draft: Source, cpu: int | None = None, command: Sequence[str] = COMMAND
    ) -> Worker:
        """Start a process and wait until it has loaded its draft. Raises Fault."""
        ours, theirs = socket.socketpair()
        errors = tempfile.TemporaryFile()  # noqa: SIM115  # closed by `stop`
        arguments = [str(theirs.fileno()), json.dumps(asdict(draft)), json.dumps(cpu)]
        path = os.pathsep.join(filter(None, sys.path))  # it is to find what we found
        with theirs:
            process = subprocess.Popen(
                [*command, *arguments],
                pass_fds=[theirs.fileno()], start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors,
                env=os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
            )  # fmt: skip
        worker = cls(SocketLink(ours, "speculator"), process=process, errors=errors)
        try:
            worker.greet()
        except BaseException as error:
            reason = worker.stop()
            if isinstance(error, Fault):
                raise Fault(f"speculator did not start: {reason or error}") from error
            raise
        return worker

    def stop(self, patience: float = STOP_SECONDS) -> str:
        """End the process, by force after `patience` seconds; the last line of its errors."""
        super().stop()
        try:
            self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        return self.last_error()

    def last_error(self) -> str:
        if self.errors.closed:
            return ""
        self.errors.seek(0)
        lines = self.errors.read().decode(errors="replace").strip().splitlines()
        self.errors.close()
        return lines[-1] if lines else ""
