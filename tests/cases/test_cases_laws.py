"""Cases about the output law: exact probabilities, by enumeration, against an independent oracle.

Numbered as in tests/CASES.md. Prompt (0) unless said; p and q are the target's and draft's laws.
"""

import numpy as np
import pytest

from helpers import (
    METHODS,
    SPECULATIVE,
    SSD,
    FunctionModel,
    actors,
    decode,
    from_laws,
    from_map,
    law,
    law_of,
    mean_of,
    one_round,
    random_table,
    seeded,
    sites,
    speculation_of,
)
from oracles import assert_laws_equal, target_law, total_variation
from ssd_ref import Outcome, SeededRandomness, Site, TableModel, exact_law
from ssd_ref.randomness import invert
from ssd_ref.verification import verify

approx = pytest.approx


def first_accepted(generation):
    return generation.rounds[0].accepted


def check_everywhere(target, draft, *, max_new_tokens=3, lookaheads=(0, 1, 2), **settings):
    """All decoders write the target's law, at every lookahead."""
    draft_only = {k: v for k, v in settings.items() if k.startswith("draft_")}
    own = {k: v for k, v in settings.items() if k not in draft_only}
    expected = target_law(target, [0], max_new_tokens, **own)
    for lookahead in lookaheads:
        for method in METHODS:
            found = law(
                method,
                target,
                draft,
                lookahead=lookahead,
                max_new_tokens=max_new_tokens,
                **settings,
            )
            assert_laws_equal(found, expected, what=f"{method}, K={lookahead}")


@pytest.mark.parametrize("method", METHODS)
def test_case_01_end_token_inside_an_accepted_block(method):
    fair = TableModel([0.5, 0.5])
    found = law(method, fair, fair, lookahead=1, max_new_tokens=2, eos=1)
    assert_laws_equal(found, {(1,): 0.5, (0, 0): 0.25, (0, 1): 0.25})


def test_case_01_end_token_at_any_place_of_a_block():
    rng = np.random.default_rng(1)
    target, draft = (TableModel(random_table(rng, 3, order=1)) for _ in range(2))
    for eos in (0, 2):
        check_everywhere(target, draft, eos=eos, lookaheads=(2,))


@pytest.mark.parametrize("method", METHODS)
def test_case_02_a_draft_by_argmax_is_tested_as_one_hot(method):
    p, q = [0.4, 0.6], [0.7, 0.3]
    settings = {"lookahead": 1, "max_new_tokens": 1, "draft_temperature": 0}
    found = law(method, TableModel(p), TableModel(q), **settings)
    assert_laws_equal(found, {(0,): 0.4, (1,): 0.6})
    assert one_round(p, drawn_from=[1, 0], tested_with=[1, 0]) == approx(p, abs=1e-15)
    assert one_round(p, drawn_from=[1, 0], tested_with=q)[0] == approx(4 / 7)  # the fault


def test_case_02_a_deterministic_draft_anywhere():
    rng = np.random.default_rng(2)
    target, draft = (TableModel(random_table(rng, 3, order=2, zeros=True)) for _ in range(2))
    check_everywhere(target, draft, draft_temperature=0)


def test_case_03_top_k_on_the_draft_only():
    p, q, top_2 = [0.3, 0.3, 0.4], [0.5, 0.3, 0.2], [0.625, 0.375, 0]
    for method in METHODS:
        settings = {"lookahead": 1, "max_new_tokens": 1, "draft_top_k": 2}
        found = law(method, TableModel(p), TableModel(q), **settings)
        assert_laws_equal(found, {(0,): 0.3, (1,): 0.3, (2,): 0.4}, what=method)
    assert one_round(p, top_2, top_2) == approx(p, abs=1e-15)
    assert one_round(p, top_2, q) == approx([0.375, 0.375, 0.25])  # the fault


def test_case_03_temperature_on_the_draft_only():
    p, q, cool = [0.4, 0.6], [0.7, 0.3], [0.49 / 0.58, 0.09 / 0.58]
    for method in METHODS:
        settings = {"lookahead": 1, "max_new_tokens": 1, "draft_temperature": 0.5}
        found = law(method, TableModel(p), TableModel(q), **settings)
        assert_laws_equal(found, {(0,): 0.4, (1,): 0.6}, what=method)
    assert cool == approx([0.8448, 0.1552], abs=5e-5)
    assert one_round(p, cool, cool) == approx(p, abs=1e-15)
    assert one_round(p, cool, q)[0] == approx(0.4828, abs=5e-5)  # the fault


@pytest.mark.parametrize(
    "settings",
    [
        {"top_k": 2},
        {"top_p": 0.8},
        {"temperature": 0.7, "draft_temperature": 1.3},
        {"temperature": 1.5, "top_k": 2, "draft_top_k": 3, "draft_top_p": 0.55},
        {"temperature": 1.0, "draft_temperature": 0.0, "top_p": 0.9, "draft_top_p": 1.0},
    ],
)
def test_case_03_processing_may_differ_between_target_and_draft(settings):
    rng = np.random.default_rng(3)
    target, draft = (TableModel(random_table(rng, 3, order=1)) for _ in range(2))
    check_everywhere(target, draft, max_new_tokens=2, lookaheads=(2,), **settings)


@pytest.mark.parametrize("q", [[0.3, 0.7], [0.6, 0.4]])
def test_case_05_after_a_miss_the_law_is_the_targets(q):
    """With uniform filler as with a fresh draft; accepting on argmax gives [.8, .2] in one round,
    and TV .06 (N=2), .17 (N=3) for the first q, .20 (N=3) for q = p.
    """
    target, draft = TableModel([0.6, 0.4]), TableModel(q)
    for backup in ("draft", "uniform"):
        for n in (1, 2, 3, 4):
            method = {"draft": "ssd-misses", "uniform": "ssd-uniform"}[backup]
            found = law(method, target, draft, lookahead=1, max_new_tokens=n)
            assert_laws_equal(found, target_law(target, [0], n), what=f"{method} N={n}")


def test_case_05_filler_tested_by_argmax_would_show():
    p, q = [0.6, 0.4], [0.3, 0.7]

    def faulty(randomness):
        """K=1: the first round from q; later ones filler, accepted iff it is the argmax of p."""
        tokens, round = [], 1
        while len(tokens) < 3:
            drawn = [randomness.choose(q if round == 1 else [0.5, 0.5], sites(1, round)[0])]
            bonus = Site(0, round, "bonus", 0)
            if round == 1:
                outcome = verify(
                    lambda i: np.array(p), speculation_of(drawn, [q]), randomness, round
                )
            else:
                randomness.commit(sites(1, round)[0])
                outcome = Outcome(int(drawn[0] == 0), randomness.choose(p, bonus))
            tokens += [*drawn[: outcome.accepted], outcome.bonus]
            round += 1
        return tokens[:3]

    expected = target_law(TableModel(p), [0], 3)
    assert total_variation(exact_law(faulty), expected) == approx(0.17, abs=0.005)


# The draft's law depends on k (where in the speculation), or on the bonus token: the cache's key.
NO_K = np.array([[[0.2, 0.8], [0.2, 0.8]], [[0.8, 0.2], [0.8, 0.2]]])  # q(.|a,b) by a
NO_BONUS = np.array([[0.8, 0.2], [0.2, 0.8]])


@pytest.mark.parametrize("q", [NO_K, NO_BONUS], ids=["key needs k", "key needs the bonus"])
@pytest.mark.parametrize("method", SSD)
def test_case_06_the_key_of_an_entry_in_the_law(method, q):
    target = TableModel([0.5, 0.5])
    for n in (3, 4):
        found = law(method, target, TableModel(q), lookahead=1, max_new_tokens=n)
        assert_laws_equal(found, target_law(target, [0], n), what=f"{method} N={n}")


@pytest.mark.parametrize("lookahead", [1, 2, 3])
def test_case_06_every_entry_is_drafted_in_its_own_context(lookahead):
    """What the law cannot see: a wrong entry that carries its own q is exact, and only slow."""
    rng = np.random.default_rng(6)
    target, draft = (TableModel(random_table(rng, 3, order=2)) for _ in range(2))
    for seed in range(10):
        fan_out = [3] * (lookahead + 1)
        text, verifier, speculator = actors(
            target, draft, lookahead=lookahead, fan_out=fan_out, randomness=seeded(seed)
        )
        speculation = speculator.first()
        while text.finish_reason is None:
            speculator.prepare()
            before = [*text.prompt, *text.tokens]
            for (k, bonus), entry in speculator.cache.items():
                context = [*before, *speculation.tokens[:k], bonus]
                for token, row in zip(entry.tokens, entry.rows, strict=True):
                    np.testing.assert_allclose(row, draft.table[tuple(context[-2:])], atol=1e-15)
                    context.append(token)
            outcome = verifier.verify(speculation)
            text.close_round(None)
            if text.finish_reason is None:
                prepared = speculator.cache[outcome]
                speculation = speculator.answer(outcome)
                assert speculation.tokens == tuple(prepared.tokens)
                assert np.array_equal(speculation.rows, prepared.rows)


@pytest.mark.parametrize("method", SSD)
def test_case_06_a_hit_for_the_right_context_is_accepted_when_draft_is_target(method):
    order_2 = TableModel(random_table(np.random.default_rng(60), 3, order=2))
    for seed in range(20):
        done = decode(
            method, order_2, order_2, lookahead=3, max_new_tokens=12, randomness=seeded(seed)
        )
        for record in done.rounds:
            drafted_by_itself = record.served_by == "cache" or record.round == 1
            if drafted_by_itself and method != "ssd-saguaro":  # sigma makes q differ from p
                assert record.accepted == record.drafted, record


@pytest.mark.parametrize("n", [3, 4, 6, pytest.param(8, marks=pytest.mark.slow)])
def test_case_07_an_entry_serves_once(n):
    """Draws reused for the same (k, bonus) give TV .0214, .0324, .0546, .0681."""
    target, draft = TableModel([0.8, 0.2]), TableModel([0.3, 0.7])
    expected = target_law(target, [0], n)
    for method in SSD if n < 6 else SSD[:1]:
        found = law(method, target, draft, lookahead=1, max_new_tokens=n)
        assert_laws_equal(found, expected, what=f"{method} N={n}")


@pytest.mark.parametrize("method", METHODS)
def test_case_10_law_of_one_token(method):
    target, draft = TableModel([0.3, 0.7]), TableModel([0.6, 0.4])
    found = law(method, target, draft, lookahead=1, max_new_tokens=1)
    assert_laws_equal(found, {(0,): 0.3, (1,): 0.7})


@pytest.mark.parametrize("method", METHODS)
def test_case_11_the_bonus_comes_from_its_own_row(method):
    """From the row before, every text would have probability .25 (TV .2)."""
    both = TableModel([[0.5, 0.5], [0.9, 0.1]])
    found = law(method, both, both, lookahead=1, max_new_tokens=2)
    assert_laws_equal(found, {(0, 0): 0.25, (0, 1): 0.25, (1, 0): 0.45, (1, 1): 0.05})


@pytest.mark.parametrize("method", METHODS)
def test_case_11_the_bonus_comes_from_the_target(method):
    """From q the total variation is .21."""
    target, draft = TableModel([0.5, 0.5]), TableModel([0.8, 0.2])
    found = law(method, target, draft, lookahead=1, max_new_tokens=2)
    assert_laws_equal(found, target_law(target, [0], 2))


@pytest.mark.parametrize("method", METHODS)
def test_case_12_rejected_tokens_leave_the_context(method):
    """Left in place they give .04, .16, .24, .56 (TV .24)."""
    target = TableModel([[0.2, 0.8], [0.6, 0.4]])
    draft = TableModel([[0.8, 0.2], [0.6, 0.4]])
    found = law(method, target, draft, lookahead=1, max_new_tokens=2)
    assert_laws_equal(found, {(0, 0): 0.04, (0, 1): 0.16, (1, 0): 0.48, (1, 1): 0.32})


def test_case_12_rejected_tokens_leave_every_context():
    rng = np.random.default_rng(12)
    target, draft = (TableModel(random_table(rng, 2, order=2, zeros=True)) for _ in range(2))
    check_everywhere(target, draft, max_new_tokens=4, lookaheads=(1, 2, 3))


def test_case_14_draft_and_test_must_not_share_a_uniform():
    p, q = np.array([0.25, 0.75]), [0.5, 0.5]

    def first_token(u_draft, u_accept, u_bonus):
        drafted = invert(q, u_draft)
        if u_accept < min(1, p[drafted] / q[drafted]):
            return drafted
        return invert([0, 1], u_bonus)

    u = (np.arange(1000) + 0.5) / 1000
    shared = np.mean([first_token(v, v, v) == 0 for v in u])
    apart = np.mean([first_token(v, w, 0.5) == 0 for v in u[::10] for w in u[::10]])
    assert (shared, apart) == (0.5, 0.25)  # the fault, and the law


@pytest.mark.parametrize("method", METHODS)
def test_case_14_seeded_draws_of_one_token_have_the_targets_law(method):
    target, draft = TableModel([0.25, 0.75]), TableModel([0.5, 0.5])
    n = 500
    zeros = sum(
        decode(method, target, draft, lookahead=1, max_new_tokens=1, randomness=seeded(s)).tokens
        == [0]
        for s in range(n)
    )
    assert abs(zeros / n - 0.25) < 5 * (0.25 * 0.75 / n) ** 0.5  # the fault is .5


def test_case_14_two_requests_are_independent():
    uniform, n = TableModel([0.25] * 4), 1000

    def first(seed, sequence):
        source = SeededRandomness(seed, sequence)
        return decode("sd", uniform, uniform, lookahead=1, max_new_tokens=1, randomness=source)

    same_seed = sum(first(s, 0).tokens == first(s, 1).tokens for s in range(n))
    other_seed = sum(first(s, 0).tokens == first(s + n, 0).tokens for s in range(n))
    for same in (same_seed, other_seed):
        assert abs(same / n - 0.25) < 5 * (0.25 * 0.75 / n) ** 0.5  # a shared stream: 1


@pytest.mark.parametrize("method", METHODS)
def test_case_14_no_decoder_has_a_random_source_of_its_own(method):
    fair = TableModel([0.5, 0.5])
    with pytest.raises(TypeError, match="randomness"):
        decode(method, fair, fair, lookahead=1, max_new_tokens=1)


@pytest.mark.parametrize("method", METHODS)
def test_case_15_the_residual_is_the_normalised_positive_part(method):
    """P(0) would be .6277 with a softmax of it, .65 with |p-q| or with p itself."""
    target, draft = TableModel([0.5, 0.5]), TableModel([0.8, 0.2])
    found = law(method, target, draft, lookahead=1, max_new_tokens=1)
    assert_laws_equal(found, {(0,): 0.5, (1,): 0.5})


@pytest.mark.parametrize("method", METHODS)
def test_case_18_law_with_a_hole_in_the_acceptance_mask(method):
    """Counting every accepted place, behind the first rejection too, makes P(0) .71."""
    target, draft = TableModel([0.5, 0.5]), TableModel([0.8, 0.2])
    found = law(method, target, draft, lookahead=2, max_new_tokens=2)
    assert_laws_equal(found, {(a, b): 0.25 for a in (0, 1) for b in (0, 1)})


def penalised(context):
    """[.6, .4] with half the weight for tokens already generated (the prompt is one token)."""
    weights = [base * (0.5 if token in context[1:] else 1) for token, base in enumerate([0.6, 0.4])]
    return [w / sum(weights) for w in weights]


@pytest.mark.parametrize("draft", ["fixed", "penalised too"])
@pytest.mark.parametrize("method", METHODS)
def test_case_19_a_penalty_that_depends_on_the_history(method, draft):
    """State frozen during a round gives .36, .24, .24, .16 (TV .1629)."""
    target = from_laws(2, penalised)
    drafts = {"fixed": TableModel([0.6, 0.4]), "penalised too": target}
    expected = {
        (0, 0): 0.6 * 0.3 / 0.7, (0, 1): 0.6 * 0.4 / 0.7, (1, 0): 0.3, (1, 1): 0.1,
    }  # fmt: skip
    assert list(expected.values()) == approx([0.2571, 0.3429, 0.3, 0.1], abs=5e-5)
    for lookahead in (1, 2, 3):
        found = law(method, target, drafts[draft], lookahead=lookahead, max_new_tokens=2)
        assert_laws_equal(found, expected)
    longer = law(method, target, drafts[draft], lookahead=2, max_new_tokens=4)
    assert_laws_equal(longer, target_law(target, [0], 4))


@pytest.mark.parametrize("lookahead", [1, 2, 4])
@pytest.mark.parametrize("method", ["sd", "ssd-misses"])
def test_case_20_tokens_of_a_round_when_acceptance_is_independent(method, lookahead):
    target, draft, alpha = TableModel([0.5, 0.5]), TableModel([0.7, 0.3]), 0.8
    emitted = mean_of(
        lambda g: g.rounds[0].emitted,
        method,
        target,
        draft,
        lookahead=lookahead,
        max_new_tokens=lookahead + 1,
    )
    assert emitted == approx((1 - alpha ** (lookahead + 1)) / (1 - alpha), abs=1e-12)
    if lookahead == 4:
        assert emitted == approx(3.3616, abs=1e-12)


@pytest.mark.parametrize("method", ["sd", "ssd-hits"])
def test_case_20_acceptance_that_depends_on_the_context(method):
    """1.8, where the formula with the mean acceptance .8 says 1.44."""
    target, draft = TableModel([0.5, 0.5]), TableModel([[0.5, 0.5], [0.9, 0.1]])
    accepted = mean_of(first_accepted, method, target, draft, lookahead=2, max_new_tokens=3)
    assert accepted == approx(1.8, abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_case_25_a_draft_without_the_last_token(method):
    target, draft = TableModel([0.2] * 5), TableModel([0.25] * 4 + [0])
    found = law(method, target, draft, lookahead=1, max_new_tokens=2)
    assert_laws_equal(found, target_law(target, [0], 2))
    if method in ("sd", "ssd-hits"):
        law_of_first = law_of(first_accepted, method, target, draft, lookahead=1, max_new_tokens=1)
        assert law_of_first == approx({1: 0.8, 0: 0.2})


@pytest.mark.parametrize("method", METHODS)
def test_case_25_a_draft_with_a_token_too_many(method):
    target, draft = TableModel([0.2] * 5 + [0]), TableModel([0.1] * 5 + [0.5])
    found = law(method, target, draft, lookahead=1, max_new_tokens=2)
    assert_laws_equal(found, {(a, b): 0.04 for a in range(5) for b in range(5)})
    if method in ("sd", "ssd-hits"):
        law_of_first = law_of(first_accepted, method, target, draft, lookahead=1, max_new_tokens=1)
        assert law_of_first == approx({1: 0.5, 0: 0.5})


@pytest.mark.parametrize("method", SPECULATIVE)
def test_case_25_unequal_vocabularies_are_refused(method):
    with pytest.raises(ValueError, match="same vocabulary: got 5 and 4 tokens"):
        decode(
            method,
            TableModel([0.2] * 5),
            TableModel([0.25] * 4),
            lookahead=1,
            max_new_tokens=2,
            randomness=seeded(),
        )


def test_case_28_one_rounding_of_the_logits_for_draw_and_test():
    rounded, exact = [0.5, 0.5], [1 / (1 + np.exp(-0.05)), 1 / (1 + np.exp(0.05))]
    p = [0.3, 0.7]
    assert exact == approx([0.5125, 0.4875], abs=5e-5)
    faulty = one_round(p, drawn_from=rounded, tested_with=exact)
    assert faulty == approx([0.2927, 0.7073], abs=5e-5)
    for logits in ([20.0, 19.95], [20.0, 20.0]):  # as computed, and as bfloat16 rounds them
        draft = FunctionModel(2, lambda context, z=logits: z)
        for method in METHODS:
            found = law(method, TableModel(p), draft, lookahead=1, max_new_tokens=1)
            assert_laws_equal(found, {(0,): 0.3, (1,): 0.7}, what=f"{method} {logits}")


@pytest.mark.parametrize("method", METHODS)
def test_case_29_the_verifier_uses_the_temperature(method):
    target, draft = FunctionModel(2, lambda context: [0, np.log(9)]), TableModel([0.5, 0.5])
    for lookahead in (0, 1, 2):
        settings = {"lookahead": lookahead, "max_new_tokens": 1, "temperature": 2.0}
        found = law(method, target, draft, **settings)
        assert_laws_equal(found, {(0,): 0.25, (1,): 0.75})  # at temperature 1: .1, .9


@pytest.mark.parametrize("lookahead", [0, 1, 2, 3])
@pytest.mark.parametrize("method", METHODS)
def test_case_33_a_least_length_that_masks_the_end_token(method, lookahead):
    """p = [.1, .9], end token 1, at least 2 tokens before it: one mask a row, not a round."""

    def row(context):
        generated = len(context) - 1
        return [1, 0] if generated < 2 else [0.1, 0.9]

    masked = from_laws(2, row)
    for draft in (masked, TableModel([0.1, 0.9])):
        found = law(method, masked, draft, lookahead=lookahead, max_new_tokens=3, eos=1)
        assert_laws_equal(found, {(0, 0, 1): 0.9, (0, 0, 0): 0.1})


def match_tokens(target, draft, max_new_tokens, lookahead, counted=None):
    """Another exact rule: the target draws a token of its own at each place, and the draft counts
    as accepted where it is the same token. Written with the public pieces.
    """

    def decode_one(randomness):
        text, verifier, drafter = actors(
            target, draft, max_new_tokens=max_new_tokens, lookahead=lookahead, randomness=randomness
        )
        speculation = drafter.first()
        while True:
            logits = verifier.session.extend([text.last, *speculation.tokens])
            rows = verifier.law.rows(logits)
            own: list[int] = []
            for i, row in enumerate(rows):
                if i < len(speculation):
                    randomness.commit(speculation.sites[i])
                role = "accept" if i < len(speculation) else "bonus"
                place = Site(0, text.round, role, i if role == "accept" else 0)
                own.append(randomness.choose(row, place))
                if i == len(speculation) or own[i] != speculation.tokens[i]:
                    break
            outcome = Outcome(len(own) - 1, own[-1])
            verifier.session.rewind(text.length + outcome.accepted)
            text.write(speculation.tokens, outcome, [0.0] * len(own), speculation.served_by)
            if text.finish_reason:
                return text.tokens if counted is None else [counted(text)]
            speculation = drafter.answer(outcome)

    return exact_law(decode_one)


def test_case_37_the_token_matching_rule_passes_the_law_check():
    p, q = TableModel([0.6, 0.4]), TableModel([0.5, 0.5])
    assert_laws_equal(match_tokens(p, q, 1, 1), {(0,): 0.6, (1,): 0.4})
    rng = np.random.default_rng(37)
    target, draft = (TableModel(random_table(rng, 3, order=1, zeros=True)) for _ in range(2))
    for lookahead in (0, 1, 2, 3):
        found = match_tokens(target, draft, 3, lookahead)
        assert_laws_equal(found, target_law(target, [0], 3), what=f"K={lookahead}")


def test_case_37_and_only_a_counter_tells_it_from_speculative_sampling():
    p, q = TableModel([0.6, 0.4]), TableModel([0.5, 0.5])
    matched = match_tokens(p, q, 1, 1, counted=lambda text: text.rounds[0].accepted)
    assert matched == approx({(1,): 0.5, (0,): 0.5})
    for method in SPECULATIVE:
        if method == "ssd-saguaro":  # its q is another one
            continue
        usual = law_of(first_accepted, method, p, q, lookahead=1, max_new_tokens=1)
        assert usual == approx({1: 0.9, 0: 0.1})


@pytest.mark.parametrize("method", METHODS)
def test_case_16_greedy_output_is_the_targets_argmax(method):
    """The soft ratio would accept the draft's 0 with probability .667."""
    target, draft = TableModel([0.3, 0.5, 0.2]), TableModel([0.45, 0.35, 0.2])
    for lookahead in (0, 1, 2, 3):
        found = law(method, target, draft, lookahead=lookahead, max_new_tokens=3, temperature=0)
        assert found == {(1, 1, 1): 1.0}


@pytest.mark.parametrize("temperatures", [(0, 1), (1, 0), (0, 0)])
def test_case_16_a_greedy_row_beside_a_soft_one(temperatures):
    rng = np.random.default_rng(16)
    target, draft = (TableModel(random_table(rng, 3, order=1, zeros=True)) for _ in range(2))
    hot, cold = temperatures
    check_everywhere(target, draft, temperature=hot, draft_temperature=cold)


def test_cases_of_the_law_hold_on_deterministic_models():
    """Tables with one certain token a row: every decoder has one leaf."""
    target, draft = from_map({0: 1, 1: 2, 2: 0}), from_map({0: 2, 1: 2, 2: 1})
    for method in METHODS:
        found = law(method, target, draft, lookahead=2, max_new_tokens=5)
        assert found == {(1, 2, 0, 1, 2): approx(1.0, abs=1e-12)}, method
