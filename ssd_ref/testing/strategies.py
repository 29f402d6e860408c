"""Hypothesis strategies for pairs of tables and for the settings of a decoder.

Probabilities are drawn as small integers and divided, so that zeros and ties occur and a
counter-example can be checked by hand. Sizes are drawn jointly, under a bound on the leaves of the
decision tree.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st

from ssd_ref.models import TableModel

TOP_P = (0.113, 0.37, 0.613, 0.871)  # no sum of a few twenty-fourths: never on a boundary


@dataclass(frozen=True)
class Case:
    """A decoding task small enough to be enumerated.

    law: the target's settings, as keywords of every decoder. draft_law: the draft's own, if any.
    cache: SSD's settings.
    """

    target: TableModel
    draft: TableModel
    prompt: list[int]
    max_new_tokens: int
    lookahead: int
    law: dict[str, Any] = field(default_factory=dict)
    draft_law: dict[str, Any] = field(default_factory=dict)
    cache: dict[str, Any] = field(default_factory=dict)

    @property
    def size(self) -> tuple[int, int, int]:
        """(V, K, N): vocabulary, lookahead, new tokens."""
        return self.target.vocabulary, self.lookahead, self.max_new_tokens

    def ar(self) -> dict[str, Any]:
        """Keywords of `autoregressive`, but for the randomness."""
        return {"max_new_tokens": self.max_new_tokens, **self.law}

    def sd(self) -> dict[str, Any]:
        """Keywords of `speculative`."""
        return {**self.ar(), "lookahead": self.lookahead, **self.draft_law}

    def ssd(self) -> dict[str, Any]:
        """Keywords of `ssd`."""
        return {**self.sd(), **self.cache}

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Hypothesis prints counter-examples through this."""
        printer.text(repr(self))

    def __repr__(self) -> str:
        """A small table that a person can check by hand: integer weights, one row a context."""
        V, K, N = self.size
        lines = [f"V={V} K={K} N={N} prompt={self.prompt}"]
        lines += [f"{k}={v}" for k, v in {**self.law, **self.draft_law, **self.cache}.items()]
        for name, model in (("target", self.target), ("draft", self.draft)):
            for context in np.ndindex(model.table.shape[:-1]):
                row = " ".join(f"{p:.4f}" for p in model.table[context])
                lines.append(f"{name:6} {''.join(map(str, context)) or '-':>3} | {row}")
        return "\n".join(lines)


def most_leaves(vocabulary: int, lookahead: int, max_new_tokens: int) -> int:
    """Leaves of SD's or SSD's decision tree at most, with lazy commitment.

    A drafted token has V values; those with q > p can be rejected, and the residual then covers the
    others: at most V^2/4 pairs. All accepted: V bonus tokens.
    """
    V = vocabulary
    leaves = [1]
    for room in range(1, max_new_tokens + 1):
        n = min(lookahead, room)
        rejected = sum(V**i * (V * V // 4) * leaves[room - i - 1] for i in range(n))
        leaves.append(rejected + V ** (n + 1) * leaves[max(room - n - 1, 0)])
    return leaves[max_new_tokens]


def sizes(
    most: int = 10_000,
    vocabularies: tuple[int, ...] = (2, 3, 4),
    lookaheads: tuple[int, ...] = (0, 1, 2, 3),
    lengths: tuple[int, ...] = (0, 1, 2, 3, 4, 5),
) -> st.SearchStrategy[tuple[int, int, int]]:
    """Triples (V, K, N) whose decision tree has at most `most` leaves."""
    return st.sampled_from(
        [
            (V, K, N)
            for V in vocabularies
            for K in lookaheads
            for N in lengths
            if most_leaves(V, K, N) <= most
        ]
    )


@st.composite
def tables(
    draw: st.DrawFn, vocabulary: int, order: int | None = None, zeros: bool | None = None
) -> TableModel:
    """A law of the next token given the last `order` (0, 1 or 2) tokens, with or without zeros."""
    V = vocabulary
    m = draw(st.integers(0, 2)) if order is None else order
    least = 0 if (draw(st.booleans()) if zeros is None else zeros) else 1
    row = st.lists(st.integers(least, 6), min_size=V, max_size=V).filter(any)
    rows = draw(st.lists(row, min_size=V**m, max_size=V**m))
    weights = np.array(rows, dtype=np.float64).reshape((V,) * (m + 1))
    return TableModel(weights / weights.sum(-1, keepdims=True))


@st.composite
def truncations(draw: st.DrawFn, vocabulary: int, prefix: str = "") -> dict[str, Any]:
    """Temperature, top-k and top-p of one side, as keywords with `prefix`."""
    return {
        f"{prefix}temperature": draw(st.sampled_from([1.0, 0.0, 0.5, 2.0])),
        f"{prefix}top_k": draw(st.none() | st.integers(1, vocabulary)),
        f"{prefix}top_p": draw(st.none() | st.sampled_from(TOP_P)),
    }


@st.composite
def caches(draw: st.DrawFn, vocabulary: int, lookahead: int) -> dict[str, Any]:
    """SSD's keywords: both fan-out lists (zeros, unequal, above V), C and both its ends, backup."""
    widths = st.lists(
        st.integers(0, vocabulary + 1), min_size=lookahead + 1, max_size=lookahead + 1
    )
    return {
        "fan_out": draw(widths),
        "fan_out_miss": draw(st.none() | widths),
        "saguaro_c": draw(st.sampled_from([1.0, 0.0, 0.1, 0.5]) | st.floats(0, 1)),
        "backup": draw(st.sampled_from(["draft", "uniform"])),
    }


@st.composite
def cases(draw: st.DrawFn, /, plain: bool = False, most: int = 10_000, **limits: Any) -> Case:
    """Decoding tasks; `plain`: positive temperature and no truncation on either side.

    A truncated or greedy law has few texts, so a suite should draw at least half its cases plain.
    """
    V, K, N = draw(sizes(most, **limits))
    law: dict[str, Any]
    if plain:
        law = {"temperature": draw(st.sampled_from([1.0, 0.5, 2.0]))}
        draft_law = {"draft_temperature": draw(st.none() | st.sampled_from([0.7, 1.5]))}
    else:
        law = draw(truncations(V))
        draft_law = draw(st.just({}) | truncations(V, "draft_"))
    law["eos"] = draw(st.none() | st.integers(0, V - 1))
    return Case(
        target=draw(tables(V)),
        draft=draw(tables(V)),
        prompt=draw(st.lists(st.integers(0, V - 1), max_size=3)),
        max_new_tokens=N,
        lookahead=K,
        law=law,
        draft_law=draft_law,
        cache=draw(caches(V, K)),
    )
