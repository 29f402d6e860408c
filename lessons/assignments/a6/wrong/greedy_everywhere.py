# loses: 6.4/trap 6.4/any
# says: the best next guess is taken again and again; where the first guess gains little and the second much, that fails


def allocate(weights, miss, budget):
    widths = [0] * len(weights)
    for _ in range(budget):
        gains = [w * (miss(f) - miss(f + 1)) for w, f in zip(weights, widths)]
        widths[gains.index(max(gains))] += 1
    return widths
