"""`--json` and `--rounds`: what scripts read."""

import argparse
import io
import json

import pytest
from fake_pair import END, TEXT, Ticks, load_tables

from ssd_ref import RoundRecord
from ssd_ref.cli import main
from ssd_ref.study.recording import read_rounds

KEYS = {
    "tokens", "text", "finish_reason", "rounds", "round_records", "emitted", "drafted", "accepted",
    "hits", "target_forwards", "draft_forwards", "seconds",
}  # fmt: skip
OPTIONS = ["A list", "--max-new-tokens", "60", "--seed", "4"]


def run(capsys, *argv):
    assert main(argv, load=load_tables, clock=Ticks()) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return json.loads(captured.out)


def test_compare_prints_one_object(capsys):
    result = run(capsys, "compare", "--json", *OPTIONS)
    assert {"ar", "sd", "ssd", "weights", "prompt", "settings", "warnings"} <= result.keys()
    assert result["weights"] == "0123456789abcdef"
    assert result["prompt"] == {
        "tokens": list(b"A list"),
        "text": "A list",
        "source": "argument",
    }
    assert result["settings"]["fan_out"] == [2, 2, 2, 2, 4]
    assert result["settings"]["seed"] == 4


@pytest.mark.parametrize("method", ["ar", "sd", "ssd"])
def test_the_figures_of_a_method_agree_with_its_rounds(capsys, method):
    result = run(capsys, "compare", "--json", *OPTIONS)[method]
    records = [RoundRecord(**record) for record in result["round_records"]]
    assert result.keys() >= KEYS
    assert ("overlapped_seconds" in result) == (method == "ssd")
    assert result["rounds"] == len(records) == result["target_forwards"]
    assert result["emitted"] == sum(r.emitted for r in records) == len(result["tokens"]) == 60
    assert result["drafted"] == sum(r.drafted for r in records)
    assert result["accepted"] == sum(r.accepted for r in records)
    assert result["hits"] == sum(r.served_by == "cache" for r in records)
    assert result["text"] == bytes(t for t in result["tokens"] if t != END).decode(
        "utf-8", "replace"
    )
    assert (result["draft_forwards"] == 0) == (method == "ar")
    if method == "sd":
        assert result["draft_forwards"] == result["drafted"]


def test_sd_and_ssd_give_the_same_text_and_greedy_ar_too(capsys):
    sampled = run(capsys, "compare", "--json", *OPTIONS)
    assert sampled["sd"]["tokens"] == sampled["ssd"]["tokens"] != sampled["ar"]["tokens"]
    greedy = run(capsys, "compare", "--json", *OPTIONS, "--temperature", "0")
    assert greedy["ar"]["tokens"] == greedy["sd"]["tokens"] == greedy["ssd"]["tokens"]


@pytest.mark.parametrize("method", ["ar", "sd", "ssd"])
def test_generate_decodes_what_compare_does(capsys, method):
    compared = run(capsys, "compare", "--json", *OPTIONS)
    alone = run(capsys, "generate", "--json", "--method", method, *OPTIONS)
    assert alone["method"] == method
    assert {name: alone[name] for name in compared[method]} == compared[method]
    assert alone["settings"] == compared["settings"]


def test_options_reach_the_decoders(capsys):
    result = run(
        capsys, "compare", "--json", *OPTIONS, "--lookahead", "2", "--fan-out", "1",
        "--fan-out-miss", "3,0,1", "--temperature", "0.8", "--draft-temperature", "1.2",
        "--top-k", "20", "--top-p", "0.9", "--draft-top-k", "30", "--draft-top-p", "0.8",
        "--saguaro-c", "0.5", "--backup", "uniform",
    )  # fmt: skip
    assert result["settings"] == {
        "max_new_tokens": 60, "seed": 4, "lookahead": 2, "fan_out": [1, 1, 1],
        "fan_out_miss": [3, 0, 1], "temperature": 0.8, "draft_temperature": 1.2, "top_k": 20,
        "top_p": 0.9, "draft_top_k": 30, "draft_top_p": 0.8, "saguaro_c": 0.5,
        "backup": "uniform", "device": "cpu", "draft_device": None, "dtype": "float32",
    }  # fmt: skip
    assert max(r["drafted"] for r in result["ssd"]["round_records"]) == 2


def test_devices_and_dtype_reach_the_loader(capsys):
    seen = []

    def load(args: argparse.Namespace):
        seen.append((args.device, args.draft_device, args.dtype))
        return load_tables(args)

    argv = ["generate", "A", "--device", "cuda:0", "--draft-device", "cuda:1", "--dtype", "float16"]
    assert main(argv, load=load) == 0
    assert seen == [("cuda:0", "cuda:1", "float16")]


@pytest.mark.parametrize("n", ["0", "1"])
def test_the_shortest_texts(capsys, n):
    result = run(capsys, "compare", "--json", "A list", "--max-new-tokens", n)
    for method in ("ar", "sd", "ssd"):
        assert len(result[method]["tokens"]) == result[method]["rounds"] == int(n)
        assert result[method]["finish_reason"] == "length"
    assert main(["compare", "A list", "--max-new-tokens", n], load=load_tables) == 0


def test_a_prompt_as_long_as_the_context_leaves_no_room(capsys):
    result = run(capsys, "compare", "--json", "x" * 512)
    assert {result[m]["finish_reason"] for m in ("ar", "sd", "ssd")} == {"context"}


def test_the_rounds_file_gives_back_the_records(capsys, tmp_path):
    path = tmp_path / "rounds.jsonl"
    path.write_text("an older file")
    result = run(capsys, "compare", "--json", *OPTIONS, "--rounds", str(path))
    header, records = read_rounds(path)
    assert header == {name: result[name] for name in ("weights", "prompt", "settings", "version")}
    assert list(records) == ["ar", "sd", "ssd"]
    for method, rounds in records.items():
        assert [r.to_json() for r in rounds] == result[method]["round_records"]
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(lines) == 1 + sum(result[m]["rounds"] for m in records)
    assert list(lines[1]) == ["method", *RoundRecord.__dataclass_fields__]


def test_the_prompt_comes_from_a_file_or_standard_input(capsys, tmp_path, monkeypatch):
    path = tmp_path / "prompt.txt"
    path.write_bytes(TEXT.encode())
    by_file = run(capsys, "generate", "--json", "--prompt-file", str(path))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    by_input = run(capsys, "generate", "--json", "-")
    assert by_file["prompt"]["text"] == by_input["prompt"]["text"] == TEXT
    assert by_file["tokens"] == by_input["tokens"]
    assert (by_file["prompt"]["source"], by_input["prompt"]["source"]) == (
        str(path),
        "standard input",
    )


def test_an_empty_prompt_is_no_missing_prompt(capsys):
    result = run(capsys, "generate", "--json", "")
    assert (result["prompt"]["tokens"], result["prompt"]["source"]) == ([], "argument")
    assert run(capsys, "generate", "--json")["prompt"]["source"] == "held-out text"


def test_a_pair_of_gpts_in_double_precision(capsys):
    import torch
    from fake_pair import FakePair

    from ssd_ref.gpt import GPTConfig, TinyGPT

    def load(args: argparse.Namespace):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            models = [TinyGPT(GPTConfig(257, 96, layers, 2, 16)).double() for layers in (2, 1)]
        return FakePair(*models)

    argv = ["compare", "--json", "--max-new-tokens", "200"]
    assert main(argv, load=load) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["sd"]["tokens"] == result["ssd"]["tokens"]
    assert result["ar"]["finish_reason"] in ("context", "eos")
    assert result["ssd"]["overlapped_seconds"] > 0
