"""With hypothesis: random tables and settings, all in one property, and two plain tests."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ssd_ref import SeededRandomness, TableModel, exact_law
from ssd_ref.testing import compare_laws, target_law


def tables(seed):
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 10, (2, 2, 2, 2)) / 1.0
    return [TableModel(w / w.sum(-1, keepdims=True)) for w in weights]


@settings(max_examples=3)
@given(
    seed=st.integers(1, 10**6),
    eos=st.sampled_from([None, 1]),
    temperature=st.sampled_from([1, 1.5]),
)
def test_any_tables(decode, seed, eos, temperature):
    target, draft = tables(seed)
    law = exact_law(
        lambda r: decode(
            target,
            draft,
            [1, 0],
            max_new_tokens=3,
            lookahead=2,
            eos=eos,
            temperature=temperature,
            randomness=r,
        )
    )
    assert compare_laws(
        law, target_law(target, [1, 0], max_new_tokens=3, eos=eos, temperature=temperature)
    )


def test_no_memory(decode):
    target, draft = TableModel([0.8, 0.2]), TableModel([0.3, 0.7])
    law = exact_law(
        lambda r: decode(target, draft, [0], max_new_tokens=3, lookahead=1, randomness=r)
    )
    assert compare_laws(law, target_law(target, [0], max_new_tokens=3))


def test_nothing_asked_for(decode):
    target, draft = tables(1)
    prompt = [0, 1]
    run = {"lookahead": 2, "randomness": SeededRandomness(0)}
    assert list(decode(target, draft, prompt, max_new_tokens=0, **run)) == []
    decode(target, draft, prompt, max_new_tokens=3, **run)
    assert prompt == [0, 1]
