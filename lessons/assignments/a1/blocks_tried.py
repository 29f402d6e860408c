"""What tasks 1.3 and 1.4 are tried on: attention and blocks, with an oracle that has no cache."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from lessons.assignments.a1.reference import Array, Cache, OneLayer
from lessons.assignments.cases import Generator
from lessons.assignments.trials import runs
from ssd_ref.testing.check import Trial
from ssd_ref.testing.trials import gives

# Task 1.3


def numbers(rng: Generator, *shape: int) -> Array:
    """Numbers that one can write down."""
    values: Array = rng.integers(-20, 21, shape) / 10
    return values


def read_by(query: Array, keys: Array, values: Array) -> Array:
    """The oracle: one query that sees all the keys it is given."""
    scores = [math.fsum(query * key) / math.sqrt(len(query)) for key in keys]
    weights = [math.exp(score - max(scores)) for score in scores]
    read = np.array([w * v for w, v in zip(weights, values, strict=True)]).sum(0)
    return np.asarray(read / sum(weights))


def attends(rng: Generator, first: int, n: int, left_over: int, C: int = 2) -> Trial:
    q = numbers(rng, n, C)
    keys, values = (numbers(rng, first + n + left_over, C) for _ in range(2))
    expected = [read_by(q[i], keys[: first + i + 1], values[: first + i + 1]) for i in range(n)]
    return gives(np.reshape(expected, (n, C)), q, keys, values, first)


def one_query(rng: Generator) -> list[Trial]:
    return [attends(rng, first, 1, 0, C) for first, C in ((1, 2), (0, 2), (4, 3), (6, 4))]


def block_of_queries(rng: Generator) -> list[Trial]:
    return [
        attends(rng, first, n, 0, C) for first, n, C in ((0, 2, 2), (1, 2, 2), (3, 3, 2), (2, 4, 3))
    ]


def stale_slots(rng: Generator) -> list[Trial]:
    return [
        attends(rng, first, n, more, C)
        for first, n, more, C in ((1, 1, 1, 2), (0, 2, 3, 2), (3, 3, 2, 3))
    ]


# Task 1.4

SLOTS = 8


def one_layer(rng: Generator, V: int, C: int = 2) -> OneLayer:
    return OneLayer(
        numbers(rng, V, C), numbers(rng, SLOTS, C), *(numbers(rng, C, C) for _ in range(3))
    )


def without_a_cache(model: OneLayer, text: Sequence[int]) -> list[Array]:
    """The oracle: a row for each token, each from the whole text before it."""
    x = np.array([model.embedding[t] + model.position[i] for i, t in enumerate(text)])
    keys, values = x @ model.key, x @ model.value
    read = [read_by(x[i] @ model.query, keys[: i + 1], values[: i + 1]) for i in range(len(x))]
    return [(x[i] + read[i]) @ model.embedding.T for i in range(len(x))]


Step = list[int] | int  # tokens to read, or a length to rewind to


def reads(rng: Generator, steps: Sequence[Step], V: int = 3) -> Trial:
    """All rows that `steps` give, on a cache full of left-overs, and its length afterwards."""
    model = one_layer(rng, V)
    leftovers = numbers(rng, 2, SLOTS, 2) + 0.05
    text: list[int] = []
    expected: list[Any] = []
    for step in steps:
        if isinstance(step, int):
            text = text[:step]
        else:
            text += step
            expected += without_a_cache(model, text)[len(text) - len(step) :]

    def rows(answer: Any) -> list[Any]:
        cache, got = Cache(leftovers[0].copy(), leftovers[1].copy()), list[Any]()
        for step in steps:
            if isinstance(step, int):
                cache.rewind(step)
            else:
                got += list(answer(model, cache, list(step)))
        return [*got, cache.length]

    words = ", then ".join(f"rewind({s})" if isinstance(s, int) else f"read {s}" for s in steps)
    arrays = "\n".join(f"{name} = {value.tolist()}" for name, value in vars(model).items())
    return runs(f"the rows of: {words}; and cache.length\n{arrays}", [*expected, len(text)], rows)


def at_once(rng: Generator) -> list[Trial]:
    return [reads(rng, [text]) for text in ([1], [0, 1], [0, 2, 1, 1, 0])] + [
        reads(rng, [[3, 0, 4]], V=5)
    ]


def in_pieces(rng: Generator) -> list[Trial]:
    pieces: list[list[Step]] = [
        [[0], [1]],
        [[0], [2], [1]],
        [[0, 2], [1, 1]],
        [[1, 0, 2], [], [1], [0, 1]],
    ]
    return [reads(rng, steps) for steps in pieces]


def after_a_rewind(rng: Generator) -> list[Trial]:
    steps: list[list[Step]] = [
        [[0, 2], 1, [1]],
        [[0, 2, 1, 1], 2, [0]],
        [[0, 1, 2], 0, [2, 1]],
        [[1, 1, 0, 2], 3, [1], 1, [2, 2]],
    ]
    return [reads(rng, each) for each in steps]
