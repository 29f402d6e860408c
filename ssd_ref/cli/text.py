"""From tokens to what a terminal shows, one token at a time."""

from __future__ import annotations

import codecs
from collections.abc import Iterable

REPLACEMENT = "\ufffd"


class TextStream:
    """Bytes become text as they come: a character is held back until its last byte is there.

    Bytes that are no UTF-8 show as U+FFFD, control characters but newline and tab as their symbols
    (an escape as U+241B), so that a model cannot drive the terminal. The end token shows nothing.
    """

    def __init__(self, end_token: int) -> None:
        self.end_token = end_token
        self.decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def feed(self, tokens: Iterable[int]) -> str:
        """The characters that `tokens` complete."""
        return visible(self.decoder.decode(bytes(t for t in tokens if t != self.end_token)))

    def close(self) -> str:
        """What was held back: U+FFFD for a character that was never completed."""
        return visible(self.decoder.decode(b"", final=True))


def visible(text: str) -> str:
    return "".join(map(symbol, text))


def symbol(char: str) -> str:
    code = ord(char)
    if char in "\n\t" or 0x20 <= code < 0x7F or code >= 0xA0:
        return char
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else REPLACEMENT
