"""Rows from which no token can be drawn: named where they are needed, harmless elsewhere."""

import numpy as np
import pytest

from helpers import (
    CYCLE,
    METHODS,
    SPECULATIVE,
    SSD,
    FunctionModel,
    decode,
    from_map,
    law,
    random_table,
    seeded,
)
from oracles import assert_laws_equal, target_law
from ssd_ref import (
    LogitsError,
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


def broken_at(model, where, row):
    """`model`, but with `row` after the contexts for which `where(context)` holds."""

    def logits(context):
        return row if where(context) else model.logits_after(context)

    return FunctionModel(model.vocabulary, logits, model.context_limit)


BAD_ROWS = [
    ([0, NAN, 1], "nan for token 1"),
    ([0, 1, INF], "inf for token 2"),
    ([-INF] * 3, "-inf for every token"),
]


@pytest.mark.parametrize(("row", "fault"), BAD_ROWS)
@pytest.mark.parametrize("length", [2, 3, 5])
@pytest.mark.parametrize("method", METHODS)
def test_a_bad_row_of_the_target_is_named_with_its_place(method, length, row, fault):
    target, draft = random_pair(11)
    bad = broken_at(target, lambda context: len(context) == length, row)
    shown = []
    message = (
        f"^target's logits after {length} tokens: expected finite numbers or -inf, got {fault}$"
    )
    with pytest.raises(LogitsError, match=message):
        decode(
            method,
            bad,
            draft,
            [0, 1],
            lookahead=2,
            max_new_tokens=9,
            randomness=seeded(),
            on_round=lambda tokens, record: shown.extend(tokens),
        )
    assert len(shown) <= length - 2  # what was shown stands


@pytest.mark.parametrize(("row", "fault"), BAD_ROWS)
@pytest.mark.parametrize("method", SPECULATIVE)
def test_a_bad_row_of_the_draft_is_named_with_its_place(method, row, fault):
    target, draft = random_pair(12)
    bad = broken_at(draft, lambda context: len(context) == 3, row)
    message = f"^draft's logits after 3 tokens: expected finite numbers or -inf, got {fault}$"
    with pytest.raises(LogitsError, match=message):
        decode(method, target, bad, [0, 1], lookahead=2, max_new_tokens=9, randomness=seeded())


@pytest.mark.parametrize("row", [row for row, _ in BAD_ROWS])
@pytest.mark.parametrize("method", METHODS)
def test_a_bad_row_of_the_target_behind_a_rejected_token_is_harmless(method, row):
    """The block reads it, nobody draws from it: the text is the one without the fault."""
    target, wrong = from_map(CYCLE), from_map({0: 2, 1: 0, 2: 1})
    bad = broken_at(target, lambda context: tuple(context[-2:]) == (0, 2), row)
    settings = {"lookahead": 2, "max_new_tokens": 7, "randomness": seeded()}
    done = decode(method, bad, wrong, **settings)
    assert done.tokens == [1, 2, 0, 1, 2, 0, 1]


@pytest.mark.parametrize("row", [row for row, _ in BAD_ROWS])
def test_a_bad_row_in_an_unused_cache_entry_is_harmless(row):
    """Full fan-out prepares for the texts 0 1 and 0 2; only 0 1 can happen."""
    target, draft = from_map(CYCLE), TableModel(np.full((3, 3), 1 / 3))
    bad = broken_at(draft, lambda context: tuple(context[:2]) == (0, 2), row)
    for seed in range(20):
        settings = {"lookahead": 1, "max_new_tokens": 7, "randomness": seeded(seed)}
        done = ssd(target, bad, [0], fan_out=[3, 3], **settings)
        assert done == ssd(target, draft, [0], fan_out=[3, 3], **settings)
        assert done.tokens == [1, 2, 0, 1, 2, 0, 1]


def test_a_bad_row_in_the_entry_that_is_used_is_raised_then():
    target, draft = from_map(CYCLE), TableModel(np.full((3, 3), 1 / 3))
    bad = broken_at(draft, lambda context: tuple(context) == (0, 1, 2), [NAN] * 3)
    shown = []
    wrong_first = ScriptedRandomness(lambda site: 0.0)  # d_1 = 0 is rejected, then 1 is the bonus
    with pytest.raises(LogitsError, match=r"draft's logits after 3 tokens: .* got nan for token 0"):
        ssd(
            target,
            bad,
            [0],
            lookahead=1,
            max_new_tokens=7,
            fan_out=[3, 3],
            randomness=wrong_first,
            on_round=lambda tokens, record: shown.append((list(tokens), record.served_by)),
        )
    assert shown == [([1], "first"), ([2], "cache")]


@pytest.mark.parametrize("row", [row for row, _ in BAD_ROWS])
def test_a_bad_row_after_the_last_drafted_token_only_leaves_that_k_without_entries(row):
    """Draft = target = 0 1 2 0 .., K = 2: SD never reads the draft after d_2 in the first round."""
    model = from_map(CYCLE)
    bad = broken_at(model, lambda context: len(context) == 3, row)
    settings = {"lookahead": 2, "max_new_tokens": 4, "randomness": seeded()}
    sd = speculative(model, bad, [0], **settings)
    done = ssd(model, bad, [0], fan_out=[3] * 3, **settings)
    assert sd.tokens == done.tokens == [1, 2, 0, 1]
    assert [(r.served_by, r.rank) for r in done.rounds] == [("first", None), ("backup", None)]


@pytest.mark.parametrize("fan_out", [[3, 3, 3], [1, 1, 1], [0, 2, 0]])
@pytest.mark.parametrize("order", [1, 2])
def test_ssd_fails_where_sd_fails_and_nowhere_else(order, fan_out):
    """Bad rows strewn over the draft: the same text, or the same error, for every seed."""
    texts = errors = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        target, draft = random_pair(seed, order=order)
        place = tuple(rng.integers(0, 3, size=2))
        row = BAD_ROWS[seed % 3][0]
        bad = broken_at(draft, lambda c, place=place: tuple(c[-len(place) :]) == place, row)
        settings = {"lookahead": 2, "max_new_tokens": 7, "randomness": seeded(seed)}

        def attempt(decoder, bad=bad, target=target, settings=settings, **more):
            try:
                return decoder(target, bad, [0], **settings, **more).tokens
            except LogitsError as error:
                return str(error)

        expected = attempt(speculative)
        assert attempt(ssd, fan_out=fan_out) == expected, seed
        texts, errors = texts + isinstance(expected, list), errors + isinstance(expected, str)
    assert texts >= 10 and errors >= 10


@pytest.mark.parametrize("method", SSD)
def test_a_row_without_mass_is_no_matter_where_it_is_not_needed(method):
    """After the last token that fits, nobody needs a row of the draft."""
    target, draft = random_pair(13)
    bad = broken_at(draft, lambda context: len(context) >= 5, [-INF] * 3)
    settings = {"lookahead": 2, "max_new_tokens": 4, "randomness": seeded()}
    assert decode(method, target, bad, **settings).tokens == (
        decode(method, target, draft, **settings).tokens
    )


@pytest.mark.parametrize("method", SPECULATIVE)
def test_tiny_probabilities_do_not_overflow(method):
    """p / q with q = 1e-320, drawn at u = 0; and the same the other way round."""
    tiny, fair = TableModel([1e-320, 1.0]), FAIR
    for target, draft, tokens in ((fair, tiny, [0]), (tiny, fair, [0])):
        source = ScriptedRandomness(lambda site: 0.0)
        done = decode(method, target, draft, lookahead=1, max_new_tokens=1, randomness=source)
        assert done.tokens == tokens
        found = law(method, target, draft, lookahead=1, max_new_tokens=1)
        assert_laws_equal(found, target_law(target, [0], 1))


class Misshapen(TableModel):
    """A model that gives rows of another shape than it should."""

    def __init__(self, change):
        super().__init__([0.5, 0.5])
        self.change = change

    def start(self, tokens):
        session = super().start(tokens)
        extend, change = session.extend, self.change
        session.extend = lambda tokens: change(extend(tokens))
        return session


@pytest.mark.parametrize(
    "change",
    [lambda z: np.vstack([z, z]), lambda z: z[:, :1], lambda z: z.ravel(), lambda z: z[:0]],
)
def test_rows_of_another_shape_are_refused(change):
    """They broadcast, or give another law without a word."""
    good, bad = TableModel([0.5, 0.5]), Misshapen(change)
    common = {"max_new_tokens": 3, "randomness": SeededRandomness(0)}
    for call in (
        lambda: autoregressive(bad, [0], **common),
        lambda: speculative(bad, good, [0], lookahead=1, **common),
        lambda: speculative(good, bad, [0], lookahead=1, **common),
        lambda: ssd(good, bad, [0], lookahead=0, fan_out=[1], **common),
    ):
        with pytest.raises(ValueError, match=r"expected logits of shape \(\d, 2\), got \("):
            call()
