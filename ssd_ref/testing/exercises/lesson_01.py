"""Lesson 01: laws from logits, a block's mask, the roofline of a decode step."""

import numpy as np

from ssd_ref.models import Row
from ssd_ref.testing.check import Exercise, register
from ssd_ref.testing.trials import gives

INF = float("inf")
TIED = [1.0, 1.0, 0.0]


def softmax(z: Row) -> Row:
    weights: Row = np.exp(z - z.max())
    row: Row = weights / weights.sum()
    return row


def multiplied(logits: list[float], temperature: float) -> Row:
    return softmax(np.array(logits) * (temperature or 1e9))


def divided_by_zero(logits: list[float], temperature: float) -> Row:
    return softmax(np.array(logits) / temperature)


def without_temperature(logits: list[float], temperature: float) -> Row:
    return softmax(np.array(logits))


def shared_among_ties(logits: list[float], temperature: float) -> Row:
    z = np.array(logits)
    return softmax(z / temperature) if temperature else (z == z.max()) / (z == z.max()).sum()


register(
    Exercise(
        "L01.1",
        (
            gives([0.5, 0.5], [0.0, 0.0], 1.0),
            gives([0.25, 0.75], [0.0, float(np.log(3))], 1.0),
            gives([0.1, 0.9], [0.0, float(np.log(3))], 0.5),
            gives([1.0, 0.0], [0.0, -INF], 2.0),
            gives([0.0, 1.0], [0.0, 0.1], 0.0),
            gives([1.0, 0.0, 0.0], TIED, 0.0),
            gives([0.5, 0.5], [5000.0, 5000.0], 1.0),
        ),
        {
            "the temperature is ignored": without_temperature,
            "logits are multiplied by the temperature; a high one must flatten": multiplied,
            "you divided by 0: temperature 0 needs a line of its own": divided_by_zero,
            "at temperature 0 equal logits share; here the first index wins": shared_among_ties,
        },
        pointer="lesson 01, section 2",
    )
)

T, F = True, False
register(
    Exercise(
        "L01.2",
        (
            gives([[F]], 0, 1),
            gives([[F, T], [F, F]], 0, 2),
            gives([[F, F, F]], 2, 1),
            gives([[F, F, T, T], [F, F, F, T], [F, F, F, F]], 1, 3),
        ),
        {
            "what is already in the cache is forgotten: the mask needs length + n columns": (
                lambda length, n: np.triu(np.ones((n, n), dtype=bool), 1)
            ),
            "a token may not see itself; it must": (
                lambda length, n: np.arange(length + n) >= np.arange(length, length + n)[:, None]
            ),
            "True and False are exchanged: True marks what may NOT be seen": (
                lambda length, n: np.arange(length + n) <= np.arange(length, length + n)[:, None]
            ),
            "positions are counted from 0 instead of from the cache's length": (
                lambda length, n: np.arange(length + n) > np.arange(n)[:, None]
            ),
        },
        pointer="lesson 01, section 4",
    )
)

GPU = (3e12, 800e12)  # bytes and operations a second
register(
    Exercise(
        "L01.3",
        (
            gives(20 / 3, 1, 10e9, 2, *GPU, tolerance=1e-6),
            gives(20 / 3, 8, 10e9, 2, *GPU, tolerance=1e-6),
            gives(50.0, 2000, 10e9, 2, *GPU, tolerance=1e-6),
        ),
        {
            "the result is in seconds, not in milliseconds": (
                lambda n, p, b, w, f: max(p * b / w, 2 * p * n / f)
            ),
            "the two times are added; reading and computing overlap, so the longer one counts": (
                lambda n, p, b, w, f: 1e3 * (p * b / w + 2 * p * n / f)
            ),
            "the parameters are read again for each token; a block reads them once": (
                lambda n, p, b, w, f: 1e3 * max(n * p * b / w, 2 * p * n / f)
            ),
            "only the reading is counted: with many tokens, computing takes longer": (
                lambda n, p, b, w, f: 1e3 * p * b / w
            ),
            "only the computing is counted: with few tokens, reading takes longer": (
                lambda n, p, b, w, f: 1e3 * 2 * p * n / f
            ),
        },
        pointer="lesson 01, section 7",
    )
)
