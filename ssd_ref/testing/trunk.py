"""Enumerating a decoder whose predictor looks at the trunk.

With fixed fan-out lists a drafted token matters only from its test on, and `exact_law` sums over
the values of those that are never tested. A predictor that reads rows after untested drafts breaks
that: whether the next round is a hit, and so what its backup draws, depends on them. Then all
drafts of a round must enter the tree before the predictor is asked; cache entries need not.
"""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from ssd_ref.fan_out import Predictor
from ssd_ref.models import Row, Rows
from ssd_ref.randomness import Randomness, Site
from ssd_ref.rounds import Outcome, Speculation


def trunk_first(randomness: Randomness, predict: Predictor) -> tuple[Randomness, Predictor]:
    """Both wrapped so that a round's drafts are committed before `predict` is asked.

    Use it within the function that `exact_law` enumerates, in each run anew.
    """
    trunk = TrunkFirst(randomness)

    def predict_after(logits: Sequence[Row], speculation: Speculation) -> Sequence[Outcome]:
        trunk.commit_all(speculation.sites)
        return predict(logits, speculation)

    return trunk, predict_after


class TrunkFirst:
    """A source that is told of a draft once, although the verifier commits it again."""

    def __init__(self, source: Randomness) -> None:
        self.source, self.committed = source, set[Site]()

    @property
    def sequence(self) -> int:
        return self.source.sequence

    def choose(self, probabilities: ArrayLike, site: Site) -> int:
        return self.source.choose(probabilities, site)

    def choose_rows(self, rows: Rows, sites: Sequence[Site]) -> list[int]:
        return self.source.choose_rows(rows, sites)

    def commit_all(self, sites: Sequence[Site]) -> None:
        for site in sites:
            self.source.commit(site)
            self.committed.add(site)

    def commit(self, site: Site) -> None:
        if site not in self.committed:
            self.source.commit(site)
