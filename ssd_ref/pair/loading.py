"""From weight files to models: the shipped pair, checked by hash, without pickle."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load as parse_tensors
from safetensors.torch import save as write_tensors

from ssd_ref.gpt import GPTConfig, TinyGPT
from ssd_ref.pair.corpus import ByteTokenizer

WEIGHTS = Path(__file__).parent / "weights"
ROLES = ("target", "draft")
Card = dict[str, Any]


class WeightsError(Exception):
    """A weight file is missing, or is not the one that its card describes."""


@dataclass(frozen=True)
class Pair:
    """Target and draft over one vocabulary; `hash` names the weights in every result."""

    target: TinyGPT
    draft: TinyGPT
    hash: str
    tokenizer: ByteTokenizer = field(default_factory=ByteTokenizer)


def load(
    device: str = "cpu",
    draft_device: str | None = None,
    dtype: torch.dtype | None = None,
    folder: Path = WEIGHTS,
) -> Pair:
    """What :func:`ssd_ref.load_pair` does, from any `folder` with a card and two weight files."""
    devices = {"target": check_device(device), "draft": check_device(draft_device or device)}
    card = read_card(folder)
    models = {
        role: load_model(folder, card, role).to(devices[role], dtype or torch.float32)
        for role in ROLES
    }
    return Pair(models["target"], models["draft"], pair_hash(card))


def read_card(folder: Path = WEIGHTS) -> Card:
    """The model card `card.json`: hashes, shapes, corpus, training facts, quality figures."""
    path = folder / "card.json"
    if not path.exists():
        raise WeightsError(f"expected the model card at {path}, found no such file")
    try:
        card: Card = json.loads(path.read_text(encoding="utf-8"))
        for role in ROLES:
            GPTConfig(**card[role]["config"])
            card[role]["sha256"].encode("ascii")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise WeightsError(f"{path}: expected the model card of a pair: {error!r}") from error
    return card


def write_card(card: Card, folder: Path = WEIGHTS) -> None:
    text = json.dumps(card, indent=1, sort_keys=True)
    (folder / "card.json").write_text(text + "\n", encoding="utf-8")


def pair_hash(card: Card) -> str:
    """Sixteen hexadecimal digits that change with any byte of a weight file, and with a shape."""
    named = [[card[role]["sha256"], card[role]["config"]] for role in ROLES]
    return hashlib.sha256(json.dumps(named, sort_keys=True).encode("ascii")).hexdigest()[:16]


def load_model(folder: Path, card: Card, role: str) -> TinyGPT:
    """The `role` ("target" or "draft") of a card on the CPU in float32, frozen.

    Raises WeightsError when its file is missing or its bytes are not those of the card.
    """
    path, entry = folder / f"{role}.safetensors", card[role]
    if not path.exists():
        raise WeightsError(f"expected the {role}'s weights at {path}, found no such file")
    data = path.read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != entry["sha256"]:
        raise WeightsError(f"{path}: expected sha256 {entry['sha256']}, found {found}")
    try:
        tensors = parse_tensors(data)
        model = TinyGPT(GPTConfig(**entry["config"]))
        model.load_state_dict({name: t.float() for name, t in tensors.items()})
        by_column(model)
    except (SafetensorError, RuntimeError) as error:
        raise WeightsError(f"{path}: expected weights of {entry['config']}: {error}") from error
    return model.eval().requires_grad_(False)


def by_column(model: TinyGPT) -> None:
    """Store the matrices column by column: the CPU's library reads them faster for a few rows."""
    for block in model.blocks.parameters():
        if block.dim() == 2:
            block.data = block.data.t().contiguous().t()


def save_model(model: TinyGPT, folder: Path, role: str) -> Card:
    """Write the weights in float16 and return the card's entry for `role`."""
    tensors = {name: t.detach().half().contiguous() for name, t in model.state_dict().items()}
    data = write_tensors(tensors)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{role}.safetensors").write_bytes(data)
    return {
        "config": asdict(model.config),
        "parameters": sum(t.numel() for t in tensors.values()),
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
    }


def check_device(name: str) -> torch.device:
    """The device `name`, after a trial allocation. Raises ValueError if this machine has it not."""
    usable = ["cpu"] + [f"cuda:{i}" for i in range(torch.cuda.device_count())]
    if torch.backends.mps.is_available():
        usable.append("mps")
    try:
        device = torch.device(name)
        if device.type == "meta":
            raise RuntimeError("a meta tensor holds no numbers")
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError, ImportError) as error:
        reason = str(error).splitlines()[0][:160]
        raise ValueError(
            f"device: expected one of {', '.join(usable)}, got {name!r} ({reason})"
        ) from error
    return device
