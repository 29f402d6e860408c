"""The commands that run two processes, with the embedded pair, as a user calls them."""

import json
import os
import socket
import subprocess
import sys

import pytest

from ssd_ref.cli import main

pytestmark = pytest.mark.slow


def json_of(capsys, *command):
    assert main(list(command)) == 0
    return json.loads(capsys.readouterr().out)


def test_compare_measures_two_processes(capsys, tmp_path):
    trace = tmp_path / "trace.json"
    more = ("--processes", "--json", "--max-new-tokens", "30", "--trace", str(trace))
    for backup in ("draft", "uniform"):
        found = json_of(capsys, "compare", "The with statement", "--backup", backup, *more)
        duo = found["processes"]
        assert duo["tokens"] == found["ssd"]["tokens"]
        assert duo["round_records"] == found["ssd"]["round_records"]
        assert duo["faults"] == [] and duo["seconds"] > 0
    assert {e["name"] for e in json.loads(trace.read_text())["traceEvents"]} >= {"verify", "glue"}


def test_bench_measures_two_processes(capsys):
    found = json_of(capsys, "bench", "--processes", "--json", "--seconds", "12")
    assert {"sd/ar", "ssd/sd", "ssd/sd@T=0"} <= set(found["ratios"])
    for shares in found["where"].values():
        parts = ("verifying", "misses", "overflow", "handshake")
        assert sum(shares[part] for part in parts) == pytest.approx(1)


def test_calibrate_predicts(capsys, tmp_path):
    found = json_of(
        capsys, "calibrate", "--json", "--seconds", "10", "--max-new-tokens", "24",
        "--out", str(tmp_path),
    )  # fmt: skip
    for temperature, result in found.items():
        assert set(result["measured"]) == {"ar", "sd", "ssd", "sd/ar", "ssd/sd"}
        assert (tmp_path / f"{temperature}.toml").exists()
        assert all(value > 0 for value in result["predicted"].values())


def as_rank(rank, port, *command):
    environment = os.environ | {
        "RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port),
    }  # fmt: skip
    return subprocess.Popen(
        [sys.executable, "-m", "ssd_ref", *command], env=environment,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_two_ranks_run_the_same_code():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    command = ("compare", "A class", "--processes", "--json", "--max-new-tokens", "30")
    first, second = as_rank(0, port, *command), as_rank(1, port, *command)
    out, error = first.communicate(timeout=100)
    assert first.returncode == 0, error
    assert second.communicate(timeout=20)[0] == "" and second.returncode == 0
    found = json.loads(out)
    assert found["processes"]["tokens"] == found["ssd"]["tokens"]


def test_a_port_that_is_taken_is_named():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        rank = as_rank(0, port, "compare", "A class", "--processes", "--max-new-tokens", "4")
        _, error = rank.communicate(timeout=100)
    assert rank.returncode == 2
    assert f"rendez-vous at 127.0.0.1:{port}" in error and "in use" in error
    assert len(error.strip().splitlines()[-1]) < 400


def test_few_texts_of_the_embedded_pair_part_in_float32():
    """Rows of another batch differ in their last bits: a text parts at a near-tie, and seldom."""
    import ssd_ref
    from ssd_ref.engine import EMBEDDED, Engine
    from ssd_ref.pair.corpus import held_out_prompts

    pair, parted, texts = ssd_ref.load_pair(), 0, 0
    more = {"max_new_tokens": 48, "lookahead": 4, "fan_out": [2, 2, 2, 2, 4]}
    with Engine(pair.target, EMBEDDED) as engine:
        for number, prompt in enumerate(held_out_prompts()[:12]):
            for temperature in (0, 1):
                for backup in ("draft", "uniform"):
                    more |= {"temperature": temperature, "backup": backup}
                    more["randomness"] = ssd_ref.SeededRandomness(1, sequence=number)
                    alone = ssd_ref.ssd(pair.target, pair.draft, prompt, **more)
                    text = engine.decode(prompt, **more, abort=True)
                    parted += text.tokens != alone.tokens
                    texts += 1
    print(f"{parted} of {texts} texts part")
    assert parted <= 0.05 * texts
