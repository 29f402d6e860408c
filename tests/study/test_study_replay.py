"""One recording answers every list and policy: replaying it is decoding again, to the digit."""

import json
from dataclasses import replace

import pytest
import torch
from study_tables import PROMPTS, recorded, tables, text

from ssd_ref import TableModel, load_pair
from ssd_ref.pair.corpus import held_out_prompts
from ssd_ref.saguaro import Believed, Calibration
from ssd_ref.study.figures import chances
from ssd_ref.study.policies import NAMES, Calibrated
from ssd_ref.study.replay import Belief, Lists, as_decoded, replay, replay_all
from ssd_ref.study.texts import Key, Setting, Text, record

SHARP = Calibration(kept=(0.3, 1.2, -0.7, 0.2, 0.5), rejected=(0.8, -0.2), all_kept=(1.3, 0.1))
TEMPERATURES = (0.0, 0.7, 1.0)
LISTS = [
    Lists((0, 0, 0, 0)),
    Lists((1, 0, 2, 3)),
    Lists((2, 2, 2, 4), (5, 0, 0, 1)),
    Lists((9, 9, 9, 9)),
]


def decoded(setting: Setting, policy: Lists | Belief, prompt: int) -> Text:
    if isinstance(policy, Belief):
        return text(replace(setting, policy="believed"), prompt, policy=policy.believed)
    lists = {"fan_out": policy.fan_out, "fan_out_miss": policy.fan_out_miss}
    return text(replace(setting, **lists), prompt)


@pytest.mark.parametrize("temperature", TEMPERATURES)
@pytest.mark.parametrize(
    "policy", [*LISTS, Belief(Believed(4, SHARP)), Belief(Believed(0, SHARP))], ids=str
)
def test_replayed_rounds_are_the_rounds_of_decoding_again(temperature, policy):
    for one in recorded(temperature)[:2]:
        again = as_decoded(decoded(one.key.setting, policy, one.key.prompt))
        assert replay(one, policy).rounds == again.rounds


@pytest.mark.parametrize("temperature", TEMPERATURES)
def test_replayed_and_decoded_hit_rates_are_the_same_number(temperature):
    texts = recorded(temperature)
    policy = LISTS[2]
    replayed = chances(replay_all(texts, policy))
    again = chances([as_decoded(decoded(one.key.setting, policy, one.key.prompt)) for one in texts])
    assert replayed.hit_rate() == again.hit_rate()
    assert replayed.tokens(True) == again.tokens(True)
    assert 0 < replayed.hit.sum() < len(replayed)


def test_a_full_fan_out_hits_always_and_an_empty_one_never():
    texts = recorded(1.0)
    assert chances(replay_all(texts, LISTS[3])).hit.all()
    assert not chances(replay_all(texts, LISTS[0])).hit.any()


def test_guesses_are_counted_as_they_were_made():
    one = recorded(1.0)[0]
    for policy in (LISTS[2], Belief(Believed(4, SHARP))):
        again = as_decoded(decoded(one.key.setting, policy, one.key.prompt))
        assert replay(one, policy).guesses[: one.full] == again.guesses[: one.full]


def test_a_text_whose_guesses_decide_it_cannot_be_replayed():
    saguaro = text(Setting(2, 1.0, (2, 2, 2), saguaro_c=0.5, max_new_tokens=20))
    assert saguaro.features == ()
    with pytest.raises(ValueError, match="expected a text recorded with C = 1"):
        replay(saguaro, Lists((1, 1, 1)))


def test_a_text_survives_json():
    for setting in (
        Setting(3, 0.7, (1, 2, 0, 4), (2, 2, 2, 2), max_new_tokens=20),
        Setting(2, 1.0, (2, 2, 2), saguaro_c=0.5, max_new_tokens=20),
    ):
        one = text(setting)
        assert Text.from_json(json.loads(json.dumps(one.to_json()))) == one


def test_only_full_rounds_before_the_first_repeat_count():
    sampled, greedy = recorded(1.0)[1], recorded(0.0, tokens=100)[1]
    assert sampled.counted == sampled.tokens == 40
    assert all(r.drafted == 3 and r.bonus is not None for r in sampled.rounds[: sampled.full])
    assert sampled.rounds[sampled.full].drafted < 3 or sampled.rounds[sampled.full].bonus is None
    assert greedy.counted < greedy.tokens  # a table of two tokens soon repeats itself
    assert sum(r.emitted for r in greedy.rounds[: greedy.full]) <= greedy.counted
    assert sum(r.emitted for r in greedy.rounds[: greedy.full + 1]) > greedy.counted


def test_a_text_that_outgrows_its_draft_has_rounds_without_guesses():
    target, draft = tables()
    short = TableModel(draft.table, context_limit=20)
    setting = Setting(3, 1.0, (2, 2, 2, 2), max_new_tokens=30)
    one = record(target, short, [0], Key(setting, 0, 0))
    assert len(one.features) == len(one.rounds) == len(one.guesses)
    assert one.guesses[-1] == 0 and one.features[-1].guesses == ()
    assert replay(one, Lists(setting.fan_out)).rounds == one.rounds


def test_calibrated_policies_keep_to_their_budget():
    calibrated = Calibrated(recorded(1.0), vocabulary=9)
    one = recorded(1.0)[2]
    for name in NAMES:
        for budget in (0, 1, 7, 100):
            replayed = replay(one, calibrated.policy(name, budget))
            assert max(replayed.guesses[: one.full]) <= budget
    with pytest.raises(ValueError, match="policy: expected one of uniform, geometric"):
        calibrated.policy("oracle", 4)


def test_a_belief_with_the_whole_vocabulary_hits_always():
    texts = recorded(1.0)
    policy = Calibrated(texts, vocabulary=9).policy("believed", 9 * 4)
    assert chances(replay_all(texts, policy)).hit.all()


@pytest.mark.slow
@pytest.mark.parametrize("temperature", TEMPERATURES)
def test_on_the_pair_replayed_and_decoded_hit_rates_are_the_same_number(temperature):
    pair = load_pair(dtype=torch.float64)
    prompts = held_out_prompts()[::16]

    def decode(setting, policy=None):
        return [
            record(pair.target, pair.draft, prompt, Key(setting, number, 1), policy)
            for number, prompt in enumerate(prompts)
        ]

    setting = Setting(4, temperature, (0,) * 5, max_new_tokens=48)
    texts = decode(setting)
    for policy in (
        Lists((2, 2, 2, 2, 4)),
        Lists((3, 0, 1, 0, 8), (1, 1, 1, 1, 1)),
        Belief(Believed(10, SHARP)),
    ):
        if isinstance(policy, Belief):
            again = decode(replace(setting, policy="believed"), policy.believed)
        else:
            again = decode(
                replace(setting, fan_out=policy.fan_out, fan_out_miss=policy.fan_out_miss)
            )
        replayed = chances(replay_all(texts, policy))
        assert replayed.hit_rate() == chances([as_decoded(text) for text in again]).hit_rate()
        assert replayed.hit.any()


def test_prompts_are_the_sequence_of_the_random_source():
    setting = Setting(3, 1.0, (1, 1, 1, 1), max_new_tokens=30)
    one, other = (record(*tables(), PROMPTS[0], Key(setting, number, 0)) for number in (0, 1))
    assert one.rounds != other.rounds
