"""Refusals: every error quotes what was expected and what came."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any


def need_integer(name: str, value: Any, least: int = 0) -> None:
    if isinstance(value, bool) or not hasattr(value, "__index__") or value < least:
        raise ValueError(f"{name}: expected an integer >= {least}, got {value!r}")


def need_number(name: str, value: Any, least: float = 0.0, above: float | None = None) -> None:
    """A finite number >= least, or > above where that is given."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or value < least:
        raise ValueError(f"{name}: expected a finite number >= {least}, got {value!r}")
    if above is not None and value <= above:
        raise ValueError(f"{name}: expected a finite number > {above}, got {value!r}")


def need_probability(name: str, value: Any) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 <= value <= 1:
        raise ValueError(f"{name}: expected a probability in [0, 1], got {value!r}")


def need_flag(name: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise ValueError(f"{name}: expected true or false, got {value!r}")


def need_choice(name: str, value: Any, choices: Collection[str]) -> None:
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}: expected one of {', '.join(choices)}, got {value!r}")


def unknown_keys(where: str, keys: Iterable[str], known: Collection[str]) -> None:
    """Raises for the first key that is not known, with the nearest name that is."""
    for key in keys:
        if key not in known:
            near = get_close_matches(key, known, 1, 0.0)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"{where}: unknown key {key!r}{hint}")


def read_text(path: Path | str) -> str:
    """A text file's content; a file that is no text is refused by its name."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: expected a text file (UTF-8), got other bytes") from error
