"""Backups without a model: who drafts after a miss, at next to no cost (Sec. 4.3)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from ssd_ref.models import Row, check_count, check_tokens


class PromptLookup:
    """A `backup` for :func:`ssd_ref.ssd`: what followed the longest suffix that occurred before.

    Of the last 1, .., `longest` tokens of the text, the longest run that also occurs earlier, and
    the token behind its last earlier occurrence, as a one-hot law; if there is none, the uniform
    law. A pure function of the text: what it keeps is an index of the text it was asked about last,
    which the next text extends or cuts back. Give each sequence of a batch one of its own, or the
    index is rebuilt at every change of sequence.
    """

    def __init__(self, vocabulary: int, longest: int = 3) -> None:
        check_count("vocabulary", vocabulary, least=1)
        check_count("longest", longest, least=1)
        self.vocabulary, self.longest = vocabulary, longest
        self.text: list[int] = []
        # run of tokens -> the places right behind its occurrences that have a token; the last last
        self.places: dict[tuple[int, ...], list[int]] = defaultdict(list)

    def __call__(self, text: Sequence[int]) -> Row:
        self.read(list(text))
        for size in range(min(self.longest, len(self.text)), 0, -1):
            if found := self.places.get(tuple(self.text[-size:])):
                row = np.zeros(self.vocabulary)
                row[self.text[found[-1]]] = 1
                return row
        return np.full(self.vocabulary, 1 / self.vocabulary)

    def read(self, text: list[int]) -> None:
        """Bring the index to `text`: forget the tokens that differ, add the new ones."""
        common = shared_prefix(self.text, text)
        check_tokens(text[common:], self.vocabulary, "text")
        while len(self.text) > common:
            for run in self.runs_before(len(self.text) - 1):
                self.places[run].pop()
            self.text.pop()
        for token in text[common:]:
            self.text.append(token)
            for run in self.runs_before(len(self.text) - 1):
                self.places[run].append(len(self.text) - 1)

    def runs_before(self, place: int) -> list[tuple[int, ...]]:
        """The runs of 1..longest tokens that end right before `place`."""
        most = min(self.longest, place)
        return [tuple(self.text[place - size : place]) for size in range(1, most + 1)]


def shared_prefix(a: list[int], b: list[int]) -> int:
    """How many first tokens two texts share."""
    if a == b[: len(a)]:
        return len(a)
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), len(b))
