"""How the figures of the model card are made, and that the card says what it must."""

from __future__ import annotations

import numpy as np
import pytest

from ssd_ref.pair.card import render
from ssd_ref.pair.corpus import END
from ssd_ref.pair.loading import WEIGHTS, read_card
from ssd_ref.pair.quality import Figure, before_end, figure, stretches, student
from ssd_ref.pair.shapes import StepTimes, predict, tokens_a_round


def test_an_interval_is_the_textbook_one() -> None:
    values = [float(v) for v in range(16)]
    half = 2.1314 * np.std(values, ddof=1) / 4
    assert figure(values) == Figure(7.5, round(7.5 - half, 4), round(7.5 + half, 4), 16)


def test_weights_count_positions_and_not_prompts() -> None:
    values, weights = [0.0] * 10 + [1.0] * 10, [1.0] * 10 + [3.0] * 10
    assert figure(values, weights).mean == 0.75


def test_too_few_observations_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 10 observations, got 9"):
        figure([0.0] * 9)


@pytest.mark.parametrize(("freedom", "t"), [(9, 2.2622), (15, 2.1314), (63, 1.9983), (999, 1.9623)])
def test_student_is_near_the_table(freedom: int, t: float) -> None:
    assert student(freedom) == pytest.approx(t, abs=0.0005)


def test_coverage_of_the_interval() -> None:
    generator = np.random.Generator(np.random.Philox(key=[1, 0]))
    figures = [figure(generator.normal(size=20).tolist()) for _ in range(2000)]
    inside = sum(f.low <= 0 <= f.high for f in figures) / 2000
    assert inside == pytest.approx(0.95, abs=0.02)


def test_a_text_ends_with_its_end_token() -> None:
    assert before_end([1, 2, END, 3, END]) == 3
    assert before_end([1, 2]) == 2


def test_stretches_keep_the_mean_over_tokens() -> None:
    losses = np.arange(1290, dtype=np.float64)
    assert stretches(losses).mean == pytest.approx(losses.mean())
    assert stretches(losses).n == 10


def test_predicted_speed_in_a_case_worked_by_hand() -> None:
    assert tokens_a_round(0.5, 2) == pytest.approx(1 + 0.5 + 0.25)
    free = StepTimes((1e-9,) * 9, 1e-9)
    row = predict(StepTimes((10.0,) * 9, 10.0), free)
    # A free draft: the longest lookahead is best, a round is one verification and other work.
    assert row["K of SD T=0"] == 8
    assert row["SD/AR T=0"] == pytest.approx(tokens_a_round(0.75, 8) * 10 / 10.4, abs=1e-3)
    assert row["SSD/SD T=0"] == pytest.approx(10.4 / 10.6, abs=1e-3)


def test_the_shipped_card_reaches_its_goals() -> None:
    figures = read_card()["quality"]
    assert figures["overlap_at_temperature_1"]["n"] >= 50
    assert figures["overlap_at_temperature_1"]["mean"] >= 0.67
    assert figures["greedy_agreement_cycles_cut"]["mean"] >= 0.80
    assert figures["held_out_target"]["mean"] <= figures["held_out_5_gram"]["mean"]
    assert figures["held_out_target"]["mean"] < figures["held_out_draft"]["low"]


def test_the_card_for_people_is_the_one_that_json_gives() -> None:
    assert (WEIGHTS / "CARD.md").read_text(encoding="utf-8") == render(read_card())
