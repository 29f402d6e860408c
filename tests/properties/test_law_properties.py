"""The output law of AR, SD and SSD is the target's, wherever it can be enumerated."""

import pytest
from hypothesis import given

from profiles import MOST_LEAVES, covered
from ssd_ref import TableModel, autoregressive, exact_law, speculative, ssd
from ssd_ref.testing import compare_laws, target_law
from ssd_ref.testing.strategies import Case, cases, most_leaves

DECODERS = {
    "AR": lambda case, r: autoregressive(case.target, case.prompt, randomness=r, **case.ar()),
    "SD": lambda case, r: speculative(
        case.target, case.draft, case.prompt, randomness=r, **case.sd()
    ),
    "SSD": lambda case, r: ssd(case.target, case.draft, case.prompt, randomness=r, **case.ssd()),
}


def check(case, names=("AR", "SD", "SSD")):
    expected = target_law(case.target, case.prompt, **case.ar())
    for name in names:
        law = exact_law(lambda r, name=name: DECODERS[name](case, r).tokens)
        comparison = compare_laws(law, expected)
        assert comparison.equal, f"{name}: {comparison}"
    covered(case)


@given(cases(plain=True, most=MOST_LEAVES))
def test_plain_laws(case):
    """Positive temperature and no truncation: the laws with many texts, half of all examples."""
    check(case)


@given(cases(most=MOST_LEAVES))
def test_laws_of_every_kind(case):
    check(case)


def corner(V, K, N, zeros=False, **cache):
    """A case of stated size with order-2 tables, the draft's reversed."""
    table = [
        [[(3 * a + 5 * b + 7 * x) % 6 + (0 if zeros else 1) for x in range(V)] for b in range(V)]
        for a in range(V)
    ]
    table = [
        [[x / sum(row) for x in row] if sum(row) else [1 / V] * V for row in rows] for rows in table
    ]
    draft = [[row[::-1] for row in rows] for rows in table[::-1]]
    settings = {"fan_out": [1] * (K + 1), "fan_out_miss": [2] * (K + 1), "saguaro_c": 0.5}
    return Case(TableModel(table), TableModel(draft), [1], N, K, cache={**settings, **cache})


SIZES = [(V, K, N) for V in (2, 3, 4) for K in range(4) for N in range(4)]


@pytest.mark.parametrize(
    ("V", "K", "N"),
    [pytest.param(*s, marks=[pytest.mark.slow] if most_leaves(*s) > 300 else []) for s in SIZES],
)
def test_every_size_with_full_support_and_with_zeros(V, K, N):
    for zeros in (False, True):
        check(corner(V, K, N, zeros))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("V", "K", "N"), [(2, 3, 5), (3, 1, 5), (3, 2, 5), (3, 3, 5), (4, 1, 4), (4, 2, 4), (4, 3, 4)]
)
def test_the_large_corners(V, K, N):
    check(corner(V, K, N), names=("SSD",))


@pytest.mark.thorough
def test_the_largest_corner():
    check(corner(4, 3, 5), names=("SD", "SSD"))
