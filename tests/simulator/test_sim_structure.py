"""What the package may import, and how long it is: the core stays readable in one sitting."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import sim

ROOT = Path(sim.__file__).parent
CORE = ["clock", "recorder", "devices", "protocols"]


def test_it_is_this_tree_and_not_another_sim():
    assert Path(__file__).parents[2] / "sim" == ROOT


def test_it_imports_neither_torch_nor_the_decoders():
    code = (
        "import sim.cli, sys; sys.exit(bool({'torch', 'ssd_ref', 'matplotlib'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT.parent).returncode == 0
    for path in ROOT.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import | ast.ImportFrom):
                module = getattr(node, "module", None) or node.names[0].name
                assert module.split(".")[0] not in ("torch", "ssd_ref"), path


def test_the_core_is_about_three_hundred_lines():
    assert sum((ROOT / f"{name}.py").read_text().count("\n") for name in CORE) <= 330


def test_files_and_functions_are_short():
    for path in (*ROOT.glob("*.py"), *Path(__file__).parent.glob("*.py")):
        source = path.read_text()
        assert source.count("\n") <= 350, path
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                lines = body[-1].end_lineno - body[0].lineno + 1 if body else 0
                assert lines <= 45, f"{path}:{node.lineno} {node.name} has {lines} lines"
