"""Trials that the assignments share, beside those of `ssd_ref.testing.trials`."""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from ssd_ref.exact_law import Decode, ReplayError, exact_law
from ssd_ref.testing import trials
from ssd_ref.testing.check import Raised, Trial, Wrong
from ssd_ref.testing.same import Words, same, shown
from ssd_ref.testing.trials import called


def leaves_alone(*arguments: Any) -> Trial:
    """The answer must not change what it is given."""

    def trial(answer: Any) -> None:
        given = copy.deepcopy(arguments)
        text, got = called(lambda *_: answer(*given))
        text = f"{getattr(answer, '__name__', 'your function')}({', '.join(map(shown, arguments))})"
        if isinstance(got, Raised):
            raise Wrong(text, Words("no error"), got)
        for i, (before, after) in enumerate(zip(arguments, given, strict=True), start=1):
            if not same(after, before, 0):
                case = f"after {text} argument {i} is {shown(after)}"
                raise Wrong(case, Words("what it was"), Words("changed"))

    return trial


def has_law(
    case: str, decoder: Callable[[Any], Decode], expected: Mapping[tuple[int, ...], float]
) -> Trial:
    """As `ssd_ref.testing.trials.has_law`, for answers that draw in an order of their own, too.

    One that looks ahead before it commits a draft breaks the rule on which drafts are left out of
    the tree. It may still be right: then all of the tree is visited.
    """
    expected = dict(sorted(expected.items()))
    quick = trials.has_law(case, decoder, expected)
    whole = trials.has_law(case, decoder, expected, marginalise=False)

    def trial(answer: Any) -> None:
        try:
            quick(answer)
        except Wrong as wrong:
            if not (isinstance(wrong.got, Raised) and isinstance(wrong.got.error, ReplayError)):
                raise
            try:
                whole(answer)
            except Wrong as again:
                raise (wrong if isinstance(again.got, Raised) else again) from None

    return trial


def has_law_of(
    case: str,
    decoder: Callable[[Any], Decode],
    of: Callable[[tuple[int, ...]], Hashable],
    expected: Mapping[Any, float],
) -> Trial:
    """Not the law of the texts but of `of(text)` must be `expected`: a count, a first token, .."""

    def trial(answer: Any) -> None:
        try:
            law = law_of(decoder(answer))
        except Exception as error:
            raise Wrong(case, expected, Raised(error)) from error
        got: dict[Hashable, float] = defaultdict(float)
        for text, p in law.items():
            got[of(text)] += p
        if not same(dict(got), dict(expected), 1e-12):
            raise Wrong(case, expected, dict(got))

    return trial


def law_of(decode: Decode) -> Mapping[tuple[int, ...], float]:
    try:
        return exact_law(decode, max_leaves=trials.MOST_LEAVES)
    except ReplayError:
        return exact_law(decode, max_leaves=trials.MOST_LEAVES, marginalise=False)


def runs(case: str, expected: Any, run: Callable[[Any], Any]) -> Trial:
    """`run(answer)` must be `expected`; an error of the answer's is what came."""

    def trial(answer: Any) -> None:
        try:
            got = run(answer)
        except Exception as error:
            raise Wrong(case, expected, Raised(error)) from error
        if not same(got, expected):
            raise Wrong(case, expected, got)

    return trial


def all_of(*groups: Sequence[Trial]) -> list[Trial]:
    return [trial for group in groups for trial in group]
