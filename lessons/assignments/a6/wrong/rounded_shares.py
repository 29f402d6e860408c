# loses: 6.4/falling 6.4/budget 6.4/trap 6.4/any
# says: each share is rounded by itself


def allocate(weights, miss, budget):
    return [round(f) for f in shares(weights, 1.0, budget)]
