"""Ctrl-C: what was decoded so far is shown, the status is 130, and there is no traceback."""

import json
import signal
import subprocess
import sys
from pathlib import Path

from fake_pair import FakePair, load_tables

from ssd_ref import TableModel
from ssd_ref.cli import main
from ssd_ref.study.recording import read_rounds


class Interrupted(TableModel):
    """A model that counts its rows; Ctrl-C is pressed on the `last`-th."""

    rows, last = 0, 0

    def logits_after(self, context):
        self.rows += 1
        if self.rows == self.last:
            raise KeyboardInterrupt
        return super().logits_after(context)


def interrupted(last=0):
    """A loader, and the target that it gives."""
    pair = load_tables(None)
    target = Interrupted(pair.target.table, 512)
    target.last = last
    return (lambda args: FakePair(target, pair.draft)), target


def test_generate_keeps_what_was_streamed(capsys, tmp_path):
    path = tmp_path / "rounds.jsonl"
    whole = ["generate", "A list"]
    assert main(whole, load=load_tables) == 0
    text = capsys.readouterr().out
    assert main([*whole, "--rounds", str(path)], load=interrupted(60)[0]) == 130
    captured = capsys.readouterr()
    assert text.startswith(captured.out.rstrip("\n")) and len(captured.out) > 10
    assert "end: interrupted" in captured.err
    _, records = read_rounds(path)
    assert sum(r.emitted for r in records["ssd"]) == len(captured.out.encode()) - 1


def test_generate_as_json_says_so(capsys):
    assert main(["generate", "A list", "--json"], load=interrupted(60)[0]) == 130
    result = json.loads(capsys.readouterr().out)
    assert result["finish_reason"] == "interrupted"
    assert len(result["tokens"]) == result["emitted"] > 10


def test_compare_shows_the_methods_and_tokens_so_far(capsys):
    arguments = ["compare", "A list", "--max-new-tokens", "40"]
    load, target = interrupted()
    assert main(arguments, load=load) == 0
    capsys.readouterr()
    last = target.rows - 30
    assert main([*arguments, "--json"], load=interrupted(last)[0]) == 130
    result = json.loads(capsys.readouterr().out)
    assert result["sd"]["finish_reason"] == "length"
    assert result["ssd"]["finish_reason"] == "interrupted"
    assert "overlapped_seconds" not in result["ssd"]
    n = len(result["ssd"]["tokens"])
    assert 0 < n < 40 and result["ssd"]["tokens"] == result["sd"]["tokens"][:n]
    assert main(arguments, load=interrupted(last)[0]) == 130
    screen = capsys.readouterr().out
    assert "SD  40 tokens, end: length" in screen
    assert f"SSD  {n} tokens, end: interrupted" in screen


def test_compare_before_anything_was_decoded(capsys):
    assert main(["compare", "A list"], load=interrupted(3)[0]) == 130
    assert capsys.readouterr().out == "prompt, argument:\nA list\n"


def test_while_the_models_load(capsys):
    def load(args):
        raise KeyboardInterrupt

    assert main(["compare", "A list"], load=load) == 130
    assert capsys.readouterr() == ("", "")


def test_a_signal_to_the_process():
    script = [sys.executable, str(Path(__file__).with_name("fake_pair.py")), "0.02"]
    script += ["generate", "A list"]
    with subprocess.Popen(script, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        begin = process.stdout.read(5)
        process.send_signal(signal.SIGINT)
        rest, message = process.communicate(timeout=30)
    assert process.returncode == 130
    assert (begin + rest).endswith(b"\n") and len(begin + rest) < 128
    assert b"end: interrupted" in message and b"Traceback" not in message
