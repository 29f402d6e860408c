# loses: 2.3/accepted
# says: a draw of the target's own decides: exact, but it accepts less often than it could
"""Exact, and slower than need be: the rule that a law test must pass and a counter may not."""


def verify(law_after, speculation, randomness, round):
    for i, token in enumerate(speculation.tokens):
        randomness.commit(speculation.sites[i])
        own = randomness.choose(law_after(i), Site(randomness.sequence, round, "accept", i))
        if own != token:
            return Outcome(i, own)
    last = Site(randomness.sequence, round, "bonus", 0)
    return Outcome(len(speculation), randomness.choose(law_after(len(speculation)), last))
