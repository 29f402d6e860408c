# loses: 5.1/values 5.1/limits 5.1/greedy
# says: the weight acts on the logits before the temperature does


def sigma(logits, temperature, width, c):
    z = logits.copy()
    z[np.argsort(-logits, kind="stable")[:width]] += np.log(c)
    return Law(temperature).rows(z[None])[0]
