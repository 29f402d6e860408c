"""What is refused, with which words and when: before any model is called."""

import re

import numpy as np
import pytest
from batch_helpers import seeded

from helpers import CYCLE, from_map, random_gpt
from ssd_ref import SeededRandomness, TableModel
from ssd_ref.batched import LockStep, Request, Settings, decode
from ssd_ref.exact_law import ReplayError
from ssd_ref.models import ContextModel

CYCLIC = from_map(CYCLE)
ONE = Request([0], 0, 4)


class Untouched(ContextModel):
    """A model that may not be asked anything."""

    def start(self, tokens):
        raise AssertionError("a model was started")

    def logits_after(self, context):
        raise AssertionError("a model was called")


FRESH = Untouched(3, context_limit=9)
SSD = {"method": "ssd", "lookahead": 1, "fan_out": [1, 1]}

REFUSED = [
    ({"method": "beam"}, [ONE], "method: expected one of ['ar', 'sd', 'ssd'], got 'beam'"),
    ({"method": "sd"}, [ONE], "lookahead: sd needs it, got None"),
    ({"method": "ssd", "lookahead": 1}, [ONE], "fan_out: ssd needs it, got None"),
    ({"method": "ar", "lookahead": 1}, [ONE], "lookahead: ar has no use for it, got 1"),
    ({"method": "sd", "lookahead": 1, "saguaro_c": 0.5}, [ONE], "saguaro_c: sd has no use for it"),
    ({"method": "sd", "lookahead": 1, "backup": "uniform"}, [ONE], "backup: sd has no use for it"),
    ({"method": "sd", "lookahead": -1}, [ONE], "lookahead: expected an integer >= 0, got -1"),
    ({**SSD, "fan_out": [1]}, [ONE], "fan_out: expected lookahead + 1 = 2 numbers, got 1: [1]"),
    ({**SSD, "fan_out_miss": [1, -1]}, [ONE], "fan_out_miss[1]: expected an integer >= 0, got -1"),
    ({**SSD, "saguaro_c": 1.5}, [ONE], "saguaro_c: expected a number in [0, 1], got 1.5"),
    ({**SSD, "backup": "none"}, [ONE], "backup: expected one of ('draft', 'uniform') or"),
    ({**SSD, "backup": "uniform", "backup_for": str}, [ONE], "backup: backup_for chooses it"),
    ({**SSD, "backup_for": "draft"}, [ONE], "backup_for: expected a function or None, got 'draft'"),
    ({**SSD, "predict": 3}, [ONE], "predict: expected a function or None, got 3"),
    ({"method": "sd", "lookahead": 1, "fan_out": np.ones(2, int)}, [ONE], "fan_out: sd has no use"),
    ({**SSD, "top_p": 0.0}, [ONE], "top_p: expected a number in (0, 1]"),
    ({**SSD, "draft_temperature": -1.0}, [ONE], "temperature: expected a finite number >= 0"),
    (SSD, [ONE, Request([0], 0, 2)], "sequence: expected numbers that differ, got 0 twice"),
    (SSD, [ONE, Request([3], 1, 2)], "prompt[0]: expected an integer in [0, 3), got 3"),
    (SSD, [ONE, Request([0], 1, -1)], "max_new_tokens: expected an integer >= 0, got -1"),
    (SSD, [ONE, Request([0], 1, 2, -0.5)], "temperature: expected a finite number >= 0, got -0.5"),
    (SSD, [ONE, Request([0] * 10, 1, 2)], "prompt: expected at most 9 tokens"),
    ({**SSD, "eos": 3}, [ONE], "eos[0]: expected an integer in [0, 3), got 3"),
    (SSD, [Request([0], -1, 2)], "sequence: expected an integer in [0, 2**64), got -1"),
    ({**SSD, "joins": {2: [ONE]}}, [ONE], "sequence: expected numbers that differ, got 0 twice"),
    ({**SSD, "joins": {0: [ONE]}}, [], "round: expected an integer >= 1, got 0"),
    ({**SSD, "cancels": {1: [5]}}, [ONE], "cancel: no text has the sequence number 5"),
]  # fmt: skip


@pytest.mark.parametrize(("settings", "requests", "message"), REFUSED)
def test_refused_before_any_model_is_called(settings, requests, message):
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        decode(FRESH, FRESH, requests, randomness=seeded, **settings)


def test_models_that_do_not_fit():
    with pytest.raises(ValueError, match="draft: sd needs one, got None"):
        decode(FRESH, None, [ONE], randomness=seeded, method="sd", lookahead=1)
    with pytest.raises(ValueError, match="got 3 and 2 tokens"):
        decode(FRESH, TableModel([0.5, 0.5]), [ONE], randomness=seeded, method="sd", lookahead=1)


def test_one_stream_of_draws_for_all_is_refused():
    with pytest.raises(ValueError, match=r"randomness\(1\): expected its sequence, got that of 0"):
        decode(
            FRESH, FRESH, [ONE, Request([0], 1, 2)], method="ar",
            randomness=lambda sequence: SeededRandomness(0),
        )  # fmt: skip


def test_an_empty_batch_has_no_texts_and_calls_no_model():
    decoded = decode(FRESH, FRESH, [], randomness=seeded, **SSD)
    assert (decoded.texts, decoded.errors, decoded.rounds) == ({}, {}, [])


def test_nothing_to_decode_calls_no_model():
    requests = [Request([0], 0, 0), Request([0] * 9, 1, 5)]
    decoded = decode(FRESH, FRESH, requests, randomness=seeded, **SSD)
    assert [(decoded[s].tokens, decoded[s].finish_reason) for s in (0, 1)] == [
        ([], "length"), ([], "context"),
    ]  # fmt: skip


def test_a_number_is_not_free_again_when_its_text_has_ended():
    batch = LockStep(CYCLIC, None, Settings(method="ar"), seeded)
    batch.join(Request([0], 7, 1))
    batch.step()
    assert not batch.busy
    with pytest.raises(ValueError, match="got 7 twice"):
        batch.join(Request([0], 7, 1))


def test_a_text_that_has_ended_cannot_be_cancelled_and_one_to_come_can():
    later = Request([0], 1, 4)
    decoded = decode(
        CYCLIC, None, [ONE], joins={3: [later]}, cancels={2: [1], 9: [0]}, randomness=seeded,
        method="ar",
    )  # fmt: skip
    assert (decoded[0].tokens, decoded[0].finish_reason) == ([1, 2, 0, 1], "length")
    assert (decoded[1].tokens, decoded[1].finish_reason) == ([], "cancelled")


def test_who_is_due_much_later_joins_when_all_others_have_ended():
    decoded = decode(
        CYCLIC, None, [ONE], joins={50: [Request([1], 1, 2)]}, randomness=seeded, method="ar"
    )
    assert decoded[1].tokens == [2, 0]
    assert [r.round for r in decoded.rounds] == [1, 2, 3, 4, 50, 51]  # nobody is in between


def test_what_is_due_while_nobody_is_in_happens_in_order():
    """Text 1 is cancelled before it would join, 2 while it is in; 3 joins one round after 2."""
    later = {50: [Request([1], 1, 9), Request([1], 2, 9)], 51: [Request([2], 3, 2)]}
    decoded = decode(
        CYCLIC, None, [ONE], joins=later, cancels={10: [1], 53: [2]}, randomness=seeded, method="ar"
    )
    assert [(r.round, r.sequences) for r in decoded.rounds[4:]] == [
        (50, (2,)), (51, (2, 3)), (52, (2, 3)),
    ]  # fmt: skip
    ends = {s: (text.tokens, text.finish_reason) for s, text in decoded.texts.items()}
    assert ends == {
        0: ([1, 2, 0, 1], "length"), 1: ([], "cancelled"), 2: ([2, 0, 1], "cancelled"),
        3: ([0, 1], "length"),
    }  # fmt: skip


def test_of_two_cancellations_the_earlier_counts():
    for rounds in ((2, 3), (3, 2)):
        decoded = decode(
            CYCLIC, None, [ONE], cancels={r: [0] for r in rounds}, randomness=seeded, method="ar"
        )
        assert decoded[0].tokens == [1]


def test_an_error_that_is_not_a_models_is_raised():
    """Of the callback, of a policy, or of the random source: it is no single text's fault."""

    def stop(sequence, tokens, record):
        raise InterruptedError("enough")

    with pytest.raises(InterruptedError, match="enough"):
        decode(CYCLIC, None, [ONE], randomness=seeded, method="ar", on_round=stop)
    with pytest.raises(ValueError, match=r"^backup: expected one of .*got 'guess'"):
        decode(
            CYCLIC, CYCLIC, [ONE], randomness=seeded, **{**SSD, "fan_out": [0, 0]},
            backup_for=lambda b: "guess",
        )  # fmt: skip
    with pytest.raises(ValueError, match="backup: expected a law of 3 tokens"):
        decode(
            CYCLIC, CYCLIC, [ONE], randomness=seeded, **{**SSD, "fan_out": [0, 0]},
            backup=lambda text: [0.5, 0.5],
        )  # fmt: skip

    class Broken(SeededRandomness):
        def choose(self, law, site):
            raise ReplayError("no such site")

    with pytest.raises(ReplayError):
        decode(CYCLIC, None, [ONE], randomness=lambda s: Broken(0, s), method="ar")


def test_after_an_error_that_it_raised_a_batch_does_not_go_on():
    """Some texts have been told their outcome, others have not: another step would repeat a round.

    What has ended before is there.
    """

    def stop(sequence, tokens, record):
        if record.round == 2:
            raise InterruptedError("enough")

    batch = LockStep(CYCLIC, None, Settings(method="ar"), seeded, stop)
    for request in (Request([1], 1, 1), ONE, Request([2], 2, 3)):
        batch.join(request)
    batch.step()
    with pytest.raises(InterruptedError, match="enough"):
        batch.step()
    with pytest.raises(RuntimeError, match="the one before has not ended"):
        batch.step()
    assert {s: text.tokens for s, text in batch.decoded().texts.items()} == {1: [2]}


def test_a_callback_may_cancel_and_let_join_but_not_step():
    def on_round(sequence, tokens, record):
        if (sequence, record.round) == (0, 2):
            batch.cancel(1)
            batch.join(Request([2], 9, 1))
        if sequence == 9:
            batch.step()

    batch = LockStep(CYCLIC, None, Settings(method="ar"), seeded, on_round)
    for request in (ONE, Request([1], 1, 4)):
        batch.join(request)
    for _ in range(2):
        batch.step()
    with pytest.raises(RuntimeError, match="the one before has not ended"):
        batch.step()
    assert batch.decoded()[1].tokens == [2, 0]
    assert batch.rounds[-1].sequences == (0, 9)


def test_a_text_whose_draft_cannot_begin_leaves_no_memory():
    target, draft = random_gpt(3, seed=1), random_gpt(3, seed=2)

    def gone():
        raise OSError("no draft")

    batch = LockStep(target, draft, Settings(method="sd", lookahead=1), seeded)
    for sequence in (0, 1):
        batch.join(Request([sequence], sequence, 9))
    batch.draft.open, opened = lambda tokens: gone(), batch.draft.open
    batch.admit(0, batch.arrivals.pop(0))
    batch.draft.open = opened
    batch.step()
    assert [type(error) for error in batch.errors.values()] == [OSError]
    assert [row.sequence for row in batch.rows] == [1]
    assert (len(batch.target.seats), len(batch.draft.seats)) == (1, 1)


def test_an_error_of_the_common_forward_is_raised():
    """It cannot be told whose it is."""
    target = random_gpt(3)

    def fail(*_):
        raise MemoryError("no room")

    target.logits = fail
    with pytest.raises(MemoryError, match="no room"):
        decode(target, None, [ONE], randomness=seeded, method="ar")


def test_prompts_of_very_different_lengths():
    target = random_gpt(5, 200, seed=1)
    requests = [Request([], 0, 3), Request([1] * 190, 1, 3), Request([2, 3], 2, 3)]
    decoded = decode(target, target, requests, randomness=seeded, method="sd", lookahead=2)
    assert [len(decoded[n].tokens) for n in range(3)] == [3, 3, 3]


def test_a_draft_whose_context_ends_before_the_targets():
    """Its text goes on without drafts, beside one that has them."""
    target, draft = random_gpt(5, 40, seed=1), random_gpt(5, 10, seed=2)
    requests = [Request([1] * 20, 0, 4), Request([2], 1, 4)]
    for settings in ({"method": "sd", "lookahead": 2}, {**SSD, "fan_out": [2, 2]}):
        decoded = decode(target, draft, requests, randomness=seeded, **settings)
        assert [r.drafted for r in decoded[0].rounds] == [0] * 4
        assert decoded[1].rounds[0].drafted > 0
