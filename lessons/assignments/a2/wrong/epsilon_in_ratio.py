# loses: 2.1/laws 2.1/edges 2.1/greedy
# says: an epsilon stands in the denominator


def is_kept(p, q, token, u):
    return u < p[token] / (q[token] + 1e-8)
