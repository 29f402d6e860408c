"""Small random tables, so that a failing case can be checked by hand: integer weights, divided."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ssd_ref.models import Row, TableModel
from ssd_ref.testing.target_law import OutputLaw, target_law

Generator = np.random.Generator


def law(rng: Generator, vocabulary: int, zeros: bool = False) -> Row:
    """A law (V,): weights 1..5, or 0..5 with at least one zero and one other."""
    weights = rng.integers(0 if zeros else 1, 6, vocabulary)
    if zeros:
        weights[rng.integers(vocabulary)] = 0
        weights[(weights.argmin() + rng.integers(1, vocabulary)) % vocabulary] += 1
    row: Row = weights / weights.sum()
    return row


def table(rng: Generator, vocabulary: int, order: int, zeros: bool = False) -> TableModel:
    """The law of the next token given the last `order` tokens."""
    contexts = vocabulary**order
    rows = [law(rng, vocabulary, zeros and bool(rng.integers(2))) for _ in range(contexts)]
    return TableModel(np.reshape(rows, (vocabulary,) * (order + 1)))


def drawn(rng: Generator, p: Row) -> int:
    """A token that can have been drawn from p."""
    return int(rng.choice(np.flatnonzero(p)))


@dataclass(frozen=True)
class Setting:
    """A decoding task small enough to be enumerated; prints as a table that one can check by hand.

    law: more keywords of every decoder (temperature, eos, ..). more: those of SD or SSD alone.
    """

    target: TableModel
    draft: TableModel
    lookahead: int
    max_new_tokens: int
    prompt: tuple[int, ...] = (0,)
    law: dict[str, Any] = field(default_factory=dict)
    more: dict[str, Any] = field(default_factory=dict)

    def expected(self) -> OutputLaw:
        return target_law(self.target, self.prompt, max_new_tokens=self.max_new_tokens, **self.law)

    def sd(self) -> dict[str, Any]:
        """Keywords of `speculative` and `ssd`, but for the randomness."""
        sizes = {"max_new_tokens": self.max_new_tokens, "lookahead": self.lookahead}
        return {**sizes, **self.law, **self.more}

    def __str__(self) -> str:
        V, K, N = self.target.vocabulary, self.lookahead, self.max_new_tokens
        lines = [f"V={V} K={K} N={N} prompt={list(self.prompt)}"]
        lines += [f"{key}={value}" for key, value in {**self.law, **self.more}.items()]
        lines += [*rows("target", self.target), *rows("draft", self.draft)]
        return "\n".join(lines)


def rows(name: str, model: TableModel) -> list[str]:
    return [
        f"{name:6} after {''.join(map(str, context)) or 'any':>3} | "
        + " ".join(f"{p:.4f}" for p in model.table[context])
        for context in np.ndindex(model.table.shape[:-1])
    ]


def settings(
    rng: Generator, sizes: list[tuple[int, int, int]], zeros: bool = False, **law: Any
) -> list[Setting]:
    """A random setting for each (V, K, N); orders 0, 1, 2 in turn."""
    return [
        Setting(table(rng, V, i % 3, zeros), table(rng, V, i % 3, zeros), K, N, law=law)
        for i, (V, K, N) in enumerate(sizes)
    ]
