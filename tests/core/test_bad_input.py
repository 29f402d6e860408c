"""Limits and bad input: a clear error that quotes expected and got, and nothing half done."""

import re

import numpy as np
import pytest

from helpers import (
    METHODS,
    SPECULATIVE,
    Recording,
    decode,
    from_map,
    law,
    random_gpt,
    random_table,
    seeded,
)
from oracles import assert_laws_equal, target_law
from ssd_ref import (
    ScriptedRandomness,
    SeededRandomness,
    TableModel,
    autoregressive,
    speculative,
    ssd,
)

NAN, INF = float("nan"), float("inf")
FAIR = TableModel([0.5, 0.5])


def random_pair(seed, vocabulary=3, order=1, **limits):
    rng = np.random.default_rng(seed)
    return [TableModel(random_table(rng, vocabulary, order), **limits) for _ in range(2)]


def refused(message, method, *, prompt=(0,), models=(FAIR, FAIR), **settings):
    """The call raises a ValueError with this message, before any model is called."""
    target, draft = (Recording(model) for model in models)
    settings = {"lookahead": 2, "max_new_tokens": 4, "randomness": seeded(), **settings}
    with pytest.raises(ValueError, match=message):
        decode(method, target, draft, prompt, **settings)
    assert (target.log, draft.log) == ([], [])


def refused_by_ssd(message, **settings):
    """The same for the arguments that only SSD has."""
    target, draft = Recording(FAIR), Recording(FAIR)
    settings = {"lookahead": 1, "max_new_tokens": 4, "fan_out": [1, 1], **settings}
    with pytest.raises(ValueError, match=message):
        ssd(target, draft, [0], randomness=seeded(), **settings)
    assert (target.log, draft.log) == ([], [])


# Prompts


@pytest.mark.parametrize("method", METHODS)
def test_an_empty_prompt_is_read_as_the_start_token(method):
    target, draft = random_pair(1, order=2)
    settings = {"lookahead": 2, "max_new_tokens": 6, "randomness": seeded(1)}
    empty = decode(method, target, draft, [], **settings)
    assert empty == decode(method, target, draft, [0], **settings)
    assert_laws_equal(
        law(method, target, draft, [], lookahead=1, max_new_tokens=2), target_law(target, [], 2)
    )


@pytest.mark.parametrize("method", METHODS)
def test_an_empty_prompt_of_a_gpt_is_its_end_token(method):
    target, draft = random_gpt(5, seed=1), random_gpt(5, seed=2)
    settings = {"lookahead": 2, "max_new_tokens": 6, "randomness": seeded(1)}
    empty = decode(method, target, draft, [], **settings)
    assert empty == decode(method, target, draft, [4], **settings)
    assert len(empty.tokens) == 6


@pytest.mark.parametrize("method", METHODS)
def test_a_prompt_may_be_any_sequence_of_integers(method):
    target, draft = random_pair(2)
    settings = {"lookahead": 2, "max_new_tokens": 5}
    given = [[1, 2], (1, 2), np.array([1, 2]), range(1, 3)]
    texts = [decode(method, target, draft, p, randomness=seeded(), **settings) for p in given]
    assert all(text == texts[0] for text in texts)
    assert all(type(token) is int for token in texts[2].tokens)


@pytest.mark.parametrize("method", METHODS)
def test_a_prompt_longer_than_the_context(method):
    model = TableModel([0.5, 0.5], context_limit=4)
    message = r"prompt: expected at most 4 tokens \(the target's context limit\), got 5"
    refused(message, method, prompt=[0] * 5, models=(model, model))


@pytest.mark.parametrize("method", METHODS)
def test_a_prompt_that_fills_the_context_leaves_nothing_to_decode(method):
    target, draft = (Recording(TableModel([0.5, 0.5], context_limit=4)) for _ in range(2))
    settings = {"lookahead": 2, "randomness": seeded()}
    done = decode(method, target, draft, [0] * 4, max_new_tokens=3, **settings)
    assert (done.tokens, done.finish_reason, done.rounds) == ([], "context", [])
    done = decode(method, target, draft, [0] * 4, max_new_tokens=0, **settings)
    assert (done.tokens, done.finish_reason, done.rounds) == ([], "length", [])
    assert (target.log, draft.log) == ([], [])


@pytest.mark.parametrize("token", [-1, 2, 10**9, 0.7, 1.0, True, "1", None])
@pytest.mark.parametrize("method", METHODS)
def test_token_ids_of_the_prompt(method, token):
    message = rf"prompt\[2\]: expected an integer in \[0, 2\), got {token!r}"
    refused(message, method, prompt=[0, 1, token])


@pytest.mark.parametrize("eos", [-1, 2, 0.5, 1.0, True])
@pytest.mark.parametrize("method", METHODS)
def test_token_id_of_the_end_token(method, eos):
    refused(rf"eos.*: expected an integer in \[0, 2\), got {eos!r}", method, eos=eos)


# Lengths


@pytest.mark.parametrize("n", [-1, 2.0, 1.5, True, False, None, "3", NAN])
@pytest.mark.parametrize("method", METHODS)
def test_max_new_tokens_must_be_a_count(method, n):
    message = rf"max_new_tokens: expected an integer >= 0, got {n!r}"
    refused(message, method, max_new_tokens=n)


@pytest.mark.parametrize("method", METHODS)
def test_max_new_tokens_0_is_an_empty_text(method):
    target, draft = Recording(FAIR), Recording(FAIR)
    source = ScriptedRandomness(lambda site: 0.5)
    shown = []
    done = decode(
        method,
        target,
        draft,
        lookahead=2,
        max_new_tokens=0,
        randomness=source,
        on_round=lambda tokens, record: shown.append(record),
    )
    assert (done.tokens, done.finish_reason, done.logprobs, done.rounds) == ([], "length", [], [])
    assert (target.log, draft.log, source.log, shown) == ([], [], [], [])


@pytest.mark.parametrize("method", METHODS)
def test_counts_may_be_numpy_integers(method):
    target, draft = random_pair(3)
    plain = decode(method, target, draft, lookahead=2, max_new_tokens=5, randomness=seeded())
    settings = {"lookahead": 2, "max_new_tokens": np.int64(5), "eos": None, "top_k": np.int64(3)}
    assert decode(method, target, draft, randomness=seeded(), **settings) == plain


@pytest.mark.parametrize("lookahead", [-1, 1.0, 0.5, True, None])
def test_lookahead_must_be_a_count(lookahead):
    message = rf"lookahead: expected an integer >= 0, got {lookahead!r}"
    refused(message, "sd", lookahead=lookahead)
    refused_by_ssd(message, lookahead=lookahead)


@pytest.mark.parametrize("method", SPECULATIVE)
def test_lookahead_0_is_autoregressive_token_for_token(method):
    for seed in range(20):
        target, draft = random_pair(seed)
        settings = {"max_new_tokens": 6, "temperature": 0.8, "randomness": seeded(seed)}
        alone = autoregressive(target, [1], **settings)
        done = decode(method, target, draft, [1], lookahead=0, **settings)
        assert (done.tokens, done.logprobs) == (alone.tokens, alone.logprobs)
        assert [r.drafted for r in done.rounds] == [0] * 6


@pytest.mark.parametrize("method", METHODS)
def test_max_new_tokens_inside_a_block_is_never_overshot(method):
    """And the text for N is a prefix of the text for N + 3."""
    target, draft = random_pair(4)
    for seed in range(5):
        texts = [
            decode(
                method, target, draft, lookahead=4, max_new_tokens=n, randomness=seeded(seed)
            ).tokens
            for n in range(12)
        ]
        assert [len(text) for text in texts] == list(range(12))
        if method not in ("ssd-uniform", "ssd-saguaro"):
            for n in range(9):
                assert texts[n + 3][:n] == texts[n]


# Fan-out lists and SSD's other arguments


@pytest.mark.parametrize("name", ["fan_out", "fan_out_miss"])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([1], r"expected lookahead \+ 1 = 2 numbers, got 1: \[1\]"),
        ([], r"expected lookahead \+ 1 = 2 numbers, got 0: \[\]"),
        ([1, 2, 3], r"expected lookahead \+ 1 = 2 numbers, got 3: \[1, 2, 3\]"),
    ],
)
def test_a_fan_out_list_has_lookahead_plus_1_numbers(name, value, message):
    refused_by_ssd(f"{name}: {message}", **{name: value})


@pytest.mark.parametrize("name", ["fan_out", "fan_out_miss"])
@pytest.mark.parametrize("width", [-1, 1.0, True, None])
def test_a_fan_out_is_a_count(name, width):
    message = rf"{name}\[1\]: expected an integer >= 0, got {width!r}"
    refused_by_ssd(message, **{name: [2, width]})


@pytest.mark.parametrize("lookahead", [0, 1, 3])
def test_a_fan_out_of_zeros_makes_every_round_a_miss(lookahead):
    """Round by round it is SD, up to who served and the rank that SD cannot see."""
    target, draft = random_pair(5)
    for seed in range(10):
        settings = {"lookahead": lookahead, "max_new_tokens": 9, "randomness": seeded(seed)}
        sd = speculative(target, draft, [0], **settings)
        done = ssd(target, draft, [0], fan_out=[0] * (lookahead + 1), **settings)
        assert [r.served_by for r in done.rounds] == ["first"] + ["backup"] * (len(sd.rounds) - 1)
        assert (done.tokens, done.logprobs) == (sd.tokens, sd.logprobs)
        for ours, theirs in zip(done.rounds, sd.rounds, strict=True):
            same = ("round", "drafted", "accepted", "bonus", "emitted")
            assert [getattr(ours, n) for n in same] == [getattr(theirs, n) for n in same]


def test_a_fan_out_above_the_vocabulary_is_all_of_it():
    target, draft = random_pair(6)
    for seed in range(10):
        settings = {"lookahead": 2, "max_new_tokens": 9, "randomness": seeded(seed)}
        everything = ssd(target, draft, [0], fan_out=[3] * 3, **settings)
        assert ssd(target, draft, [0], fan_out=[4, 99, 10**9], **settings) == everything
        served_by = [r.served_by for r in everything.rounds]
        assert served_by == ["first"] + ["cache"] * (len(served_by) - 1)


@pytest.mark.parametrize("c", [-0.1, 1.1, NAN, INF])
def test_saguaro_c_must_be_in_its_interval(c):
    refused_by_ssd(rf"saguaro_c: expected a number in \[0, 1\], got {c}", saguaro_c=c)


@pytest.mark.parametrize("backup", ["uniform ", "none", None, 0])
def test_the_backup_must_be_known(backup):
    message = rf"backup: expected one of .*'draft', 'uniform'.*, got {re.escape(repr(backup))}"
    refused_by_ssd(message, backup=backup)


# Temperature and truncation


@pytest.mark.parametrize("temperature", [-1, -1e-320, NAN, INF, -INF])
@pytest.mark.parametrize("name", ["temperature", "draft_temperature"])
def test_temperature_must_be_finite_and_not_negative(name, temperature):
    message = f"temperature: expected a finite number >= 0, got {temperature}"
    for method in METHODS if name == "temperature" else SPECULATIVE:
        refused(message, method, **{name: temperature})


@pytest.mark.parametrize("method", METHODS)
def test_a_tiny_temperature_is_greedy(method):
    target, draft = random_pair(7)
    settings = {"lookahead": 3, "max_new_tokens": 9, "randomness": seeded()}
    greedy = decode(method, target, draft, temperature=0, **settings)
    assert decode(method, target, draft, temperature=1e-320, **settings).tokens == greedy.tokens
    assert greedy.logprobs == [0.0] * 9


@pytest.mark.parametrize("top_p", [0, -0.5, 1.5, NAN])
@pytest.mark.parametrize("name", ["top_p", "draft_top_p"])
def test_top_p_must_be_in_its_interval(name, top_p):
    message = rf"top_p: expected a number in \(0, 1\].*, got {top_p}"
    for method in METHODS if name == "top_p" else SPECULATIVE:
        refused(message, method, **{name: top_p})


@pytest.mark.parametrize("top_k", [0, -2, 1.5, True])
@pytest.mark.parametrize("name", ["top_k", "draft_top_k"])
def test_top_k_must_be_an_integer_from_1(name, top_k):
    message = rf"top_k: expected an integer >= 1.*, got {top_k}"
    for method in METHODS if name == "top_k" else SPECULATIVE:
        refused(message, method, **{name: top_k})


# The pair


@pytest.mark.parametrize("method", SPECULATIVE)
def test_vocabularies_must_be_of_one_size(method):
    message = "target and draft must have the same vocabulary: got 2 and 3 tokens"
    refused(message, method, models=(FAIR, TableModel([0.5, 0.25, 0.25])))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("limit", range(3, 9))
def test_the_targets_context_limit_ends_the_text(method, limit):
    target = Recording(TableModel([0.5, 0.5], context_limit=limit))
    draft = Recording(TableModel([0.3, 0.7], context_limit=20))
    done = decode(
        method, target, draft, [0, 1], lookahead=3, max_new_tokens=99, randomness=seeded()
    )
    assert (len(done.tokens), done.finish_reason) == (limit - 2, "context")
    assert target.furthest() <= limit
    assert method == "ar" or draft.furthest() <= limit


@pytest.mark.parametrize("method", SPECULATIVE)
@pytest.mark.parametrize("limit", range(1, 9))
def test_a_draft_with_a_shorter_context_drafts_less_and_at_last_nothing(method, limit):
    target, draft = random_pair(8)
    for seed in range(5):
        short = Recording(TableModel(draft.table, context_limit=limit))
        done = decode(
            method, target, short, [0, 1], lookahead=3, max_new_tokens=10, randomness=seeded(seed)
        )
        assert (len(done.tokens), done.finish_reason) == (10, "length")
        assert short.furthest() <= limit
        length = 2
        for record in done.rounds:
            wanted = max(0, min(3, limit - length))
            if method != "ssd-uniform":
                assert record.drafted <= wanted
            length += record.emitted
        if limit > 2 and method == "sd":
            assert done.rounds[0].drafted == min(3, limit - 2)
        assert done.rounds[-1].drafted == 0 or method == "ssd-uniform"


@pytest.mark.parametrize("limit", [1, 2, 4, 6, 8])
@pytest.mark.parametrize("gpt", [False, True], ids=["table", "gpt"])
def test_a_shorter_draft_gives_sd_and_ssd_the_same_text(limit, gpt):
    target, draft = random_pair(9)
    short = TableModel(draft.table, context_limit=limit)
    if gpt:
        target, short = random_gpt(3, seed=1), random_gpt(3, context_limit=limit, seed=2)
    for seed in range(3):
        settings = {"lookahead": 3, "max_new_tokens": 8, "randomness": seeded(seed)}
        sd = speculative(target, short, [0, 1], **settings)
        for fan_out in ([0] * 4, [1] * 4, [3, 0, 2, 1], [3] * 4):
            done = ssd(target, short, [0, 1], fan_out=fan_out, **settings)
            assert (done.tokens, done.logprobs) == (sd.tokens, sd.logprobs)


@pytest.mark.parametrize("method", SPECULATIVE)
@pytest.mark.parametrize("limit", [1, 2, 3, 4])
def test_a_shorter_draft_leaves_the_law_alone(method, limit):
    target, draft = random_pair(10, vocabulary=2, order=2)
    short = TableModel(draft.table, context_limit=limit)
    found = law(method, target, short, [0, 1], lookahead=2, max_new_tokens=4)
    assert_laws_equal(found, target_law(target, [0, 1], 4))


# The end token


@pytest.mark.parametrize("method", METHODS)
def test_an_end_token_inside_an_accepted_block_ends_the_text_there(method):
    model = from_map({0: 1, 1: 2, 2: 3, 3: 0})
    done = decode(method, model, model, lookahead=4, max_new_tokens=9, eos=2, randomness=seeded())
    assert (done.tokens, done.finish_reason, len(done.logprobs)) == ([1, 2], "eos", 2)


@pytest.mark.parametrize("method", METHODS)
def test_an_end_token_that_is_drafted_and_rejected_does_not_end_the_text(method):
    target, draft = from_map({0: 1, 1: 0, 2: 0}), from_map({0: 2, 1: 2, 2: 2})
    done = decode(method, target, draft, lookahead=3, max_new_tokens=5, eos=2, randomness=seeded())
    assert (done.tokens, done.finish_reason) == ([1, 0, 1, 0, 1], "length")
    if method in ("sd", "ssd-hits", "ssd-misses"):
        assert [(r.drafted, r.accepted) for r in done.rounds] == [(1, 0)] * 5


@pytest.mark.parametrize("method", METHODS)
def test_an_end_token_as_the_bonus_or_in_the_prompt(method):
    target = from_map({0: 1, 1: 2, 2: 0})
    wrong = from_map({0: 0, 1: 1, 2: 2})
    settings = {"lookahead": 2, "max_new_tokens": 9, "eos": 2, "randomness": seeded()}
    done = decode(method, target, wrong, [0], **settings)
    assert (done.tokens, done.finish_reason) == ([1, 2], "eos")
    done = decode(method, target, wrong, [2], **settings)  # only new tokens end a text
    assert (done.tokens, done.finish_reason) == ([0, 1, 2], "eos")


# Whatever is wrong, nothing is half done


def test_several_faults_at_once_still_call_no_model():
    for method in METHODS:
        refused(".", method, max_new_tokens=-1, temperature=NAN, prompt=[-1], eos=9)


@pytest.mark.parametrize("method", METHODS)
def test_a_run_leaves_models_and_arguments_as_they_were(method):
    target, draft = random_pair(14)
    tables = target.table.copy(), draft.table.copy()
    prompt = [0, 1]
    decode(method, target, draft, prompt, lookahead=2, max_new_tokens=6, randomness=seeded())
    assert prompt == [0, 1]
    assert np.array_equal(target.table, tables[0])
    assert np.array_equal(draft.table, tables[1])
    fan_out = [1, 2, 3]
    ssd(target, draft, prompt, lookahead=2, max_new_tokens=6, fan_out=fan_out, randomness=seeded())
    assert fan_out == [1, 2, 3]


def test_a_prompt_may_be_an_iterator():
    table = TableModel(np.eye(3)[[1, 2, 0]])
    text = autoregressive(table, iter([1]), max_new_tokens=2, randomness=SeededRandomness(0))
    assert text.tokens == [2, 0]


@pytest.mark.parametrize(
    "wrong", [{"temperature": "1"}, {"top_p": "x"}, {"temperature": None}, {"temperature": True}]
)
def test_numbers_of_another_type_are_refused(wrong):
    with pytest.raises(ValueError, match=r"expected a (finite )?number"):
        autoregressive(
            TableModel([1.0]), [0], max_new_tokens=1, randomness=SeededRandomness(0), **wrong
        )
