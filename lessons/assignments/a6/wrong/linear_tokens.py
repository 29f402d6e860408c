# loses: 6.2/values
# says: it says a K + 1


def tokens_per_round(a, lookahead):
    return a * lookahead + 1
