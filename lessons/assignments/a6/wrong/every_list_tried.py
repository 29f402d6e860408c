# loses: 6.4/any
# says: it had not ended after 10 s
# sandbox
"""Written from the sheet alone: right, but it tries every list."""


def lists(slots, budget):
    if slots == 0:
        yield ()
        return
    for first in range(budget + 1):
        for rest in lists(slots - 1, budget - first):
            yield (first, *rest)


def allocate(weights, miss, budget):
    def rate(widths):
        return sum(w * miss(f) for w, f in zip(weights, widths))

    return min(lists(len(weights), budget), key=rate)
