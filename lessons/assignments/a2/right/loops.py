"""Loops and lists only, no NumPy; other names; tests every guess before it looks at the results."""

from ssd_ref import Outcome, Site


def chance_of(p, q, token):
    if p[token] >= q[token]:
        return 1.0
    return float(p[token]) / float(q[token])


def is_kept(p, q, token, u):
    return u < chance_of(p, q, token)


def residual(p, q):
    wanted = []
    for a, b in zip(p, q):
        wanted.append(a - b if a > b else 0.0)
    total = sum(wanted)
    if total == 0:
        return list(p)
    return [w / total for w in wanted]


def verify(law_after, speculation, randomness, round):
    tests = []
    for i in range(len(speculation.tokens)):
        randomness.commit(speculation.sites[i])
        a = chance_of(law_after(i), speculation.rows[i], speculation.tokens[i])
        site = Site(randomness.sequence, round, "accept", i)
        tests.append(randomness.choose((a, 1 - a), site) == 0)
    k = 0
    while k < len(tests) and tests[k]:
        k += 1
    law = law_after(k)
    if k < len(tests):
        law = residual(law, speculation.rows[k])
    return Outcome(k, randomness.choose(law, Site(randomness.sequence, round, "bonus", 0)))


def verify_two(p, q, guesses, randomness):
    law = p
    for i in (0, 1):
        a = chance_of(law, q, guesses[i])
        if not randomness.choose((a, 1 - a), Site(0, 1, "accept", i)):
            return guesses[i]
        law = residual(law, q)
    return randomness.choose(law, Site(0, 1, "bonus", 0))
