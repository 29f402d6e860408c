"""What tasks 5.1, 5.2 and 5.4 are tried on: Saguaro's law, drafts from it, and its weight."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lessons.assignments import cases
from lessons.assignments.cases import Generator
from lessons.assignments.trials import leaves_alone, runs
from ssd_ref.exact_law import Decode
from ssd_ref.models import Row, TableModel
from ssd_ref.randomness import Randomness, SeededRandomness, Site
from ssd_ref.testing.check import Trial, Wrong
from ssd_ref.testing.same import Words, same
from ssd_ref.testing.target_law import next_law
from ssd_ref.testing.trials import called, gives, has_law

# Task 5.1


def lowered(z: Sequence[float], temperature: float, width: int, c: float) -> list[float]:
    """The oracle: token by token."""
    q = next_law(z, temperature, None, None)
    guessed = sorted(range(len(q)), key=lambda t: (-z[t], t))[:width]
    scaled = [p * c if t in guessed else p for t, p in enumerate(q)]
    total = sum(scaled)
    return [s / total for s in scaled] if total > 0 else q


def bends(z: Sequence[float], temperature: float, width: int, c: float) -> Trial:
    row = np.array(z, dtype=float)
    expected = lowered(row.tolist(), temperature, width, c)
    return gives(expected, row, temperature, width, c, tolerance=1e-12)


def sigma_values(rng: Generator) -> list[Trial]:
    by_hand = [
        ([2.0, 1.0, 0.0], 0.5, 1, 0.5),
        ([2.0, 1.0, 0.0], 1.0, 2, 0.25),
        ([1.0, 2.0, 2.0, 0.0], 2.0, 1, 0.5),
    ]
    random = [
        (
            rng.integers(-2, 4, V).tolist(),
            float(rng.choice([0.5, 1, 2])),
            int(rng.integers(1, V)),
            float(rng.choice([0.2, 0.5, 0.8])),
        )
        for V in (3, 4, 6, 8)
    ]
    tidy = leaves_alone(np.array([1.0, 0.5, 0.0]), 1.0, 2, 0.5)
    return [*(bends(*case) for case in [*by_hand, *random]), tidy]


def sigma_limits(rng: Generator) -> list[Trial]:
    z = [2.0, 1.0, 0.0]
    edges = [
        (z, 1.0, 3, 0.0),
        (z, 1.0, 2, 0.0),
        (z, 1.0, 0, 0.3),
        (z, 1.0, 9, 0.3),
        (z, 0.7, 2, 1.0),
        ([0.0, -np.inf, -np.inf], 1.0, 1, 0.0),
        ([-np.inf, 0.0, 1.0], 1.0, 3, 0.5),
    ]
    return [bends(*case) for case in edges]


def sigma_greedy(rng: Generator) -> list[Trial]:
    rows = ([1.0, 3.0, 3.0], [2.0, 2.0, 2.0], rng.integers(0, 3, 5).tolist())
    return [bends(z, 0.0, width, c) for z in rows for width, c in ((1, 0.5), (2, 0.0), (0, 0.3))]


# Task 5.2


@dataclass(frozen=True)
class Chain:
    """A call of `speculate`; the fields are its arguments."""

    draft: TableModel
    text: tuple[int, ...]
    n: int
    eos: int | None
    widths: tuple[int, ...]
    c: float
    temperature: float
    uniform: bool = False

    def __str__(self) -> str:
        fields = {name: value for name, value in vars(self).items() if name != "draft"}
        line = " ".join(f"{name}={value}" for name, value in fields.items())
        return "\n".join([line, *cases.rows("draft", self.draft)])

    def run(self, answer: Any, randomness: Randomness) -> Any:
        return answer(*vars(self).values(), 1, None, randomness)

    def law_after(self, tokens: Sequence[int]) -> list[float]:
        """The oracle's law of the next token."""
        if self.uniform:
            return [1 / self.draft.vocabulary] * self.draft.vocabulary
        z = self.draft.logits_after([*self.text, *tokens]).tolist()
        return lowered(z, self.temperature, self.widths[len(tokens)], self.c)

    def ended(self, tokens: Sequence[int]) -> bool:
        return len(tokens) == self.n or (self.eos is not None and self.eos in tokens)

    def law(self) -> dict[tuple[int, ...], float]:
        """The oracle's law of all tokens, multiplied out."""
        law: dict[tuple[int, ...], float] = {}
        waiting: list[tuple[tuple[int, ...], float]] = [((), 1.0)]
        while waiting:
            tokens, weight = waiting.pop()
            if self.ended(tokens):
                law[tokens] = weight
                continue
            waiting += [
                ((*tokens, t), weight * p) for t, p in enumerate(self.law_after(tokens)) if p
            ]
        return law


def chain_law(chain: Chain) -> Trial:
    def decoder(answer: Any) -> Decode:
        return lambda r: chain.run(answer, r).tokens

    return has_law(f"the drafted tokens of {chain}", decoder, chain.law(), marginalise=False)


def chain_laws(rng: Generator) -> list[Trial]:
    by_hand = Chain(TableModel([[0.7, 0.3], [0.4, 0.6]]), (0,), 2, None, (1, 2, 1), 0.5, 1.0)
    uneven = Chain(cases.table(rng, 3, 1), (0, 2), 2, None, (1, 2, 1), 0.25, 1.0)
    random = [
        Chain(
            cases.table(rng, V, m, zeros=True),
            (1, 0),
            n,
            eos,
            tuple(rng.integers(0, 3, n + 1).tolist()),
            0.4,
            T,
        )
        for V, m, n, eos, T in (
            (2, 1, 3, None, 1.0),
            (3, 2, 2, None, 0.5),
            (3, 1, 3, 0, 2.0),
            (2, 0, 0, None, 1.0),
        )
    ]
    return [chain_law(chain) for chain in (by_hand, uneven, *random)]


def carries(chain: Chain, seed: int) -> Trial:
    def tokens_and_rows(answer: Any) -> Any:
        speculation = chain.run(answer, SeededRandomness(seed))
        return list(speculation.tokens), speculation.rows

    tokens: list[int] = []
    rows = []
    while not chain.ended(tokens):
        rows.append(chain.law_after(tokens))
        tokens.append(SeededRandomness(seed).choose(rows[-1], Site(0, 1, "draft", len(tokens))))
    return runs(f"tokens and rows of {chain}", (tokens, rows), tokens_and_rows)


def chain_rows(rng: Generator) -> list[Trial]:
    shapes = [((1, 2, 1), 0.5, 1.0), ((2, 1, 0), 0.3, 0.5), ((1, 1, 1), 0.0, 1.0)]
    return [
        carries(Chain(cases.table(rng, 3, 1), (0, 1), 2, None, *shape), seed)
        for shape in shapes
        for seed in (1, 2)
    ]


def chain_uniform(rng: Generator) -> list[Trial]:
    chains = [
        Chain(cases.table(rng, V, 1), (0,), 2, eos, (1, 1, 1), 0.3, T, uniform=True)
        for V, eos, T in ((2, None, 1.0), (3, 1, 1.0), (3, None, 0.0))
    ]
    return [*(chain_law(chain) for chain in chains), *(carries(chain, 3) for chain in chains)]


# Task 5.4


def brings(law: Row, guessed: list[int], mass: float) -> Trial:
    """What sigma leaves on the guessed tokens at the answer's c must be `mass`."""

    def trial(answer: Callable[..., Any]) -> None:
        text, c = called(answer, law, guessed, mass)
        total = law[guessed].sum()
        right = 1.0 if mass in (1.0, total) else mass * (1 - total) / (total * (1 - mass))
        if not same(c, float(right)):
            raise Wrong(text, Words(f"the c that leaves {mass:.4f} of {total:.4f}: {right:.6g}"), c)

    return trial


def weight_values(rng: Generator) -> list[Trial]:
    by_hand = [(np.array([0.5, 0.3, 0.2]), [0], 0.25), (np.array([0.5, 0.3, 0.2]), [1, 2], 0.2)]
    random = []
    for V in (3, 4, 6):
        law, guessed = cases.law(rng, V), rng.permutation(V)[: V - 2].tolist()
        random.append((law, guessed, float(law[guessed].sum() * rng.uniform(0.2, 0.9))))
    return [brings(*case) for case in [*by_hand, *random]]


def weight_edges(rng: Generator) -> list[Trial]:
    law, half = np.array([0.25, 0.5, 0.25]), np.array([0.5, 0.5])
    return [
        brings(law, [1], 0.0),
        brings(law, [1], 0.5),
        brings(half, [0, 1], 1.0),
        brings(half, [1], 0.5),
    ]
