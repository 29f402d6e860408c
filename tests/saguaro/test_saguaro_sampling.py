"""What is claimed of Saguaro sampling, tried on arbitrary rows; the search for the best C."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssd_ref.laws import Law, ranking, saguaro
from ssd_ref.saguaro import best_c, effect
from ssd_ref.verification import acceptance

CS = st.sampled_from([0.0, 0.1, 0.5, 1.0]) | st.floats(1e-9, 1)


@st.composite
def positions(draw):
    """Rows as a decoder has them, after temperature and truncation: target's, draft's, the set."""
    V = draw(st.integers(1, 6))
    logits = st.lists(st.integers(-4, 4), min_size=V, max_size=V)

    def row(z):
        law = Law(
            draw(st.sampled_from([1.0, 0.0, 0.5, 2.0])),
            draw(st.none() | st.integers(1, V)),
            draw(st.none() | st.sampled_from([0.37, 0.83])),
        )
        return law.rows(np.array([z], dtype=float))[0]

    z_draft = np.array(draw(logits), dtype=float)
    return row(draw(logits)), row(z_draft), ranking(z_draft)[: draw(st.integers(0, V))].tolist()


@given(positions(), CS)
def test_the_three_chances_sum_to_one(position, c):
    got = effect(*position, c)
    assert sum(got) == pytest.approx(1, abs=1e-12)
    assert min(got) >= 0


@given(positions(), CS)
def test_the_chances_are_those_of_the_verifier(position, c):
    """Draw each token from sigma, let the verifier test it, and follow what replaces it."""
    p, q, guessed = position
    sigma = saguaro(q, np.array(guessed, dtype=int), c)
    accepted, replaced = 0.0, np.zeros(len(p))
    for token in np.flatnonzero(sigma):
        keep, residual = acceptance(p, sigma, token)
        accepted += sigma[token] * keep
        replaced += sigma[token] * (1 - keep) * residual
    cached = replaced[guessed].sum()
    expected = accepted, cached, replaced.sum() - cached
    assert effect(p, q, guessed, c) == pytest.approx(expected, abs=1e-12)


@given(positions(), CS, CS)
def test_a_lower_weight_never_takes_residual_from_the_guesses(position, c, d):
    """Its mass on S does not fall and the mass elsewhere does not rise: nor then does its share."""
    lower, higher = effect(*position, min(c, d)), effect(*position, max(c, d))
    assert lower.cached >= higher.cached - 1e-12
    assert lower.missed <= higher.missed + 1e-12


@given(positions(), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_acceptance_is_concave_in_the_shifted_mass(position, c, d, t):
    """Against q(S) - sigma(S), not against C itself."""
    p, q, guessed = position
    mass = q[guessed].sum()
    if not 1e-9 < mass < 1 - 1e-9:
        return

    def at_mass(kept):
        """Acceptance where sigma puts `kept` on S: the C with C Q / (C Q + 1 - Q) = kept."""
        c = kept * (1 - mass) / (mass * (1 - kept))
        return effect(p, q, guessed, min(1.0, c)).accepted

    x, y = c * mass, d * mass
    assert at_mass(t * x + (1 - t) * y) >= t * at_mass(x) + (1 - t) * at_mass(y) - 1e-9


@given(positions())
def test_one_is_the_identity(position):
    p, q, guessed = position
    assert np.array_equal(saguaro(q, np.array(guessed, dtype=int), 1.0), q / q.sum())
    assert effect(p, q, guessed, 1.0).accepted == pytest.approx(np.minimum(p, q).sum(), abs=1e-12)


@given(positions())
def test_zero_is_the_limit(position):
    assert effect(*position, 0.0) == pytest.approx(effect(*position, 1e-15), abs=1e-12)


def test_zero_with_all_mass_guessed_is_the_draft_itself():
    p, q = [0.5, 0.3, 0.2], [0.6, 0.4, 0.0]
    assert effect(p, q, [0, 1], 0.0) == effect(p, q, [0, 1], 1.0)


@given(positions())
def test_at_weight_zero_no_guess_is_drawn_and_so_all_of_p_there_is_cached(position):
    p, q, guessed = position
    if q[guessed].sum() < 1 - 1e-9:
        assert effect(p, q, guessed, 0.0).cached == pytest.approx(p[guessed].sum(), abs=1e-12)


def test_a_mild_weight_helps_an_overconfident_draft():
    p, q = [0.5, 0.3, 0.2], [0.8, 0.1, 0.1]
    accepted = [effect(p, q, [0], c).accepted for c in (1.0, 0.5, 0.25, 0.1, 0.0)]
    assert accepted == pytest.approx([0.7, 0.833333, 0.95, 0.785714, 0.5], abs=1e-6)
    assert effect(p, q, [0], 1.0) == pytest.approx((0.7, 0.0, 0.3))
    assert effect(p, q, [0], 0.1) == pytest.approx((0.785714, 0.214286, 0.0), abs=1e-6)


def speed(c):
    """One position; a hit is worth 1 verification, drafting after a miss costs half of one."""
    accepted, _, missed = effect([0.5, 0.3, 0.2], [0.8, 0.1, 0.1], [0], c)
    return (1 + accepted) / (1 + 0.5 * missed)


def test_the_best_weight_is_found():
    c, value = best_c(speed)
    tried = [(i / 10_000, speed(i / 10_000)) for i in range(10_001)]
    best = max(v for _, v in tried)
    assert value == speed(c)
    assert value >= best - 1e-9
    assert c == pytest.approx(0.25, abs=1e-6)  # there sigma is p at token 0


@given(st.floats(0, 1), st.integers(3, 30))
def test_a_single_peak_is_found_from_any_grid(peak, points):
    c, value = best_c(lambda c: -abs(c - peak), points)
    assert c == pytest.approx(peak, abs=1e-6)
    assert value == pytest.approx(0, abs=1e-6)


def test_the_larger_weight_wins_a_tie():
    assert best_c(lambda c: 2.0) == (1.0, 2.0)
    assert best_c(lambda c: 1 - c)[0] == 0.0
    between_the_grids_points = best_c(lambda c: -max(0.0, 0.31 - c, c - 0.34))
    assert between_the_grids_points == pytest.approx((0.34, 0.0), abs=1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: effect([1.0], [1.0], [], 1.5), "c: expected a number in [0, 1], got 1.5"),
        (lambda: effect([1.0], [1.0], [], -0.1), "c: expected a number in [0, 1], got -0.1"),
        (lambda: effect([1.0], [1.0], [], math.nan), "c: expected a number in [0, 1], got nan"),
        (lambda: effect([1.0], [0.5, 0.5], [], 1), "p: expected a law of 2 tokens, got [1.0]"),
        (lambda: effect([0.5, 0.5], [0.5, 0.6], [], 1), "q: expected a law of 2 tokens"),
        (lambda: effect([0.5, 0.5], [0.5, 0.5], [2], 1), "guessed[0]: expected an integer in [0"),
        (lambda: best_c(speed, points=2), "points: expected an integer >= 3, got 2"),
        (lambda: best_c(lambda c: math.nan), "speed(0.0): expected a number, got nan"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError) as error:
        call()
    assert str(error.value).startswith(message)
