# loses: 6.1/values 6.1/edges 6.2/values 6.3/values 6.3/lagrange 6.4/trap 6.4/any 6.5/rows
# says: the last outcome, all accepted, is multiplied by 1 - a
# says: it says a K + 1
# says: the weights are raised to 1/r
# says: where the first one gains nothing, it stops too early
# says: the largest gain per row
"""Written from the sheet alone.

Shares proportional to w^(1/r); always takes the best next guess; rows are paid by the best gain
a row; the last outcome is like the others.
"""


def outcome_weights(a: float, lookahead: int) -> list[float]:
    return [a**k * (1 - a) for k in range(lookahead + 1)]


def tokens_per_round(a: float, lookahead: int) -> float:
    return a * lookahead + 1


def shares(weights: Sequence[float], exponent: float, budget: float) -> list[float]:
    powers = np.asarray(weights, dtype=float) ** (1 / exponent)
    return [float(f) for f in budget * powers / powers.sum()]


def allocate_rows(
    weights: Sequence[float], miss: MissCurve, rows: Sequence[int], budget: int
) -> tuple[int, ...]:
    chosen = [0] * len(weights)
    while True:
        gains = {
            k: weights[k] * (miss(f) - miss(f + 1)) / rows[k]
            for k, f in enumerate(chosen)
            if rows[k] <= budget
        }
        if not gains or max(gains.values()) <= 0:
            return tuple(chosen)
        best = max(gains, key=lambda k: gains[k])
        chosen[best] += 1
        budget -= rows[best]


def allocate(weights: Sequence[float], miss: MissCurve, budget: int) -> tuple[int, ...]:
    return allocate_rows(weights, miss, [1] * len(weights), budget)
