# loses: 2.2/laws 2.2/zeros 2.2/equal
# says: an epsilon is clamped into the residual


def residual(p, q):
    missing = np.clip(p - q, 1e-8, None)
    return missing / missing.sum()
