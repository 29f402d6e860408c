"""`ssd-ref sweep`: fan-out policy x budget x temperature x C x lookahead into one CSV.

Imports no torch: help and mistyped arguments answer at once.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssd_ref import __version__
from ssd_ref.cli import studies
from ssd_ref.cli.errors import CommandError
from ssd_ref.cli.pairs import Load

if TYPE_CHECKING:
    from ssd_ref.study.sweep import Grid, Sweep

TEXT = (
    "Hit rate, tokens a round and acceptance for every combination of the axes. Lists and beliefs "
    "are fitted on prompts of one document and evaluated on the others. With C = 1 recorded texts "
    "are replayed, with C < 1 each point is decoded. After Ctrl-C the same command goes on where "
    "it was: the texts are kept in --work."
)
POLICIES = ("uniform", "geometric", "measured", "all_accepted_only", "believed")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `sweep`."""

    def axis(option: str, kind: Any, default: tuple[Any, ...], text: str) -> None:
        usual = ",".join(f"{value:g}" for value in default)
        parse = studies.numbers_of(kind, usual)
        parser.add_argument(option, type=parse, metavar="V,..", default=default,
                            help=f"{text}; default: {usual}")  # fmt: skip

    parser.add_argument("--output", type=Path, metavar="FILE", help="the CSV")
    parser.add_argument("--work", type=Path, metavar="FILE",
                        help="the texts so far; default: beside --output")  # fmt: skip
    parser.add_argument("--policies", type=lambda text: tuple(text.split(",")), metavar="P,..",
                        default=POLICIES, help=f"default: {','.join(POLICIES)}")  # fmt: skip
    axis("--budgets", int, (10,), "guesses a round")
    axis("--temperatures", float, (0.0, 0.7, 1.0), "of both models")
    axis("--saguaro-c", float, (1.0,), "weight of guessed tokens in the draft's law")
    axis("--lookaheads", int, (4,), "tokens drafted a round")
    studies.add_shared(parser)
    parser.add_argument("--committed", action="store_true",
                        help="instead: make the package's own tables anew")  # fmt: skip


def run(args: argparse.Namespace, load: Load, clock: Callable[[], float]) -> int:
    """Fill the CSV; 130 after Ctrl-C, with the points so far in it."""
    if args.committed:
        return committed(args)
    if args.output is None:
        raise CommandError("expected --output FILE, got none")
    studies.check_shared(args)
    grid = grid_of(args)
    parts = studies.held_out_prompts(args.prompts)
    pair = load(argparse.Namespace(device=args.device, draft_device=None, dtype=args.dtype))
    work = args.work or args.output.with_suffix(".texts.jsonl")
    store = studies.open_store(work, pair.hash, args.dtype)
    models = studies.LoadModels(load, args.device, args.dtype)
    from ssd_ref.study.sweep import Sweep

    with studies.bar() as progress:
        sweep = Sweep(grid, store, parts["calibration"], parts["evaluation"], models,
                      args.jobs, progress)  # fmt: skip
        done = fill(sweep, args, pair.hash)
    return 0 if done else studies.interrupted(store)


def grid_of(args: argparse.Namespace) -> Grid:
    """The checked axes. Raises CommandError."""
    from ssd_ref.study.sweep import Grid

    try:
        return Grid(args.policies, args.budgets, args.temperatures, args.saguaro_c,
                    args.lookaheads, args.seeds, args.max_new_tokens)  # fmt: skip
    except ValueError as error:
        raise CommandError(f"sweep: {error}") from error


def fill(sweep: Sweep, args: argparse.Namespace, weights: str) -> bool:
    """Write the CSV, of all points or those before Ctrl-C; whether it is whole."""
    from ssd_ref.study.tables import write_table

    rows: list[dict[str, Any]] = []
    whole = False
    try:
        for row in sweep.rows():
            rows.append(row)
        whole = True
    except KeyboardInterrupt:
        pass
    command = shlex.join(["ssd-ref", *sys.argv[1:]])
    head = {"command": command, "weights": weights, "version": __version__}
    if rows:
        write_table(args.output, head, rows)
    return whole


def committed(args: argparse.Namespace) -> int:
    from ssd_ref.study.committed import main

    main(["--jobs", str(args.jobs), *(["--work", str(args.work)] if args.work else [])])
    return 0
