# loses: 9.2/rules 9.2/word 9.2/believed
# says: the budget is spent at each k
# says: expected at most 10 guesses, got 50


def predictor(recorded, budget):
    def predict(features, past):
        return [(k, r) for k in range(len(features.guesses)) for r in range(budget)]

    return predict
