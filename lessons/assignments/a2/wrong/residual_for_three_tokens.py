# loses: 2.2/laws 2.2/zeros 2.2/equal 2.2/tidy
# says: the vocabulary's size is written into the code


def residual(p, q):
    missing = [max(p[i] - q[i], 0) for i in range(3)]
    total = sum(missing)
    return np.array(missing) / total if total else p
