# loses: 6.1/values 6.1/edges
# says: the last outcome, all accepted, is multiplied by 1 - a


def outcome_weights(a, lookahead):
    return [a**k * (1 - a) for k in range(lookahead + 1)]
