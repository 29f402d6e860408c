"""Assignment 1: laws, a KV cache, and one token after another.

A law is a NumPy array of V probabilities, float64, that sum to 1. Logits are V numbers; -inf means
probability 0. `sheet.md` says what each task asks for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ssd_ref import Model, Site
from ssd_ref.models import Row
from ssd_ref.randomness import Randomness

### BEGIN SOLUTION
from ssd_ref.autoregressive import autoregressive
from ssd_ref.laws import Law
### END SOLUTION

Array = NDArray[np.float64]


@dataclass
class Cache:
    """Given: what a :class:`OneLayer` keeps of the tokens it has read, one slot a token.

    keys, values: (slots, C). Slots 0..length-1 hold the text. Slots behind it hold what an earlier
    text has left there: it means nothing any more, and is never 0.
    """

    keys: Array
    values: Array
    length: int = 0

    def rewind(self, length: int) -> None:
        """Forget every token from position `length` on. Nothing is erased."""
        self.length = length


@dataclass(frozen=True)
class OneLayer:
    """Given: one layer of attention over a vocabulary of V tokens, with C numbers a token.

    embedding: (V, C). position: (slots, C). query, key, value: (C, C).
    """

    embedding: Array
    position: Array
    query: Array
    key: Array
    value: Array

    def embedded(self, tokens: Sequence[int], positions: Sequence[int]) -> Array:
        """The tokens (n, C), each at its position in the text (0 is the first)."""
        x: Array = self.embedding[list(tokens)] + self.position[list(positions)]
        return x

    def projected(self, x: Array) -> tuple[Array, Array, Array]:
        """Queries, keys and values (n, C) each."""
        return x @ self.query, x @ self.key, x @ self.value

    def logits(self, x: Array, read: Array) -> Array:
        """Logits (n, V) of what follows each token; read (n, C): what it got from attention."""
        logits: Array = (x + read) @ self.embedding.T
        return logits


def with_temperature(logits: Row, temperature: float) -> Row:
    """Task 1.1: the law (V,) of logits (V,) at this temperature, >= 0.

    At 0 it is certain that the token of the largest logit comes, the first one among equals.
    Leaves `logits` as it is.
    """
    ### BEGIN SOLUTION
    return np.asarray(Law(temperature).rows(logits[None])[0])
    ### END SOLUTION


def truncated(law: Row, top_k: int | None, top_p: float | None) -> Row:
    """Task 1.2: the law with only its likeliest tokens; top-k comes first, then top-p.

    top_k: so many are kept. top_p: the likeliest are kept until their sum reaches top_p; the one
    that reaches it is kept. Among equals the lower token comes first. None: no such truncation.
    Leaves `law` as it is.
    """
    ### BEGIN SOLUTION
    return np.asarray(Law(1.0, top_k, top_p)._truncated(law[None])[0])
    ### END SOLUTION


def attend(queries: Array, keys: Array, values: Array, first: int) -> Array:
    """Task 1.3: what each query reads, (n, C).

    queries: (n, C), of the tokens at positions first, .., first + n - 1. keys, values: (slots, C),
    a whole cache; slot j belongs to position j. Scores are divided by the square root of C.
    """
    ### BEGIN SOLUTION
    seen = np.arange(len(keys)) <= first + np.arange(len(queries))[:, None]  # (n, slots)
    scores = np.where(seen, queries @ keys.T / np.sqrt(keys.shape[1]), -np.inf)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    read: Array = weights / weights.sum(axis=1, keepdims=True) @ values
    return read
    ### END SOLUTION


def read_block(model: OneLayer, cache: Cache, tokens: Sequence[int]) -> Array:
    """Task 1.4: read `tokens` behind what the cache holds; the logits (n, V) after each of them.

    One pass for the whole block. Afterwards the cache holds them, too, and `cache.length` says so.
    """
    ### BEGIN SOLUTION
    first, behind = cache.length, cache.length + len(tokens)
    x = model.embedded(tokens, range(first, behind))
    q, cache.keys[first:behind], cache.values[first:behind] = model.projected(x)
    cache.length = behind
    return model.logits(x, attend(q, cache.keys, cache.values, first))
    ### END SOLUTION


def decode(
    target: Model,
    prompt: Sequence[int],
    *,
    max_new_tokens: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    eos: int | None = None,
    randomness: Randomness,
) -> list[int]:
    """Task 1.5: up to `max_new_tokens` tokens behind `prompt`, each drawn from the target's law.

    The text ends behind `eos`, which belongs to it. The prompt holds at least one token. Returns
    the new tokens only. `session = target.start(tokens)` has read `tokens`;
    `session.extend(tokens)` reads more, and gives the logits (n, V) of what follows each of them.
    """

    def drawn(law: Row, index: int) -> int:
        """Given: draws the new token number `index` (0 is the first) from its law (V,)."""
        return randomness.choose(law, Site(randomness.sequence, index + 1, "bonus", 0))

    ### BEGIN SOLUTION
    return autoregressive(
        target, prompt, max_new_tokens=max_new_tokens, temperature=temperature,
        top_k=top_k, top_p=top_p, eos=eos, randomness=randomness,
    ).tokens  # fmt: skip
    ### END SOLUTION


def scores(
    target: Model, prompt: Sequence[int], candidates: Sequence[Sequence[int]]
) -> list[float]:
    """Task 1.6: for each candidate, the log-probability that the target continues by it.

    Temperature 1, no truncation. A candidate may be empty, or impossible (-inf). There is one
    session: the prompt (at least one token) is read once, each candidate in one block, and
    `session.rewind(length)` makes the session forget what comes behind `length` tokens.
    """
    ### BEGIN SOLUTION
    session = target.start(prompt[:-1])
    found = []
    for candidate in candidates:
        logits = session.extend([prompt[-1], *candidate])[:-1]
        session.rewind(len(prompt) - 1)
        with np.errstate(divide="ignore"):
            logs = np.log(Law().rows(logits)) if candidate else np.empty((0, target.vocabulary))
        found.append(float(sum(row[token] for row, token in zip(logs, candidate, strict=True))))
    return found
    ### END SOLUTION
