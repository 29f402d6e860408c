"""From logits to the row that is drawn from: temperature, top-k, top-p, Saguaro's sigma."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import law_row
from ssd_ref.laws import Law, LogitsError, ranking, saguaro, usable

NAN, INF = float("nan"), float("inf")


def row_of(logits, **settings):
    (row,) = Law(**settings).rows(np.array([logits], dtype=np.float64))
    return row.tolist()


approx = pytest.approx


# Temperature


def test_temperature_1_is_the_softmax():
    assert row_of([0, math.log(3)]) == approx([0.25, 0.75])


def test_temperature_t_gives_rows_proportional_to_the_power_1_over_t():
    p = np.array([0.5, 0.3, 0.2])
    for t in (0.5, 2.0, 3.7):
        expected = p ** (1 / t) / (p ** (1 / t)).sum()
        assert row_of(np.log(p), temperature=t) == approx(expected.tolist(), rel=1e-14)


def test_temperature_0_is_the_first_largest_logit():
    assert row_of([1, 3, 2], temperature=0) == [0, 1, 0]
    assert row_of([1, 1, 0], temperature=0) == [1, 0, 0]
    assert row_of([0, 1, 1], temperature=0) == [0, 1, 0]
    assert row_of([-INF, -5, -5], temperature=0) == [0, 1, 0]


@pytest.mark.parametrize("temperature", [1e-320, 5e-324, 1e-300])
def test_a_tiny_temperature_is_greedy_and_splits_ties(temperature):
    """(z - max z) / T: the largest logit stays 0, whatever T; z / T - max would be inf - inf."""
    assert row_of([3, 1, -INF], temperature=temperature) == [1, 0, 0]
    assert row_of([1e308, -1e308], temperature=temperature) == [1, 0]
    assert row_of([2, 2, 1], temperature=temperature) == [0.5, 0.5, 0]
    assert row_of([-7.5, -7.5], temperature=temperature) == [0.5, 0.5]


def test_a_huge_temperature_is_uniform_on_what_is_possible():
    assert row_of([5, -3, -INF], temperature=1e308) == [0.5, 0.5, 0]


def test_logits_of_any_size():
    assert row_of([1e308, 1e308]) == [0.5, 0.5]
    assert row_of([1e308, -1e308]) == [1, 0]
    assert row_of([-1e308, -1e308]) == [0.5, 0.5]
    assert row_of([1e5, 1e5 - math.log(3)]) == approx([0.75, 0.25])


def test_minus_infinity_is_a_probability_of_0():
    for settings in ({}, {"temperature": 0}, {"temperature": 1e-320}, {"top_k": 2, "top_p": 0.9}):
        assert row_of([0, -INF], **settings) == [1, 0]


# Top-k and top-p. Probabilities .1, .4, .2, .3; as .4, .3, .2, .1 in order.
LOGITS = np.log([0.1, 0.4, 0.2, 0.3]).tolist()


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"top_k": 1}, [0, 1, 0, 0]),
        ({"top_k": 2}, [0, 4 / 7, 0, 3 / 7]),
        ({"top_k": 4}, [0.1, 0.4, 0.2, 0.3]),
        ({"top_k": 99}, [0.1, 0.4, 0.2, 0.3]),
        ({"top_p": 1e-9}, [0, 1, 0, 0]),  # never empty
        ({"top_p": 0.39}, [0, 1, 0, 0]),  # the token that crosses p is kept
        ({"top_p": 0.41}, [0, 4 / 7, 0, 3 / 7]),
        ({"top_p": 0.69}, [0, 4 / 7, 0, 3 / 7]),
        ({"top_p": 0.71}, [0, 4 / 9, 2 / 9, 3 / 9]),
        ({"top_p": 1.0}, [0.1, 0.4, 0.2, 0.3]),
        ({"top_k": 3, "top_p": 0.5}, [0, 4 / 7, 0, 3 / 7]),  # of .44, .33, .22
        ({"top_k": 2, "top_p": 0.5}, [0, 1, 0, 0]),  # of .57, .43: top-k comes first
        ({"temperature": 0.5, "top_p": 0.5}, [0, 1, 0, 0]),  # temperature first: 16/30
        ({"temperature": 0, "top_k": 3, "top_p": 0.5}, [0, 1, 0, 0]),
    ],
)
def test_truncation(settings, expected):
    assert row_of(LOGITS, **settings) == approx(expected, abs=1e-15)


def test_among_equals_the_lower_index_is_kept():
    assert row_of([0, 0, 0, 0], top_k=2) == [0.5, 0.5, 0, 0]
    assert row_of([0, 1, 1, 0], top_k=1) == [0, 1, 0, 0]
    assert row_of([0, 0, 0], top_p=0.5) == approx([0.5, 0.5, 0])


def test_top_k_beyond_the_possible_tokens_adds_none():
    assert row_of([0, -INF, -INF, 0], top_k=3) == [0.5, 0, 0, 0.5]
    assert row_of([0, -INF, -INF, 0], top_p=1.0) == [0.5, 0, 0, 0.5]


logits = st.lists(
    st.one_of(st.floats(-30, 30), st.just(-INF), st.sampled_from([0.0, 1.0])),
    min_size=1,
    max_size=8,
).filter(lambda row: max(row) > -INF)


@given(
    logits,
    st.sampled_from([0, 1e-320, 0.3, 1.0, 2.5, 1e300]),
    st.one_of(st.none(), st.integers(1, 9)),
    st.one_of(st.none(), st.floats(0.05, 1)),
)
def test_any_row_against_the_definition(row, temperature, top_k, top_p):
    settings = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
    found = row_of(row, **settings)
    assert abs(sum(found) - 1) <= 1e-12
    assert all(p == 0 for p, z in zip(found, row, strict=True) if z == -INF)
    if top_k is not None:
        assert sum(p > 0 for p in found) <= top_k
    expected = law_row(row, **settings)
    # Two sums may fall on either side of an exact boundary of top-p: there the sets differ.
    if top_p is None or sum(p > 0 for p in found) == sum(p > 0 for p in expected):
        assert found == approx(expected, abs=1e-12)


@given(st.lists(logits, min_size=1, max_size=4))
def test_rows_do_not_depend_on_the_rows_beside_them(rows):
    width = max(map(len, rows))
    block = np.array([[*row, *[-INF] * (width - len(row))] for row in rows])
    for law in (Law(), Law(0), Law(0.7, top_k=2), Law(top_p=0.8)):
        together = law.rows(block)
        alone = np.array([law.rows(block[i : i + 1])[0] for i in range(len(block))])
        assert np.array_equal(together, alone)


def test_rows_are_float64_and_the_logits_are_left_alone():
    block = np.array([LOGITS, [0, -INF, 2, 1]])
    before = block.copy()
    for law in (Law(), Law(0), Law(0.7, top_k=2, top_p=0.8)):
        assert law.rows(block).dtype == np.float64
        assert np.array_equal(block, before)


def test_float32_logits_make_float64_rows():
    block = np.array([LOGITS], dtype=np.float32)
    for law in (Law(), Law(0), Law(0.7, top_k=2, top_p=0.8)):
        rows = law.rows(block)
        assert rows.dtype == np.float64
        assert np.array_equal(rows, law.rows(block.astype(np.float64)))


# Rows that are no law

BAD_ROWS = [
    ([NAN, 0, 0], "nan for token 0"),
    ([0, NAN, INF], "nan for token 1"),
    ([0, 0, INF], "inf for token 2"),
    ([INF, INF, -INF], "inf for token 0"),
    ([-INF, -INF, -INF], "-inf for every token"),
    ([NAN, NAN, NAN], "nan for token 0"),
    ([-INF, NAN, -INF], "nan for token 1"),
]


@pytest.mark.parametrize(("bad", "fault"), BAD_ROWS)
@pytest.mark.parametrize("law", [Law(), Law(0), Law(1e-320), Law(2.0, 2, 0.5), Law(top_p=0.9)])
def test_a_row_that_is_no_law_is_marked_and_named_when_used(law, bad, fault):
    block = np.array([[1, 2, 3], bad, [3, 2, 1]], dtype=np.float64)
    rows = law.rows(block)
    good = law.rows(block[[0, 2]])
    assert np.array_equal(rows[[0, 2]], good)  # its neighbours are as they would be without it
    assert np.isnan(rows[1]).all()
    assert usable(rows[0], block[0], "target", 7) is not None
    expected = f"draft's logits after 7 tokens: expected finite numbers or -inf, got {fault}"
    with pytest.raises(LogitsError, match=f"^{expected}$"):
        usable(rows[1], block[1], "draft", 7)


def test_a_logits_error_is_a_value_error():
    assert issubclass(LogitsError, ValueError)


# Arguments


@pytest.mark.parametrize("temperature", [-1, -1e-320, NAN, INF, -INF])
def test_temperature_must_be_finite_and_not_negative(temperature):
    expected = f"temperature: expected a finite number >= 0, got {temperature}"
    with pytest.raises(ValueError, match=expected):
        Law(temperature)


@pytest.mark.parametrize("top_k", [0, -1, 1.5, True])
def test_top_k_must_be_an_integer_from_1(top_k):
    with pytest.raises(ValueError, match=f"top_k: expected an integer >= 1.*, got {top_k}"):
        Law(top_k=top_k)


@pytest.mark.parametrize("top_p", [0, -0.1, 1.0000001, NAN, INF])
def test_top_p_must_be_in_its_interval(top_p):
    with pytest.raises(ValueError, match=rf"top_p: expected a number in \(0, 1\].*, got {top_p}"):
        Law(top_p=top_p)


# Guesses and Saguaro


def test_ranking_by_logits_lower_index_first_among_equals():
    assert ranking(np.array([1.0, 3, 3, -INF, 2])).tolist() == [1, 2, 4, 0, 3]
    assert ranking(np.array([-INF, 0, -INF])).tolist() == [1, 0, 2]


Q = np.array([0.5, 0.3, 0.2])


def test_saguaro_scales_the_favoured_tokens_and_normalises():
    found = saguaro(Q, np.array([0, 2]), 0.5)
    assert found.tolist() == approx([0.25 / 0.65, 0.3 / 0.65, 0.1 / 0.65], rel=1e-15)
    assert saguaro(Q, np.array([1]), 0.0).tolist() == approx([5 / 7, 0, 2 / 7], rel=1e-15)


def test_saguaro_with_c_1_or_nothing_favoured_changes_nothing():
    nothing = np.array([], dtype=int)
    for favoured in (nothing, np.array([0]), np.array([0, 1, 2])):
        assert np.array_equal(saguaro(Q, favoured, 1.0), Q)
    assert saguaro(Q, nothing, 0.3).tolist() == approx(Q.tolist(), rel=1e-15)
    assert saguaro(Q, nothing, 0.0).tolist() == approx(Q.tolist(), rel=1e-15)


def test_saguaro_with_c_0_and_all_mass_favoured_is_the_limit():
    assert saguaro(Q, np.array([0, 1, 2]), 0.0).tolist() == Q.tolist()
    certain = np.array([0.0, 1.0, 0.0])
    assert saguaro(certain, np.array([1]), 0.0).tolist() == [0, 1, 0]
    assert saguaro(Q, np.array([0, 1, 2]), 1e-6).tolist() == approx(Q.tolist(), rel=1e-12)


def test_saguaro_moves_the_residual_onto_the_guesses():
    """What it is for: (p-q)_+ grows on the favoured token (here p = q, whose residual is empty)."""
    lowered = saguaro(Q, np.array([0]), 0.5)
    residual = np.maximum(Q - lowered, 0)
    assert residual[0] > 0
    assert residual[1:].tolist() == [0, 0]


@given(
    logits,
    st.floats(0, 1),
    st.integers(0, 9),
    st.sampled_from([0, 0.5, 1.0]),
)
def test_saguaro_always_gives_a_law_and_leaves_its_argument_alone(row, c, width, temperature):
    z = np.array(row)
    q = Law(temperature).rows(z[None])[0]
    before, favoured = q.copy(), ranking(z)[:width]
    found = saguaro(q, favoured, c)
    assert np.array_equal(q, before)
    assert found.dtype == np.float64
    assert abs(found.sum() - 1) <= 1e-12
    assert (found >= 0).all()
    assert (found[q == 0] == 0).all()
    others = np.setdiff1d(np.arange(len(q)), favoured)
    if q[others].sum() > 0:
        assert (found[others] >= q[others] * (1 - 1e-12)).all()
        wanted = q / (q[others].sum() + c * q[favoured].sum())
        wanted[favoured] *= c
        assert found == approx(wanted, abs=1e-12)
