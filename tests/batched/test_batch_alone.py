"""A text in a batch is the text that it is alone, whatever the order and the neighbours."""

from dataclasses import replace

import pytest
from batch_helpers import alone, same, seeded
from hypothesis import given, settings
from hypothesis import strategies as st

import profiles
from helpers import random_gpt
from ssd_ref.batched import Request, decode
from ssd_ref.testing.strategies import cases

METHODS = ("ar", "sd", "ssd")


def settings_of(case, method):
    """The case's settings, as the batch takes them."""
    keywords = {"ar": case.law, "sd": case.law | case.draft_law}.get(method)
    if keywords is None:
        keywords = case.law | case.draft_law | case.cache
    more = {} if method == "ar" else {"lookahead": case.lookahead}
    return {"method": method, **keywords, **more}


@st.composite
def batches(draw, vocabulary, least=1, most=4):
    """Requests with sequence numbers, prompts, lengths and temperatures of their own."""
    numbers = draw(st.lists(st.integers(0, 9), min_size=least, max_size=most, unique=True))
    prompts = st.lists(st.integers(0, vocabulary - 1), max_size=4)
    temperatures = st.sampled_from([None, None, 0.0, 0.6])
    return [
        Request(draw(prompts), number, draw(st.integers(0, 9)), draw(temperatures))
        for number in numbers
    ]


@given(data=st.data(), case=cases(most=10**9), method=st.sampled_from(METHODS))
def test_a_batch_is_its_texts_alone(data, case, method):
    """Tables of order 0 to 2 with every setting; some join later; the order is whatever it is."""
    settings = settings_of(case, method)
    requests = data.draw(batches(case.target.vocabulary))
    joins = {}
    for request in requests:
        joins.setdefault(data.draw(st.integers(1, 5)), []).append(request)
    decoded = decode(
        case.target, case.draft, joins.pop(1, []), joins=joins, randomness=seeded, **settings
    )
    assert not decoded.errors
    for request in requests:
        assert same(decoded[request.sequence], alone(case.target, case.draft, request, **settings))


GPTS = [(random_gpt(seed=2 * i), random_gpt(seed=2 * i + 1)) for i in range(3)]
GPT_SETTINGS = {
    "ar": {"top_p": 0.9},
    "sd": {"lookahead": 3, "draft_temperature": 0.8},
    "ssd": {
        "lookahead": 3, "fan_out": [2, 1, 1, 3], "fan_out_miss": [3, 1, 0, 1], "saguaro_c": 0.6,
    },
}  # fmt: skip


@settings(max_examples=max(20, profiles.EXAMPLES // 2))
@given(data=st.data(), method=st.sampled_from(METHODS), pair=st.sampled_from(GPTS))
def test_a_batch_of_gpt_texts_is_its_texts_alone(data, method, pair):
    """In double precision: the forward of all texts differs from that of one in its last bits."""
    settings = {"method": method, "eos": 6, **GPT_SETTINGS[method]}
    requests = data.draw(batches(7))
    decoded = decode(*pair, requests, randomness=seeded, **settings)
    for request in requests:
        assert same(decoded[request.sequence], alone(*pair, request, **settings))


def texts(decoded):
    return {sequence: (text.tokens, text.rounds) for sequence, text in decoded.texts.items()}


@pytest.mark.parametrize("method", METHODS)
def test_the_order_of_the_batch_does_not_matter(method):
    requests = [Request([n, 1], n, 4 + 3 * n) for n in range(4)]
    settings = {"method": method, "randomness": seeded, **GPT_SETTINGS[method]}
    forth = decode(*GPTS[0], requests, **settings)
    back = decode(*GPTS[0], requests[::-1], **settings)
    assert texts(forth) == texts(back)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("round", [1, 2, 3])
def test_a_cancelled_neighbour_leaves_no_trace(method, round):
    """Nor does its own text change: it ends where the batch was when it was cancelled."""
    requests = [Request([n, 1], n, 12) for n in range(3)]
    settings = {"method": method, "randomness": seeded, **GPT_SETTINGS[method]}
    whole = decode(*GPTS[1], requests, **settings)
    cut = decode(*GPTS[1], requests, cancels={round: [1]}, **settings)
    assert {s: t for s, t in texts(cut).items() if s != 1} == {
        s: t for s, t in texts(whole).items() if s != 1
    }
    assert cut[1].finish_reason == "cancelled"
    assert cut[1].rounds == whole[1].rounds[: round - 1]
    assert cut[1].tokens == whole[1].tokens[: len(cut[1].tokens)]
    assert [r.sequences for r in cut.rounds[:round]] == [(0, 1, 2)] * (round - 1) + [(0, 2)]


def test_a_temperature_of_its_own():
    """Rows at 0, .5 and the batch's 1: each as alone."""
    requests = [Request([2], 0, 9, 0.0), Request([2], 1, 9, 0.5), Request([2], 2, 9)]
    settings = {"method": "ssd", **GPT_SETTINGS["ssd"]}
    decoded = decode(*GPTS[2], requests, randomness=seeded, **settings)
    for request in requests:
        assert same(decoded[request.sequence], alone(*GPTS[2], request, **settings))
    greedy = alone(*GPTS[2], replace(requests[2], sequence=0, temperature=0.0), **settings)
    assert decoded[0].tokens == greedy.tokens
