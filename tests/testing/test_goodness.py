"""The sampling tests themselves: their level, their power, and what they refuse."""

import numpy as np
import pytest

from ssd_ref.testing.goodness import (
    TooFewSamples,
    chi_square_tail,
    goodness_of_fit,
    power,
    two_samples,
)

LAW = np.array([0.4, 0.3, 0.2, 0.1, 0.0])


@pytest.mark.parametrize(
    ("statistic", "degrees", "tail"),
    [(3.841458820694124, 1, 0.05), (5.991464547107979, 2, 0.05), (18.30703805327515, 10, 0.05)],
)
def test_tail_of_the_chi_square_law(statistic, degrees, tail):
    """Tabulated quantiles."""
    assert chi_square_tail(statistic, degrees) == pytest.approx(tail, abs=1e-12)


def test_p_values_of_a_right_law_are_about_uniform():
    rng = np.random.default_rng(0)
    values = [goodness_of_fit(c, LAW).p_value for c in rng.multinomial(2000, LAW, size=2000)]
    for level in (0.01, 0.1, 0.5, 0.9):
        share = np.mean(np.array(values) < level)
        assert abs(share - level) < 4 * np.sqrt(level * (1 - level) / 2000) + 0.003


def test_p_values_of_two_equal_decoders_are_about_uniform():
    rng = np.random.default_rng(1)
    values = []
    for a, b in zip(rng.multinomial(900, LAW, 1000), rng.multinomial(600, LAW, 1000), strict=True):
        values.append(two_samples(dict(enumerate(a)), dict(enumerate(b))).p_value)
    assert abs(np.mean(np.array(values) < 0.1) - 0.1) < 0.04


def test_a_token_of_probability_0_is_a_failure_at_once():
    with pytest.raises(AssertionError, match=r"tokens \[4\] have probability 0"):
        goodness_of_fit([400, 300, 200, 100, 1], LAW)


def test_too_few_samples_are_refused():
    with pytest.raises(TooFewSamples, match="at least 2 cells"):
        goodness_of_fit([4, 3, 2, 0, 0], LAW)
    with pytest.raises(TooFewSamples):
        two_samples({"a": 3, "b": 2}, {"a": 4})


def test_rare_tokens_are_pooled():
    law = np.array([0.5, 0.4, *[0.001] * 100])
    counts = np.array([500, 400, *[1] * 100])
    fit = goodness_of_fit(counts, law)
    assert fit.degrees == 21  # 2 cells alone, and 100 expected counts in groups of five
    assert fit.p_value > 0.99


def test_power_grows_with_the_samples():
    wrong = np.array([0.45, 0.25, 0.2, 0.1, 0.0])
    few, many = power(wrong, LAW, 200, 1e-6), power(wrong, LAW, 10_000, 1e-6)
    assert few < 0.05
    assert many > 0.99
