"""Texts in a file that can be interrupted: one JSON line for each, appended when it is finished.

A rerun finds what is there and decodes the rest. The last line may be torn (the power failed while
it was written): what follows the last line end is taken off. The first line is a header that says
what all texts share, such as the weights' hash; a file with another header is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ssd_ref.study.texts import Key, Text

HEAD = b'{"header": '


class Store:
    """The texts of a file by their key. path None: kept in memory only.

    Raises ValueError for a file with another header or a line that is no text, naming the line.
    """

    def __init__(self, path: Path | None, header: Mapping[str, Any]) -> None:
        self.path, self.header = path, dict(header)
        self.texts: dict[Key, Text] = {}
        if path is not None:
            self.read(path)

    def read(self, path: Path) -> None:
        """Take over what the file has; begin it if there is nothing."""
        data = path.read_bytes() if path.exists() else b""
        if data[: len(HEAD)] != HEAD[: len(data)]:
            raise ValueError(f"{path}: expected recorded texts, got {data[:40]!r}")
        whole = data[: data.rfind(b"\n") + 1]
        if not whole:
            whole = json.dumps({"header": self.header}).encode() + b"\n"
        first, *lines = whole.decode("utf-8").splitlines()
        found = json.loads(first)["header"]
        if found != self.header:
            raise ValueError(f"{path}: expected the header {self.header}, got {found}")
        for number, line in enumerate(lines, start=2):
            text = parsed(path, number, line)
            self.texts[text.key] = text
        if whole != data:
            path.write_bytes(whole)

    def add(self, text: Text) -> None:
        """Keep a finished text: one write, so that an interruption cannot part it."""
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(text.to_json()) + "\n")
        self.texts[text.key] = text

    def missing(self, keys: Iterable[Key]) -> list[Key]:
        """Which of `keys` are not there yet, each once, in order."""
        return [key for key in dict.fromkeys(keys) if key not in self.texts]

    def of(self, keys: Iterable[Key]) -> list[Text]:
        """The texts of `keys`, in order. Raises KeyError for one that is missing."""
        return [self.texts[key] for key in keys]


def parsed(path: Path, number: int, line: str) -> Text:
    try:
        return Text.from_json(json.loads(line))
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"{path}:{number}: expected a text, got {line[:80]!r}") from error
