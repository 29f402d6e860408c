"""The exact output law of a decoder, by running it once for every leaf of its decision tree.

A run follows a list of forced decisions and takes a first choice at every later one; each other
choice that was possible there becomes a run of its own. A leaf weighs the product of its decisions'
probabilities.

Drafted tokens enter the tree only when the verifier tests them (`commit`): a token after the first
rejection, or in a cache entry that is not used, cannot influence the output, and summing over it
would only multiply the leaves. That this is so is not assumed but checked: every leaf is run again
with another default for the draws that were never committed, and a replay in which a forced
decision does not recur, or recurs with another law, is an error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ssd_ref.models import Rows
from ssd_ref.randomness import Randomness, Site

Decode = Callable[[Randomness], Sequence[int]]
OutputLaw = dict[tuple[int, ...], float]

MAX_DRAWS = 10_000  # in one run; an enumerable text needs a few dozen


class ReplayError(RuntimeError):
    """The decoder breaks a rule on which its enumeration rests; the message names the site."""


class TooManyLeaves(RuntimeError):
    """The decision tree is larger than the bound."""


class NeverCommits(Exception):
    """The decoder tests drafted tokens without committing their draws."""


class Decision(NamedTuple):
    site: Site
    law: tuple[float, ...]
    choice: int

    def others(self) -> list[Decision]:
        """The same decision with each other choice of positive probability."""
        site, law, choice = self
        return [Decision(site, law, c) for c, p in enumerate(law) if p > 0 and c != choice]


class Enumerating:
    """The random source of one run: replays `prefix`, then takes first choices, and keeps the path.

    marginalise: leave draws out of the path until they are committed.
    default: index into the possible tokens of a draw that is not forced (0: first, -1: last).
    """

    sequence = 0

    def __init__(self, prefix: Sequence[Decision], marginalise: bool, default: int = 0) -> None:
        self.prefix, self.default, self.marginalise = prefix, default, marginalise
        self.forced = {decision.site: decision for decision in prefix}
        self.path: list[Decision] = []
        self.open: dict[Site, Decision] = {}  # drawn, not committed
        self.drawn: set[Site] = set()
        self.addresses: set[tuple[int | str, ...]] = set()  # of committed draws
        self.commits = self.vocabulary = 0

    def choose(self, probabilities: ArrayLike, site: Site) -> int:
        law = tuple(np.asarray(probabilities, dtype=np.float64).tolist())
        if site in self.drawn:
            raise ReplayError(f"{site} is drawn twice in one run")
        if len(self.drawn) == MAX_DRAWS:
            raise ReplayError(f"{MAX_DRAWS} draws in one run, the last at {site}: does it end?")
        self.drawn.add(site)
        self.vocabulary = max(self.vocabulary, len(law))
        if not (min(law) >= 0 and abs(sum(law) - 1) < 1e-9):
            raise ReplayError(f"{site}: expected a law, got {law}")
        forced = self.forced.get(site)
        possible = [token for token, p in enumerate(law) if p > 0]
        choice = forced.choice if forced else possible[self.default]
        decision = Decision(site, law, choice)
        if site.role == "draft":
            self.open[site] = decision
        else:
            self._check_tested_draw(site)
            self._occupy(site)
        if site.role != "draft" or not self.marginalise:
            self._follow(decision)
        return choice

    def choose_rows(self, rows: Rows, sites: Sequence[Site]) -> list[int]:
        return [self.choose(row, site) for row, site in zip(rows, sites, strict=True)]

    def commit(self, site: Site) -> None:
        self.commits += 1
        if site not in self.open:
            raise ReplayError(f"{site} is committed, but was not drawn or was committed before")
        decision = self.open.pop(site)
        self._occupy(site)
        if self.marginalise:
            self._follow(decision)

    def _check_tested_draw(self, site: Site) -> None:
        """A token may be tested only after its draw was committed."""
        if not (self.marginalise and site.role == "accept"):
            return
        tested = site._replace(role="draft")[:4]
        if tested not in self.addresses and any(other[:4] == tested for other in self.open):
            if self.commits == 0:
                raise NeverCommits
            raise ReplayError(
                f"{site} tests a token whose draw was not committed: call randomness.commit with "
                "the site of the draw before the test, or commit nowhere"
            )

    def _occupy(self, site: Site) -> None:
        """At most one draw at each address may matter: branches of a round share theirs."""
        if site[:4] in self.addresses:
            raise ReplayError(f"{site}: two draws of one run are committed at this address")
        self.addresses.add(site[:4])

    def _follow(self, decision: Decision) -> None:
        """Add a decision to the path; where it is forced it must be the forced one."""
        site = decision.site
        if len(self.path) < len(self.prefix):
            expected = self.prefix[len(self.path)]
            if site != expected.site:
                raise ReplayError(f"{expected.site} was a decision of this path; now {site} comes")
            if not same(decision.law, expected.law):
                raise ReplayError(
                    f"{site} had the law {expected.law} on this path; now it has {decision.law}"
                )
        self.path.append(decision)


def same(law: tuple[float, ...], other: tuple[float, ...]) -> bool:
    """Equal up to a block's arithmetic: its width may depend on draws that are not committed."""
    close = len(law) == len(other) and np.allclose(law, other, rtol=0, atol=1e-9)
    return law == other or bool(close)


def exact_law(
    decode: Decode,
    *,
    vocabulary: int | None = None,
    marginalise: bool = True,
    max_leaves: int = 1_000_000,
    progress: Callable[[int], None] | None = None,
) -> OutputLaw:
    """The probability of every token sequence that `decode(randomness)` can return.

    A decoder that never commits is enumerated over all its draws, as with marginalise=False.
    vocabulary: tokens must lie in [0, vocabulary); None: the size of the largest law drawn from.
    Raises ReplayError when the decoder breaks a rule of the enumeration, TooManyLeaves beyond
    `max_leaves`; `progress(leaves)` is called after each leaf. Probabilities are float64.
    """
    law: OutputLaw = {}
    waiting: list[list[Decision]] = [[]]
    leaves = 0
    while waiting:
        if leaves == max_leaves:
            raise TooManyLeaves(
                f"{leaves} leaves seen and {len(waiting)} branches waiting: raise max_leaves, "
                "or shrink the vocabulary, the lookahead or max_new_tokens"
            )
        prefix = waiting.pop()
        source = Enumerating(prefix, marginalise)
        try:
            tokens = run(decode, source, vocabulary)
        except NeverCommits:
            return exact_law(
                decode, vocabulary=vocabulary, marginalise=False, max_leaves=max_leaves,
                progress=progress,
            )  # fmt: skip
        path = source.path
        if (marginalise and source.open) or leaves < 20:
            check_again(decode, tokens, Enumerating(path, marginalise, default=-1), vocabulary)
        law[tokens] = law.get(tokens, 0.0) + math.prod(d.law[d.choice] for d in path)
        for i in range(len(prefix), len(path)):
            waiting += [[*path[:i], other] for other in path[i].others()]
        leaves += 1
        if progress is not None:
            progress(leaves)
    total = math.fsum(law.values())
    if abs(total - 1) > 1e-12:
        raise ReplayError(f"probabilities sum to {total}, expected 1 within 1e-12")
    return law


def run(decode: Decode, source: Enumerating, vocabulary: int | None) -> tuple[int, ...]:
    """The tokens of one run, which must meet every decision that is forced."""
    tokens = tuple(int(token) for token in decode(source))
    path, prefix = source.path, source.prefix
    if source.open and source.marginalise and not (source.commits or prefix):
        raise NeverCommits
    if len(path) < len(prefix):
        raise ReplayError(f"{prefix[len(path)].site} was a decision of this path; now it is not")
    size = vocabulary or source.vocabulary
    if source.drawn and not all(0 <= token < size for token in tokens):
        raise ReplayError(f"expected tokens in [0, {size}), the decoder gave {tokens}")
    return tokens


def check_again(
    decode: Decode, tokens: tuple[int, ...], source: Enumerating, vocabulary: int | None
) -> None:
    """Run a leaf anew, with the last possible tokens where nothing was committed."""
    again = run(decode, source, vocabulary)
    if again != tokens or len(source.path) > len(source.prefix):
        raise ReplayError(
            f"the same decisions gave {tokens} and then {again}: the output depends on draws that "
            f"were never committed ({list(source.open)}), or on something besides its randomness"
        )
