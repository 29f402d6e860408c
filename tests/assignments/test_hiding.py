"""The package's own answer is out of a student's reach, and back again afterwards."""

from __future__ import annotations

import functools
import types

import numpy as np
import pytest

import ssd_ref
from lessons.assignments import catalogue
from lessons.assignments.hiding import YoursToWrite, hidden, owner_of, plugged
from ssd_ref import SeededRandomness, TableModel, verification
from ssd_ref.testing import check
from ssd_ref.verification import acceptance, verify

NAMES = ("ssd_ref.verification.acceptance", "ssd_ref.verification.Verifier.verify")
P, Q = np.array([0.5, 0.5]), np.array([0.8, 0.2])


def students(source: str, **names: object) -> types.ModuleType:
    """A module such as a notebook is."""
    module = types.ModuleType("students")
    vars(module).update(names)
    exec(source, vars(module))
    return module


def test_nobody_but_our_own_code_calls_what_is_hidden() -> None:
    module = students("from ssd_ref import verification\n"
                      "def call(p, q): return verification.acceptance(p, q, 0)")  # fmt: skip
    before = module.call(P, Q)[0]
    with hidden(NAMES):
        with pytest.raises(YoursToWrite, match="acceptance: this is yours to write"):
            module.call(P, Q)
        run = ssd_ref.speculative(
            TableModel(P), TableModel(Q), [0],
            max_new_tokens=3, lookahead=2, randomness=SeededRandomness(1),
        )  # fmt: skip
        assert len(run.tokens) == 3, "the package goes on working"
    assert module.call(P, Q)[0] == before


def test_everything_is_restored_also_after_an_error() -> None:
    before = verification.acceptance, verification.Verifier.verify, acceptance
    with pytest.raises(ZeroDivisionError), hidden(NAMES):
        assert acceptance is not before[2], "a name in another module is replaced, too"
        raise ZeroDivisionError
    assert (verification.acceptance, verification.Verifier.verify, acceptance) == before


def test_a_plugged_answer_stands_in_for_ours() -> None:
    def never(law_after: object, speculation: object, randomness: object, round: int) -> object:
        return ssd_ref.Outcome(0, 1)

    settings = {"max_new_tokens": 3, "lookahead": 2, "randomness": SeededRandomness(1)}
    with plugged("ssd_ref.verification.verify", never):
        run = ssd_ref.speculative(TableModel(P), TableModel(Q), [0], **settings)
    assert run.tokens == [1, 1, 1]
    assert verification.verify is verify


@pytest.mark.parametrize("number", catalogue.numbers())
def test_what_a_task_hides_exists(number: int) -> None:
    for task in catalogue.load(number).tasks:
        for name in task.hides:
            owner, key = owner_of(name)
            assert callable(getattr(owner, key)), name


WAYS = {
    "itself": verify,
    "an alias": students("from ssd_ref.verification import verify as mine").mine,
    "a function of it": students("def mine(*a): return verify(*a)", verify=verify).mine,
    "by the module": students("def mine(*a): return v.verify(*a)", v=verification).mine,
    "a lambda": students("mine = lambda *a: verify(*a)", verify=verify).mine,
    "the method": students(
        "def mine(*a): return v.Verifier.verify(None, a[1])", v=verification
    ).mine,
}


@pytest.mark.parametrize("way", WAYS)
def test_a_notebook_cannot_hand_in_the_packages_function(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = students("", verify=verify, v=verification)
    monkeypatch.setitem(__import__("sys").modules, "students", module)
    answer = WAYS[way]
    if isinstance(answer, types.FunctionType) and answer.__module__ == "students":
        answer = types.FunctionType(answer.__code__, vars(module), answer.__name__)
    verdict = check("2.3", answer)
    assert not verdict
    assert "this is yours to write" in verdict.text
    assert verification.verify is verify


def test_a_right_answer_passes_in_a_notebook() -> None:
    def is_kept(p: np.ndarray, q: np.ndarray, token: int, u: float) -> bool:
        return bool(u < p[token] / q[token])

    assert check("2.1", is_kept)
    assert not check("2.1", functools.partial(lambda *a: True))  # has no __name__
    for _ in range(2):
        with pytest.raises(ValueError, match=r"no exercise '2\.9'"):
            check("2.9", is_kept)
