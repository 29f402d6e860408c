"""Recursion with a memory; tuples and NumPy integers come back; the last slot first."""

from functools import cache

import numpy as np


def outcome_weights(a, lookahead):
    chances, alive = [], 1.0
    for _ in range(lookahead):
        chances.append(alive * (1 - a))
        alive *= a
    return np.array([*chances, alive])


def tokens_per_round(a, lookahead):
    if a == 1:
        return lookahead + 1
    return (1 - a ** (lookahead + 1)) / (1 - a)


def shares(weights, exponent, budget):
    parts = [w ** (1 / (1 + exponent)) for w in weights]
    total = sum(parts)
    return tuple(budget * part / total for part in parts)


def search(weights, miss, rows, budget):
    @cache
    def best(slots, left):
        if slots == 0:
            return 0.0, ()
        options = []
        for f in range(left // rows[slots - 1] + 1):
            rate, widths = best(slots - 1, left - f * rows[slots - 1])
            options.append((rate + weights[slots - 1] * miss(f), (*widths, f)))
        return min(options, key=lambda option: option[0])

    return best(len(weights), budget)[1]


def allocate(weights, miss, budget):
    return np.array(search(weights, miss, (1,) * len(weights), budget))


def allocate_rows(weights, miss, rows, budget):
    return search(weights, miss, tuple(rows), budget)
