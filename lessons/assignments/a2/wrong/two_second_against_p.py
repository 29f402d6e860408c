# loses: 2.4/laws 2.4/zeros
# says: the second guess is tested against p, as if the first had not been rejected


def verify_two(p, q, guesses, randomness):
    for i, token in enumerate(guesses):
        keep = min(1.0, p[token] / q[token])
        if randomness.choose((keep, 1 - keep), Site(0, 1, "accept", i)) == 0:
            return token
    return randomness.choose(residual(p, q), Site(0, 1, "bonus", 0))
