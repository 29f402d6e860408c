"""One forward of a TinyGPT for many texts of different lengths, without padding.

The new tokens of all texts stand in one row, one text behind the other. A layer norm, a linear
layer or a perceptron looks at one token at a time and does not care whose it is; only attention
does, and it is computed text by text, each on its own KV cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ssd_ref.batched.reading import BatchedModel
from ssd_ref.gpt import GPTSession, TinyGPT, cached
from ssd_ref.models import Model, Rows


class Work(NamedTuple):
    """New tokens of one text: what the core's `GPTSession.read` is given, and where rows go."""

    session: DeferredSession
    tokens: list[int]
    positions: Tensor  # (n,)
    first: int  # slot of the first of them; the others follow
    mask: Tensor | None  # (n, slots), added to the scores
    rows: Rows  # (n, V), filled by the forward


class DeferredSession(GPTSession):
    """The core's session, whose forwards wait in a queue: it returns rows that are filled later."""

    def __init__(self, model: TinyGPT, queue: list[Work]) -> None:
        super().__init__(model)
        self.queue, self.end = queue, 0  # end: slots in use

    def rewind(self, length: int) -> None:
        super().rewind(length)
        self.end = length

    def read(
        self, tokens: Sequence[int], positions: Tensor, first: int, unseen: Tensor | None
    ) -> Rows:
        self.end = first + len(tokens)
        if self.end > self.cache.shape[4]:
            old = self.cache
            self._reserve(2 * self.end)
            self.cache[:, :, :, :, : old.shape[4]] = old
        mask = None
        if unseen is not None:
            mask = self.cache.new_zeros(unseen.shape).masked_fill_(unseen, float("-inf"))
        rows = np.empty((len(tokens), self.model.vocabulary))
        self.queue.append(Work(self, list(tokens), positions, first, mask, rows))
        return rows


class RaggedGPT(BatchedModel):
    """A TinyGPT read by many texts at once."""

    def __init__(self, model: TinyGPT) -> None:
        super().__init__(model)
        self.gpt, self.queue = model, list[Work]()

    def open(self, tokens: Sequence[int]) -> DeferredSession:
        session = DeferredSession(self.gpt, self.queue)
        session.extend(tokens)
        return session

    @torch.inference_mode()
    def forward(self) -> None:
        super().forward()
        work, model = self.queue.copy(), self.gpt
        self.queue.clear()
        if not work:
            return
        positions = torch.cat([job.positions for job in work])
        turn = model.cos[positions], model.sin[positions]
        ids = torch.tensor([[t for job in work for t in job.tokens]], device=positions.device)
        attends = [partial(each_its_own, work, layer) for layer in range(model.config.layers)]
        logits = model.logits(ids, turn, attends)[0].cpu().double()
        for job, rows in zip(work, logits.split_with_sizes(sizes(work)), strict=True):
            job.rows[:] = rows.numpy()

    def memory(self) -> tuple[int, int]:
        sessions = [seat.session for seat in self.seats]
        mine = [session for session in sessions if isinstance(session, DeferredSession)]
        return sum(s.cache.nbytes for s in mine), sum(s.end for s in mine)


def each_its_own(work: Sequence[Work], layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Attention (1, heads, sum of n, D), each text's to its own cache."""
    parts = zip(work, *(x.split_with_sizes(sizes(work), dim=2) for x in (q, k, v)), strict=True)
    read = [cached(job.session.cache[layer], job.first, job.mask, *qkv) for job, *qkv in parts]
    return torch.cat(read, dim=2)


def sizes(work: Sequence[Work]) -> list[int]:
    return [len(job.tokens) for job in work]


def batched(model: Model) -> BatchedModel:
    """The model for many texts: in one forward where that is known, in turn for any other."""
    return RaggedGPT(model) if isinstance(model, TinyGPT) else BatchedModel(model)
