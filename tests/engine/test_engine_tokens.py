"""Two processes decode what one does: the same tokens and rounds, whatever the timing."""

import numpy as np
import pytest
from engine_models import Hashed, gpt, hashed, slow, source

from ssd_ref import LogitsError, SeededRandomness, speculative, ssd
from ssd_ref.engine import Engine

K = 3
LISTS = {"fan_out": [2, 1, 1, 3], "fan_out_miss": [3, 0, 1, 2]}
TARGET = Hashed(1)


def settings_of(seed):
    """Settings as different as seeds: temperatures, backups, C, lists, limits, abort."""
    rng = np.random.default_rng(seed)
    temperature = float(rng.choice([0, 0.7, 1]))
    return {
        "max_new_tokens": int(rng.integers(1, 30)),
        "lookahead": K,
        "temperature": temperature,
        "draft_temperature": [None, 0, 1.3][rng.integers(3)],
        "top_k": [None, 3][rng.integers(2)],
        "eos": [None, 4][rng.integers(2)],
        "backup": ["draft", "uniform"][rng.integers(2)],
        "saguaro_c": [1, 1, 0.3][rng.integers(3)],
        "randomness": SeededRandomness(seed, sequence=7),
    } | {name: LISTS[name] for name in (list(LISTS), ["fan_out"])[rng.integers(2)]}


@pytest.fixture(scope="module")
def engine():
    with Engine(TARGET, source(), pin=False) as engine:
        yield engine


@pytest.mark.parametrize("seed", range(40))
def test_the_same_as_in_one_process(engine, seed):
    more, prompt = settings_of(seed), [seed % 5, 2, 1]
    shown = []
    text = engine.decode(
        prompt, **more, abort=seed % 2 == 0, on_round=lambda *round: shown.append(round)
    )
    alone = []
    expected = ssd(TARGET, hashed(), prompt, **more, on_round=lambda *round: alone.append(round))
    assert text == expected
    assert shown == alone


def test_with_the_draft_as_backup_the_text_is_sd_s(engine):
    for seed in range(8):
        more = {"max_new_tokens": 20, "lookahead": K, "randomness": SeededRandomness(seed)}
        text = engine.decode([1], **more, fan_out=[1, 0, 2, 1], abort=True)
        assert text.tokens == speculative(TARGET, hashed(), [1], **more).tokens


def test_an_error_of_the_draft_is_raised_as_in_one_process():
    more = {"max_new_tokens": 9, "lookahead": K, "fan_out": [1] * 4}
    more |= {"randomness": SeededRandomness(0)}
    with pytest.raises(LogitsError) as expected:
        ssd(TARGET, hashed(broken=True), [1, 2], **more)
    with Engine(TARGET, source(broken=True), pin=False) as engine:
        with pytest.raises(LogitsError) as found:
            engine.decode([1, 2], **more)
        assert engine.worker is None
    assert str(found.value) == str(expected.value)


DELAYS_MS = {  # of each forward: the target's, the draft's
    "the draft is in time": ((4, 4), (0, 0)),
    "equal": ((2, 2), (0.5, 0.5)),
    "the draft is ten times too slow": ((0.5, 0.5), (5, 5)),
    "random": ((0, 4), (0, 2)),
}


@pytest.mark.slow
@pytest.mark.parametrize("target_ms, draft_ms", DELAYS_MS.values(), ids=DELAYS_MS)
def test_the_same_whatever_the_timing(target_ms, draft_ms):
    draft = source("slow_draft", least=draft_ms[0], most=draft_ms[1])
    cut_short = 0
    with Engine(slow(TARGET, *target_ms), draft, pin=False) as engine:
        for seed in range(25):
            more = settings_of(seed)
            expected = ssd(TARGET, hashed(), [seed % 5, 2, 1], **more)
            for abort in (False, True):
                text = engine.decode([seed % 5, 2, 1], **more, abort=abort)
                assert text == expected, (seed, abort)
            trees = [span.rows for span in engine.spans.speculator if span.kind == "tree"]
            cut_short += 1 in trees
    assert cut_short > 5 or draft_ms < target_ms  # a slow draft was told to finish one branch only


@pytest.mark.slow
def test_a_gpt_in_float64_gives_the_same_bit_for_bit():
    target, same = gpt(seed=0), 0
    with Engine(target, source("gpt"), pin=False) as engine:
        for seed in range(20):
            more = settings_of(seed) | {"max_new_tokens": 15}
            expected = ssd(target, gpt(), [seed % 7, 3], **more)
            text = engine.decode([seed % 7, 3], **more)
            assert text.tokens == expected.tokens and text.rounds == expected.rounds
            same += text.logprobs == expected.logprobs
    assert same == 20  # without an abort the forwards have the same shapes
