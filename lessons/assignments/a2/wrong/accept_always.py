# loses: 2.1/laws 2.1/edges 2.1/greedy 2.3/one 2.3/several 2.3/greedy 2.3/accepted 2.3/edges
# says: every token is kept
# says: every guess is accepted


def is_kept(p, q, token, u):
    return True


def verify(law_after, speculation, randomness, round):
    n = len(speculation)
    for site in speculation.sites:
        randomness.commit(site)
    place = Site(randomness.sequence, round, "bonus", 0)
    return Outcome(n, randomness.choose(law_after(n), place))
