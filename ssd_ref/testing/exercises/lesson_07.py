"""Lesson 07: the bent law, what a rejection finds, the law of a token that is tested wrongly."""

import math
from collections.abc import Sequence

from ssd_ref.testing.check import Exercise, register
from ssd_ref.testing.trials import gives

Law = Sequence[float]


def bent(q: Law, guessed: Sequence[int], c: float) -> list[float]:
    return [x * c if token in guessed else x for token, x in enumerate(q)]


def zero_by_zero(q: Law, guessed: Sequence[int], c: float) -> list[float]:
    row = bent(q, guessed, c)
    return [x / sum(row) if sum(row) else math.nan for x in row]


def normalised(row: Law) -> list[float]:
    return [x / sum(row) for x in row]


register(
    Exercise(
        "L07.1",
        (
            gives([0.5, 0.5], [0.5, 0.5], [0], 1.0),
            gives([0.2, 0.8], [0.5, 0.5], [0], 0.25),
            gives([0.0, 1.0], [0.5, 0.5], [0], 0.0),
            gives([0.5, 0.5], [0.5, 0.5], [], 0.5),
            gives([0.25, 0.75], [0.25, 0.75], [0, 1], 0.5),
            gives([1.0, 0.0], [1.0, 0.0], [0], 0.0),
            gives([0.6, 0.4, 0.0], [0.6, 0.4, 0.0], [0, 1], 0.0),
        ),
        {
            "the row is not made a law again": bent,
            "the other tokens were multiplied": lambda q, s, c: normalised(
                bent(q, [t for t in range(len(q)) if t not in s], c)
            ),
            "you divided by 0: with C = 0 and all mass guessed nothing is left": (
                lambda q, s, c: normalised(bent(q, s, c))
            ),
            "you divided 0 by 0: with C = 0 and all mass guessed nothing is left": zero_by_zero,
        },
        pointer="lesson 07, section 1",
    )
)


def excess(p: Law, drawn: Law) -> list[float]:
    return [max(x - y, 0.0) for x, y in zip(p, drawn, strict=True)]


P, Q = [0.5, 0.25, 0.25], [0.25, 0.25, 0.5]
register(
    Exercise(
        "L07.2",
        (
            gives(1.0, [1.0, 0.0], [0.0, 1.0], [0]),
            gives(0.0, [1.0, 0.0], [0.0, 1.0], [1]),
            gives(1.0, P, Q, [0, 1]),
            gives(0.5, [0.5, 0.5, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25], [1, 2]),
            gives(0.2, [0.5, 0.375, 0.125, 0.0], [0.125, 0.25, 0.0, 0.625], [1, 3]),
            gives(None, P, P, [0]),
        ),
        {
            "you gave the chance that a token of the draft is guessed": lambda p, q, s: sum(
                q[t] for t in s
            ),
            "0 was given where nothing is rejected: there is no such chance, None": (
                lambda p, q, s: sum(excess(p, q)[t] for t in s) / (sum(excess(p, q)) or 1.0)
            ),
            "the residual was not made a law, as *given* asks for": lambda p, q, s: sum(
                excess(p, q)[t] for t in s
            ),
            "the replacement was drawn from p; it comes from the residual": lambda p, q, s: sum(
                p[t] for t in s
            ),
        },
        pointer="lesson 07, section 1, and the residual of lesson 02",
    )
)


def lie(p: Law, drawn: Law, told: Law, replaced_from: Law) -> list[float]:
    kept = [d * min(1.0, x / t) if t else d for x, d, t in zip(p, drawn, told, strict=True)]
    total, left = sum(replaced_from), 1 - sum(kept)
    return [
        k + (left * r / total if total else 0.0) for k, r in zip(kept, replaced_from, strict=True)
    ]


register(
    Exercise(
        "L07.3",
        (
            gives([1.0], [1.0], [1.0], [1.0]),
            gives([0.5, 0.5], [0.5, 0.5], [0.5, 0.5], [0.5, 0.5]),
            gives([0.75, 0.25], [0.5, 0.5], [0.75, 0.25], [0.5, 0.5]),
            gives([0.5, 0.5], [0.5, 0.5], [0.25, 0.75], [0.25, 0.75]),
            gives(lie(P, Q, P, excess(P, P)), P, Q, P),
            gives(lie(P, [0.1, 0.1, 0.8], Q, excess(P, Q)), P, [0.1, 0.1, 0.8], Q),
        ),
        {
            "you took the residual of `drawn`; it is that of `told`": lambda p, d, t: lie(
                p, d, t, excess(p, d)
            ),
            "tokens were proposed from `told`; they come from `drawn`": lambda p, d, t: lie(
                p, t, t, excess(p, t)
            ),
            "a rejected token was replaced from p; it is from the residual": lambda p, d, t: lie(
                p, d, t, p
            ),
            "the residual was added as it is; it gets all that was not kept of `drawn`": (
                lambda p, d, t: [
                    x + y for x, y in zip(lie(p, d, t, [0.0] * len(p)), excess(p, t), strict=True)
                ]
            ),
            "what is replaced is left out": lambda p, d, t: lie(p, d, t, [0.0] * len(p)),
        },
        pointer="lesson 07, section 5, and the proof of lesson 02",
    )
)
