"""Continuations of many prompts at once: one row each, with the target's logits beside them.

This is for training and measuring: a row neither ends nor streams, and the whole batch advances
by one token a step. The decoders of this package are elsewhere.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from ssd_ref.gpt import Attend, TinyGPT


class BatchCache:
    """Keys and values of a batch whose rows all have the same length."""

    def __init__(self, model: TinyGPT, rows: int, limit: int) -> None:
        c = model.config
        shape = (c.layers, 2, rows, c.heads, limit, c.width // c.heads)
        self.model, self.length = model, 0
        self.memory = torch.zeros(shape, dtype=model.embedding.weight.dtype)

    def attend(self, layer: int, start: int, end: int) -> Attend:
        keys, values = self.memory[layer]

        def read(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            keys[:, :, start:end], values[:, :, start:end] = k, v
            alone = end - start == 1  # a single query sees everything
            return F.scaled_dot_product_attention(
                q, keys[:, :, :end], values[:, :, :end], is_causal=start == 0 and not alone
            )

        return read

    def extend(self, tokens: Tensor) -> Tensor:
        """Logits (rows, T, V) after each of `tokens` (rows, T); T > 1 only at the beginning."""
        start, end = self.length, self.length + tokens.shape[1]
        assert start == 0 or tokens.shape[1] == 1
        self.length = end
        turn = (self.model.cos[start:end], self.model.sin[start:end])
        attends = [self.attend(i, start, end) for i in range(len(self.model.blocks))]
        return self.model.logits(tokens, turn, attends)


def draw(logits: Tensor, temperature: float, uniforms: Tensor) -> Tensor:
    """One token a row of `logits` (rows, V) by inversion of `uniforms` (rows,); greedy at 0."""
    if temperature == 0:
        return logits.argmax(-1)
    law = (logits.double() / temperature).softmax(-1)
    below = law.cumsum(-1) <= uniforms[:, None]
    return below.sum(-1).clamp(max=logits.shape[-1] - 1)


@torch.inference_mode()
def continue_rows(
    model: TinyGPT, prompts: Tensor, new: int, temperature: float, *, seed: int, batch: int = 0
) -> tuple[Tensor, Tensor]:
    """Continue `prompts` (rows, P) by `new` tokens each; the draws are a function of the seeds.

    Returns tokens (rows, P+new) int16 and float16 logits (rows, P+new, V): those at position i
    belong to the law of token i+1, so the last ones have no token yet.
    """
    rows, P = prompts.shape
    uniforms = np.random.Generator(np.random.Philox(key=[seed, batch])).random((new, rows))
    cache = BatchCache(model, rows, P + new)
    logits = cache.extend(prompts)
    tokens, seen = [prompts], [logits.half()]
    for u in uniforms:
        tokens.append(draw(logits[:, -1], temperature, torch.from_numpy(u))[:, None])
        logits = cache.extend(tokens[-1])
        seen.append(logits.half())
    return torch.cat(tokens, 1).to(torch.int16), torch.cat(seen, 1)
