"""Every random decision of a decoder goes through one argument: its `randomness`.

A decision is a draw from a law at a *site*. The seeded source computes the uniform of a draw from
the site alone, so that timing and order of execution cannot change a result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ssd_ref.models import Rows, is_integer

BLOCK = 32  # uniforms drawn at once: a round of lookahead 15


class Site(NamedTuple):
    """Where a draw happens.

    role: "draft" (the index-th drafted token of a round), "accept" (its test, at the same index: a
    draw from (a, 1 - a), 0 if it is kept), "bonus" (index 0: what follows the accepted tokens).
    branch: the outcome (accepted, bonus token) a cache entry is prepared for, else None. It tells
    the draws of a round's entries apart but is no part of the address: at most one entry is used.
    """

    sequence: int
    round: int
    role: str
    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody needs here
    branch: tuple[int, int] | None = None

    @property
    def address(self) -> tuple[int | str, ...]:
        """The site without its branch."""
        return self[:4]


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
        """The draw at `site` is about to be tested. `exact_law` sums over the draws that nobody
        tests, and learns from this which are; other sources need not know."""
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
    """Uniforms addressed by (seed, sequence, round, role, index), whoever asks and in what order;
    ValueError unless seed and sequence lie in [0, 2**64)."""

    def __init__(self, seed: int, sequence: int = 0) -> None:
        for name, value in (("seed", seed), ("sequence", sequence)):
            if not (is_integer(value) and 0 <= value < 2**64):
                raise ValueError(f"{name}: expected an integer in [0, 2**64), got {value!r}")
        super().__init__(sequence)
        self.seed = seed

    def uniform(self, site: Site) -> float:
        block, i = divmod(place(site.role, site.index), BLOCK)
        return float(uniforms(self.seed, site.sequence, site.round, block)[i])

    def choose_rows(self, rows: Rows, sites: Sequence[Site]) -> list[int]:
        """`invert` for all rows at once."""
        if not sites:
            return []
        u = [self.uniform(site) for site in sites]
        indices = (rows.cumsum(axis=1) <= np.array(u)[:, None]).sum(axis=1).tolist()
        return [
            index if index < len(row) else invert(row, v)
            for index, row, v in zip(indices, rows, u, strict=True)
        ]


@lru_cache(maxsize=64)
def uniforms(seed: int, sequence: int, round: int, block: int) -> NDArray[np.float64]:
    """BLOCK uniforms of a round, together because a new Philox costs 20 microseconds.

    Philox turns a key and a counter into random bits. The key is (seed, sequence); round and block
    fill two words of the counter that counting never reaches, so no two blocks overlap.
    """
    key = np.array([seed, sequence], dtype=np.uint64)
    counter = np.array([0, 0, block, round], dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=key, counter=counter)).random(BLOCK)


def place(role: str, index: int) -> int:
    """Position of a draw among its round's: the bonus 0, drafts odd, their tests even."""
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
