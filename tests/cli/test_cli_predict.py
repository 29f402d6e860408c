"""`ssd-ref predict` on a clock that ticks: what it foretells is what it then measures."""

from __future__ import annotations

import json

import pytest
from fake_pair import FakePair, Ticks, bigrams, load_tables

from ssd_ref.cli import main, predict
from ssd_ref.cli.arguments import build_parser
from ssd_ref.cli.errors import CommandError
from ssd_ref.cli.predict import Measured, outside, resampled
from ssd_ref.models import ContextModel

pytestmark = pytest.mark.slow  # left out of the everyday run

PROMPTS = [list(b"A list is"), list(b"A set has"), list(b"Items map")] * 8


class Watch:
    """A clock that only work moves."""

    now = 0.0

    def __call__(self):
        return self.now


class Costly(ContextModel):
    """A model that moves the clock by `seconds` for each token it reads."""

    def __init__(self, model, seconds, watch):
        super().__init__(model.vocabulary, model.context_limit)
        self.model, self.seconds, self.watch = model, seconds, watch

    def logits_after(self, context):
        self.watch.now += self.seconds
        return self.model.logits_after(context)


def predicted(*options, load=load_tables, clock=None, prompts=PROMPTS):
    args = build_parser().parse_args(["predict", "--json", "--prompts", "12", *options])
    return predict.run(args, load, clock or Ticks(), prompts)


def test_a_prediction_is_what_is_then_measured(capsys):
    """4 ms a token of the target, 1 ms of the draft: every time is exact, only chance is left."""
    watch = Watch()

    def load(args):
        pair = load_tables(args)
        return FakePair(Costly(pair.target, 0.004, watch), Costly(pair.draft, 0.001, watch))

    assert predicted("--max-new-tokens", "48", load=load, clock=watch) == 0
    result = json.loads(capsys.readouterr().out)
    for k in (2, 4, 6):
        assert result["forward_ms"][str(k)] == pytest.approx([1, 4 * (k + 1)])
    assert result["outside_ms"] == pytest.approx([0, 0])
    assert result["round_ms"][0] == pytest.approx(4)
    assert result["round_ms"][1] == pytest.approx(
        24, rel=0.02
    )  # few rounds before the last end short
    assert [(row["lookahead"], row["recorded"]) for row in result["rows"]] == [
        (2, False), (4, True), (6, False),
    ]  # fmt: skip
    for row in result["rows"]:
        assert row["predicted_low"] < row["predicted"] < row["predicted_high"]
        assert row["measured"]["n"] == 12
        assert row["measured"]["low"] <= row["measured"]["median"] <= row["measured"]["high"]
        assert row["error"] == row["predicted"] / row["measured"]["median"] - 1
        assert abs(row["error_of_sums"]) < 0.15
        tokens = row["predicted_tokens_per_round"]
        assert tokens == pytest.approx(row["tokens_per_round"], rel=0.15)
    assert len(result["hazards"]) == 6
    assert result["hazards"][4] == result["hazards"][5]  # never recorded: assumed


def test_a_draft_equal_to_the_target_leaves_nothing_to_chance(capsys):
    """All is accepted: K + 1 tokens a round but for each text's last."""
    alike = bigrams("A list is a set.", 0.05)
    predicted("--max-new-tokens", "30", load=lambda args: FakePair(alike, alike))
    result = json.loads(capsys.readouterr().out)
    assert result["hazards"] == [1] * 6
    for row in result["rows"]:
        k = row["lookahead"]
        assert row["tokens_per_round"] == pytest.approx(30 / -(-30 // (k + 1)))
        assert row["predicted_tokens_per_round"] == pytest.approx(row["tokens_per_round"], rel=1e-3)
        assert row["predicted_low"] == row["predicted_high"] == pytest.approx(row["predicted"])


def test_the_report_has_a_row_for_each_lookahead_in_80_columns(capsys):
    args = build_parser().parse_args(["predict", "--prompts", "6", "--max-new-tokens", "20"])
    assert predict.run(args, load_tables, Ticks(), PROMPTS) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines if line[:4].strip().isdecimal()] == [
        ["2", "unseen"], ["4", "recorded"], ["6", "unseen"],
    ]  # fmt: skip
    assert any(line.startswith("Largest error ") for line in lines)
    assert sum(map(len, lines[:7])) < 7 * 100


def test_time_outside_forwards_is_a_line_through_ar_and_the_recorded_sd():
    """1 ms for AR's row, 5 ms for the 9 rows of K = 4: half a millisecond a row."""
    first = Measured(outside_ms=(1.0, 5.0))
    assert [outside(first, k, 4) for k in (2, 4, 6)] == [3, 5, 7]
    assert outside(Measured(outside_ms=(1.0, 0.0)), 6, 4) == 0


def test_times_apart_are_brought_to_the_level_of_recorded_rounds():
    """K = 2: 2 x 1 + 7 + 1 = 10 ms apart, 12 recorded: all is a fifth more, at other K too."""
    first = Measured([], {2: (1.0, 7.0), 4: (1.0, 8.0)}, (0.0, 1.0), (5.0, 12.0))
    assert first.parts_ms(2, 2) == pytest.approx((1.2, 9.6))
    assert first.parts_ms(4, 2) == pytest.approx((1.2, 1.2 * (8 + 2)))


def test_resampling_encloses_the_mean_of_unequal_parts():
    parts = [[x] for x in range(20)]

    def mean(drawn):
        return sum(x[0] for x in drawn) / len(drawn)

    low, high = resampled(parts, mean, seed=0)
    assert 6 < low < 8 and 11 < high < 13  # 9.5 -+ 1.96 x 5.77 / sqrt(20)
    assert resampled([[3]] * 5, mean, 0) == (3, 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--others", "4,6"], "expected numbers above 0 that differ from each other and from"),
        (["--others", "0"], "expected numbers above 0"),
        (["--temperature", "0"], "--temperature: expected a number above 0, got 0"),
        (["--temperature", "nan"], "--temperature: expected"),
        (["--prompts", "5"], "--prompts: expected at least 6, got 5"),
        (["--prompts", "13"], "--prompts: expected at most 12, got 13"),
        (["--max-new-tokens", "0"], "--max-new-tokens: expected 1 to 256, got 0"),
        (["--lookahead", "900"], "--lookahead: expected at most 512, got 900"),
        (["--seed", "-1"], "--seed: expected"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(CommandError) as error:
        predicted(*options)
    assert message in str(error.value)


def test_help_names_it(capsys):
    assert main([]) == 0
    assert "ssd-ref predict" in capsys.readouterr().out
