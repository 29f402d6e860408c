"""The assignments' machinery stays readable: short functions and files, no torch, no terminal."""

from __future__ import annotations

import ast
from pathlib import Path
from statistics import median

import pytest

from lessons.assignments import catalogue

MACHINERY = sorted(catalogue.FOLDER.glob("*.py"))
CONTENT = sorted(p for p in catalogue.FOLDER.glob("a*/*.py"))


def functions(path: Path) -> dict[str, int]:
    """name -> lines of its own body: without its docstring, and without functions within."""
    lengths = {}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            within = [n for n in ast.walk(node) if isinstance(n, ast.FunctionDef) and n is not node]
            body = node.body[1:] if ast.get_docstring(node) else node.body
            lines = {n for part in body for n in range(part.lineno, (part.end_lineno or 0) + 1)}
            for inner in within:
                lines -= set(range(inner.lineno, (inner.end_lineno or 0) + 1))
            lengths[node.name] = len(lines)
    return lengths


@pytest.mark.parametrize("path", [*MACHINERY, *CONTENT], ids=lambda p: f"{p.parent.name}/{p.name}")
def test_files_and_functions_are_short(path: Path) -> None:
    assert path.read_text(encoding="utf-8").count("\n") <= 350
    too_long = {name: n for name, n in functions(path).items() if n > 40}
    assert not too_long


def test_the_median_function_is_under_ten_lines() -> None:
    assert median(n for path in MACHINERY for n in functions(path).values()) < 10


def test_the_machinery_does_without_torch_and_the_command_line() -> None:
    for path in MACHINERY:
        text = path.read_text(encoding="utf-8")
        assert "import torch" not in text and "ssd_ref.cli" not in text, path
