"""Mistakes: one line each, status 2, nothing half-done, no traceback; and what imports torch."""

import io
import subprocess
import sys
from pathlib import Path

import pytest
from fake_pair import FakePair, load_tables

from ssd_ref import TableModel
from ssd_ref.cli import main
from ssd_ref.cli.errors import CommandError


def unused(args):
    raise AssertionError("the models are loaded although the arguments are wrong")


def error(capsys, *argv, load=unused):
    """The one line on standard error of a command that fails."""
    assert main(argv, load=load) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("ssd-ref: error: ") and captured.err.count("\n") == 1
    return captured.err.removeprefix("ssd-ref: error: ").strip()


@pytest.mark.parametrize("command", ["generate", "compare"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--lookahead x", "argument --lookahead: expected a whole number, got 'x'"),
        ("--lookahead=-1", "--lookahead: expected an integer >= 0, got -1"),
        ("--lookahead 99999999999", "--lookahead: expected at most 512, got 99999999999"),
        ("--fan-out 1,2", "--fan-out: expected lookahead + 1 = 5 numbers, got 2: [1, 2]"),
        ("--fan-out 1,x", "argument --fan-out: expected whole numbers with commas between"),
        ("--fan-out=-1", "--fan-out[0]: expected an integer >= 0, got -1"),
        ("--fan-out-miss 1,2", "--fan-out-miss: expected lookahead + 1 = 5 numbers, got 2"),
        ("--temperature hot", "argument --temperature: expected a number, got 'hot'"),
        ("--temperature -1", "--temperature: expected a finite number >= 0, got -1.0"),
        ("--temperature nan", "--temperature: expected a finite number >= 0, got nan"),
        ("--draft-temperature inf", "--draft-temperature: expected a finite number >= 0, got inf"),
        ("--top-k 0", "--top-k: expected an integer >= 1, got 0"),
        ("--top-p 0", "--top-p: expected a number in (0, 1] (or None), got 0.0"),
        ("--draft-top-p 2", "--draft-top-p: expected a number in (0, 1] (or None), got 2.0"),
        ("--saguaro-c 2", "--saguaro-c: expected a number in [0, 1], got 2.0"),
        ("--backup who", "--backup: expected one of ('draft', 'uniform'), got 'who'"),
        ("--seed -1", "--seed: expected an integer in [0, 2**64), got -1"),
        ("--max-new-tokens -1", "--max-new-tokens: expected an integer >= 0, got -1"),
        ("--dtype int8", "argument --dtype: invalid choice: 'int8' (choose from"),
        ("--nonsense", "unrecognized arguments: --nonsense"),
        ("--prompt-file /no/such", "expected a prompt or --prompt-file, got both"),
        ("--rounds /no/such", "--rounds: expected a file that can be written, got /no/such (No s"),
        ("more words", "unrecognized arguments: more words (a prompt of several words needs q"),
    ],
)
def test_wrong_arguments(capsys, command, arguments, message):
    assert error(capsys, command, "prompt", *arguments.split()).startswith(message)


def test_an_unknown_command_or_method(capsys):
    assert error(capsys, "guess").startswith("argument command: invalid choice: 'guess'")
    assert error(capsys, "generate", "--method", "x").startswith("argument --method: invalid")


def test_prompts_that_cannot_be_read(capsys, tmp_path, monkeypatch):
    missing, bad = tmp_path / "missing", tmp_path / "bad"
    bad.write_bytes(b"abc\xff")
    assert error(capsys, "compare", "--prompt-file", str(missing)) == (
        f"--prompt-file: expected a readable file, got {missing} (No such file or directory)"
    )
    got = "expected UTF-8 text, got byte 0xff at offset 3"
    assert error(capsys, "compare", "--prompt-file", str(bad)) == f"{bad}: {got}"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"abc\xff")))
    assert error(capsys, "compare", "-") == f"standard input: {got}"


def test_a_prompt_longer_than_the_context(capsys):
    message = "prompt: expected at most 512 tokens (the target's context limit), got 513"
    for command in ("generate", "compare"):
        assert error(capsys, command, "x" * 513, load=load_tables) == message


def test_models_that_cannot_be_loaded(capsys):
    def load(args):
        raise CommandError("weights:\n expected a,\n got b")

    assert error(capsys, "compare", load=load) == "weights: expected a, got b"


def test_missing_or_damaged_weights(capsys, monkeypatch):
    from ssd_ref.pair import loading

    def load(*args, **options):
        raise loading.WeightsError("expected the model card at weights, found no such file")

    monkeypatch.setattr(loading, "load", load)
    message = error(capsys, "compare", load=None)
    assert message == "expected the model card at weights, found no such file"


def test_an_unknown_device(capsys):
    message = error(capsys, "generate", "x", "--device", "abacus", load=None)
    assert "abacus" in message and "expected one of cpu" in message


def test_logits_that_are_no_law(capsys):
    class Broken(TableModel):
        def logits_after(self, context):
            return super().logits_after(context) * float("nan")

    def load(args):
        pair = load_tables(args)
        return FakePair(Broken(pair.target.table, 512), pair.draft)

    assert "target's logits after 1 tokens: expected finite" in error(
        capsys, "generate", "x", load=load
    )


def test_help_and_errors_do_not_import_torch():
    """One process runs them all; each prints its status and whether torch has come in."""
    helps = ["", "--help", "compare --help", "generate --help", "bench --help", "--version"]
    wrong = ["compare --lookahead x", "generate --top-p 7", "bench --lookahead x", "guess"]
    code = (
        "import sys; from ssd_ref.cli import main\n"
        "for line in sys.argv[1:]:\n"
        "    try: status = main(line.split())\n"
        "    except SystemExit as end: status = end.code or 0\n"
        "    print('status', status, 'torch' in sys.modules)"
    )
    command = [sys.executable, "-c", code, *helps, *wrong]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    statuses = [line for line in done.stdout.splitlines() if line.startswith("status")]
    assert statuses == ["status 0 False"] * len(helps) + ["status 2 False"] * len(wrong)
    assert done.stderr.count("ssd-ref: error: ") == done.stderr.count("\n") == len(wrong)


@pytest.mark.parametrize("module", ["ssd_ref", "ssd_ref.cli"])
def test_the_modules_run_as_the_command(module):
    command = [sys.executable, "-m", module, "--version"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("ssd-ref ")


@pytest.mark.slow
def test_a_reader_who_leaves_is_no_error():
    script = Path(__file__).with_name("fake_pair.py")
    command = [sys.executable, str(script), "0", "compare"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode in (1, 141)  # rich ends a broken pipe by itself, with 1


def test_closed_streams_and_bytes_that_are_no_text():
    """What only a shell can do: standard streams closed, an argument that is not UTF-8."""

    def shell(command):
        call = f'"{sys.executable}" -m ssd_ref {command}'
        return subprocess.run(["sh", "-c", call], capture_output=True, text=True)

    assert shell(">&-").returncode == 0
    done = shell("generate \"$(printf '\\355\\240\\200')\"")
    assert done.returncode == 2
    assert "prompt: expected UTF-8 text, got byte 0xed at offset 0" in done.stderr
