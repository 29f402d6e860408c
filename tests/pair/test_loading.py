"""The weight files: checked by hash, read without pickle, refused with what was expected."""

from __future__ import annotations

import hashlib
import json
import pickle
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from ssd_ref.gpt import GPTConfig, TinyGPT
from ssd_ref.pair.loading import (
    WEIGHTS,
    WeightsError,
    load,
    load_model,
    pair_hash,
    read_card,
    save_model,
    write_card,
)

TINY = GPTConfig(vocabulary=257, context_limit=16, layers=1, heads=2, width=8)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two tiny models with their card, as `ship` writes them."""
    draft = replace(TINY, width=4)
    write_card(
        {
            "target": save_model(TinyGPT(TINY), tmp_path, "target"),
            "draft": save_model(TinyGPT(draft), tmp_path, "draft"),
        },
        tmp_path,
    )
    return tmp_path


def test_a_pair_comes_back_frozen_and_in_half_precision_on_disk(folder: Path) -> None:
    pair = load(folder=folder)
    assert pair.target.config == TINY and pair.draft.config.width == 4
    for model in (pair.target, pair.draft):
        assert not model.training
        assert not any(p.requires_grad for p in model.parameters())
        assert {p.dtype for p in model.parameters()} == {torch.float32}
    entry = read_card(folder)["target"]
    assert entry["bytes"] == (folder / "target.safetensors").stat().st_size
    assert entry["parameters"] == sum(p.numel() for p in pair.target.parameters())
    assert entry["bytes"] < 3 * entry["parameters"] + 4000


def test_the_asked_precision_is_that_of_the_weights(folder: Path) -> None:
    exact, pair = load(folder=folder, dtype=torch.float64), load(folder=folder)
    weights = zip(exact.target.parameters(), pair.target.parameters(), strict=True)
    for double, single in weights:
        assert double.dtype == torch.float64
        assert torch.equal(double, single.double())


def test_saving_twice_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    pair, card = load(folder=folder), read_card(folder)
    again = save_model(pair.target, tmp_path / "again", "target")
    assert again == card["target"]
    assert pair.hash == pair_hash(card) and len(pair.hash) == 16


def test_the_hash_changes_with_either_file(folder: Path) -> None:
    card = read_card(folder)
    hashes = {pair_hash(card)}
    for role in ("target", "draft"):
        changed = {**card, role: {**card[role], "sha256": "0" * 64}}
        hashes.add(pair_hash(changed))
    assert len(hashes) == 3


@pytest.mark.parametrize("role", ["target", "draft"])
def test_a_missing_file_is_named(folder: Path, role: str) -> None:
    (folder / f"{role}.safetensors").unlink()
    with pytest.raises(WeightsError, match=f"expected the {role}'s weights at .*no such file"):
        load(folder=folder)


def test_a_missing_card_is_named(folder: Path) -> None:
    (folder / "card.json").unlink()
    with pytest.raises(WeightsError, match=r"expected the model card at .*card\.json"):
        load(folder=folder)


@pytest.mark.parametrize("damage", ["one bit", "cut short", "empty"])
def test_a_damaged_file_is_refused_with_both_hashes(folder: Path, damage: str) -> None:
    path = folder / "target.safetensors"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes({"one bit": data, "cut short": data[:-9], "empty": b""}[damage])
    expected = read_card(folder)["target"]["sha256"]
    with pytest.raises(WeightsError, match=f"expected sha256 {expected}, found [0-9a-f]{{64}}"):
        load(folder=folder)


def test_a_pickle_is_not_opened_even_if_the_card_vouches_for_it(folder: Path) -> None:
    data = pickle.dumps({"embedding.weight": [0.0]})
    (folder / "draft.safetensors").write_bytes(data)
    card = read_card(folder)
    card["draft"]["sha256"] = hashlib.sha256(data).hexdigest()
    with pytest.raises(WeightsError, match="expected weights of"):
        load_model(folder, card, "draft")


def test_weights_of_another_shape_are_refused(folder: Path) -> None:
    card = read_card(folder)
    card["draft"]["config"]["width"] = 8
    with pytest.raises(WeightsError, match=r"expected weights of .*'width': 8"):
        load_model(folder, card, "draft")


@pytest.mark.parametrize("device", ["tpu9", "cuda:99", "meta", ""])
def test_an_unknown_device_is_named_beside_those_that_there_are(folder: Path, device: str) -> None:
    with pytest.raises(ValueError, match=f"device: expected one of cpu.*, got '{device}'"):
        load(device, folder=folder)


def test_an_unknown_draft_device_is_refused_too(folder: Path) -> None:
    with pytest.raises(ValueError, match="got 'tpu9'"):
        load("cpu", "tpu9", folder=folder)


def test_loading_imports_no_pickle_reader_of_torch(folder: Path) -> None:
    shutil.copytree(folder, folder / "copy")
    code = (
        "import sys, pathlib, torch; from ssd_ref.pair.loading import load\n"
        "torch.load = torch.save = None\n"
        f"import pickle; pickle.load = pickle.loads = pickle.Unpickler = None\n"
        f"print(load(folder=pathlib.Path({str(folder / 'copy')!r})).hash)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == load(folder=folder).hash


def test_importing_the_package_imports_no_torch() -> None:
    code = "import sys, ssd_ref.pair; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_the_shipped_files_fit_and_are_those_of_the_card() -> None:
    from ssd_ref import load_pair

    pair = load_pair()
    assert sum(f.stat().st_size for f in WEIGHTS.glob("*.safetensors")) <= 8_000_000
    assert pair.hash == pair_hash(read_card())
    assert pair.target.vocabulary == pair.draft.vocabulary == pair.tokenizer.vocabulary


@pytest.mark.parametrize(
    "card", ["[]", "{}", "", '{"target": {}}', '{"target": {"config": {"heads": "x"}}}', "\x00"]
)
def test_a_damaged_card_is_named(tmp_path: Path, card: str) -> None:
    (tmp_path / "card.json").write_text(card)
    with pytest.raises(WeightsError, match=r"card\.json: expected the model card"):
        load(folder=tmp_path)


def test_the_hash_covers_the_shapes() -> None:
    card = read_card()
    other = json.loads(json.dumps(card))
    other["draft"]["config"]["heads"] *= 2
    assert pair_hash(other) != pair_hash(card)
