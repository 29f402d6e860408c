# loses: 5.1/limits 5.1/greedy
# says: where nothing is left at c = 0 it divides 0 by 0


def sigma(logits, temperature, width, c):
    q = Law(temperature).rows(logits[None])[0]
    q[np.argsort(-logits, kind="stable")[:width]] *= c
    return q / q.sum()
