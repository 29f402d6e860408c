"""`believed` with more numbers: the position, how well the text went so far, the rejected token."""

import math

import numpy as np

from ssd_ref.saguaro.logit import fit_weights


def fair_score(mine, theirs, rounds, picks):
    gains = (mine - theirs)[picks].sum(axis=1) / rounds[picks].sum(axis=1)
    return sum(mine - theirs) / sum(rounds), np.percentile(gains, 2.5), np.percentile(gains, 97.5)


LAST = 8  # rounds of the same text that are looked at


def success(past):
    """Log odds of acceptance in the last rounds, drawn towards .8."""
    kept = sum(o.accepted for o in past[-LAST:]) + 4
    tested = sum(min(o.accepted + 1, len(o.features.positions)) for o in past[-LAST:]) + 5
    return math.log(kept / max(tested - kept, 0.5))


def signs(features, i, past):
    p = min(max(features.positions[i].raw, 1e-9), 1 - 1e-9)
    better = sum(g for g in features.guesses[i] if g > p)
    numbers = [1.0, math.log(p), math.log(1 - p), features.positions[i].margin]
    return [*numbers, float(i == 0), float(i), better, success(past)]


def described(features, k):
    rejected = features.positions[k].raw if k < len(features.positions) else 0.0
    guesses = [max(g, 1e-9) for g in features.guesses[k]]
    rest = max(1 - rejected - sum(guesses), 1e-9)
    rows = [
        (math.log(g), 0.0, float(r == 0), math.log(r + 1), math.log(g) * rejected)
        for r, g in enumerate(guesses)
    ]
    return np.array([*rows, (math.log(rest), 1.0, 0.0, 0.0, math.log(rest) * rejected)])


def learn_kept(recorded):
    x, chosen = [], []
    for text in recorded:
        for number, o in enumerate(text):
            for i in range(min(o.accepted + 1, len(o.features.positions))):
                x.append(signs(o.features, i, text[:number]))
                chosen.append(int(i == o.accepted))
    pairs = np.stack([np.array(x), np.zeros((len(x), len(x[0])))], axis=1)
    prior = np.array([0.0, 1.0, -1.0, *[0.0] * (len(x[0]) - 3)])
    return fit_weights(pairs, np.ones(pairs.shape[:2], bool), np.array(chosen), prior)


def learn_bonus(recorded, last):
    seen = [o for text in recorded for o in text]
    seen = [o for o in seen if (o.accepted == len(o.features.positions)) == last]
    x = np.array([described(o.features, o.accepted) for o in seen])
    ranks = np.array([min(o.rank, x.shape[1] - 1) for o in seen])
    prior = np.array([1.0, 0.0, 0.0, 0.0, 0.0])
    return fit_weights(x, np.ones(x.shape[:2], bool), ranks, prior)


def predictor(recorded, budget):
    kept = learn_kept(recorded)
    bonus = [learn_bonus(recorded, last) for last in (False, True)]

    def predict(features, past):
        reached, believed = 1.0, []
        for k in range(len(features.guesses)):
            last = k == len(features.positions)
            keep = 0.0 if last else 1 / (1 + math.exp(-np.dot(kept, signs(features, k, past))))
            weights = np.exp(described(features, k) @ bonus[last])
            chances = reached * (1 - keep) * weights / weights.sum()
            believed += [(-c, k, r) for r, c in enumerate(chances[:-1].tolist())]
            reached *= keep
        return [(k, r) for _, k, r in sorted(believed)[:budget]]

    return predict
