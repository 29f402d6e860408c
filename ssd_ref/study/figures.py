"""What recorded or replayed rounds say: acceptance, hits, tokens a round, and how sure that is.

A *chance* is a round that could have been served from the cache, with the outcome of the round
before that decided it. The first round of a text has no cache and is none. Rounds of a shortened or
cut speculation are left out, and so is greedy text from its first repeated block on (Text.full).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssd_ref.study.estimates import Estimate, Resampling
from ssd_ref.study.fits import PowerLaw, fit_power_law
from ssd_ref.study.replay import Replayed
from ssd_ref.study.texts import Text

FAR = 1 << 20  # the rank of a bonus token that no guess would have found
COVERAGE = (1, 2, 3, 4, 6, 8, 12, 16)  # guesses


@dataclass(frozen=True)
class Chances:
    """One entry for each chance. accepted, rank, after_miss: of the round before, whose outcome
    decides (after_miss: the backup had served it); hit, emitted: of the round itself.
    """

    lookahead: int
    prompt: NDArray[np.int64]
    accepted: NDArray[np.int64]
    rank: NDArray[np.int64]
    after_miss: NDArray[np.bool_]
    hit: NDArray[np.bool_]
    emitted: NDArray[np.int64]

    @cached_property
    def resampling(self) -> Resampling:
        return Resampling(self.prompt)

    def __len__(self) -> int:
        return len(self.prompt)

    def after(self, miss: bool | None) -> NDArray[np.bool_]:
        """Which chances come after a miss, or after a hit (and the first round); None: all."""
        return np.ones(len(self), dtype=bool) if miss is None else self.after_miss == miss

    def acceptance(self, position: int) -> Estimate:
        """Of the drafts that were tested at a position (0 the first), how many were accepted."""
        return self.resampling.share(self.accepted > position, self.accepted >= position)

    def acceptance_iid(self, after_miss: bool | None = None) -> Estimate:
        """One chance for all positions, accepted over tested drafts: the `a` of Thm 12."""
        among = self.after(after_miss)
        tested = np.minimum(self.accepted + 1, self.lookahead)
        return self.resampling.ratio(self.accepted * among, tested * among)

    def ended_at(self, accepted: int) -> Estimate:
        """How often so many drafts were accepted."""
        return self.resampling.share(self.accepted == accepted)

    def hit_rate(self, accepted: int | None = None, after_miss: bool | None = None) -> Estimate:
        """Of all chances, of those at "k accepted", of those after a hit or a miss."""
        at_k = True if accepted is None else self.accepted == accepted
        return self.resampling.share(self.hit, self.after(after_miss) & at_k)

    def tokens(self, hit: bool | None = None) -> Estimate:
        """Mean tokens of a round: of all, or of those that were (not) served from the cache."""
        return self.resampling.mean(self.emitted, None if hit is None else self.hit == hit)

    def misses(self, fan_out: int, after_miss: bool | None = None) -> Estimate:
        """How often `fan_out` guesses at the place that came would have missed."""
        return self.resampling.share(self.rank >= fan_out, self.after(after_miss))

    def coverage(self, fan_out: int) -> Estimate:
        """How often the bonus token was among the first `fan_out` guesses at its place."""
        return self.resampling.share(self.rank < fan_out)

    def power_law(self, after_miss: bool | None = None) -> PowerLaw:
        """The miss law fitted to all chances, or to those after a hit or a miss."""
        chosen = self.after(after_miss)
        return fit_power_law(self.rank[chosen], Resampling(self.prompt[chosen]))


def chances(texts: Sequence[Replayed]) -> Chances:
    """The chances of all texts (of one lookahead)."""
    rows = []
    for text in texts:
        full = text.rounds[: text.full]
        for before, this in pairwise(full):
            rank = FAR if before.rank is None else before.rank
            missed, hit = before.served_by == "backup", this.served_by == "cache"
            rows.append((text.prompt, before.accepted, rank, missed, hit, this.emitted))
    if not rows:
        raise ValueError(
            f"expected texts with at least two rounds that count, got none in {len(texts)} "
            "(greedy text counts up to its first repeated block)"
        )
    prompt, accepted, rank, after_miss, hit, emitted = np.array(rows, dtype=np.int64).T
    lookahead = max(record.drafted for text in texts for record in text.rounds)
    return Chances(
        lookahead, prompt, accepted, rank, after_miss.astype(bool), hit.astype(bool), emitted
    )


def guesses_a_round(texts: Sequence[Replayed]) -> float:
    """Mean prepared outcomes of the rounds that count."""
    counts = [n for text in texts for n in text.guesses[: text.full]]
    return sum(counts) / len(counts)


def draft_tokens(lookahead: int, guesses: float, hit: float) -> float:
    """Token positions the draft computes a round: glue, K tree steps on every branch, and after a
    miss the backup's K steps. (A branch that ends the text costs nothing: ignored.)"""
    return (lookahead + 1) + lookahead * guesses + lookahead * (1 - hit)


def share_cut(texts: Iterable[Text]) -> float:
    """Of the tokens, the share from a first repeated block on; 0 unless greedy."""
    sizes = [(text.tokens, text.counted) for text in texts]
    return 1 - sum(counted for _, counted in sizes) / max(1, sum(tokens for tokens, _ in sizes))


def forwards(texts: Sequence[Text]) -> dict[str, list[float]]:
    """Forwards and tokens read a round, over whole texts, without prefill: metered, not derived."""
    rounds = sum(len(text.rounds) for text in texts)
    names = dict.fromkeys(name for text in texts for name in text.forwards)
    return {
        name: [sum(text.forwards.get(name, (0, 0))[i] for text in texts) / rounds for i in (0, 1)]
        for name in names
        if "prefill" not in name
    }


def report(texts: Sequence[Text], rounds: Sequence[Replayed]) -> dict[str, Any]:
    """All figures of one setting, JSON-able; `rounds` of `texts`, as decoded or replayed."""
    c = chances(rounds)
    places = range(c.lookahead + 1)
    figures: dict[str, Any] = {
        "acceptance": [c.acceptance(i) for i in places[:-1]],
        "acceptance_iid": c.acceptance_iid(),
        "law_of_k": [c.ended_at(k) for k in places],
        "hit_rate": c.hit_rate(),
        "hit_rate_by_k": [c.hit_rate(k) for k in places],
        "hit_rate_after": {name: c.hit_rate(None, miss) for name, miss in AFTER.items()},
        "tokens": {"all": c.tokens(), "hit": c.tokens(True), "miss": c.tokens(False)},
        "coverage": {str(f): c.coverage(f) for f in COVERAGE},
        "power_law": {name: power_law(c, miss) for name, miss in AFTER.items()},
        "guesses": guesses_a_round(rounds),
        "forwards": forwards(texts),
        "greedy_share_cut": share_cut(texts),
    }
    counts = {"texts": len(texts), "prompts": c.resampling.prompts, "chances": len(c)}
    return counts | {name: plain(value) for name, value in figures.items()}


def plain(value: Any) -> Any:
    """Estimates inside lists and objects as JSON."""
    if isinstance(value, Estimate):
        return value.to_json()
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list) else value


AFTER: dict[str, bool | None] = {"all": None, "hit": False, "miss": True}


def power_law(c: Chances, after_miss: bool | None) -> dict[str, Any]:
    """The fit; the reason where there is none."""
    try:
        law = c.power_law(after_miss)
    except ValueError as error:
        return {"refused": str(error)}
    return {
        "prefactor": law.prefactor,
        "exponent": law.exponent,
        "slopes": {f"{f}-{g}": e for (f, g), e in law.slopes.items()},
    }
