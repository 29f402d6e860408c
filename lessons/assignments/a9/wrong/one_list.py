# loses: 9.2/believed
# says: hits less those of the calibrated `believed`
"""Counts which outcomes were frequent: one list for every round, blind to the draft."""

from collections import Counter


def predictor(recorded, budget):
    frequent = Counter((o.accepted, o.rank) for text in recorded for o in text)

    def predict(features, past):
        possible = [o for o, _ in frequent.most_common() if o[0] < len(features.guesses)]
        return possible[:budget]

    return predict
