"""The interface of a model, its slow and obvious form, and the table."""

import numpy as np
import pytest

from helpers import FunctionModel, random_gpt, random_table
from ssd_ref import TableModel

BOTH = pytest.mark.parametrize(
    "model", [TableModel(np.full((3, 3), 1 / 3), 4), random_gpt(3, 4)], ids=["table", "gpt"]
)


def probabilities(logits):
    return np.exp(logits).tolist()


def test_order_0_has_one_row_for_every_context():
    model = TableModel([0.2, 0.3, 0.5])
    assert (model.vocabulary, model.order) == (3, 0)
    assert (model.context_limit, model.start_token) == (None, 0)
    for context in ([], [0], [2, 1, 2]):
        assert probabilities(model.logits_after(context)) == pytest.approx([0.2, 0.3, 0.5])


def test_order_1_reads_the_last_token():
    table = np.array([[0.5, 0.5], [0.9, 0.1]])
    model = TableModel(table)
    rows = model.start([]).extend([0, 1, 1, 0])
    np.testing.assert_allclose(np.exp(rows), table[[0, 1, 1, 0]], rtol=1e-15)
    assert rows.dtype == np.float64


def test_order_2_reads_the_last_two_tokens_and_pads_with_token_0():
    table = random_table(np.random.default_rng(0), 3, order=2)
    model = TableModel(table)
    assert (model.vocabulary, model.order) == (3, 2)
    rows = np.exp(model.start([]).extend([2, 1, 2]))
    np.testing.assert_allclose(rows, [table[0, 2], table[2, 1], table[1, 2]], rtol=1e-15)
    np.testing.assert_allclose(np.exp(model.logits_after([])), table[0, 0], rtol=1e-15)


def test_probability_0_is_the_logit_minus_infinity():
    assert TableModel([1, 0]).logits_after([]).tolist() == [0.0, -np.inf]


def test_a_table_is_a_copy():
    table = np.array([0.5, 0.5])
    model = TableModel(table)
    table[0] = 7
    assert probabilities(model.logits_after([])) == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (1.0, r"expected a table of shape \(V,\)\*m \+ \(V,\), got \(\)"),
        ([], r"expected a table of shape \(V,\)\*m \+ \(V,\), got \(0,\)"),
        ([[0.5, 0.5]], r"expected a table of shape \(V,\)\*m \+ \(V,\), got \(1, 2\)"),
        ([[0.2, 0.3, 0.5]] * 2, r"got \(2, 3\)"),
        ([0.5, 0.4], "every row must be a law .* sum is off by 0.1"),
        ([[0.5, 0.5], [0.5, 0.6]], "sum is off by 0.1"),
        ([1.5, -0.5], "every row must be a law .* got least entry -0.5"),
        ([np.nan, 1.0], "every row must be a law .* got least entry nan"),
        ([np.inf, 0.0], "every row must be a law"),
    ],
)
def test_a_table_of_another_shape_or_without_laws_is_refused(table, message):
    with pytest.raises(ValueError, match=f"TableModel: .*{message}"):
        TableModel(table)


def test_rounding_in_a_table_is_allowed():
    TableModel([0.1] * 10)
    TableModel(np.full(3, 0.333333333333))


def test_a_function_of_the_whole_context():
    model = FunctionModel(2, lambda context: [len(context), sum(context)])
    session = model.start([1, 1])
    assert session.extend([0, 1]).tolist() == [[3, 2], [4, 3]]
    session.rewind(1)
    assert session.extend([0]).tolist() == [[2, 1]]


# What every model does


@BOTH
def test_rows_and_lengths(model):
    session = model.start([0, 1])
    assert session.length == 2
    rows = session.extend([2, 0])
    assert (rows.shape, rows.dtype, session.length) == ((2, 3), np.float64, 4)
    session.rewind(4)
    session.rewind(1)
    assert session.length == 1
    assert model.start([]).length == 0


@BOTH
def test_nothing_to_read_gives_no_rows(model):
    session = model.start([0, 1])
    assert session.extend([]).shape == (0, 3)
    assert session.length == 2
    assert session.branch([2]).extend([], []).shape == (0, 3)
    assert session.branch([]).extend([], []).shape == (0, 3)


@BOTH
def test_sessions_of_one_model_do_not_see_each_other(model):
    a, b = model.start([0]), model.start([0])
    alone = model.start([0])
    expected = [alone.extend([1])[0], alone.extend([2])[0]]
    first = a.extend([1])[0]
    b.extend([2])
    np.testing.assert_array_equal([first, a.extend([2])[0]], expected)


@BOTH
def test_room_is_checked_before_anything_is_read(model):
    session = model.start([0, 1, 2])
    with pytest.raises(ValueError, match="context limit 4: 3 tokens read, no room for 2 more"):
        session.extend([0, 1])
    assert session.length == 3
    branches = session.branch([3])
    branches.extend([0], [1])
    with pytest.raises(ValueError, match="context limit 4: 4 tokens read, no room for 1 more"):
        branches.extend([0], [1])
    with pytest.raises(ValueError, match="context limit 4: 0 tokens read, no room for 5 more"):
        model.start([0] * 5)


@BOTH
def test_a_length_to_rewind_to_or_branch_from_must_have_been_read(model):
    session = model.start([0, 1])
    for length in (-1, 3):
        expected = rf"rewind: expected a length in \[0, 2\], got {length}"
        with pytest.raises(ValueError, match=expected):
            session.rewind(length)
        with pytest.raises(ValueError, match=expected):
            session.branch([length])
    assert session.length == 2


@BOTH
@pytest.mark.parametrize("token", [-1, 3, 0.5, True, None])
def test_a_token_must_be_an_id_of_the_vocabulary(model, token):
    session = model.start([0])
    expected = rf"tokens\[1\]: expected an integer in \[0, 3\), got {token!r}"
    with pytest.raises(ValueError, match=expected):
        session.extend([0, token])
    assert session.length == 1


@BOTH
def test_a_branch_must_be_fed_one_token_each(model):
    branches = model.start([0, 1]).branch([1, 2])
    with pytest.raises(ValueError):
        branches.extend([0, 1], [2])


@BOTH
def test_branches_share_their_prefix_and_do_not_see_each_other(model):
    session = model.start([0, 1])
    branches = session.branch([2, 2, 1])
    first = branches.extend([0, 1, 2], [0, 2, 2])
    second = branches.extend([2, 0], [0, 1])
    for row, text in zip(
        [*first, *second], ([0, 1, 0], [0, 1, 2], [0, 2], [0, 2, 0], [0, 1, 0, 1]), strict=True
    ):
        np.testing.assert_allclose(row, model.start(text[:-1]).extend(text[-1:])[0], atol=1e-12)
    assert session.length == 2
    np.testing.assert_allclose(
        session.extend([2])[0], model.start([0, 1]).extend([2])[0], atol=1e-12
    )
