"""Draws the bonus before the tests, index 1 for "keep", one vectorised expression a row, and for
task 2.4 the target's own draw: whichever guess it equals, the law is p."""

import numpy as np

from ssd_ref import Outcome, Site


def is_kept(p, q, token, u):
    return not u >= np.divide(p[token], q[token])


def residual(p, q):
    rest = (p - q).clip(min=0)
    return np.divide(rest, rest.sum()) if rest.any() else p.copy()


def verify(law_after, speculation, randomness, round):
    n, sequence = len(speculation), randomness.sequence
    d = list(speculation.tokens)
    laws = np.array([law_after(i) for i in range(n + 1)])
    own = randomness.choose(laws[n], Site(sequence, round, "bonus", 1))
    ratios = np.minimum(laws[np.arange(n), d] / speculation.rows[np.arange(n), d], 1)
    for i, a in enumerate(ratios):
        randomness.commit(speculation.sites[i])
        if randomness.choose((1 - a, a), Site(sequence, round, "accept", i)) == 0:
            rest = residual(laws[i], speculation.rows[i])
            return Outcome(i, randomness.choose(rest, Site(sequence, round, "bonus", 0)))
    return Outcome(n, own)


def verify_two(p, q, guesses, randomness):
    own = randomness.choose(p, Site(0, 1, "bonus", 0))
    return own if own not in guesses else guesses[guesses.index(own)]
