"""Language modelling by blocks: training batches, the attention that is fast on a CPU, losses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from ssd_ref.gpt import TinyGPT


def block_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Causal attention by plain products; q, k, v (B, heads, T, D).

    The fused kernel's backward pass takes four times as long on a CPU in bfloat16.
    Queries are taken in four parts, so that most of the masked half is never computed.
    """
    T = q.shape[2]
    part = T if T <= 128 else T // 4
    out = [attend_to(q[:, :, i : i + part], k, v, i) for i in range(0, T, part)]
    return out[0] if len(out) == 1 else torch.cat(out, dim=2)


def attend_to(q: Tensor, k: Tensor, v: Tensor, start: int) -> Tensor:
    """Attention of the queries at positions start, start+1, ... to all keys up to their own."""
    B, H, t, D = q.shape
    end = start + t
    mask = torch.full((t, end), float("-inf"), dtype=q.dtype).triu(1 + start)
    scores = torch.baddbmm(
        mask.expand(B * H, t, end),
        q.flatten(0, 1),
        k[:, :, :end].flatten(0, 1).mT,
        alpha=D**-0.5,
    )
    return torch.bmm(scores.softmax(-1), v[:, :, :end].flatten(0, 1)).view(B, H, t, D)


def block_logits(model: TinyGPT, tokens: Tensor) -> Tensor:
    """Float32 logits (B, T, V) of token blocks (B, T), computed in bfloat16."""
    T = tokens.shape[1]
    turn = (model.cos[:T].bfloat16(), model.sin[:T].bfloat16())
    with torch.autocast("cpu", torch.bfloat16):
        logits = model.logits(tokens, turn, [block_attention] * len(model.blocks))
    return logits.float()


def cross_entropy(model: TinyGPT, block: Tensor) -> Tensor:
    """Mean nats of tokens 1.. of each row of `block` (B, T+1) given those before them."""
    logits = block_logits(model, block[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), block[:, 1:].flatten())


def random_blocks(
    stream: NDArray[np.int16], rows: int, length: int, *, seed: int, step: int
) -> Tensor:
    """`rows` windows of `length` tokens of `stream`, a function of (seed, step): (rows, length)."""
    generator = np.random.Generator(np.random.Philox(key=[seed, step]))
    starts = generator.integers(0, len(stream) - length + 1, size=rows)
    return torch.from_numpy(stream[starts[:, None] + np.arange(length)].astype(np.int64))


def sliding_blocks(
    tokens: Sequence[int], context: int, fresh: int
) -> Iterator[tuple[list[int], int]]:
    """Windows that cover each token after the first once: (window, how many last tokens are new).

    A window holds at most `context`+1 tokens, of which at most `fresh` are new.
    """
    for end in range(1, len(tokens), fresh):
        stop = min(len(tokens), end + fresh)
        yield list(tokens[max(0, stop - context - 1) : stop]), stop - end


@torch.no_grad()
def token_losses(
    model: TinyGPT, tokens: Sequence[int], *, context: int = 512, fresh: int = 256
) -> NDArray[np.float64]:
    """Nats of each token of one document given those before it: shape (len(tokens)-1,)."""
    losses = []
    for window, new in sliding_blocks(tokens, context, fresh):
        row = torch.tensor([window])
        logits = model(row[:, :-1])[0, -new:].double()
        losses.append(F.cross_entropy(logits, row[0, -new:], reduction="none"))
    return np.concatenate([piece.numpy() for piece in losses])
