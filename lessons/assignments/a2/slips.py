"""The usual mistakes in assignment 2, each as a function that makes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lessons.assignments.spec import Slip
from ssd_ref.models import Row
from ssd_ref.randomness import Randomness, Site
from ssd_ref.rounds import Outcome, Speculation
from ssd_ref.verification import acceptance

Replacement = Callable[[Row, Row], Row]


# Residuals


def right_residual(p: Row, q: Row) -> Row:
    return acceptance(p, q, 0)[1]


def target_itself(p: Row, q: Row) -> Row:
    return p


def not_normalised(p: Row, q: Row) -> Row:
    return np.maximum(p - q, 0)


def absolute(p: Row, q: Row) -> Row:
    return np.asarray(np.abs(p - q) / np.abs(p - q).sum())


def softmax(p: Row, q: Row) -> Row:
    e = np.exp(np.maximum(p - q, 0))
    return np.asarray(e / e.sum())


def with_epsilon(p: Row, q: Row) -> Row:
    missing = np.maximum(p - q, 1e-8)
    return np.asarray(missing / missing.sum())


def epsilon_below(p: Row, q: Row) -> Row:
    missing = np.maximum(p - q, 0)
    return np.asarray(missing / (missing.sum() + 1e-8))


def swapped(p: Row, q: Row) -> Row:
    return right_residual(q, p)


def without_equal_rows(p: Row, q: Row) -> Row:
    missing = np.maximum(p - q, 0)
    with np.errstate(invalid="ignore"):
        return np.asarray(missing / missing.sum())


def in_place(p: Row, q: Row) -> Row:
    p -= q
    np.maximum(p, 0, out=p)
    return np.asarray(p / p.sum())


def for_three(p: Row, q: Row) -> Row:
    """With V = 3 written into it: IndexError for fewer tokens, too short for more."""
    missing = np.array([max(p[i] - q[i], 0) for i in range(3)])
    return np.asarray(missing / missing.sum()) if missing.any() else p


def single_precision(p: Row, q: Row) -> Row:
    return right_residual(p.astype(np.float32), q.astype(np.float32))


RESIDUAL = (
    Slip("two equal rows have no residual: 0/0", without_equal_rows, "lesson 02, section 3"),
    Slip(
        "the replacement is drawn from p; what was kept already is then counted twice",
        target_itself,
        "lesson 02, section 4",
    ),
    Slip(
        "the residual is not normalised: its sum must be 1", not_normalised, "lesson 02, section 1"
    ),
    Slip(
        "|p - q| takes the place of (p - q)_+: tokens that the draft proposes too often are no replacement",
        absolute,
        "lesson 02, section 1",
    ),
    Slip(
        "a softmax makes a law of the missing mass: tokens that miss nothing then come out, too",
        softmax,
        "lesson 02, section 1",
    ),
    Slip(
        "an epsilon is clamped into the residual: what must have probability 0 has not",
        with_epsilon,
        "lesson 02, section 1",
    ),
    Slip(
        "an epsilon stands in a denominator: the law's sum is no longer 1",
        epsilon_below,
        "lesson 02, section 1",
    ),
    Slip("p and q have changed places", swapped, "lesson 02, section 1"),
    Slip("the arguments are written to: the caller's row is no longer p", in_place),
    Slip("the vocabulary's size is written into the code: it is len(p)", for_three),
    Slip("the rows were rounded to float32", single_precision, "lesson 01"),
)


# One test


def ratio(p: Row, q: Row, token: int) -> float:
    return min(1.0, float(p[token] / q[token]))


def inverted(p: Row, q: Row, token: int) -> float:
    return min(1.0, float(q[token] / p[token])) if p[token] > 0 else 1.0


def agreement(p: Row, q: Row, token: int) -> float:
    return float(token == p.argmax())


def by_p(p: Row, q: Row, token: int) -> float:
    return float(p[token])


IS_KEPT = (
    Slip(
        "`<=` stands for `<`: u = 0 occurs, and then keeps what p excludes",
        lambda p, q, t, u: bool(u <= ratio(p, q, t)),
        "lesson 02, section 1",
    ),
    Slip(
        "the ratio is upside down",
        lambda p, q, t, u: bool(u < inverted(p, q, t)),
        "lesson 02, section 1",
    ),
    Slip("every token is kept", lambda p, q, t, u: True, "lesson 02, section 1"),
    Slip(
        "a token is kept if p likes it best: that is the rule for greedy decoding only",
        lambda p, q, t, u: bool(agreement(p, q, t)),
        "lesson 02, section 1",
    ),
    Slip(
        "q plays no part: a token is kept with chance p",
        lambda p, q, t, u: bool(u < by_p(p, q, t)),
        "lesson 02, section 1",
    ),
    Slip(
        "an epsilon stands in the denominator: the ratio of equal entries is no longer 1",
        lambda p, q, t, u: bool(u < p[t] / (q[t] + 1e-8)),
        "lesson 02, section 1",
    ),
    Slip(
        "the test is turned round: u beyond the chance keeps",
        lambda p, q, t, u: bool(u >= ratio(p, q, t)),
        "lesson 02, section 1",
    ),
)


# A round


def verify_with(
    chance: Callable[[Row, Row, int], float] = ratio,
    replacement: Replacement = right_residual,
    law_at: Callable[[int, int], int] = lambda i, n: i,
    row_at: Callable[[int, int], int] = lambda i, n: i,
    last: Callable[[Any, Speculation, int], Row] = lambda law_after, s, n: law_after(n),
    most: int | None = None,
) -> Callable[..., Outcome]:
    """A verifier, right but for what is given.

    law_at, row_at: which of the target's laws, which row of q tests d_{i+1}. last: the law of the
    bonus when all are kept. most: looks at no more tokens than that.
    """

    def verify(law_after: Any, s: Speculation, randomness: Randomness, round: int) -> Outcome:
        n = len(s) if most is None else min(most, len(s))
        bonus = Site(randomness.sequence, round, "bonus", 0)
        for i, token in enumerate(s.tokens[:n]):
            p, q = law_after(law_at(i, n)), s.rows[row_at(i, n)]
            randomness.commit(s.sites[i])
            a = chance(p, q, token) if q[token] > 0 else 1.0
            if randomness.choose((a, 1 - a), Site(randomness.sequence, round, "accept", i)):
                return Outcome(i, randomness.choose(replacement(p, q), bonus))
        return Outcome(n, randomness.choose(last(law_after, s, n), bonus))

    return verify


def sum_of_mask(law_after: Any, s: Speculation, randomness: Randomness, round: int) -> Outcome:
    """Tests all, and counts those that pass, whatever failed before them."""
    replacements = []
    for i, (token, q) in enumerate(zip(s.tokens, s.rows, strict=True)):
        a = ratio(law_after(i), q, token)
        randomness.commit(s.sites[i])
        if randomness.choose((a, 1 - a), Site(randomness.sequence, round, "accept", i)):
            replacements.append(right_residual(law_after(i), q))
    law = replacements[0] if replacements else law_after(len(s))
    bonus = randomness.choose(law, Site(randomness.sequence, round, "bonus", 0))
    return Outcome(len(s) - len(replacements), bonus)


def own_draw(law_after: Any, s: Speculation, randomness: Randomness, round: int) -> Outcome:
    """Exact, and slow: keeps a guess only where a draw of the target's own agrees."""
    for i, token in enumerate(s.tokens):
        randomness.commit(s.sites[i])
        own = randomness.choose(law_after(i), Site(randomness.sequence, round, "accept", i))
        if own != token:
            return Outcome(i, own)
    last = Site(randomness.sequence, round, "bonus", 0)
    return Outcome(len(s), randomness.choose(law_after(len(s)), last))


VERIFY = (
    Slip(
        "every guess is accepted", verify_with(chance=lambda p, q, t: 1.0), "lesson 02, section 1"
    ),
    Slip("the ratio is upside down", verify_with(chance=inverted), "lesson 02, section 1"),
    Slip(
        "a guess is accepted if p likes it best: that is the rule for greedy decoding only",
        verify_with(chance=agreement, replacement=target_itself),
        "lesson 02, section 1",
    ),
    Slip(
        "the replacement is drawn from p; what was kept already is then counted twice",
        verify_with(replacement=target_itself),
        "lesson 02, section 4",
    ),
    Slip(
        "|p - q| takes the place of (p - q)_+",
        verify_with(replacement=absolute),
        "lesson 02, section 1",
    ),
    Slip(
        "a softmax makes a law of the missing mass",
        verify_with(replacement=softmax),
        "lesson 02, section 1",
    ),
    Slip(
        "an epsilon is clamped into the residual",
        verify_with(replacement=with_epsilon),
        "lesson 02, section 1",
    ),
    Slip(
        "the residual is not normalised: its sum must be 1",
        verify_with(replacement=not_normalised),
        "lesson 02, section 1",
    ),
    Slip(
        "the bonus is drawn from the law before the last guess, not after it",
        verify_with(last=lambda law_after, s, n: law_after(max(n - 1, 0))),
        "lesson 02, section 5",
    ),
    Slip(
        "the bonus is drawn from the draft's law: the token behind the guesses is the target's own",
        verify_with(last=lambda law_after, s, n: s.rows[n - 1] if n else law_after(0)),
        "lesson 02, section 5",
    ),
    Slip(
        "guesses are counted that passed behind one that did not: they continued another text",
        sum_of_mask,
        "lesson 02, section 5",
    ),
    Slip(
        "the rows of q are off by one: each token is tested against the row that it was drawn from",
        verify_with(row_at=lambda i, n: max(i - 1, 0)),
        "lesson 02, section 5",
    ),
    Slip(
        "the target's laws are off by one: d_1 is tested against the law before it",
        verify_with(law_at=lambda i, n: i + 1),
        "lesson 02, section 5",
    ),
    Slip(
        "every guess is tested against the first law of the target",
        verify_with(law_at=lambda i, n: 0),
        "lesson 02, section 5",
    ),
    Slip(
        "every guess is tested against the first row of q",
        verify_with(row_at=lambda i, n: 0),
        "lesson 02, section 5",
    ),
    Slip(
        "only the first guess is ever tested: a round has n of them",
        verify_with(most=1),
        "lesson 02, section 5",
    ),
    Slip(
        "a draw of the target's own decides: exact, but it accepts less often than it could",
        own_draw,
        "lesson 02, section 10",
    ),
)


# Two guesses


def two_with(
    second: Callable[[Row, Row], Row], last: Callable[[Row, Row, Row], Row]
) -> Callable[..., int]:
    """second(p, q): the law that the second guess is tested against. last(p, q, that): the rest."""

    def verify_two(p: Row, q: Row, guesses: tuple[int, int], randomness: Randomness) -> int:
        wanted = p
        for i, token in enumerate(guesses):
            a = ratio(wanted, q, token)
            if randomness.choose((a, 1 - a), Site(0, 1, "accept", i)) == 0:
                return token
            wanted = second(p, q) if i == 0 else last(p, q, wanted)
        return randomness.choose(wanted, Site(0, 1, "bonus", 0))

    return verify_two


VERIFY_TWO = (
    Slip(
        "the second guess is tested against p, as if the first had not been rejected",
        two_with(target_itself, lambda p, q, w: right_residual(p, q)),
        "lesson 02, section 2",
    ),
    Slip(
        "after two rejections the first residual is used again",
        two_with(right_residual, lambda p, q, w: w),
        "lesson 02, section 2",
    ),
    Slip(
        "after two rejections the token is drawn from p",
        two_with(right_residual, lambda p, q, w: p),
        "lesson 02, section 4",
    ),
    Slip(
        "after two rejections p and q make the residual; but the second guess was tested against another law",
        two_with(target_itself, lambda p, q, w: p),
        "lesson 02, section 2",
    ),
)
