"""From differences, by bisection, and with a table of rows spent."""


def outcome_weights(a, lookahead):
    reach = [a**k for k in range(lookahead + 1)]
    return [here - after for here, after in zip(reach, [*reach[1:], 0])]


def tokens_per_round(a, lookahead):
    return sum((k + 1) * w for k, w in enumerate(outcome_weights(a, lookahead)))


def shares(weights, exponent, budget):
    """By bisection on Lagrange's multiplier."""
    low, high = -100.0, 100.0
    for _ in range(200):
        middle = (low + high) / 2
        total = sum((w * 2.0**-middle) ** (1 / (1 + exponent)) for w in weights)
        low, high = (middle, high) if total > budget else (low, middle)
    return [(w * 2.0**-low) ** (1 / (1 + exponent)) for w in weights]


def allocate(weights, miss, budget):
    return allocate_rows(weights, miss, [1] * len(weights), budget)


def allocate_rows(weights, miss, rows, budget):
    tables = {0: (0.0, [])}  # rows spent -> the best so far
    for w, cost in zip(weights, rows):
        new = {}
        for spent, (rate, widths) in tables.items():
            for f in range((budget - spent) // cost + 1):
                key, value = spent + f * cost, rate + w * miss(f)
                if key not in new or value < new[key][0]:
                    new[key] = (value, [*widths, f])
        tables = new
    return min(tables.values())[1]
