# loses: 2.2/laws 2.2/zeros 2.2/equal
# says: the rows were rounded to float32


def residual(p, q):
    p, q = p.astype("float32"), q.astype("float32")
    missing = np.maximum(p - q, 0)
    return missing / missing.sum() if missing.any() else p
