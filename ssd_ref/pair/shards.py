"""What the draft learns from: token rows with the target's logits, kept in files of some rows.

The target is thirty times dearer than the draft, and each row is used many times, so the target
reads every row once. A shard is a safetensors file with `tokens` (rows, L) int16 and `logits`
(rows, L, V) float16; one that is already there is not made again, so making them resumes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.nn import functional as F
from tqdm import tqdm  # type: ignore[import-untyped]

from ssd_ref.gpt import TinyGPT
from ssd_ref.pair.lm import block_logits, random_blocks
from ssd_ref.pair.sampling import continue_rows

Shard = dict[str, Tensor]


def make_shards(folder: Path, count: int, make: Callable[[int], Shard]) -> list[Path]:
    """Paths of shards 0..count-1 in `folder`, made by `make(i)` where they are missing."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{i:04d}.safetensors" for i in range(count)]
    for i, path in enumerate(tqdm(paths, desc=folder.name, unit="shard")):
        if not path.exists():
            fresh = path.with_suffix(".new")
            save_file(make(i), fresh)
            fresh.replace(path)
    return paths


def text_shards(
    target: TinyGPT, stream: NDArray[np.int16], folder: Path, *, seed: int, rows: int = 64
) -> list[Path]:
    """The whole training text once, in shuffled rows as long as the context."""
    L = target.context_limit
    starts = np.arange(0, len(stream) - L + 1, L)
    np.random.Generator(np.random.Philox(key=[seed, 0])).shuffle(starts)

    def make(i: int) -> Shard:
        chosen = starts[i * rows : (i + 1) * rows, None] + np.arange(L)
        tokens = torch.from_numpy(stream[chosen])
        with torch.inference_mode():
            logits = [block_logits(target, part.long()).half() for part in torch.split(tokens, 16)]
        return {"tokens": tokens, "logits": torch.cat(logits)}

    return make_shards(folder, -(-len(starts) // rows), make)


# (temperature, prompt length, new tokens): what shard i holds, in turns. Temperature 1 is what
# acceptance is measured at; the cooler ones teach the contexts of greedy decoding.
RECIPES = (
    (1.0, 64, 192),
    (1.0, 16, 240),
    (0.0, 64, 96),
    (1.0, 64, 256),
    (0.7, 64, 192),
    (1.0, 128, 384),
)


def sample_shards(
    target: TinyGPT,
    stream: NDArray[np.int16],
    folder: Path,
    *,
    seed: int,
    count: int,
    rows: int = 128,
) -> list[Path]:
    """The target's own continuations of windows of the training text, by RECIPES in turns."""

    def make(i: int) -> Shard:
        temperature, length, new = RECIPES[i % len(RECIPES)]
        prompts = random_blocks(stream, rows, length, seed=seed, step=i)
        tokens, logits = continue_rows(target, prompts, new, temperature, seed=seed + 1, batch=i)
        return {"tokens": tokens, "logits": logits}

    return make_shards(folder, count, make)


class ShardBatches:
    """Random batches from shards held in memory: about `tokens` tokens, all of one shard."""

    def __init__(self, paths: Sequence[Path], *, tokens: int, seed: int) -> None:
        self.shards = [load_file(path) for path in paths]
        self.tokens, self.seed = tokens, seed

    def __call__(self, step: int) -> tuple[Tensor, Tensor]:
        """Tokens (B, L) and the target's float32 logits (B, L, V) of a step."""
        generator = np.random.Generator(np.random.Philox(key=[self.seed, step]))
        shard = self.shards[generator.integers(len(self.shards))]
        rows, L = shard["tokens"].shape
        chosen = generator.permutation(rows)[: max(1, self.tokens // L)]
        index = torch.from_numpy(np.sort(chosen))
        return shard["tokens"][index].long(), shard["logits"][index].float()


def divergence(target_logits: Tensor, draft_logits: Tensor) -> Tensor:
    """Mean KL(p || q) over all rows of logits (..., V), in nats."""
    p_log, q_log = target_logits.log_softmax(-1), draft_logits.log_softmax(-1)
    return F.kl_div(q_log, p_log, reduction="none", log_target=True).sum(-1).mean()


def total_variation(target_logits: Tensor, draft_logits: Tensor) -> Tensor:
    """Mean 1 - sum min(p, q): the chance that speculative decoding rejects a drafted token."""
    p, q = target_logits.softmax(-1), draft_logits.softmax(-1)
    return 0.5 * (p - q).abs().sum(-1).mean()
