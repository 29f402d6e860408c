"""Reported faults that need a batch to show, as small inputs with the right answer."""

import math
from unittest.mock import patch

import numpy as np
import pytest
from batch_helpers import alone, same, seeded

from helpers import FunctionModel, from_laws, from_map, random_gpt
from ssd_ref import LogitsError, Outcome, SeededRandomness, Site, TableModel, exact_law
from ssd_ref.batched import LockStep, Numbered, Request, Settings, decode
from ssd_ref.batched.actors import StepSpeculator
from ssd_ref.testing import compare_laws, target_law
from ssd_ref.verification import Verifier

# Case 6: an order-2 draft, whose row after (a, b) depends on a
BY_FIRST = TableModel([[[0.8, 0.2]] * 2, [[0.2, 0.8]] * 2])
EVEN = TableModel([0.5, 0.5])
TWO = [Request([0], 0, 2), Request([1], 1, 2)]
CACHE = {"method": "ssd", "lookahead": 1, "fan_out": [1, 1]}
EVERY = [Outcome(0, 0), Outcome(0, 1)]  # guesses that both texts have entries for


def text_of(sequence, randomness, requests=TWO, models=(EVEN, BY_FIRST), **settings):
    decoded = decode(
        *models, requests, randomness=lambda s: Numbered(randomness, s), **{**CACHE, **settings}
    )
    return decoded[sequence].tokens


@pytest.mark.parametrize("sequence", [0, 1])
def test_case_06_no_entry_of_another_text_is_served(sequence):
    law = exact_law(lambda r: text_of(sequence, r, predict=lambda rows, speculation: EVERY))
    assert compare_laws(law, target_law(EVEN, [0], max_new_tokens=2))


class Shared(StepSpeculator):
    """The fault: one cache for the batch, with no sequence number in its key, and q recomputed."""

    def close_cache(self):
        shared = vars(self.draft).setdefault("shared", {})
        for entry in self.entries:
            entry.tokens = list(shared.setdefault(entry.outcome, entry).tokens)
        super().close_cache()


def test_case_06_a_key_without_the_sequence_would_show():
    """The second text is given the first one's token with its own row: TV .1125."""
    with patch("ssd_ref.batched.roster.StepSpeculator", Shared):
        law = exact_law(
            lambda r: text_of(1, r, predict=lambda rows, speculation: EVERY), marginalise=False
        )
    comparison = compare_laws(law, target_law(EVEN, [1], max_new_tokens=2))
    assert comparison.total_variation == pytest.approx(0.1125, abs=1e-12)


def test_case_06_every_speculation_is_drafted_in_its_own_context():
    """Each row that is verified is the draft's after the text of its own sequence number."""
    rng = np.random.default_rng(0)
    target, draft = (TableModel(rng.dirichlet(np.ones(3), size=(3, 3))) for _ in range(2))
    found = []

    class Spy(Verifier):
        def verify(self, speculation):
            context = [*self.transcript.prompt, *self.transcript.tokens, *speculation.tokens]
            start = len(context) - len(speculation)
            for i, row in enumerate(speculation.rows):
                law = np.exp(draft.logits_after(context[: start + i]))
                found.append(np.allclose(row, law))
                found.append(speculation.sites[i].sequence == self.randomness.sequence)
            return super().verify(speculation)

    requests = [Request([n % 3, n // 3], 10 - n, 15) for n in range(4)]
    with patch("ssd_ref.batched.roster.Verifier", Spy):
        decoded = decode(
            target, draft, requests, randomness=seeded, method="ssd", lookahead=2, fan_out=[2, 1, 1]
        )
    assert all(found) and len(found) > 100
    assert {r.served_by for text in decoded.texts.values() for r in text.rounds} == {
        "first", "cache", "backup",
    }  # fmt: skip


def test_case_14_two_requests_have_draws_of_their_own():
    """p uniform over 4 tokens: the first tokens of two texts agree with chance 1/4."""
    even = TableModel([0.25] * 4)
    requests = [Request([0], 0, 1), Request([0], 1, 1)]

    def agree(randomness):
        settings = {"requests": requests, "models": (even, None), "method": "ar"}
        settings |= {"lookahead": None, "fan_out": None}
        decoded = [text_of(s, Again(randomness, s), **settings) for s in (0, 1)]
        return [int(decoded[0] == decoded[1])]

    class Again:
        """The batch is decoded twice; the text that is not looked at draws nothing new."""

        def __init__(self, source, sequence):
            self.source, self.sequence = source, sequence

        def choose(self, law, site):
            return self.source.choose(law, site) if site.sequence == self.sequence else 0

        def commit(self, site):
            pass

    assert exact_law(agree)[(1,)] == pytest.approx(0.25, abs=1e-15)
    draws = [SeededRandomness(0, s).uniform(Site(s, 1, "bonus", 0)) for s in range(100)]
    assert len(set(draws)) == 100


def test_case_16_a_greedy_text_in_a_batch_at_temperature_1():
    """p = [.3, .5, .2], q = [.45, .35, .2]: 1 at T=0, and p beside it, without warnings."""
    target, draft = TableModel([0.3, 0.5, 0.2]), TableModel([0.45, 0.35, 0.2])
    requests = [Request([0], 0, 2, temperature=0.0), Request([0], 1, 1)]
    for settings in ({"method": "sd", "fan_out": None}, {}):
        greedy, soft = (
            exact_law(lambda r, s=s, own=settings: text_of(s, r, requests, (target, draft), **own))
            for s in (0, 1)
        )
        assert greedy == pytest.approx({(1, 1): 1.0}, abs=1e-12)
        assert soft == pytest.approx({(0,): 0.3, (1,): 0.5, (2,): 0.2}, abs=1e-12)


def spoken(text):
    """The model that continues each prompt (by its first token) by a text of its own, then 0."""

    def row(context):
        said = text[context[0]]
        return np.eye(3)[said[len(context) - 1] if len(context) <= len(said) else 0]

    return from_laws(3, row)


@pytest.mark.parametrize("method", ["sd", "ssd"])
def test_case_23_ragged_acceptance(method):
    """Row 0: target 1, 0, 2 and drafts 1, 0. Row 1: target 2 and drafts 1, 1."""
    target, draft = spoken({0: [1, 0, 2], 1: [2]}), spoken({0: [1, 0], 1: [1, 1]})
    emitted = []
    extra = {"fan_out": [1, 1, 1]} if method == "ssd" else {}
    decode(
        target, draft, [Request([0], 0, 9), Request([1], 1, 9)], randomness=seeded,
        on_round=lambda sequence, tokens, _: emitted.append((sequence, tokens)),
        method=method, lookahead=2, **extra,
    )  # fmt: skip
    assert emitted[:2] == [(0, [1, 0, 2]), (1, [2])]


def test_case_23_rows_that_accept_differently_go_on_as_alone():
    """With a GPT's cache: rounds in which the rows accept 0 to K tokens, all texts as alone."""
    target = draft = random_gpt(4, 40, seed=4)
    requests = [Request([n], n, 20) for n in range(4)]
    settings = {"method": "sd", "lookahead": 3, "draft_temperature": 3.0}
    decoded = decode(target, draft, requests, randomness=seeded, **settings)
    together = zip(*(decoded[n].rounds for n in range(4)), strict=False)
    assert any(len({record.accepted for record in round}) >= 3 for round in together)
    for request in requests:
        assert same(decoded[request.sequence], alone(target, draft, request, **settings))


def with_nan(after, text=(0,)):
    """Logits of NaN for texts that begin with `text`, `after` tokens behind it."""

    def logits(context):
        bad = tuple(context[: len(text)]) == text and len(context) > after
        return [math.nan, 0.0] if bad else [0.0, 0.3 * len(context)]

    return FunctionModel(2, logits)


@pytest.mark.parametrize("whose", ["target", "draft"])
@pytest.mark.parametrize("method", ["sd", "ssd"])
def test_case_24_a_row_that_is_no_law_ends_its_text_alone(whose, method):
    """The others are as they are alone, and so is the error of the one."""
    good = with_nan(3, (9,))
    models = (with_nan(3), good) if whose == "target" else (good, with_nan(3))
    requests = [Request([0], 0, 12), Request([1], 1, 12)]
    settings = {"method": method, "lookahead": 2}
    if method == "ssd":
        settings["fan_out"] = [1, 1, 1]
    decoded = decode(*models, requests, randomness=seeded, **settings)
    assert same(decoded[1], alone(*models, requests[1], **settings))
    assert list(decoded.errors) == [0] and list(decoded.texts) == [1]
    with pytest.raises(LogitsError) as expected:
        alone(*models, requests[0], **settings)
    with pytest.raises(LogitsError) as got:
        decoded[0]
    assert str(got.value) == str(expected.value)


def test_case_24_a_gpts_cache_of_nan_stays_with_its_text():
    target, draft = random_gpt(seed=1), random_gpt(seed=2)
    settings = {"method": "ssd", "lookahead": 2, "fan_out": [2, 2, 2]}
    requests = [Request([n], n, 12) for n in range(3)]
    batch = LockStep(target, draft, Settings(**settings), seeded)
    for request in requests:
        batch.join(request)
    batch.step()
    batch.rows[1].verifier.session.session.cache.fill_(math.nan)
    while batch.busy:
        batch.step()
    decoded = batch.decoded()
    assert list(decoded.errors) == [1] and isinstance(decoded.errors[1], LogitsError)
    for n in (0, 2):
        assert same(decoded[n], alone(target, draft, requests[n], **settings))


def test_case_26_one_text_at_the_context_limit():
    """Limit 8, prompt 6, K = 5: 2 tokens; its neighbours go on; a full one has nothing to do."""
    target = from_map({0: 1, 1: 2, 2: 0}, context_limit=8)
    requests = [Request([0] * 6, 0, 10), Request([0], 1, 5), Request([0] * 8, 2, 10)]
    decoded = decode(target, target, requests, randomness=seeded, method="sd", lookahead=5)
    assert {s: (t.tokens, t.finish_reason) for s, t in decoded.texts.items()} == {
        0: ([1, 2], "context"),
        1: ([1, 2, 0, 1, 2], "length"),
        2: ([], "context"),
    }


@pytest.mark.parametrize("method", ["sd", "ssd"])
def test_case_32_an_error_of_the_draft_ends_one_text(method):
    """Its third call for text 0 fails; what was decoded before was shown."""

    def broken(context):
        if context[0] == 0 and len(context) > 4:
            raise OSError("the draft is gone")
        return [0.0, 1.0]

    shown = {0: [], 1: []}
    settings = {"method": method, "lookahead": 1}
    if method == "ssd":
        settings["fan_out"] = [1, 1]
    models, requests = (EVEN, FunctionModel(2, broken)), [Request([0], 0, 12), Request([1], 1, 12)]
    decoded = decode(
        *models, requests, randomness=seeded,
        on_round=lambda sequence, tokens, _: shown[sequence].extend(tokens), **settings,
    )  # fmt: skip
    assert same(decoded[1], alone(*models, requests[1], **settings))
    assert shown[1] == decoded[1].tokens and 0 < len(shown[0]) < 12
    with pytest.raises(OSError, match="the draft is gone"):
        decoded[0]


@pytest.mark.parametrize("method", ["sd", "ssd"])
def test_case_34_lookahead_0_is_autoregressive(method):
    target, draft = random_gpt(seed=1), random_gpt(seed=2)
    requests = [Request([n], n, 5 + n) for n in range(3)]
    extra = {"fan_out": [2]} if method == "ssd" else {}
    decoded = decode(
        target, draft, requests, randomness=seeded, method=method, lookahead=0, **extra
    )
    for request in requests:
        ar = alone(target, draft, request, method="ar")
        assert decoded[request.sequence].tokens == ar.tokens


def test_case_34_lookahead_may_change_between_rounds():
    """3, 0, 3 with draft = target: the third round accepts 3 of 3 for both texts."""
    model = random_gpt(seed=1)
    batch = LockStep(model, model, Settings(method="sd", lookahead=3), seeded)
    for n in range(2):
        batch.join(Request([n], n, 20))
    for following in (0, 3, 3):
        batch.come_and_go()
        for row in batch.rows:
            row.drafter.lookahead = following  # of the speculation that begins in this round's end
        batch.step()
    for row in batch.rows:
        assert [r.drafted for r in row.transcript.rounds] == [3, 0, 3]
        assert [r.accepted for r in row.transcript.rounds] == [3, 0, 3]
