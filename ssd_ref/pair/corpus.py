"""The text the pair learns: Python's own documentation, read from the interpreter that runs.

Tokens are bytes; one more token, `END`, ends a document. Training text is every help topic of
`pydoc_data.topics` that is not held out, and the docstrings of the standard library. Nothing is
stored but the names of the held-out topics: another Python version has another text and hash.
"""

from __future__ import annotations

import ast
import hashlib
import platform
import re
import sysconfig
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from pydoc_data.topics import topics

import numpy as np
from numpy.typing import NDArray

END = 256  # the end token: not a byte, and not text
VOCABULARY = 257
SHINGLE = 48  # bytes; the unit in which overlap of two texts is measured

# Chosen because hardly any 48-byte window of theirs occurs anywhere else in the text (the topics
# contain one another in parts: most of "with" is in "compound"); about 6.8 % of the topics' text.
HELD_OUT = (
    "assert",
    "calls",
    "del",
    "dict",
    "import",
    "lambda",
    "objects",
    "raise",
    "subscriptions",
)
SKIPPED_FOLDERS = {"test", "tests", "idle_test", "idlelib", "lib2to3", "site-packages"}


class ByteTokenizer:
    """Text as UTF-8 bytes; every string is encodable, and any byte may follow any other."""

    vocabulary = VOCABULARY
    end = END

    def encode(self, text: str) -> list[int]:
        """Token ids 0..255, one per UTF-8 byte of `text`; lone surrogates become `?`."""
        return list(text.encode("utf-8", errors="replace"))

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of `tokens`: end tokens are left out, invalid UTF-8 shows as U+FFFD.

        Raises ValueError for an id outside 0..256.
        """
        for token in tokens:
            if not 0 <= token < VOCABULARY:
                raise ValueError(f"token id must lie in 0..{END}, got {token}")
        return bytes(t for t in tokens if t != END).decode("utf-8", errors="replace")


class CorpusWarning(UserWarning):
    """The running Python documents itself in other words than those the pair was trained on."""


@dataclass(frozen=True)
class Corpus:
    """Documents as bytes; `training` and `held_out` share no document.

    training: the documents to learn from. held_out: {topic name: its text}, in HELD_OUT's order.
    """

    training: tuple[bytes, ...]
    held_out: dict[str, bytes]

    @property
    def hash(self) -> str:
        """sha256 over all documents, training first; hexadecimal."""
        return digest((*self.training, *self.held_out.values()))

    @property
    def held_out_hash(self) -> str:
        """sha256 over the held-out documents, which need no parsing of the library."""
        return digest(self.held_out.values())

    def facts(self) -> dict[str, object]:
        """What a model card says of its text."""
        return {
            "sha256": self.hash,
            "held_out_sha256": self.held_out_hash,
            "python": platform.python_version(),
            "training_documents": len(self.training),
            "training_bytes": sum(map(len, self.training)),
            "held_out_topics": list(self.held_out),
            "held_out_bytes": sum(map(len, self.held_out.values())),
            "held_out_windows_in_training": round(self.overlap(), 4),
        }

    def compare(self, expected: str) -> bool:
        """Whether `hash` is `expected`; warns (CorpusWarning) where it is not, and goes on."""
        return same_text("text", expected, self.hash)

    def compare_held_out(self, expected: str) -> bool:
        """The same of `held_out_hash`: the card's prompts are those of the running Python."""
        return same_text("held-out text", expected, self.held_out_hash)

    def stream(self) -> NDArray[np.int16]:
        """Training documents as one array of tokens, an end token before, between and after."""
        return token_stream(self.training)

    def overlap(self) -> float:
        """Share of the held-out text's 48-byte windows that also occur in the training text."""
        known = {w for document in self.training for w in windows(document)}
        found = [w in known for document in self.held_out.values() for w in windows(document)]
        return sum(found) / max(1, len(found))

    def prompts(self, count: int = 64, size: int = 64) -> list[list[int]]:
        """`count` windows of `size` bytes of held-out text, each from the start of a paragraph.

        They are spread evenly over the paragraphs that begin far enough ahead of their document's
        end. Raises ValueError when there are fewer of those than `count`.
        """
        starts = [
            document[at : at + size]
            for document in self.held_out.values()
            for at in paragraphs(document)
            if at + 2 * size <= len(document)
        ]
        if len(starts) < count:
            raise ValueError(f"expected at least {count} held-out paragraphs, got {len(starts)}")
        return [list(starts[i * len(starts) // count]) for i in range(count)]


def digest(documents: Iterable[bytes]) -> str:
    """sha256 over documents, each preceded by its length; hexadecimal."""
    total = hashlib.sha256()
    for document in documents:
        total.update(len(document).to_bytes(8, "big") + document)
    return total.hexdigest()


def same_text(what: str, expected: str, found: str) -> bool:
    if found != expected:
        warnings.warn(
            f"the pair's card is about {what} with hash {expected[:16]}, this Python "
            f"({platform.python_version()}) has {found[:16]}: its figures may not hold here",
            CorpusWarning,
            stacklevel=3,
        )
    return found == expected


def windows(document: bytes, size: int = SHINGLE) -> Iterator[bytes]:
    return (document[i : i + size] for i in range(len(document) - size + 1))


def paragraphs(document: bytes) -> list[int]:
    """Offsets of the text's start and of each line that follows empty lines."""
    return [0] + [match.end() for match in re.finditer(rb"\n\n+(?=.)", document)]


def token_stream(documents: Sequence[bytes]) -> NDArray[np.int16]:
    """Documents joined by end tokens, one in front and one behind; shape (tokens,)."""
    pieces = [np.array([END], dtype=np.int16)]
    for document in documents:
        pieces += [np.frombuffer(document, dtype=np.uint8).astype(np.int16), pieces[0]]
    return np.concatenate(pieces)


def docstrings(root: Path) -> Iterator[str]:
    """Docstrings of the Python files under `root`, by sorted path and order of definition.

    Files are parsed and never imported; one that does not parse is passed over.
    """
    for path in sorted(root.rglob("*.py")):
        if SKIPPED_FOLDERS & set(path.relative_to(root).parts):
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # old files hold invalid escapes
                tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                text = ast.get_docstring(node)
                if text:
                    yield text


def assemble(help_topics: dict[str, str], further: Iterator[str]) -> Corpus:
    """Split `help_topics` by HELD_OUT and add `further` documents to the training text.

    A further document is dropped when it is a duplicate, shorter than a shingle, or shares a
    48-byte window with the held-out text.
    """
    held_out = {name: help_topics[name].encode() for name in HELD_OUT if name in help_topics}
    kept_back = {w for document in held_out.values() for w in windows(document)}
    training = {help_topics[n].encode(): None for n in sorted(help_topics) if n not in held_out}
    for text in further:
        document = text.encode("utf-8", errors="replace")
        if len(document) >= SHINGLE and not any(w in kept_back for w in windows(document)):
            training[document] = None
    return Corpus(tuple(d for d in training if d), held_out)


def held_out_corpus() -> Corpus:
    """The help topics alone, without parsing the library: enough for held-out text and prompts."""
    return assemble(topics, iter(()))


def held_out_prompts(count: int = 64, size: int = 64) -> list[list[int]]:
    """`Corpus.prompts` of the held-out text."""
    return held_out_corpus().prompts(count, size)


@cache
def load_corpus() -> Corpus:
    """The corpus of the running Python; a few seconds, most of it parsing the library."""
    return assemble(topics, docstrings(Path(sysconfig.get_path("stdlib"))))
