"""Laws on tables that look two back; the base of the stored wrong solutions."""

import numpy as np

from ssd_ref import SeededRandomness, TableModel, exact_law
from ssd_ref.testing import compare_laws, target_law


def two_back(seed):
    rng = np.random.default_rng(seed)
    return [TableModel(rng.dirichlet((1, 1), (2, 2))) for _ in range(2)]


def same_law(decode, target, draft, prompt, lookahead, **settings):
    def run(randomness):
        return decode(
            target, draft, list(prompt), lookahead=lookahead, randomness=randomness, **settings
        )

    comparison = compare_laws(exact_law(run), target_law(target, prompt, **settings))
    assert comparison.equal, str(comparison)


def test_law(decode):
    for seed in (1, 2):
        same_law(decode, *two_back(seed), [1, 0], 2, max_new_tokens=3)


def test_zeros(decode):
    target, draft = TableModel([0.5, 0.1, 0.4, 0]), TableModel([0.1, 0.6, 0, 0.3])
    same_law(decode, target, draft, [0], 2, max_new_tokens=1)


def test_three_rounds(decode):
    same_law(decode, TableModel([0.8, 0.2]), TableModel([0.3, 0.7]), [0], 1, max_new_tokens=3)


def test_temperature(decode):
    for temperature in (0, 2):
        same_law(decode, *two_back(4), [0], 2, max_new_tokens=2, temperature=temperature)


def test_end_token(decode):
    same_law(decode, *two_back(3), [0], 2, max_new_tokens=3, eos=1)


def test_lengths_and_prompt(decode):
    target, draft = two_back(3)
    for n in range(4):
        prompt = [0]
        tokens = decode(
            target, draft, prompt, max_new_tokens=n, lookahead=2, randomness=SeededRandomness(5)
        )
        assert len(tokens) == n
        assert prompt == [0]
