"""Who may import whom, and how long the core is: it must stay readable in one sitting."""

import ast
import subprocess
import sys
from pathlib import Path

import ssd_ref

ROOT = Path(ssd_ref.__file__).parent
CORE = [
    "models", "randomness", "laws", "rounds", "transcript", "autoregressive", "verification",
    "speculative", "fan_out", "ssd", "gpt", "exact_law",
]  # fmt: skip


def imports(path):
    """Top-level modules that a file imports, dotted."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module)
    return names


def test_the_core_imports_only_itself():
    allowed = {f"ssd_ref.{name}" for name in CORE}
    for name in CORE:
        ours = {m for m in imports(ROOT / f"{name}.py") if m.split(".")[0] in ("ssd_ref", "sim")}
        assert ours <= allowed, name


def test_only_the_gpt_needs_torch_in_the_core():
    assert [n for n in CORE if "torch" in {m.split(".")[0] for m in imports(ROOT / f"{n}.py")}] == [
        "gpt"
    ]


def test_who_may_import_whom():
    for path in ROOT.rglob("*.py"):
        where, found = path.relative_to(ROOT).parts[0], imports(path)
        tops = {m.split(".")[0] for m in found}
        assert "hypothesis" not in tops or where == "testing", path
        assert "sim" not in tops or where == "cli", path
        if where not in ("cli", "__main__.py"):
            assert not any(m.startswith("ssd_ref.cli") for m in found), path


def test_no_function_is_longer_than_a_screen_and_no_file_than_350_lines():
    for path in ROOT.rglob("*.py"):
        source = path.read_text()
        assert source.count("\n") <= 350, path
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                lines = (body[-1].end_lineno - body[0].lineno + 1) if body else 0
                assert lines <= 40, f"{path}:{node.lineno} {node.name} has {lines} lines"


def test_the_core_is_about_a_thousand_lines(capsys):
    counts = {name: text_lines((ROOT / f"{name}.py").read_text()) for name in CORE}
    code = sum(text_lines(without_docstrings(ROOT / f"{name}.py")) for name in CORE)
    with capsys.disabled():
        print(
            f"\ncore: {sum(counts.values())} lines, {code} without docstrings and comments", counts
        )
    assert sum(counts.values()) <= 1300
    assert code <= 1000


def text_lines(source):
    return sum(bool(line.strip()) for line in source.splitlines())


def without_docstrings(path):
    """The file as the interpreter sees it: no comments, no docstrings."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def test_importing_the_package_does_not_import_torch():
    code = "import ssd_ref, sys; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
