"""Cases about what the actors hold and feed: caches, contexts, bad rows, errors, counters.

Numbered as in tests/CASES.md.
"""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import (
    CYCLE,
    METHODS,
    SPECULATIVE,
    SSD,
    FunctionModel,
    Recording,
    actors,
    decode,
    from_laws,
    from_map,
    law,
    law_of,
    mean_of,
    on_schedule,
    random_gpt,
    random_table,
    seeded,
    speculation_of,
)
from ssd_ref import (
    LogitsError,
    Outcome,
    RoundRecord,
    ScriptedRandomness,
    TableModel,
    autoregressive,
    speculative,
    ssd,
)
from ssd_ref.verification import verify

NAN, INF = float("nan"), float("inf")
one_hot = np.eye(3)


def script_of(**uniforms):
    """The same uniform for every draw of a role."""
    return ScriptedRandomness(lambda site: uniforms[site.role])


def by_position(context):
    """A certain token that depends on the length of the context only."""
    return one_hot[len(context) % 3]


def emitted(tokens, outcome):
    return [*tokens[: outcome.accepted], outcome.bonus]


# Case 4


@pytest.mark.parametrize("method", SPECULATIVE)
def test_case_04_zero_probability_token_at_u_0(method):
    target, draft = TableModel([1, 0]), TableModel([0.5, 0.5])
    source = script_of(draft=0.75, accept=0.0, bonus=0.0)
    done = decode(method, target, draft, lookahead=1, max_new_tokens=1, randomness=source)
    assert done.tokens == [0]
    assert [(r.drafted, r.accepted, r.bonus) for r in done.rounds] == [(1, 0, 0)]


@pytest.mark.parametrize("u", [1 - 2**-24, 1 - 2**-53])
@pytest.mark.parametrize("method", ["sd", "ssd-hits", "ssd-misses"])
def test_case_04_equal_laws_accept_at_the_largest_u(method, u):
    fair = TableModel([0.5, 0.5])
    source = script_of(draft=0.75, accept=u, bonus=0.0)
    done = decode(method, fair, fair, lookahead=1, max_new_tokens=1, randomness=source)
    assert done.tokens == [1]
    assert [(r.drafted, r.accepted, r.bonus) for r in done.rounds] == [(1, 1, None)]


def test_case_04_also_where_no_entry_of_the_residual_is_positive():
    """p = [1, 0], q = [1, 1e-17]: equal up to rounding, but token 1 is excluded by p."""
    p, q = np.array([1.0, 0.0]), [1.0, 1e-17]
    outcome = verify(lambda i: p, speculation_of([1], [q]), script_of(accept=0.0, bonus=0.0), 1)
    assert outcome == Outcome(0, 0)


def test_case_04_rows_that_are_equal_up_to_rounding_accept():
    """The row, and the softmax of its logarithm: no entry of p - q need be positive."""
    rng, seen = np.random.default_rng(4), 0
    for _ in range(200):
        q = rng.dirichlet([1, 1, 1])
        p = np.exp(np.log(q) - np.log(q).max())
        p /= p.sum()
        if (p - q).max() <= 0:
            seen += 1
            for token in range(3):
                source = script_of(accept=1 - 2**-53, bonus=0.0)
                outcome = verify(lambda i, p=p: p, speculation_of([token], [q]), source, 1)
                assert outcome.accepted == 1
    assert seen >= 20


@given(seed=st.integers(0, 10**6), u=st.sampled_from([0.0, 0.5, 1 - 2**-53]))
def test_case_04_no_decoder_emits_a_token_of_probability_0(seed, u):
    rng = np.random.default_rng(seed)
    target, draft = (TableModel(random_table(rng, 3, order=1, zeros=True)) for _ in range(2))
    for method in METHODS:
        source = script_of(draft=u, accept=u, bonus=u)
        done = decode(method, target, draft, lookahead=2, max_new_tokens=5, randomness=source)
        context = [0, *done.tokens]
        assert all(target.table[a, b] > 0 for a, b in pairwise(context))


# Case 7


@pytest.mark.parametrize("method", SSD)
def test_case_07_every_id_fed_to_a_model_is_in_the_vocabulary(method):
    rng = np.random.default_rng(7)
    for seed in range(10):
        target, draft = (Recording(TableModel(random_table(rng, 3, order=1))) for _ in range(2))
        decode(
            method, target, draft, lookahead=3, max_new_tokens=12, eos=1, randomness=seeded(seed)
        )
        for model in (target, draft):
            fed = [t for what, _, ts in model.log if what not in ("rewind", "branch") for t in ts]
            assert set(fed) <= {0, 1, 2}


@pytest.mark.parametrize("model", [TableModel([0.5, 0.5]), random_gpt(2)], ids=["table", "gpt"])
@pytest.mark.parametrize("token", [-1, 2])
def test_case_07_a_placeholder_raises(model, token):
    expected = rf"\[0\]: expected an integer in \[0, 2\), got {token}"
    session = model.start([0])
    with pytest.raises(ValueError, match=expected):
        session.extend([token])
    with pytest.raises(ValueError, match=expected):
        session.branch([1]).extend([0], [token])
    with pytest.raises(ValueError, match=expected):
        model.start([token])


@pytest.mark.parametrize("lookahead", [1, 2])
def test_case_07_a_cache_lives_for_one_round(lookahead):
    """What is served was drafted in the very last preparation, for this outcome."""
    rng = np.random.default_rng(70)
    target, draft = (TableModel(random_table(rng, 3, order=1)) for _ in range(2))
    text, verifier, speculator = actors(
        target, draft, max_new_tokens=40, lookahead=lookahead, fan_out=[1] * (lookahead + 1)
    )
    speculation, hits, misses = speculator.first(), 0, 0
    while True:
        round_ = text.round
        speculator.prepare()
        outcome = verifier.verify(speculation)
        text.close_round(None)
        if text.finish_reason:
            break
        prepared = dict(speculator.cache)
        speculation = speculator.answer(outcome)
        hits += (hit := outcome in prepared)
        misses += not hit
        assert speculation.served_by == ("cache" if hit else "backup")
        assert {site.round for site in speculation.sites} <= {round_ + 1}
        assert all(site.branch == (outcome if hit else None) for site in speculation.sites)
    assert hits and misses


# Case 8: the prompt has 3 tokens, K = 4, and a = 0..4 drafted tokens are accepted.


def accepts(a, prompt=3):
    """Target and draft that agree on the first `a` tokens after the prompt, then never."""
    target = from_laws(3, by_position)
    draft = from_laws(3, lambda context: one_hot[(len(context) + (len(context) >= prompt + a)) % 3])
    return target, draft


@pytest.mark.parametrize("a", range(5))
def test_case_08_rollback_of_target_and_draft(a):
    target, draft = accepts(a)
    text, verifier, drafter = actors(target, draft, [0, 1, 2], lookahead=4)
    speculation = drafter.first()
    assert (verifier.session.length, drafter.session.length) == (2, 6)
    outcome = verifier.verify(speculation)
    drafter.hear(outcome)
    whole = [*text.prompt, *text.tokens]
    assert outcome.accepted == a
    assert verifier.session.length == [3, 4, 5, 6, 7][a]  # K - a were trimmed
    assert drafter.session.length == [3, 4, 5, 6, 6][a]  # max(K - 1 - a, 0) were
    assert verifier.session.tokens == whole[: 3 + a]
    assert drafter.session.tokens == whole[: min(3 + a, 6)]
    assert drafter.text == whole


@pytest.mark.parametrize("a", range(5))
def test_case_08_rollback_of_a_draft_that_filled_a_cache(a):
    """The glue forward reads d_K too, so that the draft is never short."""
    target, draft = accepts(a)
    text, verifier, speculator = actors(target, draft, [0, 1, 2], lookahead=4, fan_out=[2] * 5)
    speculation = speculator.first()
    speculator.prepare()
    assert (verifier.session.length, speculator.session.length) == (2, 7)
    outcome = verifier.verify(speculation)
    speculator.hear(outcome)
    assert verifier.session.length == speculator.session.length == 3 + a
    assert speculator.session.tokens == [*text.prompt, *text.tokens][: 3 + a]


@pytest.mark.parametrize("method", METHODS)
def test_case_08_between_rounds_the_target_lacks_the_last_token_only(method):
    rng = np.random.default_rng(8)
    tables = [TableModel(random_table(rng, 3, order=2)) for _ in range(2)]
    for seed in range(10):
        target, draft = (Recording(table) for table in tables)
        text = [0, 1, 2]

        def check(tokens, record, target=target, draft=draft, text=text):
            text.extend(tokens)
            held = target.sessions[0].session.tokens
            if len(text) < 3 + 15:  # the last round is cut, and nothing follows it
                assert held == text[:-1]

        decode(
            method,
            target,
            draft,
            [0, 1, 2],
            lookahead=4,
            max_new_tokens=15,
            randomness=seeded(seed),
            on_round=check,
        )
        assert len(target.sessions) == 1
        assert len(draft.sessions) == (0 if method == "ar" else 1)


# Case 9


@pytest.mark.parametrize(("lookahead", "rounds"), [(1, 10), (3, 5), (4, 4)])
@pytest.mark.parametrize("method", ["sd", "ssd-hits", "ssd-misses"])
def test_case_09_draft_equal_to_target_is_always_accepted(method, lookahead, rounds):
    model = Recording(from_laws(3, by_position))
    done = decode(method, model, model, lookahead=lookahead, max_new_tokens=20, randomness=seeded())
    assert done.tokens == [length % 3 for length in range(1, 21)]
    assert len(done.rounds) == rounds
    assert all(r.accepted == r.drafted for r in done.rounds)


def test_case_09_the_last_drafted_token_is_read_with_the_next_one():
    """Every call to the draft in two fully accepted rounds with K = 2."""
    draft = Recording(from_map(CYCLE))
    decode("sd", from_map(CYCLE), draft, lookahead=2, max_new_tokens=6, randomness=seeded())
    assert draft.log == [
        ("start", 0, ()),
        ("extend", 0, (0,)),  # -> d_1 = 1
        ("extend", 1, (1,)),  # -> d_2 = 2, not read yet
        ("rewind", 2, (2,)),  # both accepted, bonus 0: nothing to forget
        ("extend", 2, (2, 0)),  # d_2 and the bonus -> d_1 = 1
        ("extend", 4, (1,)),
    ]


@pytest.mark.parametrize("lookahead", [1, 2, 4])
@pytest.mark.parametrize("method", ["sd", "ssd-hits"])
def test_case_09_the_first_draft_is_accepted_alike_for_every_lookahead(method, lookahead):
    target, draft = TableModel([0.6, 0.4]), TableModel([0.5, 0.5])
    settings = {"lookahead": lookahead, "max_new_tokens": 4}

    def first(generation):
        return generation.rounds[0].accepted > 0

    def second(generation):
        """0: nothing drafted, 1: not accepted, 2: accepted."""
        later = generation.rounds[1:]
        return 0 if not later or later[0].drafted == 0 else 1 + (later[0].accepted > 0)

    assert mean_of(first, method, target, draft, **settings) == pytest.approx(0.9, abs=1e-12)
    found = law_of(second, method, target, draft, **settings)
    assert found[2] / (found.get(1, 0.0) + found[2]) == pytest.approx(0.9, abs=1e-12)


# Cases 11 and 12, their counters


@pytest.mark.parametrize("method", ["sd", "ssd-hits", "ssd-misses"])
def test_case_11_the_bonus_after_full_acceptance_is_kept(method):
    model = from_map(CYCLE)
    done = decode(method, model, model, lookahead=1, max_new_tokens=4, randomness=seeded())
    assert [(r.accepted, r.bonus, r.emitted) for r in done.rounds] == [(1, 2, 2), (1, 1, 2)]


@pytest.mark.parametrize("method", ["sd", "ssd-hits", "ssd-misses"])
def test_case_11_token_0_is_no_sentinel(method):
    model = TableModel([[1, 0], [1, 0]])
    done = decode(method, model, model, lookahead=2, max_new_tokens=6, randomness=seeded())
    assert done.tokens == [0] * 6
    assert [(r.accepted, r.bonus) for r in done.rounds] == [(2, 0), (2, 0)]


@pytest.mark.parametrize("method", ["sd", "ssd-hits", "ssd-misses"])
def test_case_12_a_draft_that_is_always_wrong_costs_one_token_a_round(method):
    target = Recording(from_map(CYCLE))
    wrong = from_map({0: 2, 1: 0, 2: 1})
    lengths = []
    done = decode(
        method,
        target,
        wrong,
        lookahead=5,
        max_new_tokens=6,
        randomness=seeded(),
        on_round=lambda tokens, record: lengths.append(target.sessions[0].length),
    )
    assert done.tokens == [1, 2, 0, 1, 2, 0]
    assert [(r.accepted, r.emitted) for r in done.rounds] == [(0, 1)] * 6
    assert lengths == [1, 2, 3, 4, 5, 6]


# Case 14


@pytest.mark.parametrize("method", METHODS)
def test_case_14_no_two_draws_that_count_share_an_address(method):
    """As the enumeration checks on every path: here on one, with the whole list of sites."""
    target, draft = TableModel([0.5, 0.5]), TableModel([0.7, 0.3])
    source = ScriptedRandomness(lambda site: 0.4)
    decode(method, target, draft, lookahead=2, max_new_tokens=6, randomness=source)
    sites = [site for site, _ in source.log]
    assert len(set(sites)) == len(sites)
    tested_or_emitted = [site[:4] for site in sites if site.role != "draft"]
    assert len(set(tested_or_emitted)) == len(tested_or_emitted)


# Cases 17 and 18


@pytest.mark.parametrize(("logits", "first"), [([1, 1, 0], 0), ([0, 1, 1], 1), ([2, 2, 2], 0)])
@pytest.mark.parametrize("lookahead", [0, 1, 3])
@pytest.mark.parametrize("method", METHODS)
def test_case_17_the_first_index_wins_a_greedy_tie(method, lookahead, logits, first):
    model = FunctionModel(3, lambda context: logits)
    other = TableModel([0.2, 0.2, 0.6])
    for draft in (model, other):
        done = decode(
            method,
            model,
            draft,
            lookahead=lookahead,
            max_new_tokens=5,
            temperature=0,
            randomness=seeded(),
        )
        assert done.tokens == [first] * 5
        if draft is model and method in ("sd", "ssd-hits", "ssd-misses"):
            assert all(r.accepted == r.drafted for r in done.rounds)


@pytest.mark.parametrize(
    ("mask", "accepted"), [([1, 0, 1], 1), ([1, 1, 1], 3), ([0, 1, 1], 0), ([1, 1, 0], 2)]
)
def test_case_18_accepted_is_the_length_of_the_prefix(mask, accepted):
    """The sum of the mask says 2 for the first; together the first two emit 2 + 4 tokens."""
    p, q = np.array([0.5, 0.5]), [0.8, 0.2]
    source = ScriptedRandomness(lambda s: 0.0 if s.role == "bonus" or mask[s.index] else 0.99)
    tokens = [0, 0, 0]  # each accepted with probability .625
    outcome = verify(lambda i: p, speculation_of(tokens, [q] * 3), source, 1)
    assert outcome.accepted == accepted
    assert len(emitted(tokens, outcome)) == accepted + 1


# Case 24


@pytest.mark.parametrize("bad", [NAN, INF])
@pytest.mark.parametrize("method", METHODS)
def test_case_24_a_target_row_that_is_no_law(method, bad):
    target, draft = FunctionModel(2, lambda context: [bad, 0]), TableModel([0.5, 0.5])
    expected = (
        r"target's logits after 1 tokens: expected finite numbers or -inf, "
        rf"got {bad} for token 0"
    )
    for lookahead in (0, 1, 2):
        with pytest.raises(LogitsError, match=expected):
            decode(
                method, target, draft, lookahead=lookahead, max_new_tokens=2, randomness=seeded()
            )


@pytest.mark.parametrize("method", SPECULATIVE)
def test_case_24_a_draft_row_without_mass(method):
    target, draft = TableModel([0.5, 0.5]), FunctionModel(2, lambda context: [-INF, -INF])
    expected = "draft's logits after 1 tokens: .*, got -inf for every token"
    with pytest.raises(LogitsError, match=expected):
        decode(method, target, draft, lookahead=1, max_new_tokens=2, randomness=seeded())
    alone = autoregressive(target, [0], max_new_tokens=2, randomness=seeded())
    assert len(alone.tokens) == 2


@pytest.mark.parametrize("method", METHODS)
def test_case_24_minus_infinity_is_legal(method):
    certain = FunctionModel(2, lambda context: [0, -INF])
    found = law(method, certain, TableModel([0.5, 0.5]), lookahead=2, max_new_tokens=3)
    assert found == {(0, 0, 0): pytest.approx(1.0, abs=1e-12)}
    found = law(method, TableModel([0.5, 0.5]), certain, lookahead=1, max_new_tokens=1)
    assert found == pytest.approx({(0,): 0.5, (1,): 0.5}, abs=1e-12)


# Case 27 (see tests/core/test_gpt.py for every sequence of moves)


def test_case_27_a_verification_block_is_as_good_as_single_steps():
    model, text, lookahead = random_gpt(), [3, 1, 4, 1, 5, 0, 2, 6, 5], 4
    with_block = model.start(text[:4]).extend(text[4:])
    session = model.start(text[:4])
    by_steps = np.concatenate([session.extend([token]) for token in text[4:]])
    assert with_block.shape == (lookahead + 1, model.vocabulary)
    assert abs(with_block - by_steps).max() <= 1e-12
    for i in range(4, len(text)):  # and without a cache
        alone = model.start([]).extend(text[: i + 1])[-1]
        assert abs(with_block[i - 4] - alone).max() <= 1e-12


# Case 32: what a single process can show of it


class DraftDied(RuntimeError):
    pass


class Dying(Recording):
    """A model that raises on one of its calls."""

    def __init__(self, model, call):
        super().__init__(model)
        self.call = call

    def note(self, what, length, numbers):
        super().note(what, length, numbers)
        if len(self.log) == self.call:
            raise DraftDied(f"call {self.call}")


def pairs():
    rng = np.random.default_rng(32)
    yield tuple(TableModel(random_table(rng, 3, order=1)) for _ in range(2))
    yield random_gpt(3, seed=1), random_gpt(3, seed=2)


@pytest.mark.parametrize("pair", list(pairs()), ids=["tables", "gpts"])
@pytest.mark.parametrize("call", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("method", ["sd", "ssd-hits", "ssd-misses"])
def test_case_32_an_error_of_the_draft_is_raised_and_nothing_is_left(method, call, pair):
    target, draft = pair
    settings = {"lookahead": 2, "max_new_tokens": 8}
    before = decode(method, target, draft, randomness=seeded(), **settings)
    source = seeded()
    with pytest.raises(DraftDied, match=f"call {call}"):
        decode(method, target, Dying(draft, call), randomness=source, **settings)
    # the models, and the random source, serve the next run as if nothing had happened
    assert decode(method, target, draft, randomness=source, **settings) == before


@pytest.mark.parametrize("method", ["sd", "ssd-hits"])
def test_case_32_what_was_decoded_before_the_error_was_shown(method):
    target = from_map(CYCLE)
    shown = []
    with pytest.raises(DraftDied):
        decode(
            method,
            target,
            Dying(target, 8),
            lookahead=1,
            max_new_tokens=20,
            randomness=seeded(),
            on_round=lambda tokens, record: shown.extend(tokens),
        )
    assert shown and shown == ([1, 2, 0] * 7)[: len(shown)]


# Case 34


@pytest.mark.parametrize("with_cache", [False, True], ids=["sd", "ssd"])
def test_case_34_lookahead_may_change_between_rounds(with_cache):
    model = from_laws(3, by_position)
    text = on_schedule([3, 0, 3], model, model, max_new_tokens=9, ssd=with_cache)
    assert text.tokens == [1, 2, 0, 1, 2, 0, 1, 2, 0]
    served_by = ["first", "cache", "cache"] if with_cache else ["draft"] * 3
    ranks = (0, 0, 0) if with_cache else (None, None, None)  # SD has no row at k = K
    assert text.rounds == [
        RoundRecord(1, served_by[0], 3, 3, 1, 4, ranks[0]),
        RoundRecord(2, served_by[1], 0, 0, 2, 1, ranks[1]),
        RoundRecord(3, served_by[2], 3, 3, 0, 4, ranks[2]),
    ]


@pytest.mark.parametrize("n", range(5))
def test_case_34_lookahead_0_is_autoregressive(n):
    rng = np.random.default_rng(34)
    for seed in range(30):
        target, draft = (TableModel(random_table(rng, 4, order=1)) for _ in range(2))
        settings = {"max_new_tokens": n, "randomness": seeded(seed)}
        alone = autoregressive(target, [1], **settings)
        sd = speculative(target, draft, [1], lookahead=0, **settings)
        cached = ssd(target, draft, [1], lookahead=0, fan_out=[2], **settings)
        assert alone.tokens == sd.tokens == cached.tokens
        assert alone.logprobs == sd.logprobs == cached.logprobs
        assert [r.drafted for r in sd.rounds] == [0] * n
