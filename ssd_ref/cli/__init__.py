"""The command `ssd-ref`: `generate`, `compare`, `bench`, `predict`, `measure` and `sweep`.

Commands are imported when they are asked for, and torch when the models are loaded: help and
mistyped arguments answer at once.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ssd_ref.cli.pairs import Load

BROKEN_PIPE, CTRL_C, WRONG_USE = 141, 130, 2


def main(
    argv: Sequence[str] | None = None,
    *,
    load: Load | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> int:
    """Run the command line `argv` (None: the process's) and return the exit status.

    load: gives the models for the parsed arguments; None means the embedded pair. clock: seconds,
    for all times shown. Status 2 after an error, which is one line on standard error.
    """
    from ssd_ref.cli.errors import CommandError

    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller: nobody listens
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
    try:
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):  # a terminal without UTF-8 shows ? for a character
                stream.reconfigure(errors="replace")
        status = dispatch(argv, load, clock)
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # the reader has left, as `head` does: nobody to tell
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except SystemExit as exit:  # what rich makes of a broken pipe; argparse's other statuses pass
        if exit.code == 1:
            return BROKEN_PIPE
        raise
    except KeyboardInterrupt:
        return CTRL_C
    except (CommandError, ValueError, OSError) as error:
        print("ssd-ref: error:", " ".join(str(error).split()), file=sys.stderr)
        return WRONG_USE


def dispatch(argv: Sequence[str] | None, load: Load | None, clock: Callable[[], float]) -> int:
    from ssd_ref.cli.arguments import TOUR, build_parser
    from ssd_ref.cli.pairs import load_embedded

    args = build_parser().parse_args(argv)
    if args.command is None:
        print(TOUR, end="")
        return 0
    command = import_module(f"ssd_ref.cli.{args.command}")
    status: int = command.run(args, load or load_embedded, clock)
    return status
