"""Two logistic regressions and a law of ranks; the base of the stored wrong solutions."""

import math

import numpy as np

from ssd_ref.saguaro.logit import fit_weights


def fair_score(mine, theirs, rounds, picks):
    gain = np.asarray(mine) - np.asarray(theirs)
    rounds = np.asarray(rounds)
    drawn = [gain[pick].sum() / rounds[pick].sum() for pick in np.asarray(picks)]
    return (gain.sum() / rounds.sum(), *np.quantile(drawn, [0.025, 0.975]))


def signs(position):
    p = min(max(position.raw, 1e-9), 1 - 1e-9)
    return [1.0, math.log(p), math.log(1 - p), position.margin]


def learn_kept(seen):
    """Weights of the chance that a tested draft is kept."""
    tested = [
        (signs(position), i == o.accepted)
        for o in seen
        for i, position in enumerate(o.features.positions[: o.accepted + 1])
    ]
    x = np.array([(s, [0.0] * 4) for s, _ in tested])
    chosen = np.array([int(rejected) for _, rejected in tested])
    return fit_weights(x, np.ones(x.shape[:2], bool), chosen, np.zeros(4))


def described(features, k):
    """Two numbers for each guess at k, and for "another token"."""
    rejected = features.positions[k].raw if k < len(features.positions) else 0.0
    guesses = [max(g, 1e-9) for g in features.guesses[k]]
    rest = max(1 - rejected - sum(guesses), 1e-9)
    return np.array([*((math.log(g), 0.0) for g in guesses), (math.log(rest), 1.0)])


def learn_bonus(seen, last):
    chosen = [o for o in seen if (o.accepted == len(o.features.positions)) == last]
    x = np.array([described(o.features, o.accepted) for o in chosen])
    ranks = np.array([min(o.rank, x.shape[1] - 1) for o in chosen])
    return fit_weights(x, np.ones(x.shape[:2], bool), ranks, np.array([1.0, 0.0]))


def predictor(recorded, budget):
    seen = [o for text in recorded for o in text]
    kept = learn_kept(seen)
    bonus = [learn_bonus(seen, last) for last in (False, True)]

    def predict(features, past):
        reached, believed = 1.0, []
        for k in range(len(features.guesses)):
            last = k == len(features.positions)
            keep = 0.0 if last else 1 / (1 + math.exp(-np.dot(kept, signs(features.positions[k]))))
            weights = np.exp(described(features, k) @ bonus[last])
            chances = reached * (1 - keep) * weights / weights.sum()
            believed += [(-c, k, r) for r, c in enumerate(chances[:-1].tolist())]
            reached *= keep
        return [(k, r) for _, k, r in sorted(believed)[:budget]]

    return predict
