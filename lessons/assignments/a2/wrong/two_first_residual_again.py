# loses: 2.4/laws 2.4/zeros
# says: after two rejections the first residual is used again


def verify_two(p, q, guesses, randomness):
    wanted = p
    for i, token in enumerate(guesses):
        keep = min(1.0, wanted[token] / q[token])
        if randomness.choose((keep, 1 - keep), Site(0, 1, "accept", i)) == 0:
            return token
        wanted = residual(p, q)
    return randomness.choose(wanted, Site(0, 1, "bonus", 0))
