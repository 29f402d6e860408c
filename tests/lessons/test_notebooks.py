"""The committed notebooks are what their texts say, and the texts keep to the course's form."""

from __future__ import annotations

import ast
import importlib.util
import json
import re
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from ssd_ref.testing.check import EXERCISES, find

ROOT = Path(__file__).parents[2]


def load_build() -> ModuleType:
    spec = importlib.util.spec_from_file_location("lessons_build", ROOT / "lessons" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


build = load_build()
LESSONS = build.sources([])
BUILT = [path for path in LESSONS if path.with_suffix(".ipynb").exists()]
lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)


def prose(path: Path) -> str:
    cells = build.cells(path.read_text(encoding="utf-8"))
    return "\n".join(c["source"] for c in cells if c["cell_type"] == "markdown")


def code(path: Path) -> list[dict]:
    cells = build.cells(path.read_text(encoding="utf-8"))
    return [c for c in cells if c["cell_type"] == "code"]


@pytest.mark.parametrize("lesson", BUILT, ids=lambda path: path.stem)
def test_the_notebook_has_the_cells_of_its_text(lesson: Path) -> None:
    """Outputs may be those of an older style or of other weights; the slow test rebuilds them."""
    notebook = json.loads(lesson.with_suffix(".ipynb").read_text(encoding="utf-8"))
    text = build.cells(lesson.read_text(encoding="utf-8"))
    keys = ("cell_type", "source", "metadata")
    assert [[c[k] for k in keys] for c in text] == [[c[k] for k in keys] for c in notebook["cells"]]
    assert notebook["metadata"]["built_from"]["source"] == build.fingerprint(lesson)["source"]
    assert build.troubles(notebook["cells"]) == []


def test_no_notebook_is_without_its_text() -> None:
    notebooks = {path.stem for path in (ROOT / "lessons").glob("*.ipynb")}
    assert notebooks <= {path.stem for path in build.sources([])}


@lesson
def test_no_lesson_defines_what_a_package_defines(lesson: Path) -> None:
    """Show the package's code (`inspect.getsource`); a copy would drift."""
    assert definitions([lesson]) & packages_define() == set()


@cache
def packages_define() -> set[str]:
    return definitions([*(ROOT / "ssd_ref").rglob("*.py"), *(ROOT / "sim").rglob("*.py")])


def definitions(paths: list[Path]) -> set[str]:
    """Names of the public classes and functions at the top of the files."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in paths]
    kinds = (ast.FunctionDef, ast.ClassDef)
    names = {node.name for tree in trees for node in tree.body if isinstance(node, kinds)}
    return {name for name in names if not name.startswith("_")}


@lesson
def test_no_lesson_has_a_magic(lesson: Path) -> None:
    for cell in code(lesson):
        ast.parse(cell["source"])  # a magic is no Python
        assert "get_ipython" not in cell["source"]


@lesson
def test_a_lesson_begins_and_ends_as_all_do(lesson: Path) -> None:
    text = prose(lesson)
    number = lesson.name[:2]
    assert text.startswith(f"# {number} · ")
    for words in ("**You will learn**", "**Time** about", "(an estimate)", "**You need**"):
        assert words in text, words
    assert "## Check yourself" in text or re.search(r"## \d+\. Check yourself", text)
    assert text.count("<details>") == text.count("</details>")
    assert re.search(r"## What comes next|\*\*Next\*\*", text)


@lesson
def test_two_predictions_and_their_folded_answers(lesson: Path) -> None:
    parts = prose(lesson).split("### Predict before you run")[1:]
    assert len(parts) >= 2
    for part in parts:
        assert "<details><summary>Answer</summary>" in part[:1200]


@lesson
def test_every_exercise_is_numbered_rated_checked_and_solved(lesson: Path) -> None:
    number = lesson.name[:2]
    asked = re.findall(rf"### (L{number}\.\d) \((easy|medium|harder), \d+ min\) · ", prose(lesson))
    ids = [id for id, _ in asked]
    assert ids == [f"L{number}.{i}" for i in range(1, len(ids) + 1)]
    assert 2 <= len(ids) <= 4
    solutions = [c["source"] for c in code(lesson) if "solution" in c["metadata"].get("tags", [])]
    assert [re.match(r"# Solution of (L\d\d\.\d)", s)[1] for s in solutions] == ids
    for id, solution in zip(ids, solutions, strict=True):
        assert f'assert check("{id}", ' in solution
    for cell in code(lesson):
        folded = cell["metadata"].get("jupyter", {}).get("source_hidden", False)
        assert folded or "# Solution of" not in cell["source"]


@lesson
def test_what_a_student_builds_has_25_lines_at_most(lesson: Path) -> None:
    for node in ast.walk(ast.parse(lesson.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name.startswith(
            ("my_", "My")
        ):
            assert node.end_lineno - node.lineno < 25, node.name


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# ---\n# a header\n# ---\n", []),
        ("# %%\nx = 1\n\n\n# %% [markdown]\n# # A\n#\n# b\n", [("code", "x = 1", {}),
                                                                 ("markdown", "# A\n\nb", {})]),
        ('# %% tags=["a", "b"] jupyter={"c": true}\ny', [("code", "y", {"tags": ["a", "b"],
                                                                        "jupyter": {"c": True}})]),
    ],
)  # fmt: skip
def test_cells(text: str, expected: list) -> None:
    got = [(c["cell_type"], c["source"], c["metadata"]) for c in build.cells(text)]
    assert got == expected


def test_a_changed_text_a_warning_and_a_bare_figure_are_faults() -> None:
    figure = {"output_type": "display_data", "data": {"image/png": ""}, "metadata": {}}
    cells = [
        {"outputs": [{"output_type": "error", "ename": "ValueError", "evalue": "no"}]},
        {"outputs": [{"output_type": "stream", "name": "stderr", "text": ["Beware"]}]},
        {"outputs": [figure]},
        {"outputs": [{"output_type": "stream", "name": "stdout", "text": ["fine"]}]},
    ]
    assert [i for i, _ in build.troubles(cells)] == [0, 1, 2]
    assert build.caption([{"source": "*Figure: two\nbars.*\n\nMore."}]) == "Figure: two bars."
    assert build.caption([{"source": "More."}]) == build.caption([]) == ""


def test_pointers_of_exercises_name_sections_that_exist() -> None:
    find("L00.1")  # loads the registry
    pointers = [e.pointer for id, e in EXERCISES.items() if id.startswith("L")]
    named = [
        part for p in pointers for part in re.findall(r"lesson (\d\d), sections? ([\d, and]+)", p)
    ]
    assert len(named) > 15
    for number, sections in named:
        (path,) = (ROOT / "lessons").glob(f"{number}_*.py")
        for section in re.findall(r"\d+", sections):
            assert re.search(rf"^## {section}\. ", prose(path), re.M), (number, section)
