"""The course's README: its table of contents and its table of coverage against the files."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LESSONS = ROOT / "lessons"
README = (LESSONS / "README.md").read_text(encoding="utf-8")


def rows(heading: str) -> list[list[str]]:
    """The cells of the table under a heading, without its first two lines."""
    part = README.split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


CONTENTS, COVERAGE = rows("Lessons"), rows("What of the paper is where")


def text_of(number: str) -> str:
    (path,) = LESSONS.glob(f"{number}_*.py")
    return path.read_text(encoding="utf-8")


@cache
def names_in(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.ClassDef)
    return frozenset(node.name for node in tree.body if isinstance(node, kinds))


@pytest.mark.parametrize("row", CONTENTS, ids=lambda row: row[0][1:3])
def test_the_table_of_contents_says_what_the_lessons_say(row: list[str]) -> None:
    link, question, tasks, minutes = row
    number, file = re.fullmatch(r"\[(\d\d) .+\]\((\d\d_\w+\.ipynb)\)", link).groups()
    assert (LESSONS / file).exists()
    text = text_of(number)
    assert text.split("# %% [markdown]\n# # ")[1].startswith(f"{number} · {question}\n")
    assert re.search(r"\*\*Time\*\* about (\d+) minutes", text)[1] == minutes
    in_headings = re.findall(r"^# ##.*\(tasks? ([\d, ]+)\)", text, re.M)
    assert {n for part in in_headings for n in part.split(", ")} == set(
        filter(None, tasks.split(", "))
    )


def test_every_notebook_is_in_the_table_of_contents() -> None:
    assert {path.name for path in LESSONS.glob("[0-9][0-9]_*.ipynb")} == {
        re.search(r"\((.+)\)", row[0])[1] for row in CONTENTS
    }


@pytest.mark.parametrize("row", COVERAGE, ids=lambda row: row[0][:40])
def test_what_the_coverage_table_names_is_there(row: list[str]) -> None:
    _, sections, code, test = row
    for number, section in re.findall(r"(\d\d) §(\d+)", sections):
        assert re.search(rf"^# ## {section}\. ", text_of(number), re.M), (number, section)
    assert re.fullmatch(r"(\d\d §\d+(, )?)+", sections)
    for name, folder in ((code, ROOT), (test, ROOT / "tests")):
        path, thing = re.fullmatch(r"`(.+)::(\w+)`", name).groups()
        assert thing in names_in(folder / path), name


def test_every_test_that_is_named_exists() -> None:
    named = re.findall(r"`([\w/]+/test_\w+\.py)::(\w+)`", README)
    assert len(named) > len(COVERAGE)  # what is left out names tests, too
    for path, name in named:
        assert name in names_in(ROOT / "tests" / path), name


def test_the_example_of_check_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README, re.S)
    exec(example, {})
    assert capsys.readouterr().out.startswith("L02.1: not yet, 1 of 4 cases right.")
