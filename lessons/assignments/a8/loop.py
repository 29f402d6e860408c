"""A plain speculative decoder in parts, so that a fault is one part written anew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ssd_ref.laws import Law
from ssd_ref.models import Model, Row
from ssd_ref.randomness import Randomness, Site


class Draft(NamedTuple):
    """One drafted token, the row that it is tested with, and the site of its draw."""

    token: int
    row: Row
    site: Site


def law_after(model: Model, text: Sequence[int], temperature: float) -> Row:
    """The model's law of the token after `text`, read from the start: slow and obvious."""
    logits = model.start(text[:-1]).extend(text[-1:])
    row: Row = Law(temperature).rows(logits)[0]
    return row


def residual(p: Row, q: Row) -> Row:
    missing = np.maximum(p - q, 0)
    return missing / missing.sum() if missing.any() else p


class Loop:
    """SD, one object for each text. `says` completes "The decoder .." for a broken one.

    The parts, in the order in which a round uses them: speculate (draft_row, context), target_row,
    chance, replacement, verify, bonus_row, cut. The text is never empty: prompts are not.
    """

    says = "is sound"

    def __init__(self, target: Model, draft: Model, prompt: Sequence[int], **settings: Any) -> None:
        self.target, self.draft, self.prompt = target, draft, list(prompt)
        self.given = prompt  # the caller's own
        self.K: int = settings["lookahead"]
        self.N: int = settings["max_new_tokens"]
        self.temperature: float = settings.get("temperature", 1.0)
        self.eos: int | None = settings.get("eos")
        self.randomness: Randomness = settings["randomness"]
        self.tokens: list[int] = []
        self.round, self.ended = 0, False

    @property
    def text(self) -> list[int]:
        return [*self.prompt, *self.tokens]

    def site(self, role: str, index: int = 0) -> Site:
        return Site(self.randomness.sequence, self.round, role, index)

    def run(self) -> list[int]:
        while not self.ended and len(self.tokens) < self.N:
            self.round += 1
            drafts = self.speculate()
            accepted, bonus = self.verify(drafts)
            block = [*(d.token for d in drafts[:accepted]), bonus]
            self.hear(drafts, accepted, bonus)
            self.tokens += self.cut(block)
        return self.result()

    def speculate(self) -> list[Draft]:
        drafts: list[Draft] = []
        while len(drafts) < min(self.K, self.N - len(self.tokens)):
            tokens = [d.token for d in drafts]
            if self.eos in tokens:
                break
            site = self.site("draft", len(drafts))
            drawn = self.drawn_row(tokens)
            drafts.append(Draft(self.randomness.choose(drawn, site), self.row(tokens), site))
        return drafts

    def row(self, drafted: list[int]) -> Row:
        """The draft's law that the next token is tested with."""
        return law_after(self.draft, self.text + drafted, self.temperature)

    def drawn_row(self, drafted: list[int]) -> Row:
        """The law that the next token is drawn from."""
        return self.row(drafted)

    def target_row(self, drafted: list[int]) -> Row:
        return law_after(self.target, self.text + drafted, self.temperature)

    def verify(self, drafts: list[Draft]) -> tuple[int, int]:
        tokens = [d.token for d in drafts]
        for i, d in enumerate(drafts):
            self.randomness.commit(d.site)
            p = self.target_row(tokens[:i])
            if not self.kept(i, self.chance(p, d.row, d.token)):
                return i, self.bonus(self.replacement(p, d.row))
        return len(drafts), self.bonus(self.bonus_row(drafts))

    def kept(self, i: int, chance: float) -> bool:
        return self.randomness.choose((chance, 1 - chance), self.site("accept", i)) == 0

    def chance(self, p: Row, q: Row, token: int) -> float:
        return min(1.0, float(p[token] / q[token])) if q[token] > 0 else 1.0

    def replacement(self, p: Row, q: Row) -> Row:
        return residual(p, q)

    def bonus_row(self, drafts: list[Draft]) -> Row:
        return self.target_row([d.token for d in drafts])

    def bonus(self, law: Row) -> int:
        return self.randomness.choose(law, self.site("bonus"))

    def hear(self, drafts: list[Draft], accepted: int, bonus: int) -> None:
        """What the draft side keeps of a round: nothing."""

    def cut(self, block: list[int]) -> list[int]:
        block = block[: self.N - len(self.tokens)]
        if self.eos in block:
            self.ended = True
            return block[: block.index(self.eos) + 1]
        return block

    def result(self) -> list[int]:
        return self.tokens
