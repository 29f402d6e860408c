"""Muon for the blocks' matrices, Adam for everything else; all state is a flat dict of tensors.

Muon replaces the momentum of a matrix by the nearest semi-orthogonal matrix, so that every
direction of a layer learns at one speed; on a corpus this small it needs about half of Adam's
steps. A flat dict is what safetensors can hold, so a checkpoint needs no pickle.
"""

from __future__ import annotations

from collections import defaultdict

import torch
from torch import Tensor, nn

NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)  # quintic that drives singular values towards 1


def orthogonalise(m: Tensor, steps: int = 5) -> Tensor:
    """Singular values of each matrix in `m` (n, rows, columns) brought near 1, in bfloat16."""
    a, b, c = NEWTON_SCHULZ
    tall = m.shape[-2] > m.shape[-1]
    x = m.mT if tall else m
    x = (x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)).to(torch.bfloat16)
    for _ in range(steps):
        g = x @ x.mT
        x = a * x + (b * g + c * g @ g) @ x
    result: Tensor = (x.mT if tall else x).to(m.dtype)
    return result


class MuonAdam:
    """The optimiser of every stage.

    model: parameters with two axes inside `blocks` go to Muon, stacked by shape; all others to
    Adam. muon_rate, adam_rate: peak learning rates, scaled by `step`'s argument. decay: decoupled
    weight decay of the matrices per unit of learning rate.
    """

    def __init__(
        self,
        model: nn.Module,
        *,
        muon_rate: float = 0.02,
        adam_rate: float = 3e-3,
        decay: float = 0.1,
        momentum: float = 0.95,
        betas: tuple[float, float] = (0.9, 0.98),
    ) -> None:
        self.muon_rate, self.adam_rate, self.decay = muon_rate, adam_rate, decay
        self.momentum, self.betas = momentum, betas
        self.stacks: dict[str, list[nn.Parameter]] = defaultdict(list)
        self.others: dict[str, nn.Parameter] = {}
        for name, weight in model.named_parameters():
            if weight.dim() == 2 and name.startswith("blocks."):
                self.stacks["x".join(map(str, weight.shape))].append(weight)
            else:
                self.others[name] = weight
        self.state: dict[str, Tensor] = {"count": torch.zeros((), dtype=torch.int64)}
        for shape, weights in self.stacks.items():
            self.state[f"momentum.{shape}"] = torch.zeros_like(torch.stack(list(weights)))
        for name, weight in self.others.items():
            self.state[f"first.{name}"] = torch.zeros_like(weight)
            self.state[f"second.{name}"] = torch.zeros_like(weight)

    @torch.no_grad()
    def step(self, scale: float) -> None:
        """One update from the gradients, which are cleared; learning rates are x `scale`."""
        self.state["count"] += 1
        for shape, weights in self.stacks.items():
            self.step_muon(weights, self.state[f"momentum.{shape}"], self.muon_rate * scale)
        for name, weight in self.others.items():
            self.step_adam(name, weight, self.adam_rate * scale)

    def step_muon(self, weights: list[nn.Parameter], momentum: Tensor, rate: float) -> None:
        gradient = torch.stack([take_gradient(w) for w in weights])  # (n, rows, columns)
        momentum.lerp_(gradient, 1 - self.momentum)
        update = orthogonalise(gradient.lerp_(momentum, self.momentum))
        rows, columns = update.shape[1:]
        gain = rate * max(1.0, rows / columns) ** 0.5
        for weight, change in zip(weights, update, strict=True):
            weight.mul_(1 - rate * self.decay).add_(change, alpha=-gain)

    def step_adam(self, name: str, weight: nn.Parameter, rate: float) -> None:
        gradient = take_gradient(weight)
        first, second = self.state[f"first.{name}"], self.state[f"second.{name}"]
        n = int(self.state["count"])
        first.lerp_(gradient, 1 - self.betas[0])
        second.lerp_(gradient.square(), 1 - self.betas[1])
        root = (second / (1 - self.betas[1] ** n)).sqrt_().add_(1e-8)
        weight.addcdiv_(first, root, value=-rate / (1 - self.betas[0] ** n))


def take_gradient(weight: nn.Parameter) -> Tensor:
    assert weight.grad is not None
    gradient, weight.grad = weight.grad, None
    return gradient
