"""One row of a batch: the core's two actors, whose loops are cut where a forward stands.

What a row decides and draws is the core's code. A step reads once, before anything else that it
does, so that the steps of all rows can be taken `together`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ssd_ref.models import Row
from ssd_ref.randomness import Site
from ssd_ref.rounds import Outcome, Speculation
from ssd_ref.speculative import Chain, Drafter
from ssd_ref.ssd import Entry, Speculator


class NoDrafter:
    """AR's: every round verifies an empty speculation."""

    def __init__(self, vocabulary: int) -> None:
        self.speculation = Speculation((), np.empty((0, vocabulary)), (), "target")

    def first(self) -> None:
        pass

    def drafts(self) -> bool:
        return False

    def draft_step(self) -> None:
        pass

    def settle(self) -> None:
        pass

    def rank(self, outcome: Outcome) -> None:
        return None

    def answer(self, outcome: Outcome) -> None:
        pass


class StepDrafter(Drafter):
    """SD's drafter. `first` and `answer` only begin a chain, which then grows step by step."""

    chain: Chain | None = None  # the speculation that is being drafted while the batch waits

    def speculate(self, row_after: Callable[[list[int]], Row], served_by: str) -> Any:
        """The head of the core's `speculate`; `draft_step` is its loop, `settle` its end."""
        self.chain = Chain(self.room(len(self.text)))
        self.row_after, self.served_by = row_after, served_by

    def drafts(self) -> bool:
        """Whether the chain has to grow."""
        return self.chain is not None and self.chain.grows(self.limits.end_token)

    def draft_step(self) -> None:
        assert self.chain is not None
        tokens = self.chain.tokens
        site = Site(self.randomness.sequence, self.round, "draft", len(tokens))
        self.chain.rows.append(self.row_after(tokens))
        self.chain.sites.append(site)
        tokens.append(self.randomness.choose(self.chain.rows[-1], site))

    def settle(self) -> None:
        """The chain, if there is one, becomes the speculation to be verified."""
        if self.chain is not None:
            self.finish(self.chain, self.served_by)
            self.chain = None


class StepSpeculator(StepDrafter, Speculator):
    """SSD's speculator, whose cache fills step by step: `prepare`, cut in three."""

    entries: list[Entry]

    def open_cache(self) -> None:
        self.logits = self.glue()
        self.guesses = self.guess()
        self.entries = self.open_entries()

    def growing(self) -> list[Entry]:
        return [entry for entry in self.entries if entry.grows(self.limits.end_token)]

    def close_cache(self) -> None:
        self.cache = {entry.outcome: entry for entry in self.entries}
