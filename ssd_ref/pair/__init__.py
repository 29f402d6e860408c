"""The embedded pair: a target and a draft that know Python's documentation, and how they came.

Importing this package imports neither torch nor the weights; `load_pair` does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

    from ssd_ref.pair.loading import Pair

__all__ = ["load_pair"]


def load_pair(
    device: str = "cpu", draft_device: str | None = None, dtype: torch.dtype | None = None
) -> Pair:
    """The shipped target and draft with their tokenizer, ready to decode.

    device: where the target computes; draft_device: where the draft does, None for the same.
    dtype: of the weights while computing, None for float32. Raises ValueError for a device that
    this machine has not, WeightsError for missing or damaged files.
    """
    from ssd_ref.pair.loading import load

    return load(device, draft_device, dtype)
