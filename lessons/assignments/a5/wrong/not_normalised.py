# loses: 5.1/values 5.1/limits 5.1/greedy
# says: the law is not normalised after the weight


def sigma(logits, temperature, width, c):
    q = Law(temperature).rows(logits[None])[0]
    q[np.argsort(-logits, kind="stable")[:width]] *= c
    return q
