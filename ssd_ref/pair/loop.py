"""One training loop for all three stages: learning rate, progress bar, curve, checkpoints.

The batch of a step is a function of the step's number, so model, optimiser and number are the
whole state: a run that was interrupted goes on bit for bit as if it had not been.
"""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn
from tqdm import tqdm  # type: ignore[import-untyped]

from ssd_ref.pair.optim import MuonAdam

Point = dict[str, float]


@dataclass(frozen=True)
class Schedule:
    """Learning rate over `steps`: linear warm-up, constant, then linearly to zero."""

    steps: int
    warmup: float = 0.02  # share of the steps
    hold_until: float = 0.4  # share of the steps after which the rate falls

    def __call__(self, step: int) -> float:
        """The factor of the peak rate at `step` (0-based)."""
        at = (step + 1) / self.steps
        return min(1.0, at / self.warmup, max(0.0, (1 - at) / (1 - self.hold_until)))


@dataclass
class Run:
    """Where a stage stands: what a checkpoint holds."""

    model: nn.Module
    optimizer: MuonAdam
    step: int = 0
    seconds: float = 0.0
    curve: list[Point] = field(default_factory=list)
    recent: list[float] = field(default_factory=list)  # losses since the curve's last point

    def save(self, path: Path) -> None:
        """Write everything to one safetensors file; a crash leaves the old file or the new."""
        tensors = {f"model.{n}": t.contiguous() for n, t in self.model.state_dict().items()}
        tensors |= {f"optimizer.{n}": t for n, t in self.optimizer.state.items()}
        names = ("step", "seconds", "curve", "recent")
        facts = {name: getattr(self, name) for name in names}
        fresh = path.with_suffix(".new")
        save_file(tensors, fresh, metadata={"run": json.dumps(facts)})
        fresh.replace(path)

    def load(self, path: Path) -> None:
        """Go back to what `save` wrote, in place."""
        with safe_open(path, framework="pt") as file:
            for name, tensor in self.model.state_dict().items():
                tensor.copy_(file.get_tensor(f"model.{name}"))
            for name, tensor in self.optimizer.state.items():
                tensor.copy_(file.get_tensor(f"optimizer.{name}"))
            facts = json.loads(file.metadata()["run"])
        for name, value in facts.items():
            setattr(self, name, value)


def fit(
    model: nn.Module,
    optimizer: MuonAdam,
    loss_at: Callable[[int], Tensor],
    schedule: Schedule,
    checkpoint: Path,
    *,
    evaluate: Callable[[], Point],
    every: int = 200,
    save_seconds: float = 60.0,
    minutes: float | None = None,
    clip: float = 1.0,
) -> Run:
    """Train until `schedule.steps`, `minutes` or Ctrl-C, going on from `checkpoint` if it exists.

    loss_at: the scalar loss of the batch of a step. evaluate: figures to add to the curve every
    `every` steps and at the end. Saves every `save_seconds` and at the end; Ctrl-C and SIGTERM let
    the step in hand finish and be saved, then raise KeyboardInterrupt. Main thread only.
    """
    run = Run(model, optimizer)
    if checkpoint.exists():
        run.load(checkpoint)
    began = saved = time.monotonic()
    limit = began + 60 * minutes if minutes is not None else float("inf")
    earlier = run.seconds
    bar = tqdm(total=schedule.steps, initial=run.step, desc=checkpoint.stem, unit="step")
    with asking_to_stop() as asked, bar:
        while run.step < schedule.steps and time.monotonic() < limit and not asked:
            advance(run, loss_at, schedule, clip)
            now = time.monotonic()
            run.seconds = earlier + now - began
            bar.update()
            bar.set_postfix(loss=f"{run.recent[-1]:.3f}")
            if run.step % every == 0 or run.step == schedule.steps:
                add_point(run, evaluate(), checkpoint)
            if now - saved > save_seconds:
                run.save(checkpoint)
                saved = now
    run.save(checkpoint)
    if asked:
        raise KeyboardInterrupt(f"stopped after step {run.step}; the same command goes on")
    return run


@contextmanager
def asking_to_stop() -> Iterator[list[int]]:
    """Within, Ctrl-C and SIGTERM end no step half-way: they are put into the list given."""
    asked: list[int] = []
    signals = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(s, lambda number, frame: asked.append(number)) for s in signals]
    try:
        yield asked
    finally:
        for s, handler in zip(signals, before, strict=True):
            signal.signal(s, handler)


def advance(run: Run, loss_at: Callable[[int], Tensor], schedule: Schedule, clip: float) -> None:
    """One step."""
    loss = loss_at(run.step)
    loss.backward()  # type: ignore[no-untyped-call]
    nn.utils.clip_grad_norm_(run.model.parameters(), clip)
    run.optimizer.step(schedule(run.step))
    run.recent.append(float(loss.detach()))
    run.step += 1


def add_point(run: Run, figures: Point, checkpoint: Path) -> None:
    """Close a stretch of the curve: its mean loss, and `figures` at its end."""
    loss = sum(run.recent) / len(run.recent)
    run.recent.clear()
    point = {"step": run.step, "seconds": round(run.seconds, 1), "loss": round(loss, 4)}
    point |= {name: round(value, 4) for name, value in figures.items()}
    run.curve.append(point)
    write_curve(checkpoint.with_suffix(".json"), run.curve)
    tqdm.write(f"{checkpoint.stem}: {point}")


def write_curve(path: Path, curve: Sequence[Point]) -> None:
    """A learning curve as JSON, one point a line."""
    lines = ",\n".join(json.dumps(point) for point in curve)
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
