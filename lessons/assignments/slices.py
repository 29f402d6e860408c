"""Of a student's file, only what a task's function needs is run.

So a loop, a plot or `input()` at the top level costs nothing, and a broken import only the tasks
that use it. A statement is needed if it binds a name that is needed, or changes what an assignment
bound to it (`table[0] = 1`, `names.append("x")`).
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

MODULE = "submission"


@dataclass(frozen=True)
class Statement:
    """A top-level statement: the names it binds, those it may change, and those it mentions."""

    node: ast.stmt
    binds: frozenset[str]
    changes: frozenset[str]
    mentions: frozenset[str]
    always: bool


def load(path: Path, names: Iterable[str] | None) -> ModuleType:
    """The student's file as a module that has what `names` need; None: all of it."""
    source = source_of(path)
    tree = ast.parse(source, filename=path.name)
    if names is not None:
        tree.body = needed([statement(node) for node in tree.body], set(names))
    module = ModuleType(MODULE)
    module.__file__ = str(path)
    sys.modules[MODULE] = module  # dataclasses look their module up
    exec(compile(tree, path.name, "exec"), vars(module))
    return module


def needed(statements: list[Statement], wanted: set[str]) -> list[ast.stmt]:
    """The statements that bind or change something that is wanted, in their order."""
    imported = {n for s in statements if is_import(s.node) for n in s.binds}
    kept: set[int] = set()
    while True:
        more = {
            i
            for i, s in enumerate(statements)
            if s.always or s.binds & wanted or s.changes & (wanted - imported)
        } - kept
        if not more:
            return [s.node for i, s in enumerate(statements) if i in kept]
        kept |= more
        wanted |= {name for i in more for name in statements[i].mentions}


def statement(node: ast.stmt) -> Statement:
    scope = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    binds = frozenset([node.name]) if scope else frozenset(bound(node))  # type: ignore[attr-defined]
    changes = frozenset() if scope else frozenset(changed(node))
    mentions = frozenset(n.id for n in ast.walk(node) if isinstance(n, ast.Name))
    star = isinstance(node, ast.ImportFrom) and node.names[0].name == "*"
    future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
    return Statement(node, binds, changes, mentions, always=star or future)


def is_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def bound(node: ast.stmt) -> Iterable[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Import | ast.ImportFrom):
            for alias in inner.names:
                yield alias.asname or alias.name.partition(".")[0]
        elif isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            yield inner.id
        elif isinstance(inner, ast.FunctionDef | ast.ClassDef):
            yield inner.name


def changed(node: ast.stmt) -> Iterable[str]:
    """x in `x.y = ..`, `x[0] = ..` and `x.append(..)`."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Attribute | ast.Subscript):
            stored = isinstance(inner.ctx, ast.Store)
            if (stored or isinstance(inner, ast.Attribute)) and isinstance(inner.value, ast.Name):
                yield inner.value.id


def source_of(path: Path) -> str:
    """Python source of a `.py` file, or of a notebook's code cells without magics."""
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    return code_cells(text) if path.suffix == ".ipynb" else text


def code_cells(notebook: str) -> str:
    """The cells that are Python. One that is not (unfinished) costs only what it defines."""
    try:
        cells = [
            "".join(cell["source"])
            for cell in json.loads(notebook)["cells"]
            if cell.get("cell_type") == "code"
        ]
    except (ValueError, TypeError, KeyError, AttributeError):
        raise ValueError("expected a notebook in JSON, with a list of cells") from None
    return "\n\n".join(cell for cell in map(without_magics, cells) if parses(cell))


def without_magics(cell: str) -> str:
    if cell.lstrip().startswith("%%"):
        return ""
    lines = cell.splitlines()
    return "\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in lines)


def parses(source: str) -> bool:
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True
