"""`believed` in the decoder: its hits are the replayed ones, and it sees the draft's data only."""

import inspect
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import Recording, random_table, speculation_of
from ssd_ref import Outcome, SeededRandomness, Speculation, TableModel, ssd
from ssd_ref.fan_out import guess_outcomes
from ssd_ref.models import Row
from ssd_ref.saguaro import Believed, Calibration, Observation, features, fit, geometric


def pair_of(seed, vocabulary=8):
    """A draft that is the target's blurred copy."""
    rng = np.random.default_rng(seed)
    target = rng.dirichlet([0.25] * vocabulary, size=vocabulary)
    return TableModel(target), TableModel(0.75 * target + 0.25 * rng.dirichlet([0.5] * 8, size=8))


def recorded(target, draft, temperature, seeds, lookahead=3, width=8):
    """Rounds with their features, and the outcome of each but the last."""
    texts = []
    for seed in seeds:
        seen = []

        def nothing(logits, speculation, seen=seen):
            seen.append(features(logits, speculation, width))
            return []

        text = ssd(
            target, draft, [0], max_new_tokens=60, lookahead=lookahead, predict=nothing,
            fan_out=[0] * (lookahead + 1), temperature=temperature,
            randomness=SeededRandomness(seed),
        )  # fmt: skip
        texts.append(
            [Observation(f, r.accepted, r.rank) for f, r in zip(seen, text.rounds, strict=True)]
        )
    return texts


def flat(texts):
    return [observation for text in texts for observation in text]


@pytest.mark.parametrize("temperature", [0.7, 1.0])
def test_replayed_hits_are_the_decoders(temperature):
    target, draft = pair_of(1)
    calibration = fit(flat(recorded(target, draft, temperature, range(10))), width=5)
    believed = Believed(6, calibration)
    for seed, rounds in enumerate(recorded(target, draft, temperature, range(100, 104)), 100):
        text = ssd(
            target, draft, [0], max_new_tokens=60, lookahead=3, fan_out=[0] * 4, predict=believed,
            temperature=temperature, randomness=SeededRandomness(seed),
        )  # fmt: skip
        hits = [(o.accepted, o.rank) in believed.choose(o.features) for o in rounds[:-1]]
        assert [r.served_by for r in text.rounds] == ["first"] + [
            "cache" if hit else "backup" for hit in hits
        ]
        assert any(hits) and not all(hits)


def test_believed_hits_more_often_than_the_best_list_by_theorem_12():
    """At equal budget, fitted on other seeds; the table's rows differ in how sure they are."""
    target, draft = pair_of(2)
    train, test = (flat(recorded(target, draft, 1.0, s)) for s in (range(12), range(50, 62)))
    calibration = fit(train, width=8)
    test = [o for o in test if o.rank is not None]
    tested = sum(min(o.accepted + 1, len(o.features.positions)) for o in train)
    a = sum(o.accepted for o in train) / tested
    for budget in (3, 6, 9):
        believed = Believed(budget, calibration)
        ours = sum((o.accepted, o.rank) in believed.choose(o.features) for o in test)
        theirs = max(
            sum(
                o.rank < widths[3 if o.accepted == len(o.features.positions) else o.accepted]
                for o in test
            )
            for widths in (geometric(a, r, budget, 3, 0.5) for r in (0.5, 1.0, 2.0))
        )
        assert ours > theirs, budget


@given(st.integers(0, 2**32), st.integers(0, 20), st.integers(0, 3))
def test_called_it_names_the_tokens_of_what_it_chooses(seed, budget, n):
    rng = np.random.default_rng(seed)
    logits = np.round(rng.normal(size=(n + 1, 5)))  # with ties
    tokens = rng.integers(0, 5, size=n).tolist()
    speculation = speculation_of(tokens, np.full((n, 5), 0.2))
    believed = Believed(budget, Calibration(width=4))
    chosen = believed.choose(features(logits, speculation, 4))
    everything = guess_outcomes(logits, tokens, [5] * (n + 1))
    by_rank = {k: [t for slot, t in everything if slot == k] for k in range(n + 1)}
    assert believed(logits, speculation) == [Outcome(k, by_rank[k][rank]) for k, rank in chosen]


def test_a_budget_of_nothing_and_of_everything():
    """0: all miss. Above (K+1) V, with a width of V: all hit."""
    target, draft = pair_of(3)
    for budget, served in ((0, "backup"), (10_000, "cache")):
        text = ssd(
            target, draft, [0], max_new_tokens=30, lookahead=2, fan_out=[0] * 3,
            predict=Believed(budget, Calibration(width=8)), randomness=SeededRandomness(0),
        )  # fmt: skip
        assert {r.served_by for r in text.rounds[1:]} == {served}


def test_lookahead_0_guesses_the_bonus_alone():
    target, draft = pair_of(3)
    text = ssd(
        target, draft, [0], max_new_tokens=10, lookahead=0, fan_out=[0],
        predict=Believed(3, Calibration()), randomness=SeededRandomness(0),
    )  # fmt: skip
    assert {r.served_by for r in text.rounds[1:]} == {"cache", "backup"}


def test_a_predictor_is_given_nothing_but_the_drafts_own():
    """Before the target has read the speculation: the draft's logits, and what the draft sent."""
    rng = np.random.default_rng(0)
    models = [Recording(TableModel(random_table(rng, 3, 1))) for _ in range(2)]
    draft_alone = models[1].model
    calls = []

    def predict(*given):
        logits, speculation = given
        calls.append(given)
        assert type(speculation) is Speculation
        fed = sum(len(tokens) for what, _, tokens in models[0].log if what == "extend")
        assert fed == sum(len(s) + 1 for _, s in calls[:-1])
        assert all(type(row) is np.ndarray for row in logits)
        after = [0, *speculation.tokens] if len(calls) == 1 else None
        if after:
            expected = [draft_alone.logits_after(after[: i + 1]) for i in range(len(after))]
            assert np.array_equal(logits, expected)
        return []

    ssd(
        *models, [0], max_new_tokens=20, lookahead=2, fan_out=[1] * 3, predict=predict,
        randomness=SeededRandomness(0),
    )  # fmt: skip
    assert len(calls) > 3
    signature = inspect.signature(Believed.__call__, eval_str=True)
    assert [p.annotation for p in signature.parameters.values()][1:] == [Sequence[Row], Speculation]
