# loses: 6.2/edges 6.4/trap 6.4/any
# says: a formula divides by 1 - a, which may be 0
# says: where the first one gains nothing, it stops too early
"""Two faults in two tasks, both at an edge."""


def tokens_per_round(a, lookahead):
    return (1 - a ** (lookahead + 1)) / (1 - a)


def allocate(weights, miss, budget):
    widths = [0] * len(weights)
    for _ in range(budget):
        gains = [w * (miss(f) - miss(f + 1)) for w, f in zip(weights, widths)]
        if max(gains) <= 0:
            break
        widths[gains.index(max(gains))] += 1
    return widths
