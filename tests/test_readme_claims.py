"""tests/README.md against what exists: its tests, its figures, the blind spot that it admits."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from unittest.mock import patch

import profiles
from ssd_ref import Outcome, TableModel, exact_law, speculative, verification
from ssd_ref.testing import compare_laws, target_law
from ssd_ref.testing.strategies import most_leaves

TESTS = Path(__file__).parent
TEXT = (TESTS / "README.md").read_text(encoding="utf-8")


@cache
def functions(file: str) -> set[str]:
    nodes = ast.parse((TESTS / file).read_text(encoding="utf-8")).body
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef)}


def test_every_named_test_exists() -> None:
    named = re.findall(r"`([\w/]+\.py)::(\w+)`", TEXT)
    assert len(named) > 30
    missing = [f"{file}::{name}" for file, name in named if name not in functions(file)]
    assert not missing


def test_the_leaves_that_are_printed() -> None:
    words = " ".join(TEXT.split())
    for V, K in ((2, 3), (3, 2), (4, 3)):
        counts = ", ".join(str(most_leaves(V, K, N)) for N in range(1, 6))
        assert f"V={V}, K={K}: {counts}" in words


def test_the_profiles_that_are_printed() -> None:
    source = (TESTS / "profiles.py").read_text(encoding="utf-8")
    figures = re.findall(r'"(\w+)": \(([\d_]+), ([\d_]+)\)', source)
    assert len(figures) == 3 and profiles.PROFILE in dict((name, 0) for name, *_ in figures)
    for name, examples, leaves in figures:
        assert f"{name}: {int(examples):,} examples, {int(leaves):,} leaves" in TEXT


def test_two_defaults_are_not_all() -> None:
    """A verifier that reacts to an untested draft, but only to the middle one of three tokens."""
    target = TableModel([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.3, 0.3, 0.4]])
    draft = TableModel([[0.2, 0.2, 0.6], [0.3, 0.4, 0.3], [0.3, 0.5, 0.2]])
    right = verification.verify

    def superstitious(law_after, speculation, randomness, round):  # type: ignore[no-untyped-def]
        outcome = right(law_after, speculation, randomness, round)
        unlucky = outcome.accepted == 0 and speculation.tokens[1:] == (1,)
        return Outcome(0, 0) if unlucky else outcome

    def decode(r):  # type: ignore[no-untyped-def]
        return speculative(
            target, draft, [0], max_new_tokens=2, lookahead=2, randomness=r
        ).tokens  # fmt: skip

    expected = target_law(target, [0], max_new_tokens=2)
    with patch.object(verification, "verify", superstitious):
        assert compare_laws(exact_law(decode), expected).equal
        assert not compare_laws(exact_law(decode, marginalise=False), expected).equal
