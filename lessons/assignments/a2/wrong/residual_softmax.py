# loses: 2.2/laws 2.2/zeros 2.2/equal
# says: a softmax makes a law of the missing mass


def residual(p, q):
    weights = np.exp(np.maximum(p - q, 0))
    return weights / weights.sum()
