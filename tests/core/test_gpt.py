"""The GPT: after any extends, rewinds and branches, a row is that of a plain forward."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from helpers import METHODS, FunctionModel, law, random_gpt
from oracles import assert_laws_equal, target_law
from ssd_ref.gpt import GPTConfig, TinyGPT

V, LIMIT = 5, 20
EXACT = random_gpt(V, LIMIT, seed=1)
SINGLE = random_gpt(V, LIMIT, seed=1, dtype=torch.float32)
tokens = st.integers(0, V - 1)


def plain(model, text):
    """The oracle: one forward over the whole text, without a cache; a row for each token."""
    with torch.inference_mode():
        return model(torch.tensor([text]))[0].double().numpy()


def off(rows, model, text):
    """How far `rows` are from those that follow the last len(rows) tokens of `text`."""
    return abs(rows - plain(model, text)[len(text) - len(rows) :]).max()


def test_the_rows_of_these_models_depend_on_the_whole_context():
    """Else the comparisons below would show nothing."""
    text = [1, 2, 3, 4, 0, 1, 2]
    for place in range(len(text) - 1):
        other = list(text)
        other[place] = (text[place] + 1) % V
        assert abs(plain(EXACT, text)[-1] - plain(EXACT, other)[-1]).max() > 1e-3


def test_a_block_equals_single_tokens():
    text = [1, 2, 3, 4, 0, 1, 2, 0, 3]
    for model, tolerance in ((EXACT, 1e-12), (SINGLE, 1e-4)):
        for split in range(len(text)):
            assert off(model.start(text[:split]).extend(text[split:]), model, text) <= tolerance
        session = model.start([])
        rows = np.concatenate([session.extend([token]) for token in text])
        assert off(rows, model, text) <= tolerance


def test_without_a_cache_each_row_depends_on_what_came_before_only():
    text = [1, 2, 3, 4, 0, 1]
    whole = plain(EXACT, text)
    for n in range(1, len(text)):
        assert abs(whole[:n] - plain(EXACT, text[:n])).max() <= 1e-12
        assert abs(whole[:n] - plain(EXACT, [*text[:n], 0, 0])[:n]).max() <= 1e-12


moves = st.lists(
    st.one_of(
        st.tuples(st.just("extend"), st.lists(tokens, min_size=1, max_size=6)),
        st.tuples(st.just("rewind"), st.floats(0, 1)),
        st.tuples(
            st.just("branch"),
            st.lists(st.floats(0, 1), min_size=1, max_size=4),  # where, as a share of the text
            st.lists(st.lists(st.tuples(st.integers(0, 3), tokens), max_size=4), max_size=3),
        ),
    ),
    max_size=8,
)


def follow(model, moves, tolerance):
    """Make the moves and compare every row on the way with a plain forward of its own text."""
    session, text = model.start([]), []
    for what, *move in moves:
        if what == "extend":
            block = move[0][: LIMIT - len(text)]
            if block:
                text += block
                assert off(session.extend(block), model, text) <= tolerance
        elif what == "rewind":
            length = round(move[0] * len(text))
            del text[length:]
            session.rewind(length)
        else:
            lengths = [round(share * len(text)) for share in move[0]]
            branches, chains = session.branch(lengths), [text[:n] for n in lengths]
            for step in move[1]:
                fed = {b: t for b, t in step if b < len(lengths) and len(chains[b]) < LIMIT}
                if not fed:
                    continue
                rows = branches.extend(list(fed), list(fed.values()))
                for row, (b, token) in zip(rows, fed.items(), strict=True):
                    chains[b].append(token)
                    assert off(row[None], model, chains[b]) <= tolerance
        assert session.length == len(text)


@given(moves)
def test_any_sequence_of_moves_in_float64(moves):
    follow(EXACT, moves, 1e-12)


@given(moves)
def test_any_sequence_of_moves_in_float32(moves):
    follow(SINGLE, moves, 1e-4)


def test_rewinding_moves_nothing():
    session = EXACT.start([1, 2, 3, 4])
    storage, before = session.cache.data_ptr(), session.cache.clone()
    session.rewind(1)
    assert session.cache.data_ptr() == storage
    assert torch.equal(session.cache, before)
    assert off(session.extend([4, 4]), EXACT, [1, 4, 4]) <= 1e-12
    assert session.cache.data_ptr() == storage


def test_a_branch_copies_no_prefix():
    session = EXACT.start([1, 2, 3, 4])
    storage = session.cache.data_ptr()
    branches = session.branch([4, 4, 2])
    branches.extend([0, 1, 2], [0, 1, 2])
    assert session.cache.data_ptr() == storage
    assert off(session.extend([0]), EXACT, [1, 2, 3, 4, 0]) <= 1e-12


def test_more_branches_than_the_cache_has_slots():
    """The cache grows, and nothing of the shared prefix is lost."""
    text = [t % V for t in range(LIMIT - 2)]
    session = EXACT.start(text)
    branches = session.branch([len(text)] * V)
    first = branches.extend(range(V), range(V))
    second = branches.extend(range(V), [(t + 1) % V for t in range(V)])
    for b in range(V):
        assert off(np.array([first[b], second[b]]), EXACT, [*text, b, (b + 1) % V]) <= 1e-12
    assert off(session.extend([3]), EXACT, [*text, 3]) <= 1e-12


@pytest.mark.parametrize("move", ["extend", "rewind", "branch"])
def test_branches_end_when_their_session_moves(move):
    session = EXACT.start([1, 2, 3])
    branches = session.branch([3])
    branches.extend([0], [1])
    {
        "extend": lambda: session.extend([0]),
        "rewind": lambda: session.rewind(2),
        "branch": lambda: session.branch([3]),
    }[move]()
    with pytest.raises(RuntimeError, match="branch again"):
        branches.extend([0], [2])


def test_an_empty_prompt_starts_from_the_end_token():
    assert EXACT.start_token == V - 1
    assert EXACT.start([]).length == 0


def test_logits_are_float64_on_the_cpu_whatever_the_dtype():
    for dtype in (torch.float64, torch.float32, torch.bfloat16):
        rows = random_gpt(V, LIMIT, dtype=dtype).start([1]).extend([2, 3])
        assert isinstance(rows, np.ndarray)
        assert (rows.dtype, rows.shape) == (np.float64, (2, V))


def test_models_of_one_seed_are_equal_and_the_global_generator_is_not_touched():
    before = torch.random.get_rng_state()
    a, b = random_gpt(seed=3), random_gpt(seed=3)
    assert all(torch.equal(x, y) for x, y in zip(a.parameters(), b.parameters(), strict=True))
    assert torch.equal(torch.random.get_rng_state(), before)


def test_reading_builds_no_graph():
    model = random_gpt(V, LIMIT)
    model.train()
    session = model.start([1, 2])
    session.extend([3])
    assert not session.cache.requires_grad
    assert session.cache.grad_fn is None


def test_training_rows_have_gradients():
    model = random_gpt(V, LIMIT)
    model(torch.tensor([[1, 2, 3]])).sum().backward()
    assert all(weight.grad is not None for weight in model.parameters())


@pytest.mark.parametrize("name", ["vocabulary", "context_limit", "layers", "heads", "width"])
def test_a_shape_must_be_positive(name):
    shape = {"vocabulary": 4, "context_limit": 8, "layers": 1, "heads": 1, "width": 4}
    with pytest.raises(ValueError, match=f"GPTConfig: {name} must be at least 1, got 0"):
        GPTConfig(**{**shape, name: 0})


def test_the_width_must_divide_among_the_heads():
    with pytest.raises(ValueError, match=r"expected a width divisible by 6.*, got 8"):
        GPTConfig(vocabulary=4, context_limit=8, layers=1, heads=3, width=8)


def test_every_layer_and_position_counts():
    """Permuting the text, or leaving out a layer, changes the last row."""
    text = [1, 2, 3, 4]
    rows = [plain(EXACT, order)[-1] for order in (text, [2, 1, 3, 4], [3, 2, 1, 4])]
    assert all(abs(a - b).max() > 1e-3 for a, b in pairwise(rows))
    shallow = TinyGPT(GPTConfig(V, LIMIT, layers=1, heads=2, width=16)).double().eval()
    weights = {k: v for k, v in EXACT.state_dict().items() if not k.startswith("blocks.1.")}
    shallow.load_state_dict(weights)
    assert abs(plain(shallow, text) - plain(EXACT, text)).max() > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "eos"),
    [("ar", None), ("sd", None), ("ssd-hits", None), *((method, 1) for method in METHODS)],
)
def test_the_output_law_of_every_decoder_on_a_gpt(method, eos):
    """A drafted end token shortens the block, and so changes the last bits of its rows."""
    target, draft = random_gpt(3, 12, seed=4), random_gpt(3, 12, seed=1003)
    n, lookahead = (2, 2) if eos is None else (3, 3)
    expected = target_law(FunctionModel(3, lambda text: plain(target, text)[-1]), [0], n, eos=eos)
    found = law(method, target, draft, lookahead=lookahead, max_new_tokens=n, eos=eos)
    assert_laws_equal(found, expected, tolerance=1e-9)
