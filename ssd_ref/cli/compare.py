"""`ssd-ref compare`: one prompt by all three methods, and the figures that tell them apart."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from ssd_ref.cli import report
from ssd_ref.cli.duo import decode as decode_in_two
from ssd_ref.cli.duo import report as two_processes
from ssd_ref.cli.generate import CTRL_C
from ssd_ref.cli.job import Job, open_job
from ssd_ref.cli.pairs import Load
from ssd_ref.cli.processes import draft_as_second_rank
from ssd_ref.cli.run import Run, warm_up
from ssd_ref.cli.settings import METHODS
from ssd_ref.cli.text import visible
from ssd_ref.study.meter import Clock, Log


def run(args: argparse.Namespace, load: Load, clock: Clock) -> int:
    """Compare; 0, or 130 after Ctrl-C, which shows the methods and tokens that were decoded."""
    if args.processes and draft_as_second_rank(args):
        return 0
    job = open_job(args, load)
    runs, status, duo = list[Run](), 0, None
    try:
        decode_all(job, runs, clock)
        duo = decode_in_two(args, job) if args.processes else None
    except KeyboardInterrupt:
        status = CTRL_C
    console = Console(highlight=False, markup=False, emoji=False)
    if args.json:
        print(json.dumps(as_object(job, runs) | ({"processes": duo.to_json()} if duo else {})))
    else:
        show(job, runs, console)
        for line in two_processes(duo, runs, console.width - 1) if duo else ():
            console.print(Text(line))
    job.record(runs)
    return status


def decode_all(job: Job, runs: list[Run], clock: Clock) -> None:
    """Every method on the job's prompt, each added to `runs` as it begins."""
    warm_up(job.pair, job.prompt.tokens, job.settings, METHODS)
    for method in METHODS:
        runs.append(Run(method, Log(clock)))
        runs[-1].decode(job.pair, job.prompt.tokens, job.settings)


def as_object(job: Job, runs: Sequence[Run]) -> dict[str, object]:
    """An object for each method by its name, then the facts and the warnings."""
    methods = {run.method: run.to_json(job.pair.tokenizer) for run in runs}
    return methods | job.facts | {"warnings": report.warnings(runs)}


def show(job: Job, runs: Sequence[Run], console: Console) -> None:
    prompt = job.facts["prompt"]
    console.print(Text(f"prompt, {prompt['source']}:\n{visible(prompt['text'])}"))
    if not runs:
        return
    report.print_texts(console, runs, job.pair.tokenizer.end)
    report.print_table(console, runs)
    for run in runs:
        report.print_time_line(console, run)
    for note in report.notes(runs, job.settings, job.pair.hash):
        console.print(Text(note))
    for warning in report.warnings(runs):
        console.print(Text(f"warning: {warning}", style="bold"))
