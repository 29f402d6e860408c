"""Cases about where a text ends, what is counted, and what is shown to the caller.

Numbered as in tests/CASES.md. Whole round records are compared wherever it is possible.
"""

import math
from itertools import chain

import numpy as np
import pytest

from helpers import (
    CYCLE,
    METHODS,
    SPECULATIVE,
    Recording,
    decode,
    from_laws,
    from_map,
    on_schedule,
    random_table,
    seeded,
    speculation_of,
    transcript,
)
from ssd_ref import Law, Outcome, RoundRecord, ScriptedRandomness, TableModel
from ssd_ref.transcript import Limits
from ssd_ref.verification import Verifier

one_hot = np.eye(4)
STOP = 3


def script_of(**uniforms):
    """The same uniform for every draw of a role."""
    return ScriptedRandomness(lambda site: uniforms[site.role])


@pytest.mark.parametrize("method", METHODS)
def test_case_01_end_token_of_a_deterministic_text(method):
    model = from_map({0: 1, 1: 3, 3: 2, 2: 0})
    done = decode(method, model, model, lookahead=4, max_new_tokens=10, eos=3, randomness=seeded())
    assert (done.tokens, done.finish_reason) == ([1, 3], "eos")
    if method == "ar":
        assert [r.emitted for r in done.rounds] == [1, 1]
    elif method != "ssd-saguaro":  # whose first drafted token is another one
        served_by = "draft" if method == "sd" else "first"
        # Drafting stops after the end token; the bonus behind it is cut off.
        assert done.rounds == [RoundRecord(1, served_by, 2, 2, None, 2, None)]


@pytest.mark.parametrize("n", range(9))
@pytest.mark.parametrize("method", METHODS)
def test_case_10_never_more_and_never_fewer_than_asked_for(method, n):
    model = Recording(from_map(CYCLE))
    done = decode(method, model, model, lookahead=3, max_new_tokens=n, randomness=seeded())
    assert done.tokens == [1, 2, 0, 1, 2, 0, 1, 2][:n]
    assert done.finish_reason == "length"
    assert len(done.logprobs) == n
    if n == 0:
        assert (done.rounds, model.log) == ([], [])
    if method in ("sd", "ssd-hits", "ssd-misses"):
        assert len(done.rounds) == math.ceil(n / 4)


def test_case_10_the_counts_are_those_after_the_cut():
    model = from_map(CYCLE)
    done = decode("sd", model, model, lookahead=3, max_new_tokens=6, randomness=seeded())
    assert done.rounds == [
        RoundRecord(1, "draft", 3, 3, 1, 4, None),
        RoundRecord(2, "draft", 2, 2, None, 2, None),
    ]


# A block of five drafted tokens and the bonus, all accepted.
BLOCKS = [
    # block, max_new_tokens, context limit, tokens, reason
    ([0, 1, STOP, 2, 2, 2], 5, None, 3, "eos"),
    ([0, 1, 2, 2, 2, STOP], 5, None, 5, "length"),
    ([0, 1, 2, 2, 2, STOP], 6, None, 6, "eos"),
    ([0, 1, 2, 2, STOP, 2], 5, None, 5, "eos"),  # both at once: eos
    ([0, 1, 2, 2, 2, 2], 5, 6, 5, "length"),  # both at once: length before context
    ([0, 1, 2, 2, 2, 2], 9, 6, 5, "context"),
    ([0, 1, 2, 2, STOP, 2], 9, 6, 5, "eos"),
    ([0, 1, 2, 2, 2, 2], 9, None, 6, None),
]


@pytest.mark.parametrize(("block", "n", "limit", "kept", "reason"), BLOCKS)
def test_case_13_precedence_of_stop_and_length_in_a_block(block, n, limit, kept, reason):
    limits = Limits(1, n, context_limit=limit, end_token=STOP)
    assert limits.cut(1, block) == (block[:kept], reason)


@pytest.mark.parametrize(("block", "n", "limit", "kept", "reason"), BLOCKS)
def test_case_13_a_verifier_that_is_handed_the_block(block, n, limit, kept, reason):
    following = from_laws(4, lambda context: one_hot[block[len(context) - 1]])
    text = transcript([0], n, context_limit=limit, end_token=STOP)
    verifier = Verifier(following, text, Law(), seeded())
    outcome = verifier.verify(speculation_of(block[:5], one_hot[block[:5]]))
    text.close_round(rank=None)
    assert outcome == Outcome(5, block[5])
    assert (text.tokens, text.finish_reason) == (block[:kept], reason)
    bonus = block[5] if kept == 6 else None
    assert text.rounds == [RoundRecord(1, "by hand", 5, min(kept, 5), bonus, kept, None)]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("block", "n", "limit", "kept", "reason"), BLOCKS[:7])
def test_case_13_decoders_cut_the_same_text_alike(block, n, limit, kept, reason, method):
    text = [*block, *[2] * 10]
    target = from_laws(4, lambda context: one_hot[text[len(context) - 1]])
    target.context_limit = limit
    for lookahead in (1, 2, 5, 7):
        settings = {"lookahead": lookahead, "max_new_tokens": n, "eos": STOP}
        done = decode(method, target, target, randomness=seeded(), **settings)
        assert (done.tokens, done.finish_reason) == (block[:kept], reason)


def test_case_21_tokens_past_the_end_token_are_not_counted():
    block = [1, 2, STOP, 2, 2, 2]
    target = from_laws(4, lambda context: one_hot[block[len(context) - 1]])
    text = transcript([0], 20, end_token=STOP)
    verifier = Verifier(target, text, Law(), seeded())
    verifier.verify(speculation_of(block[:5], one_hot[block[:5]]))
    assert text.tokens == [1, 2, STOP]
    assert text.rounds == [RoundRecord(1, "by hand", 5, 3, None, 3, None)]


@pytest.mark.parametrize("ssd", [False, True])
def test_case_21_full_acceptance_is_a_rate_of_one(ssd):
    model = from_map(CYCLE)
    text = on_schedule([3], model, model, max_new_tokens=8, ssd=ssd)
    assert [(r.drafted, r.accepted, r.emitted) for r in text.rounds] == [(3, 3, 4), (3, 3, 4)]


@pytest.mark.parametrize("ssd", [False, True])
def test_case_21_a_rate_says_nothing_where_little_is_drafted(ssd):
    model = from_map(CYCLE)
    text = on_schedule([1, *[0] * 9], model, model, max_new_tokens=11, ssd=ssd)
    drafted, accepted, emitted = (
        sum(getattr(r, name) for r in text.rounds) for name in ("drafted", "accepted", "emitted")
    )
    assert (drafted, accepted, emitted, len(text.rounds)) == (1, 1, 11, 10)
    assert (accepted / drafted, emitted / len(text.rounds)) == (1.0, 1.1)


@pytest.mark.parametrize("eos", [None, 2])
@pytest.mark.parametrize("method", METHODS)
def test_case_21_the_counts_of_any_run_add_up(method, eos):
    rng = np.random.default_rng(21)
    target, draft = (TableModel(random_table(rng, 3, order=1)) for _ in range(2))
    for seed in range(40):
        done = decode(
            method,
            target,
            draft,
            lookahead=3,
            max_new_tokens=seed % 12,
            eos=eos,
            randomness=seeded(seed),
        )
        assert sum(r.emitted for r in done.rounds) == len(done.tokens) == len(done.logprobs)
        assert [r.round for r in done.rounds] == list(range(1, len(done.rounds) + 1))
        for record in done.rounds:
            assert 0 <= record.accepted <= record.drafted <= 3
            assert record.emitted == record.accepted + (record.bonus is not None) >= 1
            assert record.bonus is not None or record is done.rounds[-1]
            assert record.rank is None or record.bonus is not None


@pytest.mark.parametrize("prompt", range(1, 9))
@pytest.mark.parametrize("method", METHODS)
def test_case_26_the_context_limit_ends_the_text(method, prompt):
    """Limit 8: a prompt of 6 leaves 2 tokens, and no position >= 8 is ever fed."""
    rng = np.random.default_rng(26)
    target, draft = (
        Recording(TableModel(random_table(rng, 3, order=1), context_limit=8)) for _ in range(2)
    )
    done = decode(
        method, target, draft, [0] * prompt, lookahead=5, max_new_tokens=10, randomness=seeded(2)
    )
    assert len(done.tokens) == 8 - prompt
    assert done.finish_reason == "context"
    for record in done.rounds:
        assert record.drafted <= min(5, 8 - prompt)
    if prompt < 8:
        assert target.furthest() <= 8
    if method != "ar" and prompt < 8:
        assert draft.furthest() <= 8


@pytest.mark.parametrize("method", METHODS)
def test_case_26_length_comes_before_context(method):
    model = TableModel([0.5, 0.5], context_limit=8)
    done = decode(method, model, model, [0] * 6, lookahead=5, max_new_tokens=2, randomness=seeded())
    assert (len(done.tokens), done.finish_reason) == (2, "length")


@pytest.mark.parametrize("method", ["sd", "ssd-hits", "ssd-misses"])
def test_case_30_log_probabilities_are_the_targets(method):
    target, draft = TableModel([0.6, 0.4]), TableModel([0.9, 0.1])
    settings = {"lookahead": 1, "max_new_tokens": 1}
    accepted = decode(
        method, target, draft, randomness=script_of(draft=0, accept=0, bonus=0), **settings
    )
    assert accepted.tokens == [0]
    assert accepted.logprobs == pytest.approx([-0.5108], abs=5e-5)  # not -0.1054, not 0
    rejected = decode(
        method, target, draft, randomness=script_of(draft=0, accept=0.9, bonus=0), **settings
    )
    assert rejected.tokens == [1]
    assert rejected.logprobs == pytest.approx([-0.9163], abs=5e-5)  # not 0


@pytest.mark.parametrize("method", METHODS)
def test_case_30_every_token_of_a_text_has_its_own_log_probability(method):
    rng = np.random.default_rng(30)
    target, draft = (TableModel(random_table(rng, 3, order=2, zeros=True)) for _ in range(2))
    for seed in range(20):
        done = decode(
            method,
            target,
            draft,
            lookahead=3,
            max_new_tokens=9,
            temperature=0.5,
            randomness=seeded(seed),
        )
        context = [0, 0]
        for token, logprob in zip(done.tokens, done.logprobs, strict=True):
            weights = target.table[tuple(context[-2:])] ** 2  # temperature 1/2
            assert logprob == pytest.approx(math.log(weights[token] / weights.sum()), abs=1e-12)
            context.append(token)


@pytest.mark.parametrize("lookahead", range(5))
@pytest.mark.parametrize("method", METHODS)
def test_case_31_the_stream_is_the_text(method, lookahead):
    model, rng = from_map(CYCLE), np.random.default_rng(31)
    noisy = TableModel(random_table(rng, 3, order=1))
    for draft in (model, noisy):
        for n in range(8):
            stream, records = [], []

            def show(tokens, record, stream=stream, records=records):
                stream.append(list(tokens))
                records.append(record)

            done = decode(
                method,
                model,
                draft,
                lookahead=lookahead,
                max_new_tokens=n,
                randomness=seeded(n),
                on_round=show,
            )
            assert [*chain.from_iterable(stream)] == done.tokens == [1, 2, 0, 1, 2, 0, 1, 2][:n]
            assert records == done.rounds
            assert [len(tokens) for tokens in stream] == [r.emitted for r in done.rounds]


@pytest.mark.parametrize("method", SPECULATIVE)
def test_case_31_the_stream_stops_at_the_end_token(method):
    rng = np.random.default_rng(310)
    target, draft = (TableModel(random_table(rng, 3, order=1)) for _ in range(2))
    for seed in range(20):
        stream = []
        done = decode(
            method,
            target,
            draft,
            lookahead=3,
            max_new_tokens=10,
            eos=2,
            randomness=seeded(seed),
            on_round=lambda tokens, record, stream=stream: stream.extend(tokens),
        )
        assert stream == done.tokens
        assert 2 not in done.tokens[:-1]
