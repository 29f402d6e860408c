"""Runs a student's tests on decoders: which tests raise a false alarm, which decoders are found.

A test is a function `test_..(decode)` of the student's module; it fails if it raises anything. One
that fails on a sound decoder finds nothing: it would fail everywhere. A test that is still to be
written (NotImplementedError) is left out.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from lessons.assignments import slices
from lessons.assignments.a8.loop import Loop
from lessons.assignments.a8.right_ones import RIGHT, Decode, of_loop
from lessons.assignments.clock import TimeIsUp
from ssd_ref.testing.check import Wrong
from ssd_ref.testing.same import Words, shown

Test = Callable[[Decode], Any]
PROFILE = "derandomised for grading"


@dataclass(frozen=True)
class Alarm:
    """A test that fails on a sound decoder."""

    test: str
    decoder: str
    error: str


class Tests:
    """The tests of a module. Each meets the sound decoders when its verdict is needed first."""

    def __init__(self, module: ModuleType) -> None:
        self.tests: dict[str, Test] = {
            name: test
            for name, test in vars(module).items()
            if name.startswith("test_") and callable(test)
        }
        self.known: dict[str, Alarm | None] = {}

    @property
    def written(self) -> list[str]:
        first = next(iter(RIGHT.values()))
        return [name for name, test in self.tests.items() if not unwritten(test, first)]

    @property
    def alarms(self) -> list[Alarm]:
        """Of all tests."""
        return [alarm for alarm in map(self.alarm, self.tests) if alarm is not None]

    def alarm(self, name: str) -> Alarm | None:
        """The false alarm that a test raises, if any: the first sound decoder that it fails on."""
        if name not in self.known:
            errors = ((d, failure(name, self.tests[name], RIGHT[d])) for d in RIGHT)
            self.known[name] = next((Alarm(name, d, e) for d, e in errors if e is not None), None)
        return self.known[name]

    def finds(self, name: str, loop: type[Loop]) -> bool:
        """Whether a test fails on this broken decoder, and on no sound one."""
        failed = failure(name, self.tests[name], of_loop(loop)) is not None
        return failed and self.alarm(name) is None

    def missed(self, broken: Sequence[type[Loop]]) -> list[type[Loop]]:
        return [loop for loop in broken if not any(self.finds(name, loop) for name in self.tests)]


def tests_of(module: ModuleType) -> Tests:
    """The tests of a module, read anew from its file if it has one."""
    path = getattr(module, "__file__", None)
    if path is None:
        return Tests(module)
    return tests_in(Path(path), Path(path).read_bytes())


@lru_cache(maxsize=1)
def tests_in(path: Path, source: bytes) -> Tests:
    """Tried once for all checks that follow, as long as the file stays as it is."""
    with derandomised():  # also for settings that are made when the file is run
        return Tests(slices.load(path, None))


def unwritten(test: Test, decode: Decode) -> bool:
    try:
        test(decode)
    except NotImplementedError:
        return True
    except Exception:
        return False
    return False


def failure(name: str, test: Test, decode: Decode) -> str | None:
    """What the test raises with this decoder, with the same chance each time."""
    random.seed(0)
    np.random.seed(0)  # the student's own use of it must not decide
    try:
        with derandomised():
            test(decode)
    except TimeIsUp as error:
        raise Wrong(f"{name} with one of the decoders", Words("an end"), Words(error)) from error
    except NotImplementedError:
        return None  # still to be written
    except Exception as error:
        first = (str(error).strip().splitlines() or [""])[0]
        return f"{type(error).__name__}: {shown(Words(first))}"
    return None


@contextmanager
def derandomised() -> Iterator[None]:
    """hypothesis tries the same examples each time, if the student uses it."""
    if "hypothesis" not in sys.modules:
        yield
        return
    from hypothesis import Phase, settings

    before = settings.get_current_profile_name()
    settings.register_profile(  # a failing example is enough, it need not be small
        PROFILE, derandomize=True, deadline=None, database=None, phases=[Phase.generate]
    )
    settings.load_profile(PROFILE)
    try:
        yield
    finally:
        settings.load_profile(before)
