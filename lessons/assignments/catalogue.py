"""Finds the assignments: the folders `a1`, `a2`, .. beside this file."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

from lessons.assignments.spec import Assignment

FOLDER = Path(__file__).parent


def numbers() -> list[int]:
    folders = (re.fullmatch(r"a(\d+)", path.parent.name) for path in FOLDER.glob("a*/tasks.py"))
    return sorted(int(match[1]) for match in folders if match)


@lru_cache
def load(number: int) -> Assignment:
    """Assignment `number`. Raises ValueError if there is none; it lists those that exist."""
    if number not in numbers():
        known = ", ".join(map(str, numbers()))
        raise ValueError(f"there is no assignment {number}; there are {known}")
    assignment: Assignment = import_module(f"lessons.assignments.a{number}.tasks").ASSIGNMENT
    return assignment


def reference(number: int) -> ModuleType:
    """The reference's module: the student's file with the answers."""
    return import_module(f"lessons.assignments.a{number}.reference")
