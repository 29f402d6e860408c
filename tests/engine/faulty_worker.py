"""A speculator that fails as told: `python -m faulty_worker PLAN FD DRAFT CPU`.

PLAN maps a text's sequence number to what goes wrong, and in which round.
"""

import json
import os
import signal
import sys
import time

import numpy as np

from ssd_ref.engine import serve
from ssd_ref.engine.speculator import VerifierLine


class FaultyLine(VerifierLine):
    def __init__(self, link, job, vocabulary, recorder):
        super().__init__(link, job, vocabulary, recorder)
        self.fault, self.at = PLAN.get(str(job.sequence), ("none", -1))

    def send(self, rank, speculation):
        if self.round + 1 != self.at:
            return super().send(rank, speculation)
        link, self.link = self.link, self  # what is sent passes through `garble`
        self.send = lambda message: garble(self.fault, self.answers, message, link)
        self.expect = link.expect
        VerifierLine.send(self, rank, speculation)


def garble(fault, answers, message, link):
    if fault in PROCESS:
        PROCESS[fault]()
    if fault in FIELD:
        index, value = FIELD[fault]
        answers.fields[index] = value
    if fault == "token":
        answers.tokens[0] = answers.vocabulary
    if fault in ROWS:
        answers.rows[:] = ROWS[fault](answers.rows)
    link.send(message[:-8] if fault == "too short" else message)
    if fault == "too long":
        link.send(np.zeros(8, dtype=np.uint8))


def bug():
    raise RuntimeError("a bug in the draft")


PROCESS = {
    "killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "hung": lambda: time.sleep(1e6),
    "stopped": lambda: os.kill(os.getpid(), signal.SIGSTOP),
    "bug": bug,
}
FIELD = {
    "kind": (0, 7),
    "round": (1, 99),
    "who served": (2, 5),
    "rank": (3, -2),
    "drafted": (4, -1),
    "too many drafted": (4, 1000),
    "early end": (0, 1),
    "error without end": (0, 2),
}
ROWS = {
    "sums": lambda rows: 1.001 * rows,
    "negative": lambda rows: rows - np.eye(*rows.shape),
    "nan": lambda rows: rows * np.nan,
    "impossible token": lambda rows: np.zeros_like(rows),
}
GARBAGE = (*FIELD, *ROWS, "token", "too long")
LATE = ("hung", "stopped", "too short", "error without end")  # nothing more comes
FAULTS = (*PROCESS, *GARBAGE, "too short")

if __name__ == "__main__":
    PLAN = json.loads(sys.argv[1])
    serve.VerifierLine = FaultyLine
    sys.exit(serve.main(sys.argv[2:]))
