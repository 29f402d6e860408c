"""No regression: how often drafts are kept is counted in bins, the bonus has a law by search."""

import numpy as np

EDGES = (0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.75, 0.9, 0.97)


def fair_score(mine, theirs, rounds, picks):
    def rate(chosen):
        return (
            mine[chosen].sum() / rounds[chosen].sum() - theirs[chosen].sum() / rounds[chosen].sum()
        )

    resampled = sorted(rate(pick) for pick in picks)
    everybody = np.arange(len(rounds))
    return rate(everybody), np.quantile(resampled, 0.025), np.quantile(resampled, 0.975)


def bin_of(p):
    return int(np.searchsorted(EDGES, p))


def count_kept(recorded):
    kept = np.ones((len(EDGES) + 1, 2))
    for text in recorded:
        for o in text:
            for i, position in enumerate(o.features.positions[: o.accepted + 1]):
                kept[bin_of(position.raw), int(i < o.accepted)] += 1
    return kept[:, 1] / kept.sum(1)


def spread(features, k):
    """The draft's chances of its guesses at k and, last, of another token."""
    gone = features.positions[k].raw if k < len(features.positions) else 0.0
    guesses = np.maximum(features.guesses[k], 1e-9)
    return np.append(guesses, max(1 - gone - guesses.sum(), 1e-9))


def search(rows, ranks):
    """(power, weight of another token) under which the ranks are likeliest."""

    def log_chance(setting):
        power, other = setting
        weights = rows**power
        weights[:, -1] *= other
        chances = weights / weights.sum(1, keepdims=True)
        return np.log(chances[np.arange(len(rows)), ranks]).sum()

    grid = [
        (power, other) for power in np.linspace(0.1, 1.5, 29) for other in 2.0 ** np.arange(-5, 4)
    ]
    return max(grid, key=log_chance)


def predictor(recorded, budget):
    keep = count_kept(recorded)
    bonus = []
    for last in (False, True):
        seen = [o for t in recorded for o in t if (o.accepted == len(o.features.positions)) == last]
        rows = np.array([spread(o.features, o.accepted) for o in seen])
        bonus.append(search(rows, np.array([min(o.rank, rows.shape[1] - 1) for o in seen])))

    def predict(features, past):
        reached, found = 1.0, {}
        n = len(features.positions)
        for k in range(len(features.guesses)):
            kept = keep[bin_of(features.positions[k].raw)] if k < n else 0.0
            power, other = bonus[k == n]
            weights = spread(features, k) ** power
            weights[-1] *= other
            for r, weight in enumerate(weights[:-1]):
                found[k, r] = reached * (1 - kept) * weight / weights.sum()
            reached *= kept
        return sorted(found, key=found.get, reverse=True)[:budget]

    return predict
