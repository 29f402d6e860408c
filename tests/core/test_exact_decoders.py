"""AR, SD and SSD have the target's law: enumerated against an independent oracle."""

import numpy as np
import pytest

from ssd_ref import TableModel, autoregressive, exact_law, speculative, ssd
from ssd_ref.testing import compare_laws, target_law


def random_table(rng, vocabulary, order, zeros):
    """Rows as integer weights, so that zeros and ties occur."""
    weights = rng.integers(0 if zeros else 1, 7, size=(vocabulary,) * (order + 1)).astype(float)
    weights[weights.sum(-1) == 0] = 1
    return TableModel(weights / weights.sum(-1, keepdims=True))


def random_case(seed):
    """Two tables and settings, over orders, zeros, temperatures, truncation, end tokens, lists."""
    rng = np.random.default_rng(seed)
    V, K, N = int(rng.integers(2, 4)), int(rng.integers(0, 4)), int(rng.integers(1, 4))
    models = [random_table(rng, V, int(rng.integers(0, 3)), rng.random() < 0.4) for _ in range(2)]
    prompt = [int(t) for t in rng.integers(0, V, size=rng.integers(0, 4))]
    plain = rng.random() < 0.6
    law = {
        "temperature": 1.0 if plain else float(rng.choice([0.0, 0.5, 1.7])),
        "top_k": None if plain else int(rng.integers(1, V + 1)),
        "top_p": None if plain else float(rng.choice([0.37, 0.83])),
        "eos": int(rng.integers(0, V)) if rng.random() < 0.4 else None,
    }
    draft_law = {} if plain else {"draft_temperature": float(rng.choice([0.0, 0.7, 1.3]))}
    lists = {
        "fan_out": [int(f) for f in rng.integers(0, V + 2, size=K + 1)],
        "fan_out_miss": [int(f) for f in rng.integers(0, V + 2, size=K + 1)],
        "saguaro_c": float(rng.choice([1.0, 0.3, 0.0])),
        "backup": str(rng.choice(["draft", "uniform"])),
    }
    return models, prompt, N, K, law, draft_law, lists


@pytest.mark.parametrize("seed", range(100))
def test_output_law_is_the_targets(seed):
    (target, draft), prompt, N, K, law, draft_law, lists = random_case(seed)
    expected = target_law(target, prompt, max_new_tokens=N, **law)
    common = {"max_new_tokens": N, **law}
    decoders = {
        "AR": lambda r: autoregressive(target, prompt, randomness=r, **common).tokens,
        "SD": lambda r: (
            speculative(
                target, draft, prompt, lookahead=K, randomness=r, **common, **draft_law
            ).tokens
        ),
        "SSD": lambda r: (
            ssd(
                target, draft, prompt, lookahead=K, randomness=r, **common, **draft_law, **lists
            ).tokens
        ),
    }
    for name, decode in decoders.items():
        comparison = compare_laws(exact_law(decode), expected)
        assert comparison.equal, f"{name}: {comparison}"


@pytest.mark.parametrize("seed", range(12))
def test_law_without_marginalising_is_the_same(seed):
    """Every draw of every cache entry branched: larger by orders, so the smallest sizes only."""
    rng = np.random.default_rng(1000 + seed)
    target, draft = random_table(rng, 2, 1, seed % 2), random_table(rng, 2, 2, seed % 3 == 0)
    expected = target_law(target, [1], max_new_tokens=2)

    def decode(r):
        return ssd(
            target, draft, [1], max_new_tokens=2, lookahead=1, fan_out=[1, 1], randomness=r
        ).tokens

    lazy, full = exact_law(decode), exact_law(decode, marginalise=False)
    assert compare_laws(lazy, expected).equal
    assert compare_laws(full, expected).equal


def test_a_wrong_decoder_is_told_where_it_goes_wrong():
    """The oracle can fail: temperature forgotten from the second token on."""
    table = TableModel([[0.2, 0.8], [0.6, 0.4]])

    def decode(r):
        first = autoregressive(table, [0], max_new_tokens=1, temperature=0.5, randomness=r)
        rest = autoregressive(table, first.tokens, max_new_tokens=1, randomness=Later(r))
        return first.tokens + rest.tokens

    class Later:
        """The same source, one round on."""

        sequence = 0

        def __init__(self, source):
            self.source = source

        def choose(self, law, site):
            return self.source.choose(law, site._replace(round=site.round + 1))

    expected = target_law(table, [0], max_new_tokens=2, temperature=0.5)
    comparison = compare_laws(exact_law(decode), expected)
    assert comparison.departure is not None
    assert comparison.departure.position == 2
    assert comparison.departure.prefix == (0,)
    assert comparison.departure.got == pytest.approx({0: 0.2, 1: 0.8})
    assert comparison.departure.expected == pytest.approx({0: 1 / 17, 1: 16 / 17})
