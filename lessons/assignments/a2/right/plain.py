"""Written out with NumPy; the base of the stored wrong solutions."""

import numpy as np

from ssd_ref import Outcome, Site


def is_kept(p, q, token, u):
    return bool(u < p[token] / q[token])


def residual(p, q):
    missing = np.maximum(p - q, 0)
    if missing.sum() == 0:
        return p
    return missing / missing.sum()


def verify(law_after, speculation, randomness, round):
    def kept(i, chance):
        randomness.commit(speculation.sites[i])
        site = Site(randomness.sequence, round, "accept", i)
        return randomness.choose((chance, 1 - chance), site) == 0

    def bonus_from(law):
        return randomness.choose(law, Site(randomness.sequence, round, "bonus", 0))

    for i, (token, q) in enumerate(zip(speculation.tokens, speculation.rows, strict=True)):
        p = law_after(i)
        if not kept(i, min(1.0, p[token] / q[token])):
            return Outcome(i, bonus_from(residual(p, q)))
    return Outcome(len(speculation), bonus_from(law_after(len(speculation))))


def verify_two(p, q, guesses, randomness):
    def kept(i, chance):
        return randomness.choose((chance, 1 - chance), Site(0, 1, "accept", i)) == 0

    def bonus_from(law):
        return randomness.choose(law, Site(0, 1, "bonus", 0))

    first, second = guesses
    if kept(0, min(1.0, p[first] / q[first])):
        return first
    wanted = residual(p, q)
    if kept(1, min(1.0, wanted[second] / q[second])):
        return second
    return bonus_from(residual(wanted, q))
