"""The training loop, its optimiser and its batches, on models of a few hundred parameters."""

from __future__ import annotations

import signal
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from ssd_ref.gpt import GPTConfig, TinyGPT
from ssd_ref.pair.lm import (
    block_attention,
    cross_entropy,
    random_blocks,
    sliding_blocks,
    token_losses,
)
from ssd_ref.pair.loop import Point, Run, Schedule, fit
from ssd_ref.pair.optim import MuonAdam, orthogonalise
from ssd_ref.pair.sampling import continue_rows, draw
from ssd_ref.pair.shards import ShardBatches, divergence, make_shards, total_variation
from ssd_ref.pair.train import SEEDS, block_shape, fresh_model

TINY = GPTConfig(vocabulary=11, context_limit=24, layers=2, heads=2, width=8)
STREAM = np.arange(400, dtype=np.int16) % 11


def train(checkpoint: Path, *, stop_at: int | None = None, minutes: float | None = None) -> Run:
    """Twelve steps; Ctrl-C is pressed while step `stop_at` is computed."""
    model = fresh_model(TINY, seed=5)

    def loss_at(step: int) -> Tensor:
        if step == stop_at:
            signal.raise_signal(signal.SIGINT)
        return cross_entropy(model, random_blocks(STREAM, 4, 9, seed=1, step=step))

    def evaluate() -> Point:
        return {"first_weight": float(model.embedding.weight[0, 0].detach())}

    return fit(
        model,
        MuonAdam(model),
        loss_at,
        Schedule(12),
        checkpoint,
        evaluate=evaluate,
        every=4,
        minutes=minutes,
    )


def without_times(run: Run) -> list[Point]:
    return [{k: v for k, v in point.items() if k != "seconds"} for point in run.curve]


@pytest.mark.parametrize("stop_at", [0, 5, 7, 11])
def test_an_interrupted_run_goes_on_as_if_it_had_not_been(tmp_path: Path, stop_at: int) -> None:
    whole = train(tmp_path / "whole.safetensors")
    with pytest.raises(KeyboardInterrupt, match=f"stopped after step {stop_at + 1}"):
        train(tmp_path / "parts.safetensors", stop_at=stop_at)
    parts = train(tmp_path / "parts.safetensors")
    assert parts.step == whole.step == 12
    for name, tensor in whole.model.state_dict().items():
        assert torch.equal(tensor, parts.model.state_dict()[name]), name
    for name, tensor in whole.optimizer.state.items():
        assert torch.equal(tensor, parts.optimizer.state[name]), name
    assert without_times(parts) == without_times(whole)


def test_a_time_limit_stops_a_run_and_keeps_it(tmp_path: Path) -> None:
    run = train(tmp_path / "a.safetensors", minutes=0)
    assert run.step == 0
    assert (tmp_path / "a.safetensors").exists()
    assert train(tmp_path / "a.safetensors").step == 12


def test_training_lowers_the_loss(tmp_path: Path) -> None:
    model = fresh_model(TINY, seed=5)
    block = random_blocks(STREAM, 8, 17, seed=9, step=0)
    with torch.no_grad():
        before = float(cross_entropy(model, block))
    assert before == pytest.approx(np.log(11), abs=0.1)
    trained = train(tmp_path / "a.safetensors").model
    assert isinstance(trained, TinyGPT)
    with torch.no_grad():
        after = float(cross_entropy(trained, block))
    assert after < before - 0.15


def test_the_learning_rate_rises_holds_and_falls_to_zero() -> None:
    schedule = Schedule(steps=100, warmup=0.1, hold_until=0.5)
    rates = [schedule(step) for step in range(100)]
    assert rates[0] == pytest.approx(0.1)
    assert rates[9:50] == [1.0] * 41
    assert rates[74] == pytest.approx(0.5)
    assert rates[-1] == 0


def test_blocks_get_longer_and_stay_within_the_context() -> None:
    shapes = [block_shape(p / 100) for p in range(101)]
    lengths = [length for _, length in shapes]
    assert lengths == sorted(lengths) and lengths[0] == 128 and lengths[-1] == 512


def test_every_stage_has_seeds_of_its_own() -> None:
    assert len(set(SEEDS.values())) == len(SEEDS)


def test_fresh_models_leave_the_global_generator_alone() -> None:
    before = torch.random.get_rng_state()
    a, b, c = fresh_model(TINY, 1), fresh_model(TINY, 1), fresh_model(TINY, 2)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert torch.equal(a.embedding.weight, b.embedding.weight)
    assert not torch.equal(a.embedding.weight, c.embedding.weight)


@pytest.mark.parametrize("shape", [(3, 8, 8), (2, 4, 16), (2, 16, 4)])
def test_muon_brings_singular_values_near_one(shape: tuple[int, int, int]) -> None:
    m = torch.randn(shape, generator=torch.Generator().manual_seed(3))
    values = torch.linalg.svdvals(orthogonalise(m))
    assert values.min() > 0.5 and values.max() < 1.35
    u, _, v = torch.linalg.svd(m, full_matrices=False)
    cosine = torch.nn.functional.cosine_similarity(
        orthogonalise(m).flatten(1), (u @ v).flatten(1), dim=1
    )
    assert cosine.min() > 0.97


def test_each_matrix_of_a_block_goes_to_muon_and_all_else_to_adam() -> None:
    model = fresh_model(TINY, 1)
    optimizer = MuonAdam(model)
    assert sum(len(s) for s in optimizer.stacks.values()) == 4 * TINY.layers
    assert set(optimizer.others) == {"embedding.weight", "norm.weight"} | {
        f"blocks.{i}.norm{j}.weight" for i in range(2) for j in (1, 2)
    }


def test_batches_are_a_function_of_seed_and_step() -> None:
    first = random_blocks(STREAM, 3, 5, seed=1, step=7)
    assert first.shape == (3, 5)
    assert torch.equal(first, random_blocks(STREAM, 3, 5, seed=1, step=7))
    assert not torch.equal(first, random_blocks(STREAM, 3, 5, seed=1, step=8))
    assert ((first[:, 1:] - first[:, :-1]) % 11 == 1).all()  # windows of the stream


@pytest.mark.parametrize("length", [8, 256])
def test_block_attention_is_causal_attention(length: int) -> None:
    generator = torch.Generator().manual_seed(0)
    q, k, v = torch.randn(3, 2, 2, length, 4, generator=generator, dtype=torch.float64)
    expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    torch.testing.assert_close(block_attention(q, k, v), expected, rtol=1e-12, atol=1e-12)


def test_sliding_blocks_judge_every_token_once() -> None:
    tokens = list(range(50))
    judged = []
    for window, new in sliding_blocks(tokens, context=12, fresh=5):
        assert len(window) <= 13 and 1 <= new <= 5
        judged += window[-new:]
    assert judged == tokens[1:]


def test_token_losses_are_those_of_a_step_by_step_reading() -> None:
    model = fresh_model(TINY, 1).double().eval()
    tokens = [int(t) for t in STREAM[:20]]
    rows = torch.from_numpy(model.start(tokens[:-1][:0] or tokens[:1]).extend(tokens[1:-1]))
    first = torch.from_numpy(model.start([]).extend(tokens[:1]))
    laws = torch.cat([first, rows]).log_softmax(-1)
    expected = [-float(laws[i, tokens[i + 1]]) for i in range(19)]
    np.testing.assert_allclose(token_losses(model, tokens, context=24, fresh=7), expected, 1e-9)


def test_batched_continuations_are_those_of_single_sessions() -> None:
    model = fresh_model(TINY, 1).double().eval()
    prompts = torch.tensor([[1, 2, 3], [4, 5, 6]])
    tokens, logits = continue_rows(model, prompts, 6, 0.0, seed=1)
    assert tokens.shape == (2, 9) and logits.shape == (2, 9, 11)
    for row, seen in zip(tokens.tolist(), logits.double().numpy(), strict=True):
        rows = model.start([]).extend(row)
        np.testing.assert_allclose(seen, rows, rtol=1e-3, atol=1e-4)
        assert row[3:] == rows[2:-1].argmax(-1).tolist()


def test_sampled_continuations_are_a_function_of_their_seeds() -> None:
    model = fresh_model(TINY, 1).eval()
    prompts = torch.tensor([[1], [1], [1]])
    first, _ = continue_rows(model, prompts, 12, 1.0, seed=1)
    assert torch.equal(first, continue_rows(model, prompts, 12, 1.0, seed=1)[0])
    assert not torch.equal(first, continue_rows(model, prompts, 12, 1.0, seed=1, batch=1)[0])
    assert len({tuple(row) for row in first.tolist()}) == 3


def test_a_draw_inverts_the_cumulative_law() -> None:
    logits = torch.log(torch.tensor([[0.25, 0.5, 0.25]]))
    drawn = [int(draw(logits, 1.0, torch.tensor([u]))) for u in (0.0, 0.2, 0.3, 0.7, 0.8, 1.0)]
    assert drawn == [0, 0, 1, 1, 2, 2]
    assert int(draw(logits, 0.0, torch.tensor([0.9]))) == 1


def test_missing_shards_are_made_and_present_ones_kept(tmp_path: Path) -> None:
    made: list[int] = []

    def make(i: int) -> dict[str, Tensor]:
        made.append(i)
        return {
            "tokens": torch.full((4, 6), i, dtype=torch.int16),
            "logits": torch.zeros(4, 6, 11, dtype=torch.float16),
        }

    make_shards(tmp_path / "s", 2, make)
    paths = make_shards(tmp_path / "s", 3, make)
    assert made == [0, 1, 2]
    batches = ShardBatches(paths, tokens=12, seed=1)
    seen = set()
    for step in range(20):
        tokens, logits = batches(step)
        assert tokens.shape == (2, 6) and logits.shape == (2, 6, 11)
        assert logits.dtype == torch.float32
        seen |= set(tokens.flatten().tolist())
    assert seen == {0, 1, 2}


def test_distances_of_laws() -> None:
    p = torch.tensor([[0.5, 0.25, 0.25], [1 / 3, 1 / 3, 1 / 3]]).log()
    q = torch.tensor([[0.25, 0.25, 0.5], [1 / 3, 1 / 3, 1 / 3]]).log() + 7  # logits may be shifted
    assert float(total_variation(p, q)) == pytest.approx((0.25 + 0) / 2, abs=1e-6)
    assert float(divergence(p, q)) == pytest.approx(0.25 * np.log(2) / 2, abs=1e-6)
