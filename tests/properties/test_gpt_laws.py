"""The law checks on the GPT: KV cache, rewinds and batched branches included, in float64."""

import pytest
import torch

from ssd_ref import autoregressive, exact_law, speculative, ssd
from ssd_ref.gpt import GPTConfig, TinyGPT
from ssd_ref.testing import compare_laws, target_law


def random_gpt(vocabulary, seed):
    """Small and far from uniform: weights large enough that the context matters."""
    torch.manual_seed(seed)
    model = (
        TinyGPT(GPTConfig(vocabulary, 16, layers=1 + seed % 2, heads=2, width=8)).double().eval()
    )
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(15 if weight.dim() == 2 else 1)
    return model


@pytest.mark.parametrize(
    ("V", "K", "N", "settings"),
    [
        (2, 2, 3, {}),
        (3, 1, 2, {"temperature": 0.5, "eos": 1}),
        (3, 2, 2, {"top_p": 0.87}),
        (4, 1, 2, {"top_k": 3}),
        (3, 2, 3, {"temperature": 0.0}),
    ],
)
def test_the_gpts_output_law_is_the_targets(V, K, N, settings):
    target, draft = random_gpt(V, 2 * V + K), random_gpt(V, 2 * V + K + 1)
    common = {"max_new_tokens": N, **settings}
    expected = target_law(target, [0, 1], **common)
    decoders = [
        lambda r: autoregressive(target, [0, 1], randomness=r, **common),
        lambda r: speculative(target, draft, [0, 1], lookahead=K, randomness=r, **common),
        lambda r: ssd(
            target, draft, [0, 1], lookahead=K, fan_out=[2] * K + [1], fan_out_miss=[1] * (K + 1),
            saguaro_c=0.4, randomness=r, **common,
        ),
    ]  # fmt: skip
    for decode in decoders:
        law = exact_law(lambda r, decode=decode: decode(r).tokens)
        assert compare_laws(law, expected, tolerance=1e-9).equal
