# loses: 2.4/laws 2.4/zeros
# says: left with status 1 and no result
# sandbox


def verify_two(p, q, guesses, randomness):
    import os

    os._exit(1)
