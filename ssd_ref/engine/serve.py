"""The speculator's process: one text after another, until the verifier has no more.

`Engine` starts `python -m ssd_ref.engine FD DRAFT CPU`: with one end of a socket pair as file FD,
the source of the draft as JSON, and the processor to stay on (or null).
"""

from __future__ import annotations

import json
import os
import socket

import numpy as np

from ssd_ref.engine.events import Recorder
from ssd_ref.engine.job import Job
from ssd_ref.engine.link import Fault, Link, SocketLink
from ssd_ref.engine.messages import CLOSING, ERROR, receive_object, send_object
from ssd_ref.engine.place import host, stay_on
from ssd_ref.engine.source import Source
from ssd_ref.engine.speculator import VerifierLine, draft_text, nothing_yet, speculator_of
from ssd_ref.laws import LogitsError
from ssd_ref.models import Model

STOP = None  # what the verifier sends instead of a job


def serve(link: Link, draft: Model) -> None:
    """Draft for the verifier at the other end until it stops, or is gone (Fault)."""
    facts = {"vocabulary": draft.vocabulary, "host": host(), "process": os.getpid()}
    send_object(link, facts)
    while (data := receive_object(link)) is not STOP:
        serve_text(link, draft, Job.from_json(data))


def serve_text(link: Link, draft: Model, job: Job) -> None:
    """One text; an error of the draft's is the verifier's to raise."""
    recorder = Recorder()
    line = VerifierLine(link, job, draft.vocabulary, recorder)
    try:
        early = line.early if job.abort else nothing_yet
        rank = draft_text(speculator_of(job, draft, early=early, recorder=recorder), line)
    except ValueError as error:
        line.send_other(ERROR)
        send_object(link, {"logits": isinstance(error, LogitsError), "message": str(error)})
        until_closed(link)
    line.send_other(CLOSING, rank)
    send_object(link, recorder.spans)


def until_closed(link: Link) -> None:
    """Read on, so that the verifier is not cut off while it still writes; ends with a Fault."""
    while True:
        link.expect(np.empty(1, dtype=np.uint8))
        link.wait()


def main(argv: list[str]) -> int:
    """Serve over the socket that was inherited; 0 also where the verifier has gone."""
    descriptor, source, cpu = int(argv[0]), Source(**json.loads(argv[1])), json.loads(argv[2])
    stay_on(cpu)
    link = SocketLink(socket.socket(fileno=descriptor), "verifier")
    try:
        serve(link, source.load())
    except Fault:
        pass
    finally:
        link.close()
    return 0
