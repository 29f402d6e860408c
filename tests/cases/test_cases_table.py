"""The table of all cases, tests/CASES.md, against the tests that exist."""

import ast
import re
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parent.parent


def rows():
    """{case: (kind, what carries it)} of the table."""
    lines = (TESTS / "CASES.md").read_text(encoding="utf-8").splitlines()
    cells = [line.strip("|").split("|") for line in lines if re.match(r"\| *\d+ *\|", line)]
    numbers = [int(number) for number, _, _ in cells]
    assert len(set(numbers)) == len(numbers)
    return {int(number): (kind.strip(), carriers) for number, kind, carriers in cells}


@cache
def functions(path):
    return {
        node.name
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
    }


def named_tests(carriers):
    return re.findall(r"`([\w/]+\.py)::(\w+)`", carriers)


def test_the_table_has_all_38_cases():
    table = rows()
    assert list(table) == list(range(1, 39))
    assert all(kind for kind, _ in table.values())


def test_every_case_is_carried_or_says_why_not():
    for case, (_, carriers) in rows().items():
        reason = re.search(r"Later part \([\w ]+\)|Does not apply: \w+", carriers)
        assert named_tests(carriers) or reason, f"case {case} names no test and gives no reason"


def test_every_named_test_exists():
    for case, (_, carriers) in rows().items():
        for file, name in named_tests(carriers):
            assert name in functions(TESTS / file), f"case {case}: {file}::{name}"


def test_every_test_named_by_a_case_stands_in_its_row():
    table = rows()
    for path in (TESTS / "cases").glob("test_*.py"):
        for name in functions(path):
            if number := re.match(r"test_case_(\d+)_", name):
                named = named_tests(table[int(number[1])][1])
                assert (f"cases/{path.name}", name) in named, name
