"""Assignment 8: what its grading makes of files of tests, beyond the stored ones."""

from __future__ import annotations

import warnings
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import settings as hypothesis_settings

from lessons.assignments import catalogue
from lessons.assignments.a8 import broken, right_ones, runner
from lessons.assignments.a8.right_ones import of_loop
from lessons.assignments.clock import Clock
from lessons.assignments.running import in_child
from lessons.assignments.spec import PUBLIC_SEED
from ssd_ref import TableModel, exact_law
from ssd_ref.randomness import Randomness
from ssd_ref.testing import compare_laws, target_law
from ssd_ref.testing.check import Wrong, judge

pytestmark = pytest.mark.slow  # left out of the everyday run

P, Q = TableModel([[0.5, 0.5], [0.9, 0.1]]), TableModel([[0.2, 0.8], [0.4, 0.6]])
HELPERS = """
from ssd_ref import SeededRandomness, TableModel
P, Q = TableModel([[0.5, 0.5], [0.9, 0.1]]), TableModel([[0.2, 0.8], [0.4, 0.6]])
def text(decode, seed=0, n=2):
    return decode(P, Q, [0], max_new_tokens=n, lookahead=1, randomness=SeededRandomness(seed))
"""


def file_of(tests: str, folder: Path) -> ModuleType:
    module = ModuleType("assignment8")
    module.__file__ = str(folder / "assignment8.py")
    (folder / "assignment8.py").write_text(HELPERS + tests)
    return module


@pytest.mark.parametrize("name", right_ones.RIGHT)
def test_the_sound_decoders_are_sound(name: str) -> None:
    decode = right_ones.RIGHT[name]
    for eos in (None, 1):
        settings: dict[str, Any] = {"max_new_tokens": 3, "eos": eos}
        law = exact_law(partial(run, decode, settings))
        assert compare_laws(law, target_law(P, [1], **settings)).equal


def run(decode: right_ones.Decode, settings: dict[str, Any], randomness: Randomness) -> list[int]:
    return decode(P, Q, [1], lookahead=2, randomness=randomness, **settings)


def test_every_broken_decoder_is_told_once_and_finishes() -> None:
    assert len({loop.says for loop in broken.ALL}) == len(broken.ALL)
    untold = set(broken.UNTOLD)
    groups = (broken.TEST, broken.REPLACEMENT, broken.ROWS, broken.SETTINGS, broken.CONTEXT,
              broken.ENDS, broken.CACHE, broken.CHANCE)  # fmt: skip
    assert not untold & {loop for group in groups for loop in group}


def test_a_test_that_cries_wolf_finds_nothing(tmp_path: Path) -> None:
    tests = runner.tests_of(file_of("def test_it(decode):\n    assert False\n", tmp_path))
    assert [alarm.test for alarm in tests.alarms] == ["test_it"]
    assert tests.missed(broken.TEST) == list(broken.TEST)


def test_an_unwritten_test_is_left_out(tmp_path: Path) -> None:
    source = "def test_it(decode):\n    raise NotImplementedError\n"
    tests = runner.tests_of(file_of(source, tmp_path))
    assert not tests.written and not tests.alarms


def test_a_file_that_was_changed_is_read_anew(tmp_path: Path) -> None:
    module = file_of("def test_it(decode):\n    assert False\n", tmp_path)
    assert runner.tests_of(module).alarms
    file_of("def test_it(decode):\n    assert not text(decode, n=0)\n", tmp_path)
    tests = runner.tests_of(module)
    assert not tests.alarms and not tests.missed([broken.AtLeastOne])


def test_chance_of_the_students_own_is_the_same_each_time(tmp_path: Path) -> None:
    source = """
import random
import numpy as np
seen = []
def test_it(decode):
    seen.append((random.random(), np.random.rand()))
    assert seen[-1] == seen[0]
"""
    assert not runner.tests_of(file_of(source, tmp_path)).alarms


def test_hypothesis_is_derandomised_and_its_profile_restored(tmp_path: Path) -> None:
    source = """
from hypothesis import given, settings
from hypothesis import strategies as st
runs = []
@settings(max_examples=3)
@given(seed=st.integers(0, 10**9))
def check(decode, seed):
    runs[-1].append(seed)
def test_it(decode):
    runs.append([])
    check(decode)
    assert runs[-1] == runs[0]
"""
    before = hypothesis_settings.get_current_profile_name()
    tests = runner.tests_of(file_of(source, tmp_path))
    assert tests.written and not tests.alarms
    assert hypothesis_settings.get_current_profile_name() == before


def test_a_test_without_an_end_is_named(tmp_path: Path) -> None:
    source = "def test_it(decode):\n    while text(decode):\n        pass\n"
    module, clock = file_of(source, tmp_path), Clock(0.3)
    with pytest.raises(Wrong, match="test_it with one of the decoders"), clock.running():
        _ = runner.tests_of(module).alarms
    assert clock.rang


def test_what_was_missed_is_told_in_full_but_for_the_untold(tmp_path: Path) -> None:
    path = Path(str(file_of("def test_it(decode):\n    text(decode)\n", tmp_path).__file__))
    _, _, test = in_child(8, "8.2/test", path, PUBLIC_SEED)
    assert all(f"The decoder {loop.says}." in test for loop in broken.TEST)
    _, _, untold = in_child(8, "8.4/untold", path, PUBLIC_SEED)
    assert "4 missed" in untold
    assert not any(loop.says in untold for loop in broken.UNTOLD)
    how, _, sound = in_child(8, "8.1/sound", path, PUBLIC_SEED)
    assert how == "wrong" and "tests that never fail acquit everybody" in sound


def test_something_else_than_a_module_is_refused() -> None:
    task = catalogue.load(8).task("8.1")
    from lessons.assignments.exercises import public_exercise

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        verdict = judge(public_exercise(task), 42)
    assert not verdict and "expected your module" in verdict.text


def test_of_loop_runs_a_decoder_of_the_zoo() -> None:
    decode = of_loop(broken.AcceptsAlways)
    law = exact_law(lambda r: decode(P, P, [0], max_new_tokens=2, lookahead=1, randomness=r))
    assert compare_laws(law, target_law(P, [0], max_new_tokens=2)).equal  # draft = target hides it
