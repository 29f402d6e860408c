"""One random source for a whole batch, as `exact_law` gives it: each text draws by its number."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from ssd_ref.models import Rows
from ssd_ref.randomness import Randomness, Site


class Numbered:
    """The view that the text `sequence` has of a source (the core's `Randomness`)."""

    def __init__(self, source: Randomness, sequence: int) -> None:
        self.source, self.sequence = source, sequence

    def choose(self, probabilities: ArrayLike, site: Site) -> int:
        return self.source.choose(probabilities, site)

    def choose_rows(self, rows: Rows, sites: Sequence[Site]) -> list[int]:
        return self.source.choose_rows(rows, sites)

    def commit(self, site: Site) -> None:
        self.source.commit(site)
