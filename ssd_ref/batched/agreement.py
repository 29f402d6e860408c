"""`python -m ssd_ref.batched.agreement`: how often a text differs from the one decoded alone.

In single precision a forward of many texts differs from that of one in its last digits, so a draw
that lies on the border of two tokens may fall on the other side. Each first such draw is shown to
be a near-tie: both runs drew at the same place from laws that are equal but for those digits.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike

from ssd_ref.batched.lockstep import decode
from ssd_ref.batched.requests import Request
from ssd_ref.models import Model, Rows
from ssd_ref.pair import load_pair
from ssd_ref.pair.corpus import held_out_prompts
from ssd_ref.pair.loading import Pair
from ssd_ref.randomness import Randomness, SeededRandomness, Site
from ssd_ref.ssd import ssd

SETTINGS: dict[str, Any] = {"lookahead": 4, "fan_out": [2, 2, 2, 2, 4]}
Draw = tuple[tuple[float, ...], int]  # the law and what was drawn from it


class Noted:
    """A source that keeps its draws by place; of a cache's entries, those that are tested."""

    def __init__(self, source: Randomness) -> None:
        self.source, self.sequence = source, source.sequence
        self.drawn: dict[Site, Draw] = {}
        self.counted: dict[tuple[int | str, ...], Draw] = {}  # in order

    def choose(self, probabilities: ArrayLike, site: Site) -> int:
        return self.choose_rows(np.asarray(probabilities, dtype=np.float64)[None], [site])[0]

    def choose_rows(self, rows: Rows, sites: Sequence[Site]) -> list[int]:
        chosen = self.source.choose_rows(rows, sites)
        for row, site, index in zip(rows, sites, chosen, strict=True):
            self.drawn[site] = tuple(row.tolist()), index
            if site.role != "draft":
                self.counted[site.address] = self.drawn[site]
        return chosen

    def commit(self, site: Site) -> None:
        self.counted[site.address] = self.drawn[site]


def first_divergence(one: Noted, other: Noted) -> float | None:
    """How much the laws of two runs differ where they first drew differently; None: nowhere."""
    for address, (law, index) in one.counted.items():
        another, chosen = other.counted.get(address, (law, index))
        if chosen != index:
            return float(np.abs(np.subtract(law, another)).max())
    return None


def greedy_gap(target: Model, prompt: Sequence[int], one: list[int], other: list[int]) -> float:
    """By how much the target, in double precision, prefers one token where greedy texts part."""
    at = next(i for i, (a, b) in enumerate(zip(one, other, strict=True)) if a != b)
    context = [*prompt, *one[:at]]
    logits = target.start(context[:-1]).extend(context[-1:])[0]
    return float(abs(logits[one[at]] - logits[other[at]]))


@dataclass(frozen=True)
class Agreement:
    """gaps: of each text that parted from the one decoded alone, how near the first tie was."""

    texts: int
    gaps: list[float]

    def __str__(self) -> str:
        share = len(self.gaps) / self.texts
        worst = f"; largest gap at a first divergence {max(self.gaps):.1e}" if self.gaps else ""
        return f"{len(self.gaps)} of {self.texts} texts diverge ({share:.1%}){worst}"


def agreement(
    texts: int, batch: int, tokens: int, temperature: float, dtype: torch.dtype = torch.float32
) -> Agreement:
    """SSD in batches against SSD alone, on the embedded pair."""
    pair = load_pair(dtype=dtype)
    requests = [Request(prompt, n, tokens) for n, prompt in enumerate(held_out_prompts(texts))]
    gaps = []
    for begin in range(0, texts, batch):
        group = requests[begin : begin + batch]
        noted = {r.sequence: Noted(SeededRandomness(0, r.sequence)) for r in group}
        decoded = decode(
            pair.target, pair.draft, group, randomness=noted.__getitem__, method="ssd",
            temperature=temperature, **SETTINGS,
        )  # fmt: skip
        for r in group:
            gap = compare(pair, r, temperature, decoded[r.sequence].tokens, noted[r.sequence])
            gaps += [] if gap is None else [gap]
    return Agreement(texts, gaps)


def compare(
    pair: Pair, request: Request, temperature: float, tokens: list[int], noted: Noted
) -> float | None:
    """Decode a text alone; how near the tie was at which it parts from `tokens`; None: it is them.

    At temperature 0 that is a gap between logits, else between two probabilities.
    """
    source = Noted(SeededRandomness(0, request.sequence))
    alone = ssd(
        pair.target, pair.draft, request.prompt, max_new_tokens=request.max_new_tokens,
        randomness=source, temperature=temperature, **SETTINGS,
    ).tokens  # fmt: skip
    if alone == tokens:
        return None
    if temperature == 0:
        return greedy_gap(load_pair(dtype=torch.float64).target, request.prompt, alone, tokens)
    gap = first_divergence(source, noted)
    return np.inf if gap is None else gap


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m ssd_ref.batched.agreement")
    parser.add_argument("--texts", type=int, default=64)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--temperatures", type=float, nargs="+", default=[0.0, 1.0])
    parser.add_argument("--dtype", choices=["float32", "float64"], default="float32")
    o = parser.parse_args()
    torch.set_num_threads(1)
    for temperature in o.temperatures:
        dtype = getattr(torch, o.dtype)
        found = agreement(o.texts, o.batch, o.tokens, temperature, dtype)
        print(f"temperature {temperature:g}, batches of {o.batch}, {o.dtype}: {found}")


if __name__ == "__main__":
    main()
