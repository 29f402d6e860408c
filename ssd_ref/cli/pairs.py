"""The models that a command runs on; the one place where the command line meets torch."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Protocol

from ssd_ref.cli.errors import CommandError
from ssd_ref.models import Model

DTYPES = ("float32", "float64", "bfloat16", "float16")


class Tokenizer(Protocol):
    """Tokens are bytes of UTF-8, and `end` is one more that ends the text."""

    @property
    def end(self) -> int: ...

    def encode(self, text: str) -> list[int]: ...

    def decode(self, tokens: Sequence[int]) -> str: ...


class Pair(Protocol):
    """A target and a draft over one vocabulary, and the hash of their weights."""

    @property
    def target(self) -> Model: ...

    @property
    def draft(self) -> Model: ...

    @property
    def tokenizer(self) -> Tokenizer: ...

    @property
    def hash(self) -> str: ...


Load = Callable[[argparse.Namespace], Pair]  # given device, draft_device and dtype


def add_machine(parser: argparse._ActionsContainer) -> None:
    """The options by which a pair is loaded, and the form of the output."""
    add = parser.add_argument
    add("--device", default="cpu", help="of the target; default: %(default)s")
    add("--draft-device", metavar="DEVICE", help="default: the target's")
    add("--dtype", choices=DTYPES, default="float32", help="default: %(default)s")
    add("--json", action="store_true", help="print one JSON object instead")


def load_embedded(args: argparse.Namespace) -> Pair:
    """The pair that ships with the package. On one thread: its matrices are too small for two.

    Raises CommandError for a device that is not there, and for missing or damaged weights.
    """
    import torch

    from ssd_ref.pair import load_pair
    from ssd_ref.pair.loading import WeightsError

    torch.set_num_threads(1)
    try:
        return load_pair(args.device, args.draft_device, dtype=getattr(torch, args.dtype))
    except (ValueError, RuntimeError, OSError, WeightsError) as error:
        raise CommandError(str(error)) from error
