"""What can be said from a look at the source, beside the failing case. Never the answer."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from lessons.assignments import slices
from lessons.assignments.spec import Task

SHADOWS = {"sim", "ssd_ref", "numpy", "torch", "simpy", "lessons", "style", "hypothesis"}
GLOBAL_CHANCE = {
    "np.random": "it draws from np.random",
    "numpy.random": "it draws from numpy.random",
    "random": "it draws from Python's random",
    "torch.rand": "it draws from torch's global generator",
    "torch.multinomial": "it draws from torch's global generator",
    "torch.manual_seed": "it seeds torch's global generator",
}
BESIDE = "; every draw must go through the argument `randomness` (lesson 01)"


def of(path: Path, task: Task, text: str) -> list[str]:
    """Hints on a submission whose check failed with `text`."""
    names = [task.function] if task.function else None
    try:
        tree = ast.parse(slices.source_of(path))
    except (OSError, ValueError, SyntaxError):
        return []
    if names:
        tree.body = slices.needed([slices.statement(n) for n in tree.body], set(names))
    return [*chance(tree), *by_text(text)]


def beside(path: Path) -> list[str]:
    """Hints on the files beside a submission, and on what stands in it and was not run."""
    return [*shadows(path.parent), *not_run(path)]


def chance(tree: ast.Module) -> Iterator[str]:
    said = set()
    for node in ast.walk(tree):
        dotted = ast.unparse(node) if isinstance(node, ast.Attribute) else ""
        for start, words in GLOBAL_CHANCE.items():
            if dotted.startswith(f"{start}.") or dotted == start:
                said.add(words)
    return (words + BESIDE for words in sorted(said))


def shadows(folder: Path) -> Iterator[str]:
    """Files beside the submission that hide a module of the same name from `import`."""
    for file in sorted(folder.glob("*.py")):
        if file.stem in SHADOWS or file.stem in sys.stdlib_module_names:
            yield (
                f"a file {file.name} lies beside the submission; on your machine "
                f"`import {file.stem}` finds it instead of the real module: rename it"
            )


def not_run(path: Path) -> Iterator[str]:
    """Loops, calls and waits at the top level: only what a task needs is run."""
    try:
        body = ast.parse(slices.source_of(path)).body
    except (ValueError, SyntaxError):
        return
    lines = [
        node.lineno
        for node in body
        if isinstance(node, ast.Expr | ast.For | ast.While | ast.With)
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    ]
    if lines:
        where = ", ".join(map(str, lines[:5])) + (" and more" if len(lines) > 5 else "")
        yield (
            f"code at the top level (line {where}) was not run, unless a task's function needs it; "
            'put it under `if __name__ == "__main__":`'
        )


def by_text(text: str) -> Iterator[str]:
    if "RecursionError" in text:
        yield "a function that calls itself without end"
    if "EOFError" in text:
        yield "input() was called; nobody answers there"
    shown = re.search(r"\n +expected (.*)\n +got +(.*)", text)
    if shown and shown[1] == shown[2]:
        yield "all digits shown agree, later ones do not: is something rounded, to float32 perhaps?"
