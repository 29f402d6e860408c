"""Every random decision of a decoder goes through one argument: its `randomness`.

A decision is a draw from a law at a *site*. The seeded source computes the uniform of a draw from
the site alone, so that timing, batch mates and order of execution cannot change a result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ssd_ref.models import Rows, is_integer


class Site(NamedTuple):
    """Where a draw happens.

    role: "draft" (the index-th drafted token of a round), "accept" (its test), "bonus" (index 0).
    branch: the outcome (accepted, bonus token) a cache entry is prepared for, else None. It tells
    the draws of a round's entries apart but is no part of the address: at most one entry is used.
    """

    sequence: int
    round: int
    role: str
    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody needs here
    branch: tuple[int, int] | None = None


class Randomness(Protocol):
    """What the decoders ask of a random source. `sequence` numbers the text being decoded."""

    @property
    def sequence(self) -> int: ...

    def choose(self, probabilities: ArrayLike, site: Site) -> int:
        """Draw an index from a law (V,)."""
        ...

    def choose_rows(self, rows: Rows, sites: Sequence[Site]) -> list[int]:
        """Draw one index from each row (n, V); rows of one (round, index) share one uniform."""
        ...

    def commit(self, site: Site) -> None:
        """The draw at `site` matters from here on. Only an enumerating source needs to know."""
        ...


def invert(probabilities: ArrayLike, u: float) -> int:
    """The first index with u < cumulative sum: never one of probability 0, for u in [0, 1).

    Where rounding leaves the sum at or below u, the last index of positive probability.
    """
    p = np.asarray(probabilities, dtype=np.float64)
    index = int(p.cumsum().searchsorted(u, side="right"))
    return index if index < len(p) else int(p.nonzero()[0][-1])


class UniformSource:
    """A source that turns one uniform a site into a draw by the inverse of the law's sum."""

    def __init__(self, sequence: int = 0) -> None:
        self.sequence = sequence

    def uniform(self, site: Site) -> float:
        raise NotImplementedError

    def choose(self, probabilities: ArrayLike, site: Site) -> int:
        return invert(probabilities, self.uniform(site))

    def choose_rows(self, rows: Rows, sites: Sequence[Site]) -> list[int]:
        return [self.choose(row, site) for row, site in zip(rows, sites, strict=True)]

    def commit(self, site: Site) -> None:
        pass


class SeededRandomness(UniformSource):
    """Uniforms addressed by (seed, sequence, round, role, index), from the counter-based Philox.

    The key is (seed, sequence), the counter's second word the round, and the position in the
    round's block the role and index: different addresses never share a counter. Both numbers lie
    in [0, 2**64); else ValueError.
    """

    def __init__(self, seed: int, sequence: int = 0) -> None:
        for name, value in (("seed", seed), ("sequence", sequence)):
            if not (is_integer(value) and 0 <= value < 2**64):
                raise ValueError(f"{name}: expected an integer in [0, 2**64), got {value!r}")
        super().__init__(sequence)
        self.seed = seed
        self.blocks: dict[tuple[int, int], NDArray[np.float64]] = {}

    def uniform(self, site: Site) -> float:
        position = address(site.role, site.index)
        block = self.blocks.get((site.sequence, site.round))
        if block is None or position >= len(block):
            block = self._block(site, max(32, 2 * position))
        return float(block[position])

    def choose_rows(self, rows: Rows, sites: Sequence[Site]) -> list[int]:
        u = np.array([self.uniform(site) for site in sites])
        if len(u) == 0:
            return []
        index = (rows.cumsum(axis=1) <= u[:, None]).sum(axis=1)
        return [
            int(i) if i < len(row) else invert(row, v)
            for i, row, v in zip(index, rows, u, strict=True)
        ]

    def _block(self, site: Site, size: int) -> NDArray[np.float64]:
        """The uniforms of one round, drawn at once since a new Philox costs 20 microseconds."""
        key = np.array([self.seed, site.sequence], dtype=np.uint64)
        counter = np.array([0, site.round, 0, 0], dtype=np.uint64)
        block = np.random.Generator(np.random.Philox(key=key, counter=counter)).random(size)
        if (
            len(self.blocks) >= 4
        ):  # a draft is one round ahead of the verifier; older blocks are spent
            self.blocks.pop(next(iter(self.blocks)))
        self.blocks[site.sequence, site.round] = block
        return block


def address(role: str, index: int) -> int:
    """Position of a draw in its round's block: bonus 0, drafts odd, their tests even."""
    if role == "bonus":
        return 0
    return 1 + 2 * index + ("draft", "accept").index(role)


class ScriptedRandomness(UniformSource):
    """For tests: `script(site)` is the uniform of a draw, 0 included; `log` keeps them."""

    def __init__(self, script: Callable[[Site], float], sequence: int = 0) -> None:
        super().__init__(sequence)
        self.script, self.log = script, list[tuple[Site, float]]()

    def uniform(self, site: Site) -> float:
        u = self.script(site)
        if not 0 <= u < 1:
            raise ValueError(f"script: expected a uniform in [0, 1) at {site}, got {u}")
        self.log.append((site, u))
        return u
