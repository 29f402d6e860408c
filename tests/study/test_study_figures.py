"""Estimates, fits and figures against small cases worked by hand, and against known laws."""

import math

import numpy as np
import pytest
from study_tables import recorded

from ssd_ref import RoundRecord
from ssd_ref.saguaro import Features
from ssd_ref.study.estimates import DRAWS, Estimate, Resampling
from ssd_ref.study.figures import chances, draft_tokens, forwards, report, share_cut
from ssd_ref.study.fits import LAST, exponents, fit_power_law, histogram
from ssd_ref.study.replay import Lists, Replayed, as_decoded, replay_all


def rounds(*rows):
    """Rounds of K = 2 from (served_by, accepted, rank)."""
    return tuple(
        RoundRecord(i, by, 2, k, 7, k + 1, rank) for i, (by, k, rank) in enumerate(rows, start=1)
    )


TEXT = Replayed(
    3, rounds(("first", 2, 0), ("cache", 0, 5), ("backup", 1, 1), ("cache", 2, 9)), (4, 4, 2, 4), 4
)


def test_chances_take_the_outcome_from_the_round_before():
    c = chances([TEXT])
    assert c.accepted.tolist() == [2, 0, 1] and c.rank.tolist() == [0, 5, 1]
    assert c.after_miss.tolist() == [False, False, True]
    assert c.hit.tolist() == [True, False, True] and c.emitted.tolist() == [1, 2, 3]
    assert c.hit_rate() == Estimate(2 / 3, None, None, 3)
    assert c.hit_rate(accepted=0).value == 0 and c.hit_rate(None, True).value == 1
    assert c.tokens(True).value == 2 and c.tokens(False).value == 2 and c.tokens().value == 2
    assert c.acceptance(0) == Estimate(2 / 3, None, None, 3)  # tested 3 times, kept twice
    assert c.acceptance(1) == Estimate(1 / 2, None, None, 2)
    assert c.acceptance_iid() == Estimate(3 / 5, None, None, 5)
    assert [c.ended_at(k).value for k in range(3)] == [1 / 3, 1 / 3, 1 / 3]
    assert [c.misses(f).value for f in (1, 2, 6)] == [2 / 3, 1 / 3, 0]
    assert c.misses(2, after_miss=False).value == 1 / 2
    assert c.coverage(2).value == 2 / 3


def test_rounds_that_do_not_count_are_left_out():
    cut = Replayed(3, TEXT.rounds, TEXT.guesses, full=3)
    assert chances([cut]).hit.tolist() == [True, False]
    with pytest.raises(ValueError, match="expected texts with at least two rounds that count"):
        chances([Replayed(3, TEXT.rounds, TEXT.guesses, full=1)])


def test_an_interval_needs_enough_prompts_and_covers_the_truth():
    rng = np.random.Generator(np.random.Philox(1))
    assert Resampling([1, 1, 2]).share([True, False, True]) == Estimate(2 / 3, None, None, 3)
    assert Resampling([1, 2]).share([True, True], [False, False]) == Estimate(None, None, None, 0)
    covered = 0
    for _ in range(200):  # 30 prompts of 20 rounds, whose chances differ from prompt to prompt
        chance = rng.beta(6, 4, size=30)
        found = Resampling(np.repeat(np.arange(30), 20)).share(
            rng.random(600) < np.repeat(chance, 20)
        )
        covered += found.low <= 0.6 <= found.high
    assert covered >= 178  # of 200 at 95 %; fewer than 179 has a chance of about 1 in 2000


def test_the_interval_is_that_of_resampled_prompts():
    """Oracle: draw prompts one by one, in plain Python."""
    prompt = np.repeat(np.arange(10), [1, 9, 5, 5, 5, 5, 5, 5, 5, 5])
    rng = np.random.Generator(np.random.Philox(2))
    which = rng.random(len(prompt)) < 0.3 + 0.04 * prompt
    drawn = []
    for _ in range(4000):
        chosen = np.concatenate([which[prompt == p] for p in rng.integers(0, 10, 10)])
        drawn.append(chosen.mean())
    found = Resampling(prompt).share(which)
    assert found.low == pytest.approx(np.quantile(drawn, 0.025), abs=0.02)
    assert found.high == pytest.approx(np.quantile(drawn, 0.975), abs=0.02)
    assert Resampling(prompt).weights.shape == (DRAWS, 10)


@pytest.mark.parametrize(("c", "r"), [(0.3, 0.7), (0.56, 0.7), (0.8, 1.5), (1.0, 0.4)])
def test_the_fit_finds_the_law_that_made_the_ranks(c, r):
    rng = np.random.Generator(np.random.Philox(3))
    n = 20_000
    ranks = np.floor((rng.random(n) / c) ** (-1 / r)).clip(0, 1e6).astype(int)
    law = fit_power_law(ranks, Resampling(np.arange(n) % 40))
    for found, true in ((law.prefactor, c), (law.exponent, r)):
        assert abs(found.value - true) <= found.high - found.low  # four standard errors
        assert found.high - found.low < 0.1 * true
    for slope in law.slopes.values():
        assert slope.value == pytest.approx(r, rel=0.25)
    assert law.miss(0) == 1 and law.miss(4) == pytest.approx(c * 4**-r, rel=0.1)


def test_the_fitted_exponent_is_the_likeliest_of_all():
    counts = histogram([0, 0, 1, 1, 1, 2, 3, 5, 9, 40]).sum(axis=0)

    def likelihood(r):
        inside = sum(counts[j] * math.log(j**-r - (j + 1) ** -r) for j in range(1, LAST))
        return inside - counts[LAST] * r * math.log(LAST)

    best = float(exponents(counts[None])[0])
    assert all(likelihood(best) >= likelihood(r) for r in np.arange(0.01, 4, 0.01))


def test_a_draft_that_never_misses_has_no_law():
    with pytest.raises(ValueError, match="needs misses of the first guess, got 20 hits"):
        fit_power_law(np.zeros(20, dtype=int), Resampling(np.arange(20)))
    few = fit_power_law(np.array([0, 0, 0, 1]), Resampling(np.arange(4)))
    assert few.slopes[1, 2] == Estimate(None, None, None, 4)  # no miss left with 2 guesses


def test_a_law_that_is_no_power_law_shows_in_the_slopes():
    rng = np.random.Generator(np.random.Philox(4))
    ranks = rng.geometric(0.3, size=20_000) - 1  # miss(F) = .7^F: exponents grow with F
    slopes = fit_power_law(ranks, Resampling(np.arange(20_000) % 40)).slopes
    values = [slope.value for slope in slopes.values()]
    assert values == sorted(values) and values[-1] > 4 * values[0]


def test_draft_tokens_are_those_that_the_meter_counts():
    """Over the rounds of whole texts, but for the last ones, which are shortened."""
    texts = recorded(1.0)
    c = chances([as_decoded(text) for text in texts])
    counted = forwards(texts)
    metered = sum(tokens for name, (_, tokens) in counted.items() if name.startswith("draft"))
    formula = draft_tokens(3, 4, c.hit_rate().value)
    assert metered == pytest.approx(formula, rel=0.1)
    assert counted["draft glue"][0] == 1 and "draft prefill" not in counted


def test_the_report_is_json_and_agrees_with_the_figures():
    import json

    texts = recorded(1.0)
    rounds_ = replay_all(texts, Lists((2, 2, 2, 2)))
    found = json.loads(json.dumps(report(texts, rounds_)))
    c = chances(rounds_)
    assert found["texts"] == 12 and found["chances"] == len(c)
    assert found["hit_rate"] == c.hit_rate().to_json()
    assert len(found["acceptance"]) == 3 and len(found["law_of_k"]) == 4
    assert sum(k["value"] for k in found["law_of_k"]) == pytest.approx(1)
    assert found["greedy_share_cut"] == 0 < share_cut(recorded(0.0))
    assert found["guesses"] == 8
    # Own draft as backup: both kinds of rounds together are SD's.
    hit, tokens = found["hit_rate"]["value"], found["tokens"]
    mixed = hit * tokens["hit"]["value"] + (1 - hit) * tokens["miss"]["value"]
    assert mixed == pytest.approx(tokens["all"]["value"])


def test_features_of_a_round_are_those_before_its_outcome():
    """Replaying looks at nothing of the record but its outcome: changed bonuses change no guess."""
    one = recorded(1.0)[0]
    assert all(isinstance(f, Features) for f in one.features)
    assert [f.served_by for f in one.features] == [r.served_by for r in one.rounds]
    assert [len(f.positions) for f in one.features] == [r.drafted for r in one.rounds]
