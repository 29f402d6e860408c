"""What a reader sees: the screen of `compare`, the stream of `generate`, colours, the tour."""

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from fake_pair import END, TEXT, FakePair, Ticks, bigrams, load_tables

from ssd_ref import TableModel
from ssd_ref.cli import main
from ssd_ref.cli.report import agreement
from ssd_ref.cli.text import TextStream

GOLDEN = Path(__file__).parent / "golden"
COMPARE = ["compare", "A list", "--max-new-tokens", "100"]


@pytest.fixture(autouse=True)
def terminal(monkeypatch):
    """80 columns, no colours asked for."""
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)


def output(capsys, *argv, load=load_tables):
    """Standard output of a command that succeeds, without the blanks that end a line."""
    assert main(argv, load=load, clock=Ticks()) == 0
    return re.sub(" +\n", "\n", capsys.readouterr().out)


def test_the_screen_of_compare(capsys):
    """To renew: delete the file, run the test twice, and read the difference."""
    path, got = GOLDEN / "compare.txt", output(capsys, *COMPARE)
    if not path.exists():
        path.write_text(got, encoding="utf-8")
        pytest.fail(f"wrote {path}: read it")
    assert got == path.read_text(encoding="utf-8")


def test_a_pipe_gets_no_colours_and_a_terminal_the_same_characters(capsys, monkeypatch):
    plain = output(capsys, *COMPARE)
    assert "\x1b" not in plain
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    coloured = output(capsys, *COMPARE)
    assert {"\x1b[33m", "\x1b[32m", "\x1b[36m", "\x1b[1;36m"} <= set(
        re.findall(r"\x1b\[[\d;]+m", coloured)
    )
    assert re.sub(" +\n", "\n", re.sub(r"\x1b\[[\d;]+m", "", coloured)) == plain
    monkeypatch.setenv("NO_COLOR", "1")
    assert not re.search(r"\x1b\[(1;)?3\dm", output(capsys, *COMPARE))


def test_each_character_has_one_mark(capsys):
    screen = output(capsys, *COMPARE).split("\nSD  ")[1]
    lines = screen.split("- = accepted")[0].splitlines()
    blocks = [line for line in lines if not re.match(r"SSD  |100 tokens", line)]
    assert len(blocks) % 2 == 0
    for text, marks in zip(blocks[::2], blocks[1::2], strict=True):
        assert len(marks) >= len(text)  # blanks at the end of a line are cut off
        assert set(marks) <= set("-=^*")


def test_a_prompt_on_which_few_drafts_are_accepted_is_warned_of(capsys):
    def load(args):
        return FakePair(bigrams(TEXT, 0.02), bigrams(TEXT[::-1], 0.05))

    screen = output(capsys, *COMPARE, load=load)
    warning = screen[screen.index("warning: ") :].replace("\n", " ")
    assert re.match(r"warning: SD: the target accepted only \d+% of the \d+ drafts", warning)
    assert "warned below 50%" in warning and "warning: SSD" in warning
    assert "warning" not in output(capsys, *COMPARE)
    few = [*COMPARE[:2], "--max-new-tokens", "3"]
    assert "warning" not in output(capsys, *few, load=load)  # too few tests to say


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("", ["AR and SD: other draws from the same law", "SD and SSD: the same text."]),
        ("--temperature 0", ["AR and SD: the same text.", "SD and SSD: the same text."]),
        ("--temperature 0 --backup uniform", ["SD and SSD: the same text."]),
        ("--backup uniform", ["SD and SSD: the texts part after ", "a uniform backup SSD drafts"]),
        ("--saguaro-c 0.3", ["SD and SSD: the texts part after ", "With C < 1"]),
    ],
)
def test_it_is_said_whether_the_texts_agree(capsys, options, said):
    screen = output(capsys, *COMPARE, *options.split()).replace("\n", " ")
    assert all(part in screen for part in said)


def test_texts_that_part_are_told_apart():
    same, shorter = (
        agreement("A and B", [1, 2], [1, 2], "."),
        agreement("A and B", [1], [1, 2], "!"),
    )
    assert same == "A and B: the same text."
    assert shorter == "A and B: the texts part after 1 tokens. !"


@pytest.mark.parametrize("method", ["ar", "sd", "ssd"])
def test_generate_streams_each_round_as_it_comes(capsys, method):
    shown = []

    class Watched(TableModel):
        def logits_after(self, context):
            shown.append(capsys.readouterr().out)
            return super().logits_after(context)

    def load(args):
        pair = load_tables(args)
        pair.target = Watched(pair.target.table, 512)
        return pair

    whole = "".join([output(capsys, "generate", "A list", "--method", method)])
    streamed = output(capsys, "generate", "A list", "--method", method, load=load)
    assert "".join(shown) + streamed == whole
    assert sum(map(bool, shown)) > 20


def test_generate_without_a_prompt_shows_the_held_out_one(capsys):
    assert main(["generate", "--max-new-tokens", "5"], load=load_tables, clock=Ticks()) == 0
    captured = capsys.readouterr()
    assert captured.err.startswith("prompt, held-out text: ")
    assert "SSD: 5 tokens, end: length" in captured.err
    assert captured.err.endswith("weights 0123456789abcdef\n")
    assert len(captured.out.encode()) >= 6


def spelling(*tokens):
    """A pair that writes `tokens` after any prompt that ends with token 0, with certainty."""
    table = np.zeros((257, 257))
    table[:, END] = 1
    for a, b in zip([0, *tokens], tokens, strict=False):
        table[a] = np.eye(257)[b]
    return lambda args: FakePair(TableModel(table, 512), TableModel(table, 512))


def test_an_end_token_ends_the_text_and_shows_nothing(capsys):
    prompt, load = "\0", spelling(*b"the")
    assert output(capsys, "generate", prompt, load=load) == "the\n"
    assert "end: eos" in output(capsys, "compare", prompt, load=load)


@pytest.mark.parametrize(
    ("tokens", "pieces", "last"),
    [
        (b"\xc3\xa9", ["", "é"], ""),
        (b"\xf0\x9f\x90\x8d!", ["", "", "", "🐍", "!"], ""),
        (b"\xc3", [""], "\ufffd"),
        (b"\xc3a", ["", "\ufffda"], ""),
        (b"\xff\xfe", ["\ufffd", "\ufffd"], ""),
        (b"\x1b[2J\x00", ["\u241b", "[", "2", "J", "\u2400"], ""),
        (b"a\tb\n\x7f", ["a", "\t", "b", "\n", "\u2421"], ""),
        (b"\xc2\x9b", ["", "\ufffd"], ""),
        ([*b"a", END], ["a", ""], ""),
    ],
)
def test_a_character_is_held_back_until_it_is_whole(tokens, pieces, last):
    stream = TextStream(END)
    assert [stream.feed([token]) for token in tokens] == pieces
    assert stream.close() == last


def test_a_terminal_without_utf8_shows_question_marks():
    script = [sys.executable, str(Path(__file__).with_name("fake_pair.py")), "0", *COMPARE]
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(script, capture_output=True, env=environment, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"?" in done.stdout


def test_the_tour_is_a_line_a_command(capsys):
    tour = output(capsys)
    assert 4 <= tour.count("\n") <= 10
    assert all(line.startswith("ssd-ref ") for line in tour.splitlines())
    assert max(map(len, tour.splitlines())) <= 100


def test_another_pythons_held_out_text_is_noted_and_used(capsys, monkeypatch):
    loading = importlib.import_module("ssd_ref.pair.loading")
    monkeypatch.setattr(loading, "read_card", lambda: {"corpus": {"held_out_sha256": "0" * 64}})
    assert main(["generate", "--max-new-tokens", "2"], load=load_tables) == 0
    assert "ssd-ref: note: " in capsys.readouterr().err
