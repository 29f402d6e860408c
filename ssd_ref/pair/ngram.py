"""A Witten-Bell n-gram over bytes: the yardstick that the target's held-out loss is held against.

A bad target is easy to match, so agreement of draft and target says little unless the target has
learnt the language. Interpolation: P_n(x|c) = (count(cx) + kinds(c) P_{n-1}(x|c')) / (count(c) +
kinds(c)), where kinds(c) is the number of different tokens seen after c and c' drops c's oldest
token; below the unigram lies the uniform law.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class WittenBell:
    """Next-token law from the counts of all contexts shorter than `order` tokens.

    stream: token ids 0..vocabulary-1, shape (tokens,). Contexts at the stream's start are short.
    """

    def __init__(self, stream: Sequence[int], vocabulary: int, order: int = 5) -> None:
        if order < 1 or vocabulary < 1:
            raise ValueError(f"order and vocabulary must be >= 1, got {order} and {vocabulary}")
        tokens = tuple(int(t) for t in stream)
        self.vocabulary, self.order = vocabulary, order
        self.follows: dict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
        for m in range(order):  # m: length of the context
            for i in range(m, len(tokens)):
                self.follows[tokens[i - m : i]][tokens[i]] += 1
        self.totals = {context: seen.total() for context, seen in self.follows.items()}

    def probability(self, context: Sequence[int], token: int) -> float:
        """P(token | context); of the context only the last order-1 tokens count."""
        p = 1.0 / self.vocabulary
        context = tuple(context[max(0, len(context) - self.order + 1) :])
        for m in range(len(context) + 1):
            suffix = context[len(context) - m :]
            total = self.totals.get(suffix)
            if total is None:  # never seen: nor is any longer context
                break
            seen = self.follows[suffix]
            p = (seen.get(token, 0) + len(seen) * p) / (total + len(seen))
        return p

    def row(self, context: Sequence[int]) -> NDArray[np.float64]:
        """The whole law after `context`, shape (vocabulary,)."""
        return np.array([self.probability(context, t) for t in range(self.vocabulary)])

    def losses(self, tokens: Sequence[int]) -> NDArray[np.float64]:
        """Nats of each token given those before it, the first left out: shape (len(tokens)-1,)."""
        history = tuple(int(t) for t in tokens)
        m = self.order - 1
        p = [
            self.probability(history[max(0, i - m) : i], history[i]) for i in range(1, len(history))
        ]
        return -np.log(np.array(p, dtype=np.float64))
