"""Assignment 8: tests of a decoder.

A test is a function `test_..(decode)` that raises AssertionError (or anything) if the decoder is
broken. `sheet.md` says what `decode` is. Write as many as you like; each stub may stay unwritten.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ssd_ref import SeededRandomness, TableModel, exact_law
from ssd_ref.testing import compare_laws, target_law

Decode = Callable[..., list[int]]


def law_is_the_targets(
    decode: Decode,
    target: TableModel,
    draft: TableModel,
    prompt: tuple[int, ...] = (0,),
    *,
    lookahead: int,
    **settings: Any,
) -> None:
    """Given: assert that the exact law of the text is the target's.

    settings: max_new_tokens, and if you like temperature and eos.
    """
    law = exact_law(
        lambda randomness: decode(
            target, draft, list(prompt), lookahead=lookahead, randomness=randomness, **settings
        )
    )
    comparison = compare_laws(law, target_law(target, list(prompt), **settings))
    assert comparison.equal, f"{comparison}"


def test_law(decode: Decode) -> None:
    """The law of the text is the target's, for tables on which a fault shows."""
    ### BEGIN SOLUTION
    for target, draft in (two_back(1), two_back(2)):
        law_is_the_targets(decode, target, draft, (1, 0), lookahead=2, max_new_tokens=3)
    target, draft = TableModel([0.8, 0.2]), TableModel([0.3, 0.7])
    law_is_the_targets(decode, target, draft, lookahead=1, max_new_tokens=3)
    target, draft = TableModel([0.5, 0.1, 0.4, 0]), TableModel([0.1, 0.6, 0, 0.3])
    law_is_the_targets(decode, target, draft, lookahead=2, max_new_tokens=1)
    ### END SOLUTION


def test_ends(decode: Decode) -> None:
    """The text ends where it should: at the end token, at its length, at once."""
    ### BEGIN SOLUTION
    target, draft = two_back(3)
    law_is_the_targets(decode, target, draft, lookahead=2, max_new_tokens=3, eos=1)
    prompt = [0]
    randomness = SeededRandomness(0)
    settings: dict[str, Any] = {"lookahead": 2, "randomness": randomness}
    assert decode(target, draft, prompt, max_new_tokens=0, **settings) == []
    assert len(decode(target, draft, prompt, max_new_tokens=4, **settings)) == 4
    assert prompt == [0]
    ### END SOLUTION


def test_temperature(decode: Decode) -> None:
    """Other temperatures than 1."""
    ### BEGIN SOLUTION
    target, draft = two_back(4)
    for temperature in (0.0, 2.0):
        law_is_the_targets(
            decode, target, draft, lookahead=2, max_new_tokens=2, temperature=temperature
        )
    ### END SOLUTION


### BEGIN SOLUTION
def two_back(seed: int) -> tuple[TableModel, TableModel]:
    """Laws given the last two tokens, unlike in target and draft."""
    rng = np.random.default_rng(seed)
    target, draft = (TableModel(rng.dirichlet((1, 1), (2, 2))) for _ in range(2))
    return target, draft


### END SOLUTION
