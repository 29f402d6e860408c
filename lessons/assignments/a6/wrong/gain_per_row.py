# loses: 6.4/trap 6.4/any 6.5/rows
# says: the largest gain per row is taken first
"""Written from the sheet alone."""


def allocate_rows(weights, miss, rows, budget):
    widths = [0 for _ in weights]
    left = budget
    while True:
        best, best_k = 0, None
        for k in range(len(weights)):
            if rows[k] <= left:
                value = weights[k] * (miss(widths[k]) - miss(widths[k] + 1)) / rows[k]
                if value > best:
                    best, best_k = value, k
        if best_k is None:
            return widths
        widths[best_k] += 1
        left -= rows[best_k]
