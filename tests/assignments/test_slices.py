"""Only what a task needs is run, in programs and in notebooks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lessons.assignments import slices

WANTED = ["answer"]


def load(tmp_path: Path, source: str, names: list[str] | None = WANTED) -> dict[str, object]:
    path = tmp_path / "assignment9.py"
    path.write_text(source)
    return vars(slices.load(path, names))


@pytest.mark.parametrize(
    "harm",
    [
        "input()",
        "while True:\n    pass",
        "text = input('prompt: ')",
        "import no_such_module",
        "from no_such_package import plot",
        "1 / 0",
        "for i in range(10**12):\n    other = i",
        "with open('no such file') as file:\n    rest = file.read()",
        "if __name__ == '__main__':\n    raise SystemExit",
        "def broken():\n    return undefined\nbroken()",
        "raise SystemExit(3)",
        "assert False",
    ],
)
def test_what_is_not_needed_is_not_run(tmp_path: Path, harm: str) -> None:
    module = load(tmp_path, f"{harm}\n\ndef answer():\n    return 42\n\n{harm}\n")
    assert module["answer"]() == 42  # type: ignore[operator]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import math\ndef answer():\n    return math.pi > 3", True),
        ("from math import *\ndef answer():\n    return pi > 3", True),
        ("import os.path\ndef answer():\n    return os.path.sep != ''", True),
        ("A = 1\nB = A + 1\ndef answer():\n    return B", 2),
        ("def a():\n    return b()\ndef b():\n    return 2\ndef answer():\n    return a()", 2),
        ("names = []\nnames.append(1)\ndef answer():\n    return names", [1]),
        ("table = {}\ntable[0] = 1\ndef answer():\n    return table", {0: 1}),
        ("t = []\nfor i in range(3):\n    t.append(i)\ndef answer():\n    return t", [0, 1, 2]),
        ("x = 1\nx += 1\ndef answer():\n    return x", 2),
        ("try:\n    import no as n\nexcept ImportError:\n    n = 5\ndef answer(): return n", 5),
        ("class A:\n    x = 3\nA.x = 4\ndef answer():\n    return A.x", 4),
        ("def answer():\n    return 1\ndef answer():\n    return 2", 2),
        ("def twice(f):\n    return lambda: 2 * f()\n@twice\ndef answer():\n    return 4", 8),
        ("answer = lambda: 7", 7),
        (
            "from __future__ import annotations\nfrom dataclasses import dataclass\n"
            "@dataclass\nclass A:\n    x: int\ndef answer():\n    return A(3).x",
            3,
        ),
        ("def make():\n    return lambda: 8\nanswer = make()", 8),
        ("if True:\n    def answer():\n        return 9", 9),
        ("from __future__ import annotations\ndef answer(x: Nothing = 3):\n    return x", 3),
    ],
)  # fmt: skip
def test_what_is_needed_is_run(tmp_path: Path, source: str, expected: object) -> None:
    assert load(tmp_path, source)["answer"]() == expected  # type: ignore[operator]


def test_a_method_call_on_a_module_is_not_a_change_of_it(tmp_path: Path) -> None:
    source = "import sys\nsys.exit(1)\ndef answer():\n    return sys.maxsize > 0"
    assert load(tmp_path, source)["answer"]() is True  # type: ignore[operator]


def test_without_names_the_whole_module_is_run(tmp_path: Path) -> None:
    assert load(tmp_path, "x = 1\ny = x + 1", None)["y"] == 2


def test_a_syntax_error_names_the_line(tmp_path: Path) -> None:
    with pytest.raises(SyntaxError) as error:
        load(tmp_path, "x = 1\ndef answer(:\n    pass")
    assert error.value.lineno == 2


def test_a_notebook_is_its_code_cells(tmp_path: Path) -> None:
    cells = [
        ("markdown", "# Words"),
        ("code", "%matplotlib inline\n!ls\nBASE = 40"),
        ("code", "%%time\nBASE = 0"),
        ("code", "def unfinished(:"),
        ("code", ["def answer():\n", "    return BASE + 2"]),
        ("code", "answer("),
        ("code", "input()"),
    ]
    notebook = {"cells": [{"cell_type": kind, "source": source} for kind, source in cells]}
    path = tmp_path / "assignment9.ipynb"
    path.write_text(json.dumps(notebook))
    assert slices.load(path, WANTED).answer() == 42


@pytest.mark.parametrize(
    "text", ["", "[]", "3", "{}", '{"cells": 3}', '{"cells": [3]}', "not json"]
)
def test_what_is_no_notebook_is_a_value_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "assignment9.ipynb"
    path.write_text(text)
    with pytest.raises(ValueError, match="expected a notebook in JSON"):
        slices.load(path, WANTED)
