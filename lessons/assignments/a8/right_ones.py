"""Decoders that are right, each in its own way: to fail one of them is a false alarm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import ssd_ref
from lessons.assignments.a8.loop import Draft, Loop
from ssd_ref.models import Model, Row

Decode = Callable[..., list[int]]


class Matching(Loop):
    says = (
        "keeps a draft if the target's own draw is the same token, and emits that draw: "
        "slow but exact (lesson 03, section 9)"
    )

    def verify(self, drafts: list[Draft]) -> tuple[int, int]:
        tokens = [d.token for d in drafts]
        for i, d in enumerate(drafts):
            self.randomness.commit(d.site)
            own = self.randomness.choose(self.target_row(tokens[:i]), self.site("accept", i))
            if own != d.token:
                return i, own
        return len(drafts), self.bonus(self.bonus_row(drafts))


class HalfHearted(Loop):
    says = "keeps each draft half as often as it could and corrects for it: slow but exact"

    def chance(self, p: Row, q: Row, token: int) -> float:
        return super().chance(p, q, token) / 2

    def replacement(self, p: Row, q: Row) -> Row:
        missing = p - [min(a, b) / 2 for a, b in zip(p, q, strict=True)]
        return np.asarray(missing / missing.sum())


class AllTestsFirst(Loop):
    says = "draws all tests of a round before it looks at the first: another order of draws"

    def verify(self, drafts: list[Draft]) -> tuple[int, int]:
        tokens = [d.token for d in drafts]
        for d in drafts:
            self.randomness.commit(d.site)
        rows = [self.target_row(tokens[:i]) for i in range(len(drafts))]
        passed = [
            self.kept(i, self.chance(p, d.row, d.token))
            for i, (p, d) in enumerate(zip(rows, drafts, strict=True))
        ]
        if all(passed):
            return len(drafts), self.bonus(self.bonus_row(drafts))
        i = passed.index(False)
        return i, self.bonus(self.replacement(rows[i], drafts[i].row))


class NoDraft(Loop):
    says = "never asks the draft: plain autoregressive decoding, which has the target's law, too"

    def speculate(self) -> list[Draft]:
        return []


def of_loop(loop: type[Loop]) -> Decode:
    def decode(target: Model, draft: Model, prompt: Sequence[int], **settings: Any) -> list[int]:
        return loop(target, draft, prompt, **settings).run()

    return decode


def of_package(*, cached: bool) -> Decode:
    def decode(target: Model, draft: Model, prompt: Sequence[int], **settings: Any) -> list[int]:
        if not cached:
            return ssd_ref.speculative(target, draft, prompt, **settings).tokens
        widths = [1] * settings["lookahead"] + [2]
        run = ssd_ref.ssd(target, draft, prompt, fan_out=widths, backup="uniform", **settings)
        return run.tokens

    return decode


RIGHT: dict[str, Decode] = {
    **{f"one that {loop.says}": of_loop(loop)
       for loop in (Matching, HalfHearted, AllTestsFirst, NoDraft)},
    "the package's `speculative`": of_package(cached=False),
    "the package's `ssd` with a uniform backup": of_package(cached=True),
}  # fmt: skip
