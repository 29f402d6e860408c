"""Assignment 9: predict outcomes from draft-side data.

An outcome is (k, rank): k drafts are accepted, and the bonus token is the draft's rank-th guess
there (0: the first). `sheet.md` says what each task asks for.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ssd_ref.saguaro import Features, Observation
from ssd_ref.saguaro.logit import fit_weights

### BEGIN SOLUTION
from ssd_ref.saguaro import Believed, fit
### END SOLUTION

Ints = NDArray[np.int64]
Predict = Callable[[Features, tuple[Observation, ...]], Sequence[tuple[int, int]]]


def fair_score(mine: Ints, theirs: Ints, rounds: Ints, picks: Ints) -> tuple[float, float, float]:
    """Task 9.1: the difference of two hit rates, and the two ends of its 95 % interval.

    mine, theirs: hits of two predictors in each of n texts; rounds: how many rounds each text has.
    picks: (resamples, n) numbers of texts, each row a resample of the n texts with return; the
    interval goes from the 2.5 % to the 97.5 % quantile (np.quantile) over the resamples.
    """
    ### BEGIN SOLUTION
    drawn = (mine - theirs)[picks].sum(axis=1) / rounds[picks].sum(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float((mine - theirs).sum() / rounds.sum()), float(low), float(high)
    ### END SOLUTION


def predictor(recorded: Sequence[Sequence[Observation]], budget: int) -> Predict:
    """Task 9.2: learn from recorded texts; return `predict(features, past)`.

    recorded: for each text its rounds in order, each with .features, .accepted and .rank.
    predict returns at most `budget` different pairs (k, rank) for a round with these features;
    past: the earlier rounds of the same text.
    """
    ### BEGIN SOLUTION
    believed = Believed(budget, fit([round for text in recorded for round in text], width=10))
    return lambda features, past: believed.choose(features)
    ### END SOLUTION
