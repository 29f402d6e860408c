# whole
# loses: 6.3/lagrange 6.4/falling 6.4/budget 6.4/trap 6.4/any 6.5/rows
# says: the shares do not add up to the budget
# says: every share is cut to a whole number: guesses are left over
"""Written from the sheet alone, without sight of the package."""

import math


def outcome_weights(a, lookahead):
    result = []
    for k in range(lookahead):
        result.append(a**k * (1 - a))
    result.append(a**lookahead)
    return result


def tokens_per_round(a, lookahead):
    total = 0
    for k, w in enumerate(outcome_weights(a, lookahead)):
        total += w * (k + 1)
    return total


def shares(weights, exponent, budget):
    total = sum(weights)
    f0 = (
        budget / sum(w ** (1 / (1 + exponent)) for w in weights)
        if abs(total - 1) < 1e-9
        else budget
    )
    return [f0 * w ** (1 / (1 + exponent)) for w in weights]


def allocate(weights, miss, budget):
    r = 1.0
    parts = [math.sqrt(w) for w in weights]
    return [math.floor(budget * part / sum(parts)) for part in parts]


def allocate_rows(weights, miss, rows, budget):
    per_guess = max(rows)
    return allocate(weights, miss, budget // per_guess)
