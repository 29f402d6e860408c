"""TinyGPT: a small pre-norm decoder with a preallocated KV cache.

One forward serves training, prompts, single steps, verification blocks and batched branches:
each new token has a *slot* in the cache, a *position* in the text, and a set of slots it may see.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ssd_ref.models import Rows, check_rewind, check_room, check_tokens

Attend = Callable[[Tensor, Tensor, Tensor], Tensor]  # q, k, v of the new tokens -> what they read


@dataclass(frozen=True)
class GPTConfig:
    """Shape of a :class:`TinyGPT`; the last token of the vocabulary is the end token."""

    vocabulary: int
    context_limit: int
    layers: int
    heads: int
    width: int

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value < 1:
                raise ValueError(f"GPTConfig: {name} must be at least 1, got {value}")
        if self.width % (2 * self.heads):
            raise ValueError(
                f"GPTConfig: expected a width divisible by {2 * self.heads}, got {self.width}"
            )


class Block(nn.Module):
    """Attention and a two-layer perceptron, each behind a layer norm and added to the stream."""

    def __init__(self, config: GPTConfig, dropout: float) -> None:
        super().__init__()
        C = config.width
        self.heads, self.dropout = config.heads, dropout
        self.norm1, self.norm2 = nn.LayerNorm(C, bias=False), nn.LayerNorm(C, bias=False)
        self.qkv, self.out = nn.Linear(C, 3 * C, bias=False), nn.Linear(C, C, bias=False)
        self.up, self.down = nn.Linear(C, 4 * C, bias=False), nn.Linear(4 * C, C, bias=False)

    def forward(self, x: Tensor, turn: tuple[Tensor, Tensor], attend: Attend) -> Tensor:
        B, T, C = x.shape  # batch, new tokens, width
        qkv = self.qkv(self.norm1(x)).view(B, T, 3 * self.heads, -1).transpose(1, 2)
        qk, v = qkv.split((2 * self.heads, self.heads), dim=1)  # (B, heads, T, C/heads) each
        q, k = rotate(qk, turn).chunk(2, dim=1)
        x = x + self.drop(self.out(attend(q, k, v).transpose(1, 2).reshape(B, T, C)))
        return x + self.drop(self.down(F.gelu(self.up(self.norm2(x)))))

    def drop(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.dropout) if self.training and self.dropout else x


def rotate(x: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
    """Rotary positions: turn each pair (i, i + D/2) of the last axis by position * frequency_i."""
    cos, sin = turn  # (T, D) each; the sine carries the sign of the rotation
    return x * cos + x.roll(x.shape[-1] // 2, dims=-1) * sin


def cached(
    layer: Tensor, first: int, mask: Tensor | None, q: Tensor, k: Tensor, v: Tensor
) -> Tensor:
    """Write new keys and values into a layer (2, 1, heads, slots, D); read all up to them."""
    end = first + k.shape[2]
    layer[0, :, :, first:end], layer[1, :, :, first:end] = k, v
    keys, values = layer[:, :, :, :end]
    return F.scaled_dot_product_attention(q, keys, values, attn_mask=mask)


def causal(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


class TinyGPT(nn.Module):
    """A decoder-only transformer over `config.vocabulary` tokens; its embedding is its head."""

    def __init__(self, config: GPTConfig, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.config = config
        self.cos: Tensor
        self.sin: Tensor
        self.embedding = nn.Embedding(config.vocabulary, config.width)
        self.blocks = nn.ModuleList(Block(config, dropout) for _ in range(config.layers))
        self.norm = nn.LayerNorm(config.width, bias=False)
        D = config.width // config.heads
        angle = torch.outer(torch.arange(config.context_limit), 1e4 ** (-torch.arange(0, D, 2) / D))
        self.register_buffer("cos", angle.cos().repeat(1, 2), persistent=False)
        self.register_buffer("sin", torch.cat((-angle.sin(), angle.sin()), 1), persistent=False)
        for name, weight in self.named_parameters():
            if weight.dim() == 2:
                last = name.endswith(("out.weight", "down.weight"))
                nn.init.normal_(weight, std=0.02 / (2 * config.layers) ** 0.5 if last else 0.02)

    @property
    def vocabulary(self) -> int:
        return self.config.vocabulary

    @property
    def context_limit(self) -> int:
        return self.config.context_limit

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits (B, T, V) of the next token after each of `tokens` (B, T), without a cache."""
        T = tokens.shape[1]
        return self.logits(tokens, (self.cos[:T], self.sin[:T]), [causal] * len(self.blocks))

    def logits(
        self, tokens: Tensor, turn: tuple[Tensor, Tensor], attends: Sequence[Attend]
    ) -> Tensor:
        x = self.embedding(tokens)
        for block, attend in zip(self.blocks, attends, strict=True):
            x = block(x, turn, attend)
        return F.linear(self.norm(x), self.embedding.weight)

    @property
    def start_token(self) -> int:
        return self.config.vocabulary - 1

    def start(self, tokens: Sequence[int]) -> GPTSession:
        """A session with its own cache that has read `tokens`."""
        session = GPTSession(self)
        session.extend(tokens)
        return session


class GPTSession:
    """A text read by a :class:`TinyGPT`: a KV cache with one slot a token, and a length.

    Rewinding only moves the length. Branches write behind it and are masked from one another.
    """

    def __init__(self, model: TinyGPT) -> None:
        self.model, self.length, self.version = model, 0, 0
        self._reserve(model.config.context_limit)

    def _reserve(self, slots: int) -> None:
        """Room for `slots` tokens: keys and values (layers, 2, 1, heads, slots, C/heads)."""
        c, like = self.model.config, self.model.embedding.weight
        self.cache = like.new_zeros(c.layers, 2, 1, c.heads, slots, c.width // c.heads)

    def extend(self, tokens: Sequence[int]) -> Rows:
        check_tokens(tokens, self.model.vocabulary)
        check_room(self.length, len(tokens), self.model.context_limit)
        n = len(tokens)
        if n == 0:
            return np.empty((0, self.model.vocabulary))
        positions = torch.arange(self.length, self.length + n, device=self.cache.device)
        slots = torch.arange(self.length + n, device=self.cache.device)
        unseen = None if n == 1 else slots > positions[:, None]  # (n, slots)
        rows = self.read(tokens, positions, self.length, unseen)
        self.length, self.version = self.length + n, self.version + 1
        return rows

    def rewind(self, length: int) -> None:
        check_rewind(length, self.length)
        self.length, self.version = length, self.version + 1

    def branch(self, lengths: Sequence[int]) -> GPTBranches:
        for length in lengths:
            check_rewind(length, self.length)
        self.version += 1
        return GPTBranches(self, lengths)

    @torch.inference_mode()
    def read(
        self, tokens: Sequence[int], positions: Tensor, first: int, unseen: Tensor | None
    ) -> Rows:
        """One forward on n tokens, written to slots `first`.., blind to the `unseen` slots."""
        end = first + len(tokens)
        if end > self.cache.shape[4]:
            old = self.cache
            self._reserve(2 * end)
            self.cache[:, :, :, :, : old.shape[4]] = old

        mask = None  # added to the scores; a mask of floats is cheaper than one of booleans
        if unseen is not None:
            mask = self.cache.new_zeros(unseen.shape).masked_fill_(unseen, float("-inf"))

        turn = self.model.cos[positions], self.model.sin[positions]
        ids = torch.tensor([list(tokens)], device=self.cache.device)
        attends = [partial(cached, layer, first, mask) for layer in self.cache]
        logits = self.model.logits(ids, turn, attends)
        return logits[0].cpu().double().numpy()


class GPTBranches:
    """Branches of a session in one forward: a mask lets each see its prefix and its own chain."""

    def __init__(self, session: GPTSession, lengths: Sequence[int]) -> None:
        self.session, self.version = session, session.version
        self.prefixes, self.next = list(lengths), session.length
        self.chains: list[list[int]] = [[] for _ in lengths]  # slots of each branch's own tokens

    def extend(self, which: Sequence[int], tokens: Sequence[int]) -> Rows:
        session, first = self.session, self.next
        if session.version != self.version:
            raise RuntimeError("branches end when their session moves or is branched: branch again")
        check_tokens(tokens, session.model.vocabulary)
        if len(which) != len(tokens):
            raise ValueError(f"expected a token a branch, got {len(which)} and {len(tokens)}")
        if not which:
            return np.empty((0, session.model.vocabulary))
        positions = [self.prefixes[b] + len(self.chains[b]) for b in which]
        check_room(max(positions), 1, session.model.context_limit)
        unseen = np.ones((len(which), first + len(which)), dtype=bool)
        for row, b in enumerate(which):
            self.chains[b].append(first + row)
            unseen[row, : self.prefixes[b]] = unseen[row, self.chains[b]] = False
        self.next += len(which)
        device = session.cache.device
        where = torch.tensor(positions, device=device)
        return session.read(tokens, where, first, torch.from_numpy(unseen).to(device))
