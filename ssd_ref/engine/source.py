"""Where a process finds its draft: a function by name, since models do not cross the link."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from ssd_ref.models import Model


@dataclass(frozen=True)
class Source:
    """A function "package.module:name" that returns the draft, and its keyword arguments.

    Both processes must find it, and get the same model from it. The arguments must fit into JSON.
    """

    function: str
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def load(self) -> Model:
        """The model. Raises ValueError where there is no such function."""
        module, _, name = self.function.partition(":")
        try:
            function = getattr(import_module(module), name)
        except (ImportError, AttributeError, ValueError) as error:
            raise ValueError(
                f"draft: expected a function as package.module:name, got {self.function!r} "
                f"({error})"
            ) from error
        model: Model = function(**self.arguments)
        return model


def embedded_draft(device: str = "cpu", dtype: str = "float32") -> Model:
    """The draft of the pair that ships with the package, on one thread."""
    import torch

    from ssd_ref.pair.loading import WEIGHTS, check_device, load_model, read_card

    torch.set_num_threads(1)
    draft = load_model(WEIGHTS, read_card(), "draft")
    return draft.to(check_device(device), getattr(torch, dtype))


EMBEDDED = Source("ssd_ref.engine.source:embedded_draft")
