"""`ssd-ref grade`: marks, a grade book and feedback for a batch of submissions."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ssd_ref.cli.assignment import course
from ssd_ref.cli.errors import CommandError
from ssd_ref.cli.pairs import Load

TEXT = (
    "Grade folders, files or archives as Moodle and Canvas give them. Each check runs in a process "
    "of its own with limits on time and output; on Linux on memory, too. This limits accidents and "
    "is no security sandbox: grade submissions that you do not trust in a container."
)
COLUMNS = ("plain", "moodle", "canvas")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("number", type=int, metavar="N", help="the assignment")
    parser.add_argument("submissions", type=Path, nargs="+", metavar="SUBMISSION")
    add = parser.add_argument
    add("--out", type=Path, metavar="CSV", help="grades; results to resume from lie beside it")
    add("--columns", choices=COLUMNS, default="plain", help="of --out; default: %(default)s")
    add("--json", action="store_true", help="print everything as JSON")
    add("--feedback", type=Path, metavar="DIR", help="a text for each student")
    add("--gradescope", type=Path, metavar="FILE", help="results.json, for a single submission")
    add(
        "--seed-file", type=Path, metavar="FILE", help="your secret: hidden cases are drawn from it"
    )
    add("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="default: %(default)s")
    add("--again", action="append", default=[], metavar="STUDENT", help="grade anew; repeatable")
    add("--lateness", type=Path, metavar="CSV", help="student,days")
    add("--penalty", type=float, default=0.1, help="share lost a day begun; default: %(default)s")
    add("--adjustments", type=Path, metavar="CSV", help="student,points,reason")
    add("--ids", type=Path, metavar="CSV", help="student,id")


def run(args: argparse.Namespace, load: Load, clock: Callable[[], float]) -> int:
    assignment = course("catalogue").load(args.number)
    check_options(args)
    if args.seed_file is None:
        print("no --seed-file: cases are those that students see", file=sys.stderr)
    with tempfile.TemporaryDirectory() as scratch:
        all_graded = graded(args, Path(scratch))
    book = course("gradebook").Book(args.lateness, args.adjustments, args.ids, args.penalty)
    lines = book.lines(all_graded)
    if args.out:
        course("export").write_csv(args.out, assignment, lines, args.columns)
    if args.feedback:
        for one, line in zip(all_graded, lines, strict=True):
            course("feedback").write(args.feedback, assignment, one, line)
    if args.gradescope:
        write_gradescope(args.gradescope, assignment, all_graded)
    show(args.json, all_graded, lines)
    return 0


def check_options(args: argparse.Namespace) -> None:
    """What would otherwise be found out only after the grading."""
    if args.jobs < 1:
        raise CommandError(f"--jobs: expected at least 1, got {args.jobs}")
    if not 0 <= args.penalty <= 1:
        raise CommandError(f"--penalty: expected a share in [0, 1], got {args.penalty}")
    for path in (args.out, args.gradescope):
        if path and not path.parent.is_dir():
            raise CommandError(f"{path}: there is no folder {path.parent}")


def graded(args: argparse.Namespace, scratch: Path) -> list[Any]:
    """Everything graded, sorted by student; a bar shows how far it is."""
    from tqdm import tqdm  # type: ignore[import-untyped]

    grading = course("grading")
    seed = grading.seed_from(args.seed_file)
    found = course("archives").collect(args.submissions, args.number, scratch)
    strangers = set(args.again) - {one.student for one in found}
    if strangers:
        raise CommandError(f"--again: no submission of {sorted(strangers)}")
    store = args.out.with_suffix(".results.jsonl") if args.out else scratch / "results.jsonl"
    stream = grading.grade(
        args.number, found, seed, store=store, jobs=args.jobs, again=set(args.again)
    )
    bar = tqdm(stream, total=len(found), unit="submission", disable=not sys.stderr.isatty())
    return sorted(bar, key=lambda one: (one.student, one.id))


def write_gradescope(path: Path, assignment: Any, all_graded: list[Any]) -> None:
    if len(all_graded) != 1:
        raise CommandError(f"--gradescope: expected one submission, got {len(all_graded)}")
    course("export").write_gradescope(path, assignment, all_graded[0])


def show(as_json: bool, all_graded: list[Any], lines: list[Any]) -> None:
    if as_json:
        rows = [
            {**asdict(one), "points": line.points, "final": line.final, "changes": line.changes}
            for one, line in zip(all_graded, lines, strict=True)
        ]
        print(json.dumps(rows, ensure_ascii=False))
        return
    for line in lines:
        remarks = "; ".join((*line.changes, *line.notes))
        print(f"{line.student:30} {line.final:5g} of {line.most:g}  {remarks}".rstrip())
