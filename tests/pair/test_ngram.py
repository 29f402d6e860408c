"""The Witten-Bell yardstick against a hand-written recursion."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from ssd_ref.pair.ngram import WittenBell

STREAM = [0, 1, 1, 2, 0, 1, 0, 2, 2, 1, 1]
V = 4  # token 3 never occurs


def by_hand(context: tuple[int, ...], token: int, order: int) -> float:
    """The definition, by scanning the stream for every count."""
    if len(context) >= order:
        return by_hand(context[1:], token, order)
    lower = by_hand(context[1:], token, order) if context else 1 / V
    m = len(context)
    after = [STREAM[i] for i in range(m, len(STREAM)) if tuple(STREAM[i - m : i]) == context]
    if not after:
        return lower
    kinds = len(set(after))
    return (after.count(token) + kinds * lower) / (len(after) + kinds)


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_every_probability_is_that_of_the_definition(order: int) -> None:
    model = WittenBell(STREAM, V, order)
    for m in range(order + 1):
        for context in itertools.product(range(V), repeat=m):
            for token in range(V):
                expected = by_hand(context, token, order)
                assert model.probability(context, token) == pytest.approx(expected, abs=1e-15)


def test_rows_are_laws_without_zeros() -> None:
    model = WittenBell(STREAM, V, 3)
    for context in itertools.product(range(V), repeat=3):
        row = model.row(context)
        assert row.shape == (V,)
        assert row.min() > 0
        assert math.isclose(row.sum(), 1, abs_tol=1e-12)


def test_losses_are_those_of_the_rows() -> None:
    model = WittenBell(STREAM, V, 3)
    tokens = [2, 1, 0, 3, 1]
    expected = [-math.log(model.row(tokens[:i])[tokens[i]]) for i in range(1, 5)]
    np.testing.assert_allclose(model.losses(tokens), expected, rtol=1e-12)


def test_sizes_below_one_are_refused() -> None:
    with pytest.raises(ValueError, match="got 0 and 4"):
        WittenBell(STREAM, V, 0)
