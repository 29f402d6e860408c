"""Where a prompt comes from: an argument, standard input, a file, or the held-out text."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ssd_ref.cli.errors import CommandError
from ssd_ref.cli.pairs import Tokenizer

MOST = 1 << 20  # bytes read of a prompt; the pair's context is far smaller
HELD_OUT = 4  # of the held-out prompts, the first in plain prose; each is 64 bytes long


@dataclass(frozen=True)
class Prompt:
    """A prompt as tokens, and in words where it came from."""

    tokens: Sequence[int]
    source: str

    def to_json(self, tokenizer: Tokenizer) -> dict[str, Any]:
        text = tokenizer.decode(self.tokens)
        return {"tokens": list(self.tokens), "text": text, "source": self.source}


def read_text(argument: str | None, file: Path | None) -> tuple[str, str] | None:
    """The text given by the user and its source; None where none was given.

    Everything is taken as it is, the last newline included. Raises CommandError for an argument
    and a file at once, a file that cannot be read, and bytes that are not UTF-8.
    """
    if file is not None:
        if argument is not None:
            raise CommandError("expected a prompt or --prompt-file, got both")
        try:
            with file.open("rb") as bytes_:
                return as_text(bytes_.read(MOST), str(file)), str(file)
        except OSError as error:
            raise CommandError(
                f"--prompt-file: expected a readable file, got {file} ({error.strerror})"
            ) from error
    if argument == "-":
        if sys.stdin is None:
            raise CommandError("expected a prompt on standard input, got none: it is closed")
        return as_text(sys.stdin.buffer.read(MOST), "standard input"), "standard input"
    if argument is None:
        return None
    return as_text(os.fsencode(argument), "prompt"), "argument"


def as_text(data: bytes, source: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        got = data[error.start]
        raise CommandError(
            f"{source}: expected UTF-8 text, got byte 0x{got:02x} at offset {error.start}"
        ) from error


def find_prompt(given: tuple[str, str] | None, tokenizer: Tokenizer) -> Prompt:
    """The user's prompt, or else a held-out one."""
    if given is None:
        return held_out()
    text, source = given
    return Prompt(tokenizer.encode(text), source)


def held_out() -> Prompt:
    """The beginning of a paragraph of Python's documentation that the pair was not trained on."""
    from ssd_ref.pair.corpus import held_out_corpus
    from ssd_ref.pair.loading import read_card

    corpus = held_out_corpus()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        corpus.compare_held_out(read_card()["corpus"]["held_out_sha256"])
    for warning in caught:
        print(f"ssd-ref: note: {warning.message}", file=sys.stderr)
    return Prompt(corpus.prompts()[HELD_OUT], "held-out text")
