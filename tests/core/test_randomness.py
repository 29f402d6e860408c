"""The random sources themselves, since the enumeration of laws replaces them."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import decode, random_table, seeded
from oracles import target_law
from ssd_ref import ScriptedRandomness, SeededRandomness, Site, TableModel
from ssd_ref.randomness import invert, place

LARGEST = 1 - 2**-53  # the largest double below 1
ROLES = ("draft", "accept", "bonus")

laws = st.lists(
    st.one_of(st.integers(0, 9).map(float), st.floats(0, 1), st.just(5e-324)),
    min_size=1,
    max_size=9,
).filter(lambda w: sum(w) > 0.001)


def law_of(weights):
    w = np.array(weights)
    return w / w.sum()


# From a uniform to a token


@pytest.mark.parametrize(
    ("p", "u", "index"),
    [
        ([0.5, 0.5], 0.0, 0),
        ([0.5, 0.5], 0.49, 0),
        ([0.5, 0.5], 0.5, 1),  # u < cumulative sum, strictly
        ([0.5, 0.5], LARGEST, 1),
        ([0, 1], 0.0, 1),
        ([0, 0, 0.5, 0, 0.5, 0], 0.0, 2),
        ([0, 0, 0.5, 0, 0.5, 0], 0.5, 4),
        ([0, 0, 0.5, 0, 0.5, 0], LARGEST, 4),
        ([1, 0], LARGEST, 0),
        ([0.1] * 10, LARGEST, 9),  # the sum is LARGEST itself
        ([0.1] * 10 + [0], LARGEST, 9),
        ((0.25, 0.75), 0.25, 1),
        ([1e-320, 1.0], 0.0, 0),
    ],
)
def test_the_first_index_whose_sum_exceeds_u(p, u, index):
    assert invert(p, u) == index


def by_hand(p, u):
    """The definition, as a loop."""
    total = 0.0
    for index, probability in enumerate(p):
        total += probability
        if u < total:
            return index
    return max(index for index, probability in enumerate(p) if probability > 0)


uniforms = st.one_of(st.floats(0, LARGEST), st.sampled_from([0.0, 5e-324, 0.5, LARGEST]))


@given(laws, uniforms)
def test_never_an_index_of_probability_0(weights, u):
    p = law_of(weights)
    found = invert(p, u)
    assert p[found] > 0
    assert found == by_hand(p.tolist(), u)


@given(laws)
def test_the_share_of_uniforms_that_give_an_index_is_its_probability(weights):
    p, n = law_of(weights), 500
    counts = np.bincount([invert(p, (i + 0.5) / n) for i in range(n)], minlength=len(p))
    assert abs(counts / n - p).max() <= 1.01 / n


# The seeded source


@given(st.data())
def test_a_block_of_rows_is_drawn_bit_for_bit_as_row_by_row(data):
    n, width = data.draw(st.integers(0, 5)), data.draw(st.integers(1, 6))
    seed = data.draw(st.integers(0, 2**64 - 1))
    weights = st.lists(
        st.one_of(st.integers(0, 4).map(float), st.floats(0, 1)), min_size=width, max_size=width
    ).filter(lambda w: sum(w) > 0.001)
    rows = np.array([law_of(data.draw(weights)) for _ in range(n)]).reshape(n, width)
    sites = [
        Site(0, data.draw(st.integers(1, 9)), "draft", data.draw(st.integers(0, 40)), (0, b))
        for b in range(n)
    ]
    one_by_one = SeededRandomness(seed)
    assert SeededRandomness(seed).choose_rows(rows, sites) == [
        one_by_one.choose(row, site) for row, site in zip(rows, sites, strict=True)
    ]


@pytest.mark.parametrize("u", [0.0, 0.5, 0.7, LARGEST])
def test_a_block_of_rows_at_the_ends_of_the_interval(u):
    class Fixed(SeededRandomness):
        def uniform(self, site):
            return u

    rows = np.array([[0, 0.5, 0, 0.5, 0], [0.2] * 5, [1, 0, 0, 0, 0], [0, 0, 0, 0, 1]])
    tenths = np.full((1, 10), 0.1)  # sums to LARGEST
    place = Site(0, 1, "draft", 0)
    for block in (rows, tenths):
        found = Fixed(0).choose_rows(block, [place] * len(block))
        assert found == [invert(row, u) for row in block]
        assert all(row[i] > 0 for row, i in zip(block, found, strict=True))


def addresses(rounds, indices, sequences=(0,)):
    for sequence, round_, index in itertools.product(sequences, rounds, indices):
        for role in ROLES:
            if role != "bonus" or index == 0:
                yield Site(sequence, round_, role, index)


def test_a_place_in_a_round_is_one_to_one_with_role_and_index():
    sites = list(addresses([1], range(1000)))
    assert sorted(place(s.role, s.index) for s in sites) == list(range(len(sites)))


def test_every_address_has_a_uniform_of_its_own():
    """A large recorded run: no two of 56,000 sites share a uniform (2**53 values: chance 2e-7)."""
    source = SeededRandomness(11)
    found = [source.uniform(s) for s in addresses(range(1, 101), range(40), sequences=range(7))]
    assert len(found) == 7 * 100 * 81
    assert len(set(found)) == len(found)
    assert all(0 <= u < 1 for u in found)


def test_different_seeds_and_sequences_have_different_streams():
    keys = [(s, t) for s in (0, 1, 2, 2**32, 2**64 - 1) for t in (0, 1, 2, 2**32, 2**64 - 1)]
    found = [
        SeededRandomness(seed, sequence).uniform(site._replace(sequence=sequence))
        for seed, sequence in keys
        for site in addresses([1, 2], [0, 1])
    ]
    assert len(set(found)) == len(found)


def test_the_branch_is_no_part_of_the_address():
    source, at = SeededRandomness(3), Site(0, 2, "draft", 1)
    assert len({source.uniform(at._replace(branch=b)) for b in (None, (0, 1), (2, 0))}) == 1


def test_a_uniform_depends_on_its_address_and_on_nothing_else():
    """Not on the order of the draws, on what else was drawn, or on how often."""
    sites = list(addresses(range(1, 13), range(40)))
    expected = {site: SeededRandomness(5).uniform(site) for site in sites}  # a fresh source each
    rng = np.random.default_rng(0)
    source = SeededRandomness(5)
    for at in rng.permutation(len(sites)).tolist() * 2:
        assert source.uniform(sites[at]) == expected[sites[at]]


def test_the_streams_of_draft_and_verifier_do_not_begin_alike():
    source = SeededRandomness(0)
    drafts, tests = (
        [source.uniform(Site(0, r, role, i)) for r in range(1, 60) for i in range(5)]
        for role in ("draft", "accept")
    )
    assert set(drafts).isdisjoint(tests)
    assert abs(np.corrcoef(drafts, tests)[0, 1]) < 5 / len(drafts) ** 0.5


def test_committing_is_nothing_to_a_source_that_does_not_enumerate():
    source, place = SeededRandomness(0), Site(0, 1, "draft", 0)
    before = source.uniform(place)
    source.commit(place)
    assert source.uniform(place) == before


@pytest.mark.parametrize("value", [-1, 2**64, 0.5, 1.0, True, None, "1"])
@pytest.mark.parametrize("name", ["seed", "sequence"])
def test_seed_and_sequence_must_be_integers_of_64_bits(name, value):
    expected = rf"{name}: expected an integer in \[0, 2\*\*64\), got {value!r}"
    with pytest.raises(ValueError, match=expected):
        SeededRandomness(**{"seed": 0, name: value})


def test_the_smallest_and_largest_seeds():
    place = Site(0, 1, "bonus", 0)
    assert SeededRandomness(0).uniform(place) != SeededRandomness(2**64 - 1).uniform(place)
    assert SeededRandomness(np.int64(7)).uniform(place) == SeededRandomness(7).uniform(place)


# Goodness of fit. Seeds are fixed; the false alarm of each bound is under 1e-7.


def chi_square_bound(cells):
    """Above the 1 - 1e-7 quantile of chi-square with cells - 1 degrees (Wilson and Hilferty)."""
    df = cells - 1
    return df * (1 - 2 / (9 * df) + 5.4 * math.sqrt(2 / (9 * df))) ** 3


def chi_square(counts, expected):
    assert expected.min() >= 5, "too few samples for a statement"
    return ((counts - expected) ** 2 / expected).sum()


def test_the_uniforms_are_uniform():
    source = SeededRandomness(2)
    u = np.array([source.uniform(s) for s in addresses(range(1, 501), range(20))])
    counts = np.bincount((u * 50).astype(int), minlength=50)
    assert chi_square(counts, np.full(50, len(u) / 50)) < chi_square_bound(50)
    gaps = np.sort(u) - (np.arange(len(u)) + 0.5) / len(u)
    assert abs(gaps).max() < 2.95 / math.sqrt(len(u))  # Kolmogorov: 2 exp(-2 * 2.95**2) < 1e-7


@pytest.mark.parametrize(
    "move",
    [
        lambda s: s._replace(round=s.round + 1),
        lambda s: s._replace(index=s.index + 1),
        lambda s: s._replace(role="accept"),
        lambda s: s._replace(sequence=s.sequence + 1),
    ],
    ids=["round", "index", "role", "sequence"],
)
def test_neighbouring_uniforms_are_independent(move):
    source = SeededRandomness(4)
    sites = [Site(0, r, "draft", i) for r in range(1, 501) for i in range(0, 10, 2)]
    pairs = [(source.uniform(s), source.uniform(move(s))) for s in sites]
    cells = Counter((int(a * 7), int(b * 7)) for a, b in pairs)
    counts = np.array([cells[a, b] for a in range(7) for b in range(7)])
    assert chi_square(counts, np.full(49, len(pairs) / 49)) < chi_square_bound(49)


def test_neighbouring_seeds_are_independent():
    place = Site(0, 1, "draft", 0)
    u = np.array([SeededRandomness(seed).uniform(place) for seed in range(2001)])
    cells = Counter(zip((u[:-1] * 6).astype(int), (u[1:] * 6).astype(int), strict=True))
    counts = np.array([cells[a, b] for a in range(6) for b in range(6)])
    assert chi_square(counts, np.full(36, 2000 / 36)) < chi_square_bound(36)


@pytest.mark.parametrize("method", ["ar", "sd", "ssd-hits", "ssd-saguaro"])
def test_seeded_texts_have_the_law_of_the_target(method):
    """With the seeded source as it is, over texts of three tokens."""
    rng, n = np.random.default_rng(9), 600
    target, draft = (TableModel(random_table(rng, 2, order=1)) for _ in range(2))
    law = target_law(target, [0], 3)
    settings = {"lookahead": 2, "max_new_tokens": 3}
    seen = Counter(
        tuple(decode(method, target, draft, randomness=seeded(s), **settings).tokens)
        for s in range(n)
    )
    assert seen.keys() <= law.keys()
    counts = np.array([seen[text] for text in law])
    assert chi_square(counts, n * np.array(list(law.values()))) < chi_square_bound(len(law))


def test_tokens_agree_in_law_with_a_plain_generator():
    p, n = np.array([0.5, 0.0, 0.3, 0.2]), 4000
    source, plain = SeededRandomness(8), np.random.default_rng(8)
    ours = [source.choose(p, Site(0, r, "bonus", 0)) for r in range(1, n + 1)]
    theirs = plain.choice(len(p), size=n, p=p)
    possible = p > 0
    for tokens in (ours, theirs):
        counts = np.bincount(tokens, minlength=len(p))
        assert counts[1] == 0  # a token of probability 0, seen once, is a failure
        assert chi_square(counts[possible], n * p[possible]) < chi_square_bound(3)


def test_too_few_samples_are_refused():
    with pytest.raises(AssertionError, match="too few samples"):
        chi_square(np.array([3, 1]), np.array([2.0, 2.0]))


# The scripted source


def test_a_script_gives_the_uniforms_and_keeps_a_log():
    source = ScriptedRandomness(lambda site: 0.0 if site.index == 0 else LARGEST, sequence=4)
    places = [Site(4, 1, "draft", i) for i in range(2)]
    rows = np.array([[0, 0.5, 0.5]] * 2)
    assert source.choose_rows(rows, places) == [1, 2]
    assert source.choose([0.0, 1.0], places[0]) == 1
    source.commit(places[0])
    assert source.sequence == 4
    assert source.log == [(places[0], 0.0), (places[1], LARGEST), (places[0], 0.0)]


@pytest.mark.parametrize("u", [-0.1, 1.0, 2, float("nan")])
def test_a_script_must_stay_in_the_interval(u):
    source = ScriptedRandomness(lambda site: u)
    with pytest.raises(ValueError, match=rf"script: expected a uniform in \[0, 1\) at .*, got {u}"):
        source.choose([1.0], Site(0, 1, "bonus", 0))
