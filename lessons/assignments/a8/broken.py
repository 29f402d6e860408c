"""Broken decoders: one part of the loop written anew, with a fault that people really make."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from lessons.assignments.a8.loop import Draft, Loop, law_after
from ssd_ref.models import Model, Row
from ssd_ref.randomness import Site


def softmax(x: Row) -> Row:
    e = np.exp(x)
    return np.asarray(e / e.sum())


class AcceptsAlways(Loop):
    says = "accepts every draft"

    def chance(self, p: Row, q: Row, token: int) -> float:
        return 1.0


class RatioInverted(Loop):
    says = "tests with q/p instead of p/q"

    def chance(self, p: Row, q: Row, token: int) -> float:
        return min(1.0, float(q[token] / p[token])) if p[token] > 0 else 1.0


class Epsilon(Loop):
    says = "has an epsilon in the denominator of p/q (1e-8: the law is off by as little)"

    def chance(self, p: Row, q: Row, token: int) -> float:
        return min(1.0, float(p[token] / (q[token] + 1e-8)))


class GreedyRule(Loop):
    says = "accepts a draft if it is the target's likeliest token, at every temperature"

    def chance(self, p: Row, q: Row, token: int) -> float:
        return float(p.argmax() == token)


class SumOfTheMask(Loop):
    says = "counts the tests that are passed, the ones behind the first rejection, too"

    def verify(self, drafts: list[Draft]) -> tuple[int, int]:
        tokens = [d.token for d in drafts]
        for d in drafts:
            self.randomness.commit(d.site)
        rows = [self.target_row(tokens[:i]) for i in range(len(drafts))]
        k = sum(
            self.kept(i, self.chance(p, d.row, d.token))
            for i, (p, d) in enumerate(zip(rows, drafts, strict=True))
        )
        if k == len(drafts):
            return k, self.bonus(self.bonus_row(drafts))
        return k, self.bonus(self.replacement(rows[k], drafts[k].row))


# What replaces a rejected token


class ReplacesFromTarget(Loop):
    says = "draws the replacement of a rejected token from p"

    def replacement(self, p: Row, q: Row) -> Row:
        return p


class ReplacesBySoftmax(Loop):
    says = "makes a law of the residual by a softmax"

    def replacement(self, p: Row, q: Row) -> Row:
        return softmax(np.maximum(p - q, 0))


class ReplacesByDistance(Loop):
    says = "draws the replacement from |p - q|"

    def replacement(self, p: Row, q: Row) -> Row:
        gap = np.abs(p - q)
        return np.asarray(gap / gap.sum()) if gap.any() else p


# The bonus token, and the rows


class BonusFromDraft(Loop):
    says = "draws the bonus token after a full acceptance from the draft's last row"

    def bonus_row(self, drafts: list[Draft]) -> Row:
        return drafts[-1].row if drafts else super().bonus_row(drafts)


class BonusRowBefore(Loop):
    says = "draws the bonus token from the target's law before the last draft"

    def bonus_row(self, drafts: list[Draft]) -> Row:
        return self.target_row([d.token for d in drafts[:-1]])


class DrawnSharper(Loop):
    says = "draws the drafts at half the temperature, but tests them with the plain q"

    def drawn_row(self, drafted: list[int]) -> Row:
        return law_after(self.draft, self.text + drafted, self.temperature / 2)


class RowsOffByOne(Loop):
    says = "tests each draft with the row of the draft before it"

    def verify(self, drafts: list[Draft]) -> tuple[int, int]:
        rows = [d.row for d in drafts[:1]] + [d.row for d in drafts[:-1]]
        return super().verify([d._replace(row=q) for d, q in zip(drafts, rows, strict=True)])


class IgnoresTemperature(Loop):
    says = "computes the target's law at temperature 1, whatever is asked for"

    def target_row(self, drafted: list[int]) -> Row:
        return law_after(self.target, self.text + drafted, 1.0)


class RejectedStays(Loop):
    says = "leaves a rejected token in the target's context, in the place of its replacement"
    wrong: dict[int, int]

    def target_row(self, drafted: list[int]) -> Row:
        text = self.text + drafted
        for place, token in getattr(self, "wrong", {}).items():
            text[place] = token
        return law_after(self.target, text, self.temperature)

    def hear(self, drafts: list[Draft], accepted: int, bonus: int) -> None:
        self.wrong = dict(getattr(self, "wrong", {}))
        if accepted < len(drafts):
            self.wrong[len(self.text) + accepted] = drafts[accepted].token


class ForgetsThePrompt(Loop):
    says = "shows the target only the last token of the prompt"

    def target_row(self, drafted: list[int]) -> Row:
        return law_after(self.target, [*self.prompt[-1:], *self.tokens, *drafted], self.temperature)


# Where the text ends


class EndAtTheBlocksEnd(Loop):
    says = "looks for the end token only at the end of a round's block"

    def cut(self, block: list[int]) -> list[int]:
        block = block[: self.N - len(self.tokens)]
        self.ended = block[-1] == self.eos
        return block


class NoCut(Loop):
    says = "does not cut the last round: more tokens come than were asked for"

    def cut(self, block: list[int]) -> list[int]:
        kept = super().cut(block)
        return kept if self.ended else block


class DropsTheEnd(Loop):
    says = "leaves the end token out of the text"

    def result(self) -> list[int]:
        return [token for token in self.tokens if token != self.eos]


class AtLeastOne(Loop):
    says = "emits a token even if none was asked for"

    def __init__(self, target: Model, draft: Model, prompt: Sequence[int], **settings: Any) -> None:
        super().__init__(target, draft, prompt, **settings)
        self.N = max(self.N, 1)


class WritesToThePrompt(Loop):
    says = "appends the new tokens to the caller's own prompt"

    def result(self) -> list[int]:
        if isinstance(self.given, list):
            self.given.extend(self.tokens)
        return self.tokens


# The speculation cache


class Cached(Loop):
    """Draws the drafts of the later rounds as if after another text, and tests them with the row
    of the real one: what happens where the key of a cache leaves something out."""

    as_if: list[int] | None = None

    def drawn_row(self, drafted: list[int]) -> Row:
        text = self.text if self.as_if is None else self.as_if
        return law_after(self.draft, text + drafted, self.temperature)


class KeyWithoutBonus(Cached):
    says = (
        "has a cache whose key leaves out the bonus token, and computes q anew from the real text"
    )

    def hear(self, drafts: list[Draft], accepted: int, bonus: int) -> None:
        self.as_if = [*self.text, *(d.token for d in drafts[:accepted]), 0]


class KeyWithoutCount(Cached):
    says = (
        "has a cache whose key leaves out how many drafts were accepted, and computes q anew "
        "from the real text"
    )

    def hear(self, drafts: list[Draft], accepted: int, bonus: int) -> None:
        self.as_if = [*self.text, *(d.token for d in drafts), bonus]


class FillerAfterAMiss(Loop):
    says = (
        "fills later rounds with random tokens and keeps one if it is the target's likeliest token"
    )

    def row(self, drafted: list[int]) -> Row:
        if self.round == 1:
            return super().row(drafted)
        return np.full(self.draft.vocabulary, 1 / self.draft.vocabulary)

    def chance(self, p: Row, q: Row, token: int) -> float:
        return super().chance(p, q, token) if self.round == 1 else float(p.argmax() == token)

    def replacement(self, p: Row, q: Row) -> Row:
        return super().replacement(p, q) if self.round == 1 else p


class EntryUsedTwice(Loop):
    says = (
        "does not empty its cache: an entry that was used serves again when its outcome comes again"
    )
    cache: dict[tuple[int, int], list[Draft]]
    last: tuple[int, int] | None = None
    committed: set[Site]

    def speculate(self) -> list[Draft]:
        self.cache, self.committed = getattr(self, "cache", {}), getattr(self, "committed", set())
        if self.last is None:
            return super().speculate()
        if self.last not in self.cache:
            self.cache[self.last] = super().speculate()
        return self.cache[self.last][: self.N - len(self.tokens)]

    def verify(self, drafts: list[Draft]) -> tuple[int, int]:
        tokens = [d.token for d in drafts]
        for i, d in enumerate(drafts):
            if d.site not in self.committed:
                self.committed.add(d.site)
                self.randomness.commit(d.site)
            p = self.target_row(tokens[:i])
            if not self.kept(i, self.chance(p, d.row, d.token)):
                return i, self.bonus(self.replacement(p, d.row))
        return len(drafts), self.bonus(self.bonus_row(drafts))

    def hear(self, drafts: list[Draft], accepted: int, bonus: int) -> None:
        self.last = (accepted, bonus)


# The source of chance


class OneAddress(Loop):
    says = "draws the bonus token at the place of the first test: two decisions hang on one number"

    def bonus(self, law: Row) -> int:
        return self.randomness.choose(law, self.site("accept"))


class OwnGenerator(Loop):
    says = "tests its drafts with a generator of its own, beside `randomness`"

    def __init__(self, target: Model, draft: Model, prompt: Sequence[int], **settings: Any) -> None:
        super().__init__(target, draft, prompt, **settings)
        self.own = random.Random(1)

    def kept(self, i: int, chance: float) -> bool:
        return self.own.random() < chance


# Not told to students: what their tests find beyond what they were told


class DraftsTheBest(Loop):
    says = "drafts the draft's likeliest token, but tests it with the whole q"

    def drawn_row(self, drafted: list[int]) -> Row:
        best: Row = np.eye(self.draft.vocabulary)[self.row(drafted).argmax()]
        return best


class LastOneUntested(Loop):
    says = "does not test the last draft of a round of two or more"

    def verify(self, drafts: list[Draft]) -> tuple[int, int]:
        self.last_index = len(drafts) - 1
        return super().verify(drafts)

    def kept(self, i: int, chance: float) -> bool:
        return super().kept(i, 1.0 if i == self.last_index > 0 else chance)


class BonusNeverEnds(Loop):
    says = "overlooks an end token that comes as the bonus"

    def cut(self, block: list[int]) -> list[int]:
        kept = super().cut(block)
        if self.ended and len(kept) == len(block):
            self.ended = False
        return kept


class ClampedResidual(Loop):
    says = "clamps the residual at 1e-9 from below"

    def replacement(self, p: Row, q: Row) -> Row:
        missing = np.maximum(p - q, 1e-9)
        return np.asarray(missing / missing.sum())


TEST = (AcceptsAlways, RatioInverted, GreedyRule, Epsilon, SumOfTheMask)
REPLACEMENT = (ReplacesFromTarget, ReplacesBySoftmax, ReplacesByDistance)
ROWS = (BonusFromDraft, BonusRowBefore, DrawnSharper, RowsOffByOne)
SETTINGS = (IgnoresTemperature,)
CONTEXT = (RejectedStays, ForgetsThePrompt)
ENDS = (EndAtTheBlocksEnd, NoCut, DropsTheEnd, AtLeastOne, WritesToThePrompt)
CACHE = (KeyWithoutBonus, KeyWithoutCount, FillerAfterAMiss, EntryUsedTwice)
CHANCE = (OneAddress, OwnGenerator)
UNTOLD = (DraftsTheBest, LastOneUntested, BonusNeverEnds, ClampedResidual)
ALL: tuple[type[Loop], ...] = (
    *TEST, *REPLACEMENT, *ROWS, *SETTINGS, *CONTEXT, *ENDS, *CACHE, *CHANCE, *UNTOLD,
)  # fmt: skip
