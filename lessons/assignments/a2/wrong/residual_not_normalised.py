# loses: 2.2/laws 2.2/zeros
# says: the residual is not normalised: its sum must be 1


def residual(p, q):
    missing = np.maximum(p - q, 0)
    return missing if missing.sum() > 0 else p
