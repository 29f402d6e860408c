# loses: 9.2/word 9.2/believed
# says: the draft is taken at its word
"""Written from the sheet alone: probabilities multiplied, nothing learned."""


def predictor(recorded, budget):
    def predict(features, past):
        reached, believed = 1.0, []
        for k, guesses in enumerate(features.guesses):
            last = k == len(features.positions)
            raw = 0.0 if last else features.positions[k].raw
            rest = max(1 - raw - sum(guesses), 1e-9)
            total = sum(guesses) + rest
            for r, g in enumerate(guesses):
                believed.append((-reached * (1 - raw) * g / total, k, r))
            reached *= raw
        return [(k, r) for _, k, r in sorted(believed)[:budget]]

    return predict
