"""The package must not hand out the answer, and a student's answer can stand in for the package's.

`hidden` puts a function that says "this is yours to write" in the place of the package's own,
wherever a loaded module has a name for it, a notebook's too. Calls from our own code pass through,
so that the package goes on working. Everything is restored at the end.

This stops a look that is too quick, not somebody who wants to cheat: the source is in the tree.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

OURS = ("ssd_ref", "lessons.assignments", "sim")


class YoursToWrite(RuntimeError):
    """A student's code called what the student is to write."""


@contextmanager
def hidden(names: Sequence[str]) -> Iterator[None]:
    """Within it nobody but our own code can call the functions or methods `names` (dotted)."""
    places = places_of(names)
    try:
        for namespace, key, original, name in places:
            put(namespace, key, guarded(original, name))
        yield
    finally:
        for namespace, key, original, _ in places:
            put(namespace, key, original)


@contextmanager
def plugged(name: str, answer: Callable[..., Any]) -> Iterator[None]:
    """Within it our own code calls `answer` where it would call `name`.

    The answer cannot call `name` itself: that is what it is to replace.
    """
    owner, key = owner_of(name)
    before = vars(owner)[key]
    original = getattr(before, "original", before)
    inside = False

    def standing_in(*args: Any, **kwargs: Any) -> Any:
        nonlocal inside
        if not called_by_us():
            raise YoursToWrite(f"{name}: this is yours to write")
        if inside:  # a reference, or a slip, that is built on the package's own
            return original(*args, **kwargs)
        inside = True
        try:
            return answer(*args, **kwargs)
        finally:
            inside = False

    put(owner, key, standing_in)
    try:
        yield
    finally:
        put(owner, key, before)


def as_written(answer: Any, names: Sequence[str]) -> Any:
    """The answer as a function of the student's, so that a mere alias of ours is found out, too."""
    if not callable(answer) or isinstance(answer, type):
        return answer
    taken = [name for name in names if answer is vars(owner_of(name)[0])[owner_of(name)[1]]]
    own = guarded(answer, taken[0]) if taken else answer
    scope: dict[str, Any] = {"__name__": "student", "own": own}
    exec("def students(*args, **kwargs): return own(*args, **kwargs)", scope)
    students = scope["students"]
    students.__name__ = getattr(answer, "__name__", "your function")
    return students


def guarded(original: Callable[..., Any], name: str) -> Callable[..., Any]:
    def yours(*args: Any, **kwargs: Any) -> Any:
        if called_by_us():
            return original(*args, **kwargs)
        raise YoursToWrite(f"{name}: this is yours to write")

    yours.__name__ = name.rpartition(".")[2]
    yours.original = original  # type: ignore[attr-defined]
    return yours


def called_by_us() -> bool:
    """Whether the caller of our caller is code of ours."""
    module = sys._getframe(2).f_globals.get("__name__") or ""
    return any(module == name or module.startswith(f"{name}.") for name in OURS)


def places_of(names: Sequence[str]) -> list[tuple[Any, str, Any, str]]:
    """(namespace, key, function, name) wherever a loaded module has a name for one of them."""
    places: list[tuple[Any, str, Any, str]] = []
    functions = {}
    for name in names:
        owner, key = owner_of(name)
        original = vars(owner)[key]
        if isinstance(owner, type):
            places.append((owner, key, original, name))
        else:
            functions[id(original)] = (original, name)
    for module in list(sys.modules.values()):
        for key, value in list(getattr(module, "__dict__", {}).items()):
            if id(value) in functions:
                places.append((module, key, *functions[id(value)]))
    return places


def owner_of(name: str) -> tuple[Any, str]:
    """The module or class that holds `name`, and the last part of it."""
    path, _, key = name.rpartition(".")
    try:
        return import_module(path), key
    except ModuleNotFoundError:
        module, _, owner = path.rpartition(".")
        return getattr(import_module(module), owner), key


def put(namespace: Any, key: str, value: Any) -> None:
    if isinstance(namespace, type):
        setattr(namespace, key, value)
    else:
        vars(namespace)[key] = value
