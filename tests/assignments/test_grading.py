"""Batches: what one submission does is no other's harm; resuming; seeds; no torch where none is
needed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lessons.assignments import catalogue, grading, hints, stored
from lessons.assignments.archives import Submission
from lessons.assignments.results import Graded
from lessons.assignments.running import run_check
from lessons.assignments.spec import PUBLIC_SEED, Assignment, Check, Task
from ssd_ref.testing.trials import gives

pytestmark = pytest.mark.slow  # left out of the everyday run

TWO = catalogue.load(2)
PLAIN = (TWO.folder / "right" / "plain.py").read_text()
SECRET = "a secret of the instructor"
PLOT = "import matplotlib.pyplot as plt; plt.plot([1]); plt.show(); return p"
slow = pytest.mark.slow


def submission(folder: Path, student: str, source: str) -> Submission:
    path = folder / student / TWO.file
    path.parent.mkdir(parents=True)
    path.write_text(source)
    return Submission(student, path)


def overlay(name: str) -> str:
    return stored.read(TWO.folder / "wrong" / f"{name}.py", 2).source()


def points(all_graded: list[Graded]) -> dict[str, float]:
    return {graded.student: graded.points for graded in all_graded}


def batch(folder: Path, again: set[str] | None = None, **sources: str) -> dict[str, float]:
    submissions = [
        Submission(student, folder / student / TWO.file)
        if (folder / student / TWO.file).exists()
        else submission(folder, student, source)
        for student, source in sources.items()
    ]
    stream = grading.grade(
        2, submissions, SECRET, store=folder / "store.jsonl", jobs=2, again=again or ()
    )
    return points(list(stream))


def test_a_batch_is_graded_and_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = {"ann": PLAIN, "bob": overlay("le_for_lt"), "cy": "def is_kept(:"}
    expected = {"ann": 21, "bob": 19, "cy": 0}
    assert batch(tmp_path, **sources) == expected
    lines = (tmp_path / "store.jsonl").read_text().splitlines()
    assert len(lines) == 3
    asked = []

    def in_parallel(number: int, waiting: list, seed: str, jobs: int) -> list:
        asked.append([one.student for one, _ in waiting])
        return []

    monkeypatch.setattr(grading, "in_parallel", in_parallel)
    assert batch(tmp_path, **sources) == expected, "all from the store"
    (tmp_path / "store.jsonl").write_text("\n".join(lines[:2]) + "\n" + lines[2][:50])
    assert len(batch(tmp_path, **sources)) == 2, "the third was cut off"
    (tmp_path / "bob" / TWO.file).write_text(PLAIN)
    (tmp_path / "store.jsonl").write_text("\n".join(lines) + "\n")
    batch(tmp_path, **sources)
    batch(tmp_path, again={"ann"}, **sources)
    assert asked[0] == [] and len(asked[1]) == 1
    assert asked[2:] == [["bob"], ["ann", "bob"]]


def test_nothing_handed_in_is_no_points() -> None:
    graded = grading.grade_one(2, Submission("di", None, "7", ("no assignment2.py",)), "d", SECRET)
    assert (graded.points, graded.most, graded.id) == (0, 21, "7")
    assert {result.how for result in graded.results} == {"missing"}


def test_another_seed_or_file_is_another_result(tmp_path: Path) -> None:
    one = submission(tmp_path, "ann", PLAIN)
    digests = {grading.digest_of(2, one, seed) for seed in (SECRET, SECRET + "x", PUBLIC_SEED)}
    assert one.path is not None
    one.path.write_text(PLAIN + "\n#")
    digests.add(grading.digest_of(2, one, SECRET))
    assert len(digests) == 4


def test_cases_are_drawn_from_the_seed() -> None:
    task, check = TWO.find("2.3/several")

    def cases(seed: str) -> list[str]:
        def texts() -> list[str]:
            shown = []
            for trial in task.trials(check, seed):
                with pytest.raises(Exception) as error:
                    trial(None)
                shown.append(str(error.value))
            return shown

        return texts()

    assert cases(SECRET) == cases(SECRET)
    public, secret = cases(PUBLIC_SEED), cases(SECRET)
    assert public[0] == secret[0], "what can be done by hand is common"
    assert sum(a != b for a, b in zip(public, secret, strict=True)) >= 8


def test_a_seed_file(tmp_path: Path) -> None:
    path = tmp_path / "seed"
    path.write_text("  long enough \n")
    assert grading.seed_from(path) == "long enough"
    assert grading.seed_from(None) == PUBLIC_SEED
    path.write_text("short\n")
    with pytest.raises(ValueError, match="at least 8 characters, got 5"):
        grading.seed_from(path)


def result(tmp_path: Path, source: str, check: str, beside: dict[str, str] | None = None):
    one = submission(tmp_path, "ann", source)
    assert one.path is not None
    for name, text in (beside or {}).items():
        (one.path.parent / name).write_text(text)
    return run_check(TWO, check, one.path, SECRET)


def test_a_later_task_stays_the_students_own(tmp_path: Path) -> None:
    source = "def is_kept(p, q, token, u):\n    return u < residual(p, q)[token]\n"
    source += 'def residual(p, q):\n    raise NotImplementedError("mine")\n'
    assert "NotImplementedError: mine" in result(tmp_path, source, "2.1/laws").text


HANDED_IN = "plt.show()\nwhile True: pass\n"


@pytest.mark.parametrize(
    "more",
    [
        HANDED_IN,
        "text = input()",
        "import matplotlib.pyplot as plt\nplt.plot([1])\nplt.show()",
        "from ssd_ref import ssd\nresult = ssd(None)",
        "import os\nos._exit(1)",
    ],
)
def test_the_top_level_of_a_file_costs_nothing(tmp_path: Path, more: str) -> None:
    assert result(tmp_path, f"{PLAIN}\n{more}\n", "2.1/greedy").got == 1


@pytest.mark.parametrize(
    ("body", "how", "words"),
    [
        ("return input()", "wrong", "EOFError"),
        ("import os; os._exit(0)", "crash", "left with status 0 and no result"),
        ("import sys; sys.exit('bye')", "crash", "SystemExit: bye"),
        ("print('x' * 3_000_000)", "output", "printed more than 1000 kB"),
        pytest.param("return residual(p, q)", "wrong", "RecursionError", marks=slow),
        pytest.param(PLOT, "wrong", "2.2/laws: not yet", marks=slow),
        ("raise KeyboardInterrupt", "crash", "KeyboardInterrupt"),
        ("return 1 / 0", "wrong", "ZeroDivisionError: division by zero (line 2, residual)"),
    ],
)
def test_harm_costs_its_own_check(tmp_path: Path, body: str, how: str, words: str) -> None:
    got = result(tmp_path, f"def residual(p, q):\n    {body}\n", "2.2/laws")
    assert (got.how, got.got) == (how, 0)
    assert words in got.text


def short(number: int) -> Assignment:
    """An assignment with one check of a fifth of a second."""
    check = Check("quick", 1, lambda rng: [gives(1), gives(2)], seconds=0.2)
    return Assignment(number, "x", (Task("2.2", "x", "residual", (check,)),), "1", TWO.folder)


def test_a_hang_names_the_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "load", short)
    one = submission(tmp_path, "ann", "def residual():\n    while True:\n        pass\n")
    assert one.path is not None
    got = run_check(short(2), "2.2/quick", one.path, SECRET)
    assert got.how == "time"
    assert "residual()\n  expected 1\n  got      TimeIsUp: it had not ended after" in got.text
    assert "0 of 2 cases right" in got.text


@slow
def test_a_hang_that_swallows_the_alarm_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue, "load", short)
    source = (
        "def residual():\n"
        "    while True:\n"
        "        try:\n"
        "            while True:\n"
        "                x = 1\n"
        "        except Exception:\n"
        "            x = 2\n"
    )
    one = submission(tmp_path, "ann", source)
    assert one.path is not None
    got = run_check(short(2), "2.2/quick", one.path, SECRET)
    assert got.how == "time" and "was stopped" in got.text


def test_tests_that_were_tampered_with_are_not_used(tmp_path: Path) -> None:
    beside = {
        "test_assignment2.py": "raise SystemExit(0)",
        "conftest.py": "raise SystemExit(0)",
        "ssd_ref.py": "raise SystemExit(0)",
        "sitecustomize.py": "raise SystemExit(0)",
    }
    assert result(tmp_path, PLAIN, "2.1/greedy", beside).got == 1


def test_a_file_that_shadows_a_module_is_named(tmp_path: Path) -> None:
    one = submission(tmp_path, "ann", PLAIN)
    assert one.path is not None
    for name in ("random.py", "sim.py", "helper.py"):
        (one.path.parent / name).write_text("")
    notes = [note.partition(" lies")[0] for note in hints.beside(one.path)]
    assert notes == ["a file random.py", "a file sim.py"]


def test_chance_of_ones_own_is_named(tmp_path: Path) -> None:
    source = PLAIN + "\ndef residual(p, q):\n    np.random.seed(0)\n    return np.random.rand(2)\n"
    got = result(tmp_path, source, "2.2/laws")
    assert "Note: it draws from np.random; every draw must go through the argument" in got.text


@slow
def test_a_task_that_needs_no_torch_imports_none() -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from lessons.assignments import catalogue, running, grading, exercises, export, feedback\n"
        "two = catalogue.load(2)\n"
        "for task, check in two.checks():\n"
        "    id = task.check_id(check)\n"
        "    if id != '2.3/several':\n"
        "        running.in_child(2, id, two.folder / 'right/plain.py', 'public')\n"
        "sys.exit('torch' in sys.modules)"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], cwd=catalogue.FOLDER.parents[1]).returncode
        == 0
    )
