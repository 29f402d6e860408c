"""Integer fan-out against every allocation there is, and against the continuous optimum."""

import doctest
import tracemalloc
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.theory import fan_out_shape, least_miss, outcome_weights
from ssd_ref.saguaro import (
    all_accepted_only,
    allocate,
    expected_miss,
    geometric,
    lists,
    measured,
    power_law,
    uniform,
)

A, K, B = 0.64, 4, 20  # the paper's example


def best_of_all(weights, curves, budget, vocabulary=None):
    """The least miss rate, by trying every list."""
    most = [budget if vocabulary is None else vocabulary - 1 for _ in weights]
    most[-1] = budget if vocabulary is None else vocabulary
    ranges = [range(min(budget, limit) + 1) for limit in most]
    return min(
        sum(w * curve(f) for w, curve, f in zip(weights, curves, widths, strict=True))
        for widths in product(*ranges)
        if sum(widths) <= budget
    )


def table(values):
    return lambda width: values[min(width, len(values) - 1)]


@st.composite
def problems(draw):
    """Weights, a non-increasing curve for each k, of any shape, with steps and plateaus."""
    slots = draw(st.integers(1, 3))
    weights = draw(st.lists(st.integers(0, 5), min_size=slots, max_size=slots))
    falls = st.lists(st.integers(0, 4), min_size=0, max_size=5)
    tables = []
    for _ in range(slots):
        steps, level = draw(falls), 20
        values = [level] + [level := level - step for step in steps]
        tables.append([value / 20 for value in values])
    return weights, tables, draw(st.integers(0, 7)), draw(st.none() | st.integers(1, 5))


@given(problems())
def test_no_list_is_better(problem):
    weights, tables, budget, vocabulary = problem
    curves = [table(values) for values in tables]
    got = allocate(weights, curves, budget, vocabulary)
    miss = sum(w * curve(f) for w, curve, f in zip(weights, curves, got, strict=True))
    assert miss == pytest.approx(best_of_all(weights, curves, budget, vocabulary), abs=1e-12)
    assert sum(got) <= budget
    if vocabulary is not None:
        assert all(f <= vocabulary - 1 for f in got[:-1])
        assert got[-1] <= vocabulary


@pytest.mark.parametrize("a", [0.0, 0.3, 0.64, 0.9, 1.0])
@pytest.mark.parametrize(("r", "c"), [(0.5, 1.0), (1.0, 1.0), (2.0, 1.0), (1.0, 0.5), (0.7, 0.56)])
def test_the_geometric_list_is_the_best_of_all(a, r, c):
    weights = outcome_weights(a, 3)
    for budget in range(0, 9):
        got = geometric(a, r, budget, 3, prefactor=c)
        miss = expected_miss(weights, power_law(r, c), got)
        assert miss == pytest.approx(best_of_all(weights, [power_law(r, c)] * 4, budget), abs=1e-12)


def take_the_largest_gain(weights, curve, budget):
    """Greedy without looking ahead, for any curve."""
    widths = [0] * len(weights)
    for _ in range(budget):
        gains = [w * (curve(f) - curve(f + 1)) for w, f in zip(weights, widths, strict=True)]
        widths[gains.index(max(gains))] += 1
    return widths


def test_greedy_fails_where_the_first_guess_gains_nothing():
    """Def. 11 itself, prefactor 1: all guesses end at k = 0, and .658 is missed instead of .240."""
    weights, curve = outcome_weights(A, K), power_law(1.0)
    naive = take_the_largest_gain(weights, curve, B)
    assert naive == [20, 0, 0, 0, 0]
    assert round(expected_miss(weights, curve, naive), 3) == 0.658
    best = geometric(A, 1.0, B, K)
    assert best == (5, 4, 4, 3, 4)
    assert round(expected_miss(weights, curve, best), 3) == 0.240


def test_rounding_exceeds_the_budget_and_the_integer_optimum_does_not():
    shape = fan_out_shape(A, K, B, 1.0)
    assert [round(f, 2) for f in shape] == [5.5, 4.4, 3.52, 2.82, 3.76]
    assert [round(f) for f in shape] == [6, 4, 4, 3, 4]  # 21
    best = geometric(A, 1.0, B, K, prefactor=0.5)
    assert sum(best) == B
    assert all(abs(f - x) < 1 for f, x in zip(best, shape, strict=True))


@given(
    st.floats(0.05, 0.95), st.floats(0.3, 3), st.floats(0.05, 1), st.integers(0, 5),
    st.integers(0, 60),
)  # fmt: skip
def test_no_integer_list_beats_the_continuous_optimum(a, r, c, lookahead, budget):
    weights, got = outcome_weights(a, lookahead), geometric(a, r, budget, lookahead, c)
    if all(f >= max(1, c ** (1 / r)) for f in got):  # the law is not cut off at 1
        floor = least_miss(weights, budget, r, c)
        assert expected_miss(weights, power_law(r, c), got) >= floor - 1e-9


def test_the_continuous_optimum_satisfies_lagranges_condition():
    """w_k times the slope of the miss curve, -r F^-(r+1), is the same at every k."""
    shape = fan_out_shape(A, K, B, 1.3)
    slopes = [w * -1.3 * f**-2.3 for w, f in zip(outcome_weights(A, K), shape, strict=True)]
    assert slopes == pytest.approx([slopes[0]] * (K + 1), rel=1e-12)
    assert sum(shape) == pytest.approx(B, abs=1e-12)


def test_the_prefactor_does_not_change_the_shape():
    lists = {geometric(A, 1.0, B, K, prefactor=c) for c in (0.1, 0.3, 0.5)}
    assert lists == {(5, 4, 4, 3, 4)}


def test_a_good_draft_has_its_largest_slot_last():
    assert geometric(0.85, 0.7, 12, 4, prefactor=0.56) == (2, 2, 2, 2, 4)


def test_all_weight_at_one_end():
    assert geometric(0, 0.7, 12, 4, 0.56) == (12, 0, 0, 0, 0)
    assert geometric(1, 0.7, 12, 4, 0.56) == (0, 0, 0, 0, 12)
    assert geometric(1, 0.7, 12, 4, 0.56, vocabulary=5) == (0, 0, 0, 0, 5)
    assert geometric(0, 0.7, 12, 0, 0.56) == (12,)


def test_numbers_may_be_numpys():
    whole = [np.int64(n) for n in (1, 4, 2)]
    assert geometric(np.float64(0.5), whole[0], whole[1], whole[2], 0.5) == (2, 1, 1)


def test_the_dynamic_programme_needs_memory_for_its_budget_not_for_its_square():
    tracemalloc.start()
    assert sum(geometric(0.7, 1.0, 2000, 3)) == 2000
    assert tracemalloc.get_traced_memory()[1] < 1e6  # 2000 x 2000 numbers are 32 million bytes
    tracemalloc.stop()


def test_a_guess_that_gains_nothing_is_not_taken():
    """Nor where each gains less than the one before: at k = 1 a second never hits."""
    curves = [table([1, 0.5, 0.25, 0.125]), table([1, 0.5])]
    assert allocate([1, 1], curves, 100) == (3, 1)
    assert allocate([1, 0], curves, 3) == (3, 0)
    assert allocate([1, 1], curves[:1] + curves[:1], 3) == (2, 1)  # of equals the lower k


def test_uniform_shares_the_budget():
    assert uniform(10, 4) == (2, 2, 2, 2, 2)
    assert uniform(13, 4) == (3, 3, 3, 2, 2)
    assert uniform(3, 4) == (1, 1, 1, 0, 0)
    assert uniform(100, 2, vocabulary=3) == (2, 2, 3)


def test_all_accepted_only_puts_all_at_the_end():
    assert all_accepted_only(1, 4) == (0, 0, 0, 0, 1)
    assert all_accepted_only(7, 2, vocabulary=5) == (0, 0, 5)


OUTCOMES = [(0, 0)] * 3 + [(0, 4)] * 9 + [(1, 0)] * 2 + [(2, 1)] * 6 + [(2, 0), (1, None)]


@pytest.mark.parametrize("budget", range(9))
def test_measured_hits_most_of_what_was_recorded(budget):
    """(0, 4) nine times: worth five guesses only if there are enough. Not concave."""

    def hits(widths):
        return sum(rank is not None and rank < widths[slot] for slot, rank in OUTCOMES)

    got = measured(OUTCOMES, budget, 2)
    every = product(range(budget + 1), repeat=3)
    assert sum(got) <= budget
    assert hits(got) == max(hits(widths) for widths in every if sum(widths) <= budget)


def test_measured_takes_nothing_that_never_hit():
    assert measured([(0, 0), (2, 1)], 100, 2) == (1, 0, 2)
    assert measured([], 10, 2) == (0, 0, 0)


def test_the_examples_in_the_docstrings():
    assert doctest.testmod(lists).attempted == 2
    assert doctest.testmod(lists).failed == 0


def test_budget_zero_and_above_all_outcomes():
    for make in (uniform, all_accepted_only, lambda b, k, v=None: geometric(0.7, 1, b, k, 0.5, v)):
        assert make(0, 2) == (0, 0, 0)
        assert make(0, 0) == (0,)
    assert uniform(99, 2, 4) == geometric(0.7, 1, 99, 2, 0.5, vocabulary=4) == (3, 3, 4)
    assert uniform(7, 0) == geometric(0.7, 1.0, 7, 0) == all_accepted_only(7, 0) == (7,)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: geometric(1.1, 1, 4, 2), "a: expected an acceptance rate in [0, 1], got 1.1"),
        (lambda: geometric(-0.1, 1, 4, 2), "a: expected an acceptance rate in [0, 1], got -0.1"),
        (lambda: geometric(float("nan"), 1, 4, 2), "a: expected an acceptance rate in [0, 1]"),
        (lambda: geometric(0.5, 0, 4, 2), "exponent: expected a finite number > 0, got 0"),
        (lambda: geometric(0.5, -1, 4, 2), "exponent: expected a finite number > 0, got -1"),
        (lambda: geometric(0.5, 1, 4, 2, prefactor=0), "prefactor: expected a finite number > 0"),
        (lambda: geometric(0.5, 1, -1, 2), "budget: expected an integer >= 0, got -1"),
        (lambda: uniform(2.5, 2), "budget: expected an integer >= 0, got 2.5"),
        (lambda: uniform(2, -1), "lookahead: expected an integer >= 0, got -1"),
        (lambda: uniform(2, 1, 0), "vocabulary: expected an integer >= 1, got 0"),
        (lambda: measured([(3, 0)], 2, 2), "slot: expected an integer in [0, 2], got 3"),
        (lambda: measured([(1, -1)], 2, 2), "rank: expected an integer >= 0, got -1"),
        (lambda: allocate([], power_law(1), 2), "weights: expected finite numbers >= 0"),
        (lambda: allocate([1, -1], power_law(1), 2), "weights: expected finite numbers >= 0"),
        (lambda: allocate([1, 2], [power_law(1)], 2), "miss: expected one curve for each of 2"),
        (lambda: allocate([1], [lambda f: f], 2), "miss curve 0: expected finite values that nev"),
        (lambda: expected_miss([0], power_law(1), [1]), "weights: expected one above 0"),
        (lambda: expected_miss([1], power_law(1), [1, 2]), "fan_out: expected 1 numbers, got 2"),
        (lambda: expected_miss([1], power_law(1), [-1]), "fan_out[0]: expected an integer >= 0"),
    ],
)  # fmt: skip
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError) as error:
        call()
    assert str(error.value).startswith(message)
