"""One forward serves all texts: what is read when, by whom, and in how much memory."""

import numpy as np
import pytest
import torch
from batch_helpers import alone, seeded
from hypothesis import given
from hypothesis import strategies as st

from helpers import CYCLE, FunctionModel, from_map, random_gpt
from ssd_ref import TableModel
from ssd_ref.batched import LockStep, Memory, Request, Settings, decode
from ssd_ref.batched.ragged import batched
from ssd_ref.batched.reading import BatchedModel, NotRepeatable
from ssd_ref.verification import acceptance

HITS = {"method": "ssd", "lookahead": 2, "fan_out": [7, 7, 7]}  # after round 1 always a hit
MISSES = {**HITS, "fan_out": [0, 0, 0]}


class Watched:
    """A GPT that notes, of each forward, how many new tokens it was given."""

    def __init__(self, name, log, seed):
        self.model = random_gpt(seed=seed)
        logits = self.model.logits

        def noted(ids, turn, attends):
            log.append((name, ids.shape[1]))
            return logits(ids, turn, attends)

        self.model.logits = noted


def log_of(requests, **settings):
    """Every forward of a run: (whose, new tokens of all texts together)."""
    log = []
    target, draft = (Watched(name, log, 1).model for name in ("target", "draft"))
    return log, decode(target, draft, requests, randomness=seeded, **settings)


TWO = [Request([1, 2, 3], 0, 6), Request([4], 1, 6)]  # draft = target: all accepted, two rounds


def test_the_whole_log_of_sd():
    """Prompts (2 and 0 tokens before the last) are read with the first step."""
    log, _ = log_of(TWO, method="sd", lookahead=2)
    first = [("draft", 2 + 2), ("draft", 2), ("target", 2 + 2 * 3)]
    second = [("draft", 2 * 2), ("draft", 2), ("target", 2 * 3)]  # d_2 is read with the bonus
    assert log == first + second


def test_the_whole_log_of_ssd_when_all_hit():
    """Glue on [last, d_1, d_2], then a tree step for each token of the entries: 1 + K forwards.

    In round 1 there are 6 + 6 + 7 guesses a text, each followed by 2 tokens. In round 2, which
    starts with 3 tokens left, 6 are followed by 2 tokens, 6 by 1, and after k = 2 the text ends.
    """
    log, decoded = log_of(TWO, **HITS)
    waiting = [("draft", 2 + 2), ("draft", 2)]
    preparing = [("draft", 2 * 3), ("draft", 2 * 19), ("draft", 2 * 19)]
    first = [*waiting, *preparing, ("target", 2 + 2 * 3)]
    assert log[: len(first)] == first
    preparing = [("draft", 2 * 3), ("draft", 2 * 12), ("draft", 2 * 6)]
    assert log[len(first) :] == [*preparing, ("target", 2 * 3)]
    assert [r.served_by for r in decoded.rounds] == [("first", "first"), ("cache", "cache")]


@pytest.mark.parametrize("b", [1, 2, 5])
@pytest.mark.parametrize(
    ("settings", "waited", "prepared"),
    [(HITS, 0, 3), (MISSES, 2, 1), ({**MISSES, "backup": "uniform"}, 0, 1)],
)
def test_forwards_of_a_round_do_not_depend_on_the_batch(b, settings, waited, prepared):
    """K = 2: all hit 1 + K draft forwards, all miss K + 1 (an empty cache takes no tree step)."""
    target, draft = random_gpt(seed=1), random_gpt(seed=2)
    batch = LockStep(target, draft, Settings(**settings), seeded)
    for sequence in range(b):
        batch.join(Request([sequence], sequence, 12))
    while batch.busy:
        before = batch.target.forwards, batch.draft.forwards
        batch.step()
        round = batch.rounds[-1]
        assert batch.target.forwards - before[0] == 1
        assert batch.draft.forwards - before[1] == round.waited + round.prepared
    assert batch.rounds[0].size == b
    for round in batch.rounds[1:3]:
        assert (round.waited, round.prepared, round.stalled) == (waited, prepared, waited > 0)


def test_who_joins_stalls_all():
    """Text 0 always hits, and text 1 joins before round 3."""
    target = from_map(CYCLE)
    settings = {"method": "ssd", "lookahead": 2, "fan_out": [1, 1, 1]}
    one, late = Request([0], 0, 15), Request([0], 1, 3)
    decoded = decode(target, target, [one], joins={3: [late]}, randomness=seeded, **settings)
    assert [(r.served_by, r.waited) for r in decoded.rounds] == [
        (("first",), 2),
        (("cache",), 0),
        (("cache", "first"), 2),
        (("cache",), 0),
        (("cache",), 0),
    ]


def test_one_miss_stalls_all():
    """The draft is right about texts that begin with 0, and wrong about the other."""
    target = FunctionModel(3, lambda context: [0, 9, 0])
    draft = FunctionModel(3, lambda context: [0, 0, 9] if context[0] else [0, 9, 0])
    requests = [Request([first], sequence, 4) for sequence, first in enumerate((0, 0, 1))]
    decoded = decode(
        target, draft, requests, randomness=seeded, method="ssd", lookahead=1, fan_out=[0, 1],
        temperature=0.0,
    )  # fmt: skip
    assert [(r.sequences, r.served_by, r.waited) for r in decoded.rounds] == [
        ((0, 1, 2), ("first", "first", "first"), 1),
        ((0, 1, 2), ("cache", "cache", "backup"), 1),
        ((2,), ("backup",), 1),
        ((2,), ("backup",), 1),
    ]


def test_a_batch_does_not_wait_as_often_as_all_of_its_texts_hit():
    """Outcomes that do not depend on the text: h^b of Cor. 16, within 4 standard errors."""
    p, q, b, rounds = np.array([0.5, 0.3, 0.2]), np.array([0.3, 0.6, 0.1]), 2, 300
    h = 0.0
    for token, chance in enumerate(q):  # K = 1, one guess at each k: the draft's first choice
        keep, residual = acceptance(p, q, token)
        h += chance * (keep * p[1] + (1 - keep) * residual[0 if token == 1 else 1])
    batch = LockStep(
        TableModel(p), TableModel(q), Settings(method="ssd", lookahead=1, fan_out=[1, 1]), seeded
    )
    for sequence in range(b):
        batch.join(Request([0], sequence, 2 * rounds + 2))
    for _ in range(rounds + 1):
        batch.step()
    later = batch.rounds[1:]
    for expected, seen in (
        (h, [by == "cache" for round in later for by in round.served_by]),
        (h**b, [not round.stalled for round in later]),
    ):
        error = (expected * (1 - expected) / len(seen)) ** 0.5
        assert abs(np.mean(seen) - expected) < 4 * error


def test_the_policy_is_asked_for_the_texts_that_go_on():
    """Three texts of 1, 2 and 3 rounds: after round 1 two of them wait for a backup."""
    asked = []

    def policy(b):
        asked.append(b)
        return "uniform"

    requests = [Request([0], n, n + 1) for n in range(3)]
    target = FunctionModel(2, lambda context: [0, 1])
    decode(
        target, target, requests, joins={3: [Request([0], 9, 1)]}, randomness=seeded,
        method="ssd", lookahead=0, fan_out=[0], backup_for=policy,
    )  # fmt: skip
    assert asked == [2, 1]


def test_what_the_caller_gave_is_called_as_often_as_alone():
    """Actions are started twice, up to their read: predictor and backup come behind it."""
    target, draft = (random_gpt(seed=seed) for seed in (1, 2))
    calls = []

    def predict(logits, speculation):
        calls.append((speculation.sites[0].sequence, "predict", speculation.tokens))
        return [(0, int(logits[0].argmax()))]

    def backup(text):
        calls.append((text[0], "backup", len(text)))
        return [1 / 7] * 7

    settings = {"method": "ssd", "lookahead": 2, "fan_out": [0] * 3}
    settings |= {"predict": predict, "backup": backup}
    requests = [Request([n], n, 9) for n in range(3)]
    decode(target, draft, requests, randomness=seeded, **settings)
    together, calls = calls, []
    for request in requests:
        alone(target, draft, request, **settings)
    assert sorted(together, key=lambda call: call[0]) == calls
    assert {what for _, what, _ in calls} == {"predict", "backup"}


def test_memory_of_the_caches():
    """A text's cache is allocated for the whole context, and used as far as it is read."""
    target, draft = random_gpt(7, 24, seed=1), random_gpt(7, 24, seed=2)
    decoded = decode(
        target, draft, [Request([1, 2, 3], 0, 1), Request([4], 1, 1)],
        randomness=seeded, method="sd", lookahead=2,
    )  # fmt: skip
    a_position = 2 * 2 * 16 * 8  # keys and values, layers, width, bytes of a double
    assert decoded.target_memory == Memory(2 * 24 * a_position, 2 + 0 + 2 * 2)  # [last, d_1]
    assert decoded.draft_memory == Memory(2 * 24 * a_position, 2 + 0 + 2)
    assert decoded.reserved == 2 + 0 + 2 * 3  # lookahead + 1 each, whatever is drafted
    tables = decode(
        TableModel([1.0, 0.0]), None, [Request([0], 0, 3)], method="ar", randomness=seeded
    )
    assert tables.target_memory == Memory(0, 0)


def test_who_leaves_leaves_no_memory():
    batch = LockStep(random_gpt(seed=1), random_gpt(seed=2), Settings(**HITS), seeded)
    for sequence, tokens in enumerate((3, 9)):
        batch.join(Request([1], sequence, tokens))
    held = []
    while batch.busy:
        batch.step()
        read = sum(row.verifier.session.length for row in batch.rows)
        assert batch.target.memory()[1] == read  # what was rejected takes no room
        held.append((batch.target.memory()[0], len(batch.draft.seats)))
    assert held[-1] == (0, 0)
    assert {seats for _, seats in held} == {0, 1, 2}


V, LIMIT = 5, 20
PLAIN = random_gpt(V, LIMIT, seed=1)
token = st.integers(0, V - 1)


def expected(tokens):
    return PLAIN(torch.tensor([tokens]))[0].detach().numpy()


def read(model, seats, calls):
    """The rows of several calls, read together."""
    done, failed = model.together(dict(zip(range(len(calls)), calls, strict=True)))
    assert not failed
    return [done[i] for i in range(len(calls))]


@given(data=st.data())
def test_any_moves_of_texts_read_together(data):
    """Blocks, rewinds and branches of up to 3 texts in one forward give each text's own rows."""
    model = batched(PLAIN)
    texts = [data.draw(st.lists(token, max_size=5)) for _ in range(data.draw(st.integers(1, 3)))]
    seats = [model.start(text) for text in texts]
    for _ in range(data.draw(st.integers(1, 3))):
        calls, wanted = [], []
        for text, seat in zip(texts, seats, strict=True):
            kept = data.draw(st.integers(0, len(text)))
            seat.rewind(kept)
            del text[kept:]
            if data.draw(st.booleans()) and text:
                at, new = data.draw(st.integers(1, len(text))), data.draw(token)
                branches = seat.branch([at, len(text)])
                calls.append(lambda b=branches, new=new: b.extend([0, 1], [new, new]))
                wanted.append([expected([*text[:at], new])[-1], expected([*text, new])[-1]])
            else:
                new = data.draw(st.lists(token, min_size=1, max_size=3))
                text += new
                calls.append(lambda s=seat, new=new: s.extend(new))
                wanted.append(expected(text)[-len(new) :])
        for rows, want in zip(read(model, seats, calls), wanted, strict=True):
            np.testing.assert_allclose(rows, want, atol=1e-9)


def test_reading_nothing_gives_no_rows():
    for model in (batched(PLAIN), batched(TableModel([0.5, 0.5]))):
        seat = model.start([0])
        assert read(model, [seat], [lambda s=seat: s.extend([])])[0].shape == (0, model.vocabulary)
        assert read(model, [seat], [lambda s=seat: s.extend([1])])[0].shape == (1, model.vocabulary)


def test_an_action_must_read_once_and_the_same():
    """Else it cannot be started again, and the engine says so instead of giving wrong rows."""
    model = BatchedModel(TableModel([0.5, 0.5]))
    seat = model.start([0])
    with pytest.raises(NotRepeatable, match="reads twice"):
        model.together({0: lambda: (seat.extend([1]), seat.extend([1]))})
    count = iter(range(2))
    with pytest.raises(NotRepeatable, match="started again"):
        model.together({0: lambda: seat.extend([next(count)])})
