# loses: 2.2/equal
# says: two equal rows have no residual: 0/0


def residual(p, q):
    missing = np.maximum(p - q, 0)
    return missing / missing.sum()
