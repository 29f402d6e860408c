"""Every `ssd-ref` command of the instructors' README, in its order, from an empty directory."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from lessons.assignments import catalogue, stored
from ssd_ref.cli import main

TEXT = (catalogue.FOLDER / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^    (ssd-ref .*?)(?:   .*)?$", TEXT, re.MULTILINE)
INLINE = re.findall(r"`(ssd-ref [^`]*FILE[^`]*|ssd-ref assignment nbgrader[^`]*)`", TEXT)


def collected(folder: Path) -> None:
    """What an instructor has got from students: a right, a wrong, a crashing one, an archive."""
    two = catalogue.load(2)
    right = (two.folder / "right" / "loops.py").read_text()
    bob, carol = (
        stored.read(two.folder / "wrong" / f"{name}.py", 2).source()
        for name in ("bonus_from_q", "crash")
    )
    places = {
        "ann": right,
        "bob": bob,
        "carol": carol,
        "zip/Dan Moe_12_assignsubmission_file": right,
        "autograder/submission": right,
    }
    for place, source in places.items():
        (folder / place).mkdir(parents=True)
        (folder / place / two.file).write_text(source)
    shutil.make_archive(str(folder / "moodle"), "zip", folder / "zip")
    (folder / "autograder/results").mkdir()
    (folder / "seed.txt").write_text("a long secret")


@pytest.mark.slow
def test_the_commands_of_the_readme_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(COMMANDS) == 7 and len(INLINE) == 1
    collected(tmp_path)
    monkeypatch.chdir(tmp_path)
    for command in [*COMMANDS, *INLINE]:
        words = shlex.split(command.replace("/autograder/", f"{tmp_path}/autograder/"))
        status = main(words[1:])
        assert status == (1 if "check" in words else 0), command  # the starter is not right yet
    out = capsys.readouterr().out
    for name, points in {"ann": 21, "bob": 15, "carol": 17, "Dan Moe": 21}.items():
        assert f"{name:30} {points:5} of 21" in out
    assert "drawn from the draft's law" in Path("texts/bob.md").read_text()
    assert "left with status 1" in Path("texts/carol.md").read_text()
    assert "Participant 12,Dan Moe,21" in Path("grades.csv").read_text()
    assert Path("autograder/results/results.json").exists()
    assert Path("source/assignment2/assignment2.ipynb").exists()
