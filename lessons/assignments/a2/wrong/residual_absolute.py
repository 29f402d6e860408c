# loses: 2.2/laws 2.2/zeros 2.2/equal
# says: |p - q| takes the place of (p - q)_+


def residual(p, q):
    gap = abs(p - q)
    return gap / gap.sum()
