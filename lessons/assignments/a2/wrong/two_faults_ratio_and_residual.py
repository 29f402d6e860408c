# loses: 2.1/laws 2.1/edges 2.2/laws 2.2/zeros
# says: the ratio is upside down
# says: the residual is not normalised
"""Two faults in two tasks: each is named."""


def is_kept(p, q, token, u):
    return p[token] > 0 and u < q[token] / p[token]


def residual(p, q):
    missing = np.maximum(p - q, 0)
    return missing if missing.any() else p
