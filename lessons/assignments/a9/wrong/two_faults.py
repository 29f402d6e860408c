# loses: 9.1/values 9.1/lengths 9.1/paired 9.2/word 9.2/believed
# says: two intervals are subtracted
# says: all guesses are made at "all accepted"
"""Two faults in two tasks: each is named."""


def fair_score(mine, theirs, rounds, picks):
    a, b = mine[picks].sum(1) / rounds[picks].sum(1), theirs[picks].sum(1) / rounds[picks].sum(1)
    low_a, high_a = np.quantile(a, [0.025, 0.975])
    low_b, high_b = np.quantile(b, [0.025, 0.975])
    return (mine - theirs).sum() / rounds.sum(), low_a - high_b, high_a - low_b


def predictor(recorded, budget):
    def predict(features, past):
        last = len(features.guesses) - 1
        return [(last, r) for r in range(budget)] if last >= 0 else []

    return predict
