# loses: 2.2/laws 2.2/zeros 2.2/equal
# says: an epsilon stands in a denominator


def residual(p, q):
    missing = np.maximum(p - q, 0)
    return missing / (missing.sum() + 1e-8)
