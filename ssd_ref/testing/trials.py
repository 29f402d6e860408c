"""The usual trials of an exercise: a call and its value, a decoder and its law, a value alone."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ssd_ref.exact_law import Decode, exact_law
from ssd_ref.randomness import Randomness
from ssd_ref.testing.check import Raised, Trial, Wrong
from ssd_ref.testing.comparison import compare_laws
from ssd_ref.testing.same import Words, same, shown

MOST_LEAVES = 20_000  # of a student's decoder; the cases need a few hundred


def called(answer: Any, *arguments: Any) -> tuple[str, Any]:
    """The call as text, and its value or what it raised. The answer gets copies to work on."""
    if not callable(answer):
        raise Wrong("the answer", Words("a function"), answer)
    name = getattr(answer, "__name__", "your function")
    text = f"{name}({', '.join(map(shown, arguments))})"
    try:
        return text, answer(*copy.deepcopy(arguments))
    except Exception as error:
        return text, Raised(error)


def gives(expected: Any, *arguments: Any, tolerance: float = 1e-9) -> Trial:
    """`answer(*arguments)` must be `expected`."""

    def trial(answer: Any) -> None:
        text, got = called(answer, *arguments)
        if not same(got, expected, tolerance):
            raise Wrong(text, expected, got)

    return trial


def satisfies(what: str, holds: Callable[[Any], bool], *arguments: Any) -> Trial:
    """`answer(*arguments)` must be something of which `holds`; `what` names it."""

    def trial(answer: Any) -> None:
        text, got = called(answer, *arguments)
        try:
            fine = not isinstance(got, Raised) and holds(got)
        except Exception:  # a value of another kind than was asked for
            fine = False
        if not fine:
            raise Wrong(text, Words(what), got)

    return trial


def is_value(what: str, expected: Any, tolerance: float = 1e-9) -> Trial:
    """The answer itself must be `expected`, which is not shown."""

    def trial(answer: Any) -> None:
        if not same(answer, expected, tolerance):
            raise Wrong(what, Words("another value"), answer)

    return trial


def has_law(
    case: str,
    decoder: Callable[[Any], Decode],
    expected: Mapping[tuple[int, ...], float],
    marginalise: bool | None = None,
) -> Trial:
    """`decoder(answer)`, a function of the randomness, must have the law `expected`."""

    def trial(answer: Any) -> None:
        if not callable(answer):
            raise Wrong(case, Words("a function"), answer)
        try:
            decode = returning(decoder(answer))
            law = exact_law(decode, max_leaves=MOST_LEAVES, marginalise=marginalise)
            comparison = compare_laws(law, expected)
        except Exception as error:
            raise Wrong(case, expected, Raised(error)) from error
        if not comparison.equal:
            raise Wrong(case, expected, law, table=f"  {comparison}")

    return trial


def returning(decode: Decode) -> Decode:
    """`decode`, with a word of its own for a missing `return`."""

    def checked(randomness: Randomness) -> Sequence[int]:
        tokens = decode(randomness)
        if tokens is None:
            raise TypeError("None was returned: expected a sequence of tokens")
        return tokens

    return checked
