"""The exact output law of a decoder, by running it once for every leaf of its decision tree.

A run follows a list of forced decisions and takes a first choice at every later one; each other
choice that was possible there becomes a run of its own. A leaf weighs the product of its decisions'
probabilities.

Drafted tokens enter the tree only when the verifier is about to test them (`commit`): a token after
the first rejection, or in a cache entry that is not used, cannot influence the output, and the
probabilities of its values sum to 1. Whether that is so is guarded, not proved: each leaf is run
again with the last possible token, instead of the first, for every draw that was not committed, and
a replay in which a forced decision does not recur, or recurs with another law, is an error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ssd_ref.models import Rows, check_count, is_integer
from ssd_ref.randomness import Randomness, Site

Decode = Callable[[Randomness], Sequence[int]]
OutputLaw = dict[tuple[int, ...], float]

MAX_DRAWS = 10_000  # in one run; an enumerable text needs a few dozen
REPEATED = 20  # leaves that are run again although nothing was left uncommitted: do they repeat?


class ReplayError(RuntimeError):
    """The decoder breaks a rule on which its enumeration rests; the message names the site."""


class TooManyLeaves(RuntimeError):
    """The decision tree is larger than the bound."""


class Decision(NamedTuple):
    site: Site
    law: tuple[float, ...]
    choice: int

    def others(self) -> list[Decision]:
        """The same decision with each other choice of positive probability."""
        return [self._replace(choice=other) for other in possible(self.law) if other != self.choice]

    def has_law(self, law: tuple[float, ...]) -> bool:
        """Up to a block's arithmetic: its width may depend on draws that are not committed."""
        comparable = len(law) == len(self.law)
        return law == self.law or (comparable and np.allclose(law, self.law, rtol=0, atol=1e-9))


def possible(law: Sequence[float]) -> list[int]:
    """The choices of positive probability."""
    return [choice for choice, p in enumerate(law) if p > 0]


class Enumerating:
    """The random source of one run: replays `prefix`, then takes first choices, and keeps the path.

    A draft counts when it is committed, every other draw at once; without `marginalise` drafts do
    too. default: which possible token a draw gets that is not forced.
    """

    sequence = 0

    def __init__(self, prefix: Sequence[Decision], marginalise: bool, default: int = 0) -> None:
        self.prefix, self.default, self.marginalise = prefix, default, marginalise
        self.forced = {decision.site: decision.choice for decision in prefix}
        self.path: list[Decision] = []
        self.uncommitted: dict[Site, Decision] = {}  # drafts, drawn
        self.drawn: set[Site] = set()
        self.addresses: set[tuple[int | str, ...]] = set()  # of draws that were committed
        self.vocabulary = 0  # size of the largest law so far

    def choose(self, probabilities: ArrayLike, site: Site) -> int:
        law = tuple(np.asarray(probabilities, dtype=np.float64).tolist())
        self._check_draw(law, site)
        choice = self.forced[site] if site in self.forced else possible(law)[self.default]
        decision = Decision(site, law, choice)
        if site.role == "draft":
            self.uncommitted[site] = decision
        else:
            self._occupy(site)
        if site.role != "draft" or not self.marginalise:
            self._follow(decision)
        return decision.choice

    def choose_rows(self, rows: Rows, sites: Sequence[Site]) -> list[int]:
        return [self.choose(row, site) for row, site in zip(rows, sites, strict=True)]

    def commit(self, site: Site) -> None:
        if site not in self.uncommitted:
            raise ReplayError(f"{site} is committed, but was not drawn or was committed before")
        decision = self.uncommitted.pop(site)
        self._occupy(site)
        if self.marginalise:
            self._follow(decision)

    def _check_draw(self, law: tuple[float, ...], site: Site) -> None:
        if site in self.drawn:
            raise ReplayError(f"{site} is drawn twice in one run")
        if len(self.drawn) == MAX_DRAWS:
            raise ReplayError(f"{MAX_DRAWS} draws in one run, the last at {site}: does it end?")
        if not (min(law) >= 0 and abs(sum(law) - 1) < 1e-12):
            raise ReplayError(f"{site}: expected a law, summing to 1 within 1e-12, got {law}")
        if site.role == "accept" and self.marginalise:
            self._check_tested(site)
        self.drawn.add(site)
        self.vocabulary = max(self.vocabulary, len(law))

    def _check_tested(self, site: Site) -> None:
        """The draw that is tested here must not be waiting to be committed."""
        tested = (site.sequence, site.round, "draft", site.index)
        if tested not in self.addresses and any(d.address == tested for d in self.uncommitted):
            raise ReplayError(
                f"{site} tests a token whose draw was not committed: call randomness.commit with "
                "the site of the draw before the test, or commit nowhere"
            )

    def _occupy(self, site: Site) -> None:
        """At most one draw at each address may matter: branches of a round share theirs."""
        if site.address in self.addresses:
            raise ReplayError(f"{site}: two draws of one run are committed at this address")
        self.addresses.add(site.address)

    def _follow(self, decision: Decision) -> None:
        """Add a decision to the path; where one is forced it must be that one."""
        if len(self.path) < len(self.prefix):
            expected, site = self.prefix[len(self.path)], decision.site
            if site != expected.site:
                raise ReplayError(f"{expected.site} was a decision of this path; now {site} comes")
            if not expected.has_law(decision.law):
                raise ReplayError(
                    f"{site} had the law {expected.law} on this path; now it has {decision.law}: "
                    "is there another source of chance, or state kept between runs?"
                )
        self.path.append(decision)


def exact_law(
    decode: Decode,
    *,
    vocabulary: int | None = None,
    marginalise: bool | None = None,
    max_leaves: int = 1_000_000,
    progress: Callable[[int], None] | None = None,
) -> OutputLaw:
    """The probability of every token sequence that `decode(randomness)` can return, float64.

    decode: returns the new tokens, cut to their length, and draws every decision by
    `randomness.choose(law, Site(randomness.sequence, round, role, index))`, at another site each.
    It commits every drafted token just before its test, or none at all.
    vocabulary: tokens must lie in [0, vocabulary); None: the size of the largest law drawn from.
    marginalise: leave drafts out of the tree that are never committed; None: if it commits at all.
    Raises ReplayError when the decoder breaks a rule of the enumeration, TooManyLeaves beyond
    `max_leaves`; `progress(leaves)` is called after each leaf.
    """
    check_count("max_leaves", max_leaves, least=1)
    if marginalise is None:
        probe = Enumerating([], marginalise=False)
        decode(probe)
        marginalise = any("draft" in address for address in probe.addresses)
    law: OutputLaw = {}
    waiting: list[list[Decision]] = [[]]
    leaves = 0
    while waiting:
        if leaves == max_leaves:
            raise TooManyLeaves(
                f"{leaves} leaves seen and {len(waiting)} branches waiting: raise max_leaves, "
                "or shrink the vocabulary, the lookahead or max_new_tokens"
            )
        source = Enumerating(waiting.pop(), marginalise)
        tokens, path = run(decode, source, vocabulary), source.path
        if (marginalise and source.uncommitted) or leaves < REPEATED:
            check_repeats(decode, tokens, Enumerating(path, marginalise, default=-1), vocabulary)
        law[tokens] = law.get(tokens, 0.0) + math.prod(d.law[d.choice] for d in path)
        for i in range(len(source.prefix), len(path)):
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
    tokens = tuple(decode(source))
    path, prefix = source.path, source.prefix
    if len(path) < len(prefix):
        raise ReplayError(f"{prefix[len(path)].site} was a decision of this path; now it is not")
    size = source.vocabulary or math.inf if vocabulary is None else vocabulary
    if not all(is_integer(token) and 0 <= token < size for token in tokens):
        raise ReplayError(f"expected integers in [0, {size}), the decoder gave {tokens}")
    return tuple(int(token) for token in tokens)


def check_repeats(
    decode: Decode, tokens: tuple[int, ...], source: Enumerating, vocabulary: int | None
) -> None:
    """Run a leaf anew, with other tokens where nothing was committed: the text must be the same."""
    again = run(decode, source, vocabulary)
    if again != tokens or len(source.path) > len(source.prefix):
        raise ReplayError(
            f"the same decisions gave {tokens} and then {again}: the output depends on draws that "
            f"were never committed ({list(source.uncommitted)}), or on more than its randomness"
        )
