"""What the draft knows of a round, and what is believed of it."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import speculation_of
from ssd_ref.saguaro import (
    Believed,
    Calibration,
    Features,
    Observation,
    Position,
    features,
    fit,
)

NAN, INF = math.nan, math.inf
ROWS = np.log([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8], [0.25, 0.5, 0.25]])


def test_features_by_hand():
    """d_1 = 1 drawn at temperature 1; d_2 = 2 from a uniform row, as a backup's."""
    drawn = speculation_of([1, 2], [[0.5, 0.3, 0.2], [1 / 3, 1 / 3, 1 / 3]])
    assert features(ROWS, drawn, width=2) == Features(
        served_by="by hand",
        positions=(Position(0.3, 0.3, 0.2), Position(0.8, 0.3333, 0.7)),
        guesses=((0.5, 0.2), (0.1, 0.1), (0.5, 0.25)),
    )


def test_a_row_that_is_no_law_has_no_guesses():
    for bad in ([NAN, 0, 0], [-INF, -INF, -INF], [INF, 0, 0]):
        got = features(
            [ROWS[0], np.array(bad), ROWS[2]], speculation_of([1, 2], [[0, 1, 0.0], [0, 0, 1]]), 3
        )
        assert got.positions[1] == Position(0, 1, 0)
        assert got.guesses == ((0.5, 0.2), (), (0.5, 0.25, 0.25))
        chosen = Believed(10, Calibration()).choose(got)
        assert {k for k, _ in chosen} == {0, 2}
    legal = features([np.array([0.0, -INF])], speculation_of([], np.zeros((0, 2))), 3)
    assert legal.guesses == ((1.0, 0.0),)


def test_without_rows_there_is_nothing_to_believe():
    nothing = features([], speculation_of([], np.zeros((0, 3))), 3)
    assert nothing == Features("by hand", (), ())
    assert Believed(5, Calibration()).choose(nothing) == []


def test_a_vocabulary_of_one():
    got = features([np.zeros(1)] * 2, speculation_of([0], [[1.0]]), 3)
    assert got == Features("by hand", (Position(1, 1, 1),), ((), (1.0,)))
    assert Believed(9, Calibration()).choose(got) == [(1, 0)]


PROBABILITY = st.sampled_from([0.0, 1e-12, 0.1, 0.5, 1.0]) | st.floats(0, 1)


@st.composite
def any_features(draw):
    n, width = draw(st.integers(0, 3)), draw(st.integers(0, 5))
    rows = [draw(st.lists(PROBABILITY, max_size=width)) for _ in range(n + 1)]
    return Features(
        draw(st.sampled_from(["cache", "backup"])),
        tuple(Position(*(draw(PROBABILITY) for _ in range(3))) for _ in range(n)),
        tuple(tuple(sorted((x / max(1, sum(row)) for x in row), reverse=True)) for row in rows),
    )


WEIGHTS = st.floats(-3, 3)
CALIBRATIONS = st.builds(
    Calibration,
    kept=st.tuples(*[WEIGHTS] * 5),
    rejected=st.tuples(st.floats(0, 3), WEIGHTS),
    all_kept=st.tuples(st.floats(0, 3), WEIGHTS),
    width=st.integers(1, 4),
)


@given(any_features())
def test_features_survive_json(given_features):
    assert Features.from_json(json.loads(json.dumps(given_features.to_json()))) == given_features


@given(CALIBRATIONS)
def test_calibrations_survive_json(calibration):
    assert Calibration.from_json(json.loads(json.dumps(calibration.to_json()))) == calibration


def chance_of(calibration, f, k, rank):
    """Of one outcome, written out."""

    def kept(position):
        p = min(max(position.raw, 1e-9), 1 - 1e-9)
        signs = [1, math.log(p), math.log1p(-p), position.margin]
        signs.append(math.log(max(position.drawn, 1e-9) / p))
        return 1 / (1 + math.exp(-sum(a * b for a, b in zip(signs, calibration.kept, strict=True))))

    n = len(f.positions)
    chance = math.prod(kept(position) for position in f.positions[:k])
    chance *= 1 - kept(f.positions[k]) if k < n else 1
    sharpness, elsewhere = calibration.rejected if k < n else calibration.all_kept
    guesses = f.guesses[k][: calibration.width]
    rest = 1 - sum(guesses) - (f.positions[k].raw if k < n else 0)
    scores = [max(p, 1e-9) ** sharpness for p in guesses]
    total = sum(scores) + max(rest, 1e-9) ** sharpness * math.exp(elsewhere)
    return chance * scores[rank] / total


@given(any_features(), CALIBRATIONS, st.integers(0, 12))
def test_the_most_probable_outcomes_are_chosen(f, calibration, budget):
    every = {
        (k, rank): chance_of(calibration, f, k, rank)
        for k, row in enumerate(f.guesses)
        for rank in range(len(row[: calibration.width]))
    }
    chosen = Believed(budget, calibration).choose(f)
    assert len(set(chosen)) == len(chosen) == min(budget, len(every))
    least = min((every[outcome] for outcome in chosen), default=INF)
    assert all(p <= least + 1e-12 for outcome, p in every.items() if outcome not in chosen)
    chances = [every[outcome] for outcome in chosen]
    assert chances == pytest.approx(sorted(chances, reverse=True), abs=1e-12)


@given(any_features(), CALIBRATIONS, st.integers(0, 12))
def test_ranks_are_chosen_without_a_gap(f, calibration, budget):
    chosen = Believed(budget, calibration).choose(f)
    for k in {k for k, _ in chosen}:
        ranks = sorted(rank for slot, rank in chosen if slot == k)
        assert ranks == list(range(len(ranks)))


@pytest.mark.parametrize("sharpness", [0.0, 1.0, 50.0, 100.0])
def test_however_sharp_the_bonus_law_is_there_are_chances(sharpness):
    """d_1 is all that the draft can think of: two guesses and the rest, all equally improbable."""
    calibration = Calibration(rejected=(sharpness, 0.0), all_kept=(sharpness, 0.0))
    sure = Features("cache", (Position(1, 1, 1),), ((1e-12, 1e-13), (0.75, 0.25)))
    assert calibration.bonus(sure, 0) == pytest.approx([1 / 3, 1 / 3])
    odds = (0.25 / 0.75) ** sharpness, (1e-9 / 0.75) ** sharpness
    expected = [1 / (1 + sum(odds)), odds[0] / (1 + sum(odds))]
    assert calibration.bonus(sure, 1) == pytest.approx(expected, abs=1e-12)
    assert len(Believed(9, calibration).choose(sure)) == 4


@given(any_features(), CALIBRATIONS)
def test_who_served_the_round_is_not_looked_at(f, calibration):
    """So a recording can be replayed under a policy that would have been served otherwise."""
    believed = Believed(4, calibration)
    assert believed.choose(f) == believed.choose(replace(f, served_by="first"))


def synthetic(n, seed=0):
    """Rounds of two drafted tokens whose outcomes follow a known rule."""
    rng = np.random.default_rng(seed)
    rounds = []
    for _ in range(n):
        rows = [np.sort(rng.dirichlet([0.5] * 6))[::-1].round(4) for _ in range(3)]
        raw = [float(row[0]) for row in rows[:2]]
        f = Features(
            "cache",
            tuple(Position(p, p, p - float(row[1])) for p, row in zip(raw, rows, strict=False)),
            (tuple(rows[0][1:].tolist()), tuple(rows[1][1:].tolist()), tuple(rows[2].tolist())),
        )
        kept = [rng.random() < 0.3 + 0.6 * p for p in raw]
        k = 0 if not kept[0] else 1 if not kept[1] else 2
        law = np.array(f.guesses[k]) ** 0.5 + 1e-6
        rounds.append(Observation(f, k, int(rng.choice(len(law), p=law / law.sum()))))
    return rounds


def likelihood(c, rounds):
    """Penalised, of whole rounds: of the outcomes, from first principles."""
    total = -sum(
        (w - v) ** 2 / 2
        for name in ("kept", "rejected", "all_kept")
        for w, v in zip(getattr(c, name), getattr(Calibration(), name), strict=True)
    )
    return total + sum(math.log(chance_of(c, o.features, o.accepted, o.rank)) for o in rounds)


def test_no_other_weights_fit_better():
    rounds = synthetic(150)
    best = fit(rounds, width=6)
    assert best.rounds == 150
    for name in ("kept", "rejected", "all_kept"):
        weights = getattr(best, name)
        for i, step in ((i, s) for i in range(len(weights)) for s in (-0.01, 0.01)):
            other = (*weights[:i], weights[i] + step, *weights[i + 1 :])
            worse = likelihood(replace(best, **{name: other}), rounds)
            assert worse < likelihood(best, rounds), (name, i, step)


def test_believed_chances_of_acceptance_come_true_on_average():
    """The likelihood's slope along the constant is 0: what is foretold is what came, but for the
    pull of the prior."""
    rounds = synthetic(400)
    best = fit(rounds, width=6)
    foretold = sum(sum(best.acceptance(o.features)[: o.accepted + 1]) for o in rounds)
    kept = sum(o.accepted for o in rounds)
    assert foretold == pytest.approx(kept - best.kept[0], abs=1e-3)


def test_the_fit_finds_how_sharp_the_bonus_is():
    """Drawn from the square root of the draft's row; 2,000 rounds, standard error about .03."""
    best = fit(synthetic(2000, seed=1), width=6)
    assert best.all_kept[0] == pytest.approx(0.5, abs=0.1)
    assert best.rejected[0] == pytest.approx(0.5, abs=0.1)


def test_rounds_without_a_rank_are_left_out():
    rounds = synthetic(120)
    cut_off = [Observation(o.features, 2, None) for o in rounds[:50]]
    assert fit(rounds + cut_off, width=6) == fit(rounds, width=6)


def test_a_fit_never_turns_the_drafts_order_round():
    """The bonus is always the last guess: then all guesses are believed alike."""
    last = [Observation(o.features, 2, 5) for o in synthetic(200)]
    best = fit(last, width=6)
    assert best.all_kept[0] == 0.0
    f = last[0].features
    assert [k_and_rank for k_and_rank in Believed(3, best).choose(f) if k_and_rank[0] == 2] == [
        (2, 0), (2, 1), (2, 2),
    ]  # fmt: skip


def test_greedy_rounds_without_a_single_rejection_can_be_fitted():
    """Nothing is known of the bonus after a rejection: the draft's word is taken."""
    perfect = [Observation(o.features, 2, 0) for o in synthetic(100)]
    best = fit(perfect, width=6)
    assert best.rejected == Calibration().rejected
    assert min(min(best.acceptance(o.features)) for o in perfect) > 0.9


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Believed(-1, Calibration()), "budget: expected an integer >= 0, got -1"),
        (lambda: Calibration(width=0), "width: expected an integer >= 1, got 0"),
        (
            lambda: Calibration(rejected=(-1, 0)),
            "rejected: expected 2 numbers in [-100, 100], the first",
        ),
        (lambda: Calibration(kept=(1, 0)), "kept: expected 5 numbers in"),
        (lambda: Calibration(all_kept=(NAN, 0)), "all_kept: expected 2 numbers in"),
        (lambda: features(ROWS, speculation_of([], np.zeros((0, 3))), 0), "width: expected an int"),
        (
            lambda: features(ROWS[:1], speculation_of([1], [[0, 1.0, 0]]), 2),
            "logits: expected 2 rows",
        ),
        (lambda: fit(synthetic(99)), "fit: expected at least 100 rounds with a rank, got 99"),
        (lambda: fit(synthetic(100), width=0), "width: expected an integer >= 1, got 0"),
        (
            lambda: fit([Observation(Features("x", (), ((0.5, 0.1),)), 0, 7)] * 100),
            "rank: expected one of the 2 guesses that the features hold at k = 0, or features with",
        ),
        (
            lambda: fit([Observation(Features("x", (), ((0.5,),)), 1, 0)] * 100),
            "accepted: expected a number below 1, the features' slots, got 1",
        ),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError) as error:
        call()
    assert str(error.value).startswith(message)
