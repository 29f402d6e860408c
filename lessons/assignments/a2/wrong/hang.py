# loses: 2.2/laws 2.2/zeros 2.2/equal 2.2/tidy
# says: TimeIsUp: it had not ended after
# sandbox


def residual(p, q):
    while True:
        pass
