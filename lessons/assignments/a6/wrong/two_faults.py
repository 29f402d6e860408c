# loses: 6.1/values 6.1/edges 6.3/values 6.3/lagrange
# says: these are the chances that at least k are accepted
# says: the weights are raised to 1/r
"""Two faults in two tasks: each is named."""


def outcome_weights(a, lookahead):
    return [a**k for k in range(lookahead + 1)]


def shares(weights, exponent, budget):
    parts = np.array(weights) ** (1 / exponent)
    return budget * parts / parts.sum()
