"""The oracle and the comparison refuse what would make them pass or run for ever."""

import math

import pytest

from ssd_ref import TableModel
from ssd_ref.testing import compare_laws, target_law

TABLE = TableModel([[0.2, 0.8], [0.6, 0.4]])


@pytest.mark.parametrize("bad", [math.nan, -0.1, 1.5, math.inf])
def test_numbers_that_are_no_probabilities_are_refused(bad):
    for laws in (({(0,): bad}, {(0,): 1.0}), ({(0,): 1.0}, {(0,): bad})):
        with pytest.raises(ValueError, match=r"expected probabilities in \[0, 1\]"):
            compare_laws(*laws)
    with pytest.raises(ValueError, match="two empty laws"):
        compare_laws({}, {})


@pytest.mark.parametrize(
    "wrong", [{"max_new_tokens": -1}, {"max_new_tokens": 1.0}, {"temperature": -1}, {"eos": 9}]
)
def test_the_oracle_refuses_what_the_decoders_refuse(wrong):
    with pytest.raises(ValueError, match="expected"):
        target_law(TABLE, [0], **{"max_new_tokens": 2, **wrong})


def test_the_first_departure_is_the_shortest_prefix():
    expected = target_law(TABLE, [0], max_new_tokens=3)
    moved = dict(expected)
    moved[1, 0, 0] += 0.01
    moved[1, 0, 1] -= 0.01
    comparison = compare_laws(moved, expected)
    assert comparison.total_variation == pytest.approx(0.01)
    assert comparison.departure.position == 3
    assert comparison.departure.prefix == (1, 0)
    assert "first departure at position 3, after (1, 0)" in str(comparison)
