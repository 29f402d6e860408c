"""A child process that takes too much is ended, and says how far it came."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lessons.assignments import catalogue, sandbox
from lessons.assignments.running import run_check
from lessons.assignments.sandbox import FORKS, Limits, run

QUICK = Limits(seconds=0.3, megabytes=200, output_bytes=100_000)
linux = pytest.mark.skipif(not FORKS, reason="memory is watched and children fork on Linux only")


def value() -> int:
    print("hello")
    print("oops", file=sys.stderr)
    return 42


def test_the_value_and_the_output_come_back() -> None:
    ended = run(value, (), Limits())
    assert (ended.how, ended.value) == ("done", 42)
    assert ended.output == "hello\noops\n"


def sleep() -> None:
    time.sleep(60)


def bomb() -> None:
    kept = []
    while True:
        kept.append(bytearray(b"x" * 10_000_000))


def flood() -> None:
    while True:
        print("x" * 10_000)


def flood_a_file() -> None:
    with open("large", "w") as file:
        for _ in range(100):
            file.write("x" * 1_000_000)


def leave() -> None:
    os._exit(3)


def quit_() -> None:
    raise SystemExit("bye")


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def ask() -> str:
    return input("your name? ")


def deep() -> None:
    deep()


@linux
@pytest.mark.parametrize(
    ("function", "how", "words"),
    [
        (sleep, "time", None),
        (bomb, "memory", None),
        (flood, "output", None),
        (leave, "crash", "left with status 3"),
        (quit_, "crash", "SystemExit: bye"),
        (die, "crash", "SIGKILL"),
        (ask, "crash", "EOFError"),
        (deep, "crash", "RecursionError"),
        (flood_a_file, "crash", "File too large"),
    ],
)
def test_harm_ends_the_child_only(function: object, how: str, words: str | None) -> None:
    limits = QUICK if how == "time" else Limits(20, 200, 100_000)
    ended = run(function, (), limits)  # type: ignore[arg-type]
    assert ended.how == how
    assert words is None or words in str(ended.value)
    assert len(ended.output) <= 2_000


def leave_a_child_behind(path: str) -> int:
    code = f"import time; time.sleep(0.6); open({path!r}, 'w')"
    subprocess.Popen([sys.executable, "-c", code])
    return 1


@pytest.mark.slow
@linux
def test_what_the_child_started_is_ended_too(tmp_path: Path) -> None:
    path = tmp_path / "late"
    assert run(leave_a_child_behind, (str(path),), Limits()).value == 1
    time.sleep(1)
    assert not path.exists()


@pytest.mark.slow
def test_where_there_is_no_fork_a_new_process_does_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sandbox, "FORKS", False)
    two = catalogue.load(2)
    right = two.folder / "right" / "plain.py"
    assert run_check(two, "2.1/laws", right, "public").how == "right"
    assert run(time.sleep, (60,), Limits(seconds=3)).how == "time"


def where() -> tuple[str, bool, str]:
    with open("note", "w") as file:
        file.write("x")
    return os.getcwd(), sys.stdin.isatty(), os.environ["MPLBACKEND"]


def test_it_works_in_a_folder_that_is_gone_afterwards() -> None:
    folder, terminal, backend = run(where, (), Limits()).value
    assert not Path(folder).exists()
    assert (terminal, backend) == (False, "Agg")
