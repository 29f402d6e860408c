"""`exact_law` itself: leaf counts, and the breaches it must see instead of being blind to them."""

import tracemalloc

import numpy as np
import pytest

from ssd_ref import Site, TableModel, exact_law, speculative, ssd
from ssd_ref.exact_law import ReplayError, TooManyLeaves


def full_support(vocabulary, seed):
    rng = np.random.default_rng(seed)
    table = rng.random((vocabulary, vocabulary)) + 0.1
    return TableModel(table / table.sum(-1, keepdims=True))


@pytest.mark.parametrize(
    ("V", "K", "leaves"),
    [(2, 3, [5, 15, 45, 111]), (3, 2, [11, 55, 203]), (4, 3, [20, 160])],
)
def test_leaves_never_exceed_the_known_counts(V, K, leaves):
    target, draft = full_support(V, 0), full_support(V, 1)
    for N, most in enumerate(leaves, start=1):
        seen = []
        exact_law(
            lambda r, N=N: (
                ssd(
                    target,
                    draft,
                    [0],
                    max_new_tokens=N,
                    lookahead=K,
                    fan_out=[1] * (K + 1),
                    randomness=r,
                ).tokens
            ),
            progress=seen.append,
        )
        assert max(seen) <= most


def site(role, index=0, branch=None, round=1):
    return Site(0, round, role, index, branch)


def test_a_decoder_that_never_commits_is_enumerated_over_all_its_draws():
    """CASES 14's rule: the draft and its test, written without a word about commitment."""

    def decode(r):
        token = r.choose([0.5, 0.5], site("draft"))
        a = min(1.0, [0.25, 0.75][token] / 0.5)
        if r.choose([a, 1 - a], site("accept")) == 0:
            return [token]
        return [r.choose([0.0, 1.0], site("bonus"))]

    assert exact_law(decode) == pytest.approx({(0,): 0.25, (1,): 0.75}, abs=1e-15)


@pytest.mark.parametrize(
    ("breach", "message"),
    [
        ("twice", "drawn twice in one run"),
        ("one address", "committed at this address"),
        ("not drawn", "not drawn or was committed before"),
        ("untested", "tests a token whose draw was not committed"),
        ("no law", "expected a law"),
        ("depends on default", "never committed"),
    ],
)
def test_breaches_are_named(breach, message):
    half = [0.5, 0.5]

    def decode(r):
        r.choose(half, site("draft", 0))
        r.commit(site("draft", 0))
        if breach == "twice":
            r.choose(half, site("draft", 0))
        if breach == "one address":
            r.choose(half, site("draft", 0, branch=(0, 1)))
            r.commit(site("draft", 0, branch=(0, 1)))
        if breach == "not drawn":
            r.commit(site("draft", 5))
        if breach == "untested":
            r.choose(half, site("draft", 1))
            r.choose(half, site("accept", 1))
        if breach == "no law":
            r.choose([0.5, 0.4], site("bonus"))
        if breach == "depends on default":
            return [r.choose(half, site("draft", 1))]
        return []

    with pytest.raises(ReplayError, match=message):
        exact_law(decode)


def test_state_that_leaks_between_runs_is_an_error():
    runs = []

    def decode(r):
        runs.append(1)
        p = 0.5 if len(runs) <= 2 else 0.25  # the first run only asks whether it commits
        return [r.choose([p, 1 - p], site("bonus"))]

    with pytest.raises(ReplayError, match=r"had the law .* now it has"):
        exact_law(decode)


def test_a_forced_decision_that_does_not_come_again_is_an_error():
    runs = []

    def decode(r):
        runs.append(1)
        return [r.choose([0.5, 0.5], site("bonus", round=i)) for i in range(3 - len(runs))]

    with pytest.raises(ReplayError, match="was a decision of this path"):
        exact_law(decode)


def test_too_many_leaves_says_what_to_shrink():
    target, draft = full_support(4, 0), full_support(4, 1)
    with pytest.raises(TooManyLeaves, match=r"100 leaves seen .* shrink the vocabulary"):
        exact_law(
            lambda r: (
                speculative(target, draft, [0], max_new_tokens=4, lookahead=3, randomness=r).tokens
            ),
            max_leaves=100,
        )


def test_a_law_at_the_default_bound_stays_under_2_gib():
    """A million leaves, by the memory that each of 3,000 adds: nothing but the law may grow."""
    bound, bytes_a_leaf = 3000, 2 * 2**30 / 1_000_000

    def decode(randomness):
        return [randomness.choose([0.25] * 4, site("bonus", round=i)) for i in range(1, 12)]

    tracemalloc.start()
    with pytest.raises(TooManyLeaves):
        exact_law(decode, max_leaves=bound)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < bound * bytes_a_leaf
