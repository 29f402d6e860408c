"""Pairs for the tests of the command line: small tables over bytes that almost spell English.

`python fake_pair.py SECONDS ARGUMENTS` runs the command line; the target takes SECONDS a token.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ssd_ref import TableModel
from ssd_ref.cli import main
from ssd_ref.models import ContextModel
from ssd_ref.pair.corpus import ByteTokenizer

TEXT = "A list is a sequence of items. A na\u00efve set has no order; a dict maps keys to values.\n"
END = ByteTokenizer.end


def bigrams(text: str, other: float, end: float = 0.0) -> TableModel:
    """An order-1 model of the bytes of `text`; with probability `other` any byte of TEXT follows,
    and with probability `end` the end token.
    """
    counts = np.zeros((257, 257))
    tokens, alphabet = list(text.encode()), sorted(set(TEXT.encode()))
    for a, b in zip(tokens, [*tokens[1:], tokens[0]], strict=True):
        counts[a, b] += 1
    unseen = counts.sum(1) == 0
    counts[np.ix_(unseen, alphabet)] = 1
    table = (1 - other - end) * counts / counts.sum(1, keepdims=True)
    table[:, alphabet] += other / len(alphabet)
    table[:, END] += end
    return TableModel(table, context_limit=512)


class Slow(ContextModel):
    """A model that takes `seconds` for each token."""

    def __init__(self, model: TableModel, seconds: float) -> None:
        super().__init__(model.vocabulary, model.context_limit)
        self.model, self.seconds = model, seconds

    def logits_after(self, context: Sequence[int]) -> Any:
        time.sleep(self.seconds)
        return self.model.logits_after(context)


@dataclass
class FakePair:
    target: Any
    draft: Any
    hash: str = "0123456789abcdef"
    tokenizer: Any = field(default_factory=ByteTokenizer)


def load_tables(args: argparse.Namespace) -> FakePair:
    """A target that knows TEXT and a draft that knows it less well."""
    return FakePair(bigrams(TEXT, 0.02, end=1e-4), bigrams(TEXT[:62], 0.2))


class Ticks:
    """A clock whose k-th reading is k/1024 seconds: sums are exact."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> float:
        self.now += 1
        return self.now / 1024


def load_slow(args: argparse.Namespace) -> FakePair:
    pair = load_tables(args)
    return FakePair(Slow(pair.target, float(sys.argv[1])), pair.draft)


if __name__ == "__main__":
    sys.exit(main(sys.argv[2:], load=load_slow))
