# loses: 2.1/laws 2.1/edges 2.3/one 2.3/several 2.3/accepted
# says: a token is kept if p likes it best: that is the rule for greedy decoding only
# says: a guess is accepted if p likes it best


def is_kept(p, q, token, u):
    return bool(p.argmax() == token)


def verify(law_after, speculation, randomness, round):
    place = Site(randomness.sequence, round, "bonus", 0)
    for i, token in enumerate(speculation.tokens):
        randomness.commit(speculation.sites[i])
        if law_after(i).argmax() != token:
            return Outcome(i, randomness.choose(law_after(i), place))
    return Outcome(len(speculation), randomness.choose(law_after(len(speculation)), place))
