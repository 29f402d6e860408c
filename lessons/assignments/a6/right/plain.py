"""Written out; the base of the stored wrong solutions."""

import numpy as np


def outcome_weights(a, lookahead):
    return [a**k * (1 - a) for k in range(lookahead)] + [a**lookahead]


def tokens_per_round(a, lookahead):
    return sum(a**k for k in range(lookahead + 1))


def shares(weights, exponent, budget):
    parts = np.array(weights) ** (1 / (1 + exponent))
    return list(budget * parts / parts.sum())


def allocate(weights, miss, budget):
    return allocate_rows(weights, miss, [1] * len(weights), budget)


def allocate_rows(weights, miss, rows, budget):
    best = np.zeros(budget + 1)
    choices = []
    for w, cost in zip(weights, rows):
        tried = np.full((budget // cost + 1, budget + 1), np.inf)
        for f in range(budget // cost + 1):
            tried[f, f * cost :] = best[: budget + 1 - f * cost] + w * miss(f)
        choices.append(tried.argmin(axis=0))
        best = tried.min(axis=0)
    left, widths = budget, []
    for choice, cost in zip(reversed(choices), reversed(rows)):
        widths.append(int(choice[left]))
        left -= cost * widths[-1]
    return widths[::-1]
