"""When a student's value is the expected one, and how values are shown to students."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

MOST = 300  # characters of a value that are shown


class Words(str):
    """A description in place of a value: shown without quotation marks."""

    def __repr__(self) -> str:
        return str(self)


def same(got: Any, expected: Any, tolerance: float = 1e-9) -> bool:
    """Equal up to rounding; lists, tuples and arrays of equal items are the same.

    NaN is no answer: it equals nothing.
    """
    if isinstance(expected, Mapping):
        return (
            isinstance(got, Mapping)
            and got.keys() == expected.keys()
            and all(same(got[key], expected[key], tolerance) for key in expected)
        )
    if is_list(got) and is_list(expected):
        return len(got) == len(expected) and all(
            same(a, b, tolerance) for a, b in zip(got, expected, strict=True)
        )
    if is_number(got) and is_number(expected):
        gap = abs(float(got) - float(expected))
        return bool(got == expected or gap <= tolerance * max(1.0, abs(float(expected))))
    try:
        return bool(got is expected or (type(got) is type(expected) and got == expected))
    except ValueError:  # an array, somewhere inside
        return False


def is_list(value: Any) -> bool:
    return isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)


def is_number(value: Any) -> bool:
    scalar = isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in "biuf"
    return scalar or isinstance(value, int | float | np.number | np.bool_)


def shown(value: Any) -> str:
    """Short, with few digits, and telling None from a value."""
    if value is None:
        return "None"
    text = repr(plain(value))
    return text if len(text) <= MOST else text[:MOST] + " .."


def plain(value: Any) -> Any:
    """The value in Python's own lists and numbers, six digits."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return tuple(plain(item) for item in value)
    if is_list(value) and not hasattr(value, "_fields"):
        return [plain(item) for item in value]
    if isinstance(value, float | np.floating):
        return float(f"{float(value):.6g}")
    return value.item() if isinstance(value, np.generic | np.ndarray) else value
