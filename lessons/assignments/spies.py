"""Models and a source of chance that keep a log of what was asked of them, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ssd_ref.models import Branches, Model, Rows, Session
from ssd_ref.randomness import SeededRandomness, Site

Log = list[tuple[str, tuple[int, ...]]]  # ("start" or "extend", the tokens), ("rewind", (length,))


@dataclass
class Spied:
    """A model as it is, and the log of all its sessions."""

    model: Model
    log: Log = field(default_factory=list)

    @property
    def vocabulary(self) -> int:
        return self.model.vocabulary

    @property
    def context_limit(self) -> int | None:
        return self.model.context_limit

    @property
    def start_token(self) -> int:
        return self.model.start_token

    def start(self, tokens: Sequence[int]) -> SpiedSession:
        self.log.append(("start", tuple(tokens)))
        return SpiedSession(self.model.start(tokens), self.log)

    def reads(self) -> int:
        """How many tokens were read."""
        return sum(len(tokens) for what, tokens in self.log if what != "rewind")

    def forwards(self) -> int:
        """How many calls of `extend` had something to read."""
        return sum(what == "extend" and len(tokens) > 0 for what, tokens in self.log)

    def starts(self) -> int:
        return sum(what == "start" for what, _ in self.log)


@dataclass
class SpiedSession:
    session: Session
    log: Log

    @property
    def length(self) -> int:
        return self.session.length

    def extend(self, tokens: Sequence[int]) -> Rows:
        self.log.append(("extend", tuple(tokens)))
        return self.session.extend(tokens)

    def rewind(self, length: int) -> None:
        self.log.append(("rewind", (length,)))
        self.session.rewind(length)

    def branch(self, lengths: Sequence[int]) -> Branches:
        return SpiedBranches(self.session.branch(lengths), self.log)


@dataclass
class SpiedBranches:
    branches: Branches
    log: Log

    def extend(self, which: Sequence[int], tokens: Sequence[int]) -> Rows:
        self.log.append(("extend", tuple(tokens)))
        return self.branches.extend(which, tokens)


class Logged:
    """A seeded source that keeps the sites in the order of their draws, and the laws."""

    def __init__(self, seed: int) -> None:
        self.source, self.sequence = SeededRandomness(seed), 0
        self.log: list[tuple[Site, list[float]]] = []

    def choose(self, probabilities: Any, site: Site) -> int:
        self.log.append((site, [float(p) for p in probabilities]))
        return self.source.choose(probabilities, site)

    def choose_rows(self, rows: Rows, sites: Sequence[Site]) -> list[int]:
        return [self.choose(row, site) for row, site in zip(rows, sites, strict=True)]

    def commit(self, site: Site) -> None:
        pass

    def prepared(self) -> list[tuple[int, tuple[int, ...], int, str, list[float]]]:
        """Every token of an entry: (round that is verified, guess, index, "before" or "behind" its
        verdict, the law it was drawn from)."""
        heard: set[int] = set()
        found = []
        for site, law in self.log:
            if site.role == "draft" and site.branch is not None:
                when = "behind" if site.round - 1 in heard else "before"
                found.append((site.round - 1, tuple(site.branch), site.index, when, law))
            elif site.role != "draft":
                heard.add(site.round)
        return sorted(found)
