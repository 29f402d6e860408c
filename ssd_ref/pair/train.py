"""`python -m ssd_ref.pair.train --work DIR`: make the pair from the text of the running Python.

Three stages, each resumable: the target learns the text; the draft learns the target's laws on
that text; the draft learns them again on the target's own samples, where it will be used.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ssd_ref.gpt import GPTConfig, TinyGPT
from ssd_ref.pair.corpus import VOCABULARY, Corpus, load_corpus, token_stream
from ssd_ref.pair.lm import block_logits, cross_entropy, random_blocks
from ssd_ref.pair.loading import WEIGHTS, Card, load_model, read_card, save_model, write_card
from ssd_ref.pair.loop import Point, Run, Schedule, fit, write_curve
from ssd_ref.pair.optim import MuonAdam
from ssd_ref.pair.shards import (
    ShardBatches,
    divergence,
    sample_shards,
    text_shards,
    total_variation,
)

TARGET = GPTConfig(VOCABULARY, context_limit=512, layers=16, heads=4, width=128)
DRAFT = GPTConfig(VOCABULARY, context_limit=512, layers=2, heads=4, width=128)
STAGES = ("target", "draft", "samples")
STEPS = {"target": 2300, "draft": 2300, "samples": 4500}
TOKENS = 4096  # a batch of the draft's stages
SHARDS = 30  # of the target's own samples; 128 rows each

# Seeds of independent streams: every random choice is a function of one of them and a number.
SEEDS = {"target": 1, "draft": 2, "blocks": 3, "text": 4, "prompts": 5, "batches": 7}


def block_shape(progress: float) -> tuple[int, int]:
    """Rows and length of the target's batch: short blocks are cheap, long ones come last."""
    if progress < 0.3:
        return 32, 128
    if progress < 0.65:
        return 64, 128
    return (32, 256) if progress < 0.85 else (16, 512)


def fresh_model(config: GPTConfig, seed: int) -> TinyGPT:
    """Initial weights as a function of `seed`; torch's global generator is left as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return TinyGPT(config)


def held_out_blocks(corpus: Corpus, length: int = 256) -> Tensor:
    """The held-out text in rows of `length`+1 tokens, each starting with the last one's end."""
    held_out = token_stream(list(corpus.held_out.values()))
    starts = np.arange(0, len(held_out) - length, length)
    return torch.from_numpy(held_out[starts[:, None] + np.arange(length + 1)].astype(np.int64))


@torch.no_grad()
def held_out_loss(model: TinyGPT, blocks: Tensor) -> Point:
    losses = [float(cross_entropy(model, part)) * len(part) for part in torch.split(blocks, 32)]
    return {"held_out": sum(losses) / len(blocks)}


def train_target(corpus: Corpus, stream: NDArray[np.int16], options: argparse.Namespace) -> Run:
    """Stage 1: next-byte prediction on the training text."""
    model = fresh_model(TARGET, SEEDS["target"])
    blocks, steps = held_out_blocks(corpus), options.steps or STEPS["target"]

    def loss_at(step: int) -> Tensor:
        rows, length = block_shape(step / steps)
        return cross_entropy(
            model, random_blocks(stream, rows, length + 1, seed=SEEDS["blocks"], step=step)
        )

    return fit(
        model,
        MuonAdam(model, muon_rate=0.03),
        loss_at,
        Schedule(steps),
        options.work / "target.safetensors",
        evaluate=lambda: held_out_loss(model, blocks),
        minutes=options.minutes,
    )


def train_draft(corpus: Corpus, stream: NDArray[np.int16], options: argparse.Namespace) -> Run:
    """Stage 2: the target's laws on the training text, by Kullback-Leibler divergence."""
    target = shipped_target(options.out)
    paths = text_shards(target, stream, options.work / "text", seed=SEEDS["text"])
    model = slice_of(target, fresh_model(DRAFT, SEEDS["draft"]))
    return distil(model, paths, divergence, "draft", held_out_blocks(corpus), options)


def train_samples(corpus: Corpus, stream: NDArray[np.int16], options: argparse.Namespace) -> Run:
    """Stage 3: the target's laws on its own continuations, by total variation."""
    target, model = shipped_target(options.out), fresh_model(DRAFT, SEEDS["draft"])
    run = Run(model, MuonAdam(model))
    run.load(options.work / "draft.safetensors")
    paths = sample_shards(
        target, stream, options.work / "own", seed=SEEDS["prompts"], count=options.shards
    )
    return distil(model, paths, total_variation, "samples", held_out_blocks(corpus), options)


def slice_of(target: TinyGPT, draft: TinyGPT) -> TinyGPT:
    """The draft with the target's embedding, first and last block, where the widths agree."""
    if draft.config.width == target.config.width:
        draft.embedding.load_state_dict(target.embedding.state_dict())
        draft.norm.load_state_dict(target.norm.state_dict())
        for place in (0, -1):
            draft.blocks[place].load_state_dict(target.blocks[place].state_dict())
    return draft


def distil(
    model: TinyGPT,
    paths: list[Path],
    distance: Callable[[Tensor, Tensor], Tensor],
    stage: str,
    held_out: Tensor,
    options: argparse.Namespace,
) -> Run:
    """Bring the draft's rows near the target's on the shards' tokens."""
    batches = ShardBatches(paths, tokens=TOKENS, seed=SEEDS["batches"])

    def loss_at(step: int) -> Tensor:
        tokens, logits = batches(step)
        return distance(logits, block_logits(model, tokens))

    peak = 1.0 if stage == "draft" else 0.3  # the last stage starts from a trained draft
    return fit(
        model,
        MuonAdam(model, muon_rate=0.03 * peak, adam_rate=3e-3 * peak),
        loss_at,
        Schedule(options.steps or STEPS[stage]),
        options.work / f"{stage}.safetensors",
        evaluate=lambda: held_out_loss(model, held_out),
        minutes=options.minutes,
    )


def shipped_target(folder: Path) -> TinyGPT:
    """The target as it is shipped, rounded to half precision: what the draft has to match."""
    return load_model(folder, read_card(folder), "target")


def ship(run: Run, stage: str, corpus: Corpus, folder: Path) -> None:
    """Write a stage's model, its learning curve and its entry of the card into `folder`."""
    assert isinstance(run.model, TinyGPT) and run.curve
    role = "target" if stage == "target" else "draft"
    card: Card = read_card(folder) if (folder / "card.json").exists() else {"training": {}}
    card[role] = save_model(run.model, folder, role)
    card["corpus"] = corpus.facts()
    last = {name: run.curve[-1][name] for name in ("loss", "held_out")}
    card["training"][stage] = {"steps": run.step, "minutes": round(run.seconds / 60, 1), **last}
    for stale in ("quality", "hash"):  # they belonged to other weights
        card.pop(stale, None)
    write_card(card, folder)
    write_curve(folder / f"curve-{stage}.json", run.curve)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m ssd_ref.pair.train", description=__doc__)
    parser.add_argument("--work", type=Path, required=True, help="folder of one pair's checkpoints")
    parser.add_argument("--out", type=Path, default=WEIGHTS, help="folder of the finished pair")
    parser.add_argument("--stage", choices=STAGES, help="one stage only (default: all)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--minutes", type=float, help="stop each stage after this time; resumable")
    parser.add_argument("--steps", type=int, help="steps of a stage; the learning rate follows")
    parser.add_argument("--shards", type=int, default=SHARDS, help="files of own samples")
    return parser.parse_args(arguments)


def main() -> None:
    try:
        train(parse())
    except KeyboardInterrupt as stopped:
        raise SystemExit(f"\n{stopped}") from None


def train(options: argparse.Namespace) -> None:
    options.work.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(options.threads)
    corpus = load_corpus()
    stream = corpus.stream()
    stages = {"target": train_target, "draft": train_draft, "samples": train_samples}
    for stage in [options.stage] if options.stage else STAGES:
        run = stages[stage](corpus, stream, options)
        if run.step < (options.steps or STEPS[stage]):
            print(f"{stage}: stopped after step {run.step}; the same command goes on")
            return
        ship(run, stage, corpus, options.out)


if __name__ == "__main__":
    main()
