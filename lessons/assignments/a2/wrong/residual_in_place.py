# loses: 2.2/tidy
# says: the arguments are written to


def residual(p, q):
    if (p == q).all():
        return p
    p -= q
    p[p < 0] = 0
    p /= p.sum()
    return p
