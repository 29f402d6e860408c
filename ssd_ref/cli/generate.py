"""`ssd-ref generate`: one text by one method, shown as its rounds come in."""

from __future__ import annotations

import argparse
import json
import sys

from ssd_ref.cli.job import Job, open_job
from ssd_ref.cli.pairs import Load
from ssd_ref.cli.report import one_line, warnings
from ssd_ref.cli.run import Run
from ssd_ref.cli.text import TextStream, visible
from ssd_ref.rounds import RoundRecord
from ssd_ref.study.meter import Clock, Log

CTRL_C = 130  # the shell's status for a program ended by SIGINT


def run(args: argparse.Namespace, load: Load, clock: Clock) -> int:
    """Decode; 0, or 130 after Ctrl-C, which leaves all that was decoded on the screen."""
    job = open_job(args, load)
    run = Run(args.method, Log(clock))
    status = decode_silently(job, run) if args.json else decode_aloud(job, run)
    job.record([run])
    return status


def decode_silently(job: Job, run: Run) -> int:
    """One JSON object: `method`, the run, and the facts of the job."""
    status = 0
    try:
        run.decode(job.pair, job.prompt.tokens, job.settings)
    except KeyboardInterrupt:
        status = CTRL_C
    print(json.dumps({"method": run.method} | run.to_json(job.pair.tokenizer) | job.facts))
    return status


def decode_aloud(job: Job, run: Run) -> int:
    """The text on standard output as it comes; what is said about it on standard error."""
    stream, status = TextStream(job.pair.tokenizer.end), 0

    def show(tokens: list[int], record: RoundRecord) -> None:
        print(stream.feed(tokens), end="", flush=True)

    if job.prompt.source == "held-out text":
        prompt = visible(job.facts["prompt"]["text"])
        print(f"prompt, {job.prompt.source}: {prompt}", file=sys.stderr, flush=True)
    try:
        run.decode(job.pair, job.prompt.tokens, job.settings, show)
    except KeyboardInterrupt:
        status = CTRL_C
    print(stream.close(), flush=True)
    for line in (f"{one_line(run)}, weights {job.pair.hash}", *warnings([run])):
        print(line, file=sys.stderr)
    return status
