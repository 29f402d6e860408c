# loses: 6.3/values 6.3/lagrange
# says: guesses are given in proportion to the weights


def shares(weights, exponent, budget):
    return [budget * w / sum(weights) for w in weights]
