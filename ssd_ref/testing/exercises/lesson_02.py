"""Lesson 02: acceptance rate, greedy verification, the best lookahead, token matching."""

import numpy as np

from ssd_ref.exact_law import Decode
from ssd_ref.models import Row
from ssd_ref.randomness import Randomness, Site
from ssd_ref.testing.check import Exercise, register
from ssd_ref.testing.trials import gives, has_law

P, Q = [0.5, 0.3, 0.2], [0.2, 0.2, 0.6]


def gap(p: list[float], q: list[float]) -> float:
    return float(np.abs(np.subtract(p, q)).sum())


register(
    Exercise(
        "L02.1",
        (
            gives(1.0, [1.0], [1.0]),
            gives(0.0, [1.0, 0.0], [0.0, 1.0]),
            gives(0.7, [0.5, 0.5], [0.8, 0.2]),
            gives(0.6, P, Q),
        ),
        {
            "you gave the total variation itself: the share that is rejected": lambda p, q: (
                gap(p, q) / 2
            ),
            "the factor 1/2 of the total variation is missing": lambda p, q: 1 - gap(p, q),
            "you gave the chance that two independent draws agree, sum p q": lambda p, q: float(
                np.dot(p, q)
            ),
        },
        pointer="lesson 02, section 2",
    )
)


def with_the_drafts_token(best: list[int], tokens: list[int]) -> list[int]:
    k = matches(best, tokens)
    return [*tokens[:k], *tokens[k : k + 1]] or [best[0]]


def matches(best: list[int], tokens: list[int]) -> int:
    return next((i for i, t in enumerate(tokens) if t != best[i]), len(tokens))


register(
    Exercise(
        "L02.2",
        (
            gives([1], [1], []),
            gives([1, 2], [1, 2], [1]),
            gives([1], [1, 2], [0]),
            gives([1, 2, 0], [1, 2, 0], [1, 2]),
            gives([1, 2], [1, 2, 0], [1, 1]),
            gives([1], [1, 2, 0], [0, 2]),
        ),
        {
            "the bonus is missing: a round emits one token more than it accepts": lambda b, t: t[
                : matches(b, t)
            ],
            "the rejected guess itself is emitted": with_the_drafts_token,
            "tokens after the first rejection are counted, too": lambda b, t: [
                *t[: sum(x == y for x, y in zip(b, t, strict=False))],
                b[sum(x == y for x, y in zip(b, t, strict=False))],
            ],
            "the whole block is emitted, whatever the draft said": lambda b, t: list(b),
        },
        pointer="lesson 02, section 5",
    )
)


def best_lookahead(alpha: float, c: float, most: int = 400) -> int:
    """By looking at all of them: the oracle."""
    K = np.arange(most)
    return int(((1 - alpha ** (K + 1)) / (1 - alpha) / (1 + c * K)).argmax())


def ignoring_the_round(alpha: float, c: float) -> int:
    K = 0
    while alpha ** (K + 1) > c:
        K += 1
    return K


register(
    Exercise(
        "L02.3",
        tuple(
            gives(best_lookahead(alpha, c), alpha, c)
            for alpha, c in (
                (0.3, 0.8),
                (0.3, 0.1),
                (0.6, 0.1),
                (0.75, 0.1),
                (0.9, 0.1),
                (0.98, 0.01),
            )
        ),
        {
            "the gain is compared with the cost of a step alone; a longer round also delays all "
            "the other tokens": ignoring_the_round,
            "you took one guess too many: stop at the last that pays": lambda a, c: (
                best_lookahead(a, c) + 1
            ),
            "the search stopped early: the best lookahead can be large": lambda a, c: min(
                best_lookahead(a, c, 17), 8
            ),
        },
        pointer="lesson 02, section 7",
    )
)


def matching(answer: object) -> Decode:
    p, q = np.array(P), np.array(Q)
    return lambda r: answer(p, q, r)  # type: ignore[operator]


def never_matching(p: Row, q: Row, randomness: Randomness) -> list[int]:
    return [randomness.choose(p, Site(0, 1, "bonus", 0)), 0]


def emits_the_guess(p: Row, q: Row, randomness: Randomness) -> list[int]:
    d = randomness.choose(q, Site(0, 1, "draft", 0))
    y = randomness.choose(p, Site(0, 1, "bonus", 0))
    return [d, int(d == y)]


def min_rule(p: Row, q: Row, randomness: Randomness) -> list[int]:
    d = randomness.choose(q, Site(0, 1, "draft", 0))
    a = min(1.0, p[d] / q[d])
    if randomness.choose((a, 1 - a), Site(0, 1, "accept", 0)) == 0:
        return [d, 1]
    residual = np.maximum(p - q, 0)
    return [randomness.choose(residual / residual.sum(), Site(0, 1, "bonus", 0)), 0]


register(
    Exercise(
        "L02.4",
        (
            has_law(
                "the law of [token, 1 if the guess was right else 0], p = (.5, .3, .2), "
                "q = (.2, .2, .6)",
                matching,
                {
                    (x, int(hit)): P[x] * (Q[x] if hit else 1 - Q[x])
                    for x in range(3)
                    for hit in (0, 1)
                },
            ),
        ),
        {
            "the draft's token was emitted: emit y in any case": emits_the_guess,
            "this is the rule of section 1, with its residual; here nothing is repaired": min_rule,
            "the guess is never found right": never_matching,
        },
        pointer="lesson 02, section 1, for how a decision is drawn",
    )
)
