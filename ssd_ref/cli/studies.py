"""What `measure` and `sweep` share: the options of a study, its models, prompts and progress."""

from __future__ import annotations

import argparse
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssd_ref.cli.errors import CommandError
from ssd_ref.cli.pairs import DTYPES, Load

if TYPE_CHECKING:
    from ssd_ref.study.collect import Models, Progress
    from ssd_ref.study.store import Store

TOKENS, MOST_TOKENS = 192, 448  # of a text; a prompt has 64 and the pair's context 512
PROMPTS = 64
CTRL_C = 130


@dataclass(frozen=True)
class LoadModels:
    """Loads the models in each process; equal ones are equal, so that a process loads once."""

    load: Load
    device: str
    dtype: str

    def __call__(self) -> Models:
        from ssd_ref.study.collect import Models

        pair = self.load(Namespace(device=self.device, draft_device=None, dtype=self.dtype))
        return Models(pair.target, pair.draft)


def numbers_of(kind: Any, example: str) -> Any:
    """A parser of numbers with commas between; for whole ones also of a range, as in 0:4."""

    def parse(text: str) -> tuple[Any, ...]:
        try:
            if kind is int and ":" in text:
                first, last = text.split(":")
                return tuple(range(int(first), int(last)))
            return tuple(kind(part) for part in text.split(","))
        except ValueError:
            raise argparse.ArgumentTypeError(
                f"expected numbers such as {example}, got {text!r}"
            ) from None

    return parse


def add_shared(parser: argparse.ArgumentParser) -> None:
    """Options of both commands."""
    from ssd_ref.cli.arguments import whole_number

    def add(option: str, kind: Any, metavar: str, text: str, default: Any) -> None:
        text = f"{text}; default: %(default)s"
        parser.add_argument(option, type=kind, metavar=metavar, default=default, help=text)

    add("--max-new-tokens", whole_number, "N", "tokens of each text", TOKENS)
    add("--prompts", whole_number, "N", "held-out prompts, calibration and evaluation", PROMPTS)
    add("--jobs", whole_number, "N", "processes, -1 for all cores", -1)
    add("--device", str, "D", "where the models compute", "cpu")
    parser.add_argument(
        "--seeds", type=numbers_of(int, "0,1,2 or 0:3"), default=(0,), metavar="N,..",
        help="each prompt is decoded with each of them, 0:3 for 0,1,2; default: 0",
    )  # fmt: skip
    parser.add_argument(
        "--dtype", choices=DTYPES, default="float64",
        help="default: %(default)s, in which hits do not depend on how branches are batched",
    )  # fmt: skip


def check_shared(args: Namespace) -> None:
    """Raises CommandError for options that no study could honour."""
    if not 2 <= args.max_new_tokens <= MOST_TOKENS:
        raise CommandError(
            f"--max-new-tokens: expected 2 to {MOST_TOKENS}, got {args.max_new_tokens}"
        )
    if args.jobs < -1 or args.jobs == 0:
        raise CommandError(f"--jobs: expected -1 or at least 1, got {args.jobs}")
    if not args.seeds or min(args.seeds) < 0:
        raise CommandError(f"--seeds: expected numbers >= 0, got {list(args.seeds)}")
    if not args.output.parent.is_dir():
        raise CommandError(f"--output: expected a file in a folder that exists, got {args.output}")


def held_out_prompts(count: int) -> dict[str, dict[int, Sequence[int]]]:
    """The prompts by part. Raises CommandError where there are not so many."""
    from ssd_ref.study.prompts import held_out

    if count < 2:
        raise CommandError(f"--prompts: expected at least 2, got {count}")
    try:
        found = held_out(count)
    except ValueError as error:
        raise CommandError(f"--prompts: {error}") from error
    if not all(found.values()):
        raise CommandError(f"--prompts: expected some for calibration, got none among {count}")
    return found


def open_store(path: Path, weights: str, dtype: str) -> Store:
    """The texts in a file so far."""
    from ssd_ref.study.store import Store

    return Store(path, {"weights": weights, "dtype": dtype})


@contextmanager
def bar() -> Iterator[Progress]:
    """A bar of texts on standard error, where that is a terminal."""
    from tqdm import tqdm  # type: ignore[import-untyped]

    with tqdm(desc="texts", unit="text", disable=None, file=sys.stderr) as shown:

        def progress(done: int, of: int) -> None:
            shown.total = of
            shown.n = done
            shown.refresh()

        yield progress


def interrupted(store: Store) -> int:
    where = f" are in {store.path}" if store.path else ""
    print(
        f"ssd-ref: interrupted; {len(store.texts)} texts{where}: the same command goes on there",
        file=sys.stderr,
    )
    return CTRL_C
