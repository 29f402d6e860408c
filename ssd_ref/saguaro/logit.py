"""A conditional logit: chances of alternatives from numbers that describe each of them.

Alternative a has chance e^(x_a . w) / sum_b e^(x_b . w). With two alternatives, one described by
zeros, it is a logistic regression; with the logarithm of a probability as the one number, w is an
inverse temperature.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

STEPS = 100  # of Newton; a dozen are usual
CLOSE = 1e-9  # gain of a step at which the fit has ended


def chances(x: Array, present: NDArray[np.bool_], w: Array) -> Array:
    """x: (n, alternatives, numbers); present: (n, alternatives), the others have chance 0."""
    score = np.where(present, x @ w, -np.inf)
    p = np.exp(score - score.max(axis=1, keepdims=True))
    law: Array = p / p.sum(axis=1, keepdims=True)
    return law


def fit_weights(
    x: Array, present: NDArray[np.bool_], chosen: NDArray[np.intp], prior: Array
) -> Array:
    """The w (numbers,) of the largest penalised likelihood, by Newton's method with halved steps.

    The penalty |w - prior|^2 / 2 keeps w at the prior where the data say nothing. It is strictly
    concave, so there is one maximum.
    """
    each = np.arange(len(x))
    best = x[each, chosen].sum(axis=0)

    def value(w: Array) -> float:
        p = np.maximum(chances(x, present, w)[each, chosen], np.finfo(np.float64).tiny)
        return float(np.log(p).sum() - ((w - prior) ** 2).sum() / 2)

    w, now = prior, value(prior)
    for _ in range(STEPS):
        p = chances(x, present, w)
        mean = np.einsum("na,nap->np", p, x)
        gradient = best - mean.sum(axis=0) - (w - prior)
        curvature = np.einsum("na,nap,naq->pq", p, x, x) - mean.T @ mean + np.eye(len(w))
        step = np.linalg.solve(curvature, gradient)
        while value(w + step) < now and np.abs(step).max() > CLOSE:
            step = step / 2
        if value(w + step) - now < CLOSE:
            return w
        w, now = w + step, value(w + step)
    return w
