# loses: 2.4/laws 2.4/zeros
# says: It took more than 1000 MB of memory and was stopped.
# sandbox


def verify_two(p, q, guesses, randomness):
    kept = []
    while True:
        kept.append(np.ones(10_000_000))
