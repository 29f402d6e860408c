"""Laws of a workload: how many drafts are accepted, and whether the outcome was guessed.

Tokens per round are never typed in: they follow from these laws (`sim.theory.derive`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import mul

from sim.checks import need_integer, need_number, need_probability


@dataclass(frozen=True)
class Acceptance:
    """The hazards of acceptance: chance that draft i+1 is accepted, given that i were.

    `Acceptance((a,), iid=True)` has the same chance everywhere; otherwise the hazards reach as far
    as they are stated, and a longer lookahead is refused. Acceptance of real pairs is not i.i.d.:
    the hazard rises with the position.
    """

    hazards: tuple[float, ...]
    iid: bool = False

    def __post_init__(self) -> None:
        for i, hazard in enumerate(self.hazards):
            need_probability(f"acceptance hazard {i + 1}", hazard)
        if self.iid and len(self.hazards) != 1:
            raise ValueError(f"acceptance: expected one chance for i.i.d., got {self.hazards}")

    @classmethod
    def of_frequencies(cls, frequencies: Sequence[float]) -> Acceptance:
        """From frequencies (or counts) of k = 0..K accepted drafts.

        >>> Acceptance.of_frequencies([1, 1, 2]).hazards
        (0.75, 0.6666666666666666)
        """
        left = list(accumulate(reversed(frequencies)))[::-1]
        pairs = zip(left[1:], left, strict=False)
        return cls(tuple(after / before if before else 0.0 for after, before in pairs))

    def upto(self, lookahead: int) -> tuple[float, ...]:
        """The hazards of a lookahead of K: K numbers."""
        need_integer("lookahead", lookahead)
        if self.iid:
            return self.hazards * lookahead
        if lookahead > len(self.hazards):
            raise ValueError(
                f"lookahead: expected at most {len(self.hazards)}, the positions for which "
                f"acceptance is stated, got {lookahead}"
            )
        return self.hazards[:lookahead]

    def weights(self, lookahead: int) -> list[float]:
        """P(k accepted) for k = 0..K."""
        reach = list(accumulate(self.upto(lookahead), mul, initial=1.0))
        return [a - b for a, b in zip(reach, [*reach[1:], 0.0], strict=True)]

    def tokens(self, lookahead: int) -> float:
        """Mean tokens per round: accepted drafts and the bonus token."""
        return sum(accumulate(self.upto(lookahead), mul, initial=1.0))


@dataclass(frozen=True)
class Curve:
    """Hits by fan-out: a miss at "k accepted" with F_k guesses has chance min(1, c F_k^-r).

    Source: Def. 11 with the prefactor c that real data need [D]. F_k = 0 always misses.
    """

    prefactor: float
    exponent: float

    def __post_init__(self) -> None:
        need_number("prefactor", self.prefactor)
        need_number("exponent", self.exponent, above=0)

    def hit(self, fan_out: int) -> float:
        return 0.0 if fan_out == 0 else 1 - min(1.0, self.prefactor * fan_out**-self.exponent)

    def hits(self, fan_out: Sequence[int], after_backup: bool) -> list[float]:
        """Chance of a hit at each k = 0..K."""
        return [self.hit(width) for width in fan_out]


@dataclass(frozen=True)
class Rates:
    """Hit rates as measured, at one lookahead and fan-out: after a cached round, after a backup.

    They say nothing about another K or F, so that a sweep over those refuses them.
    """

    after_hit: float
    after_miss: float

    def __post_init__(self) -> None:
        need_probability("after_hit", self.after_hit)
        need_probability("after_miss", self.after_miss)

    def hits(self, fan_out: Sequence[int], after_backup: bool) -> list[float]:
        return [self.after_miss if after_backup else self.after_hit] * len(fan_out)


@dataclass(frozen=True)
class Carried:
    """Measured rates carried to other K and F - an *assumption*, for questions like "which F?".

    rates were measured with `fan_out` guesses at every k. A miss is assumed to have a chance
    proportional to F^-exponent, and the same one at every k, so that it does not depend on K.
    """

    rates: Rates
    fan_out: int
    exponent: float

    def __post_init__(self) -> None:
        need_integer("fan_out", self.fan_out, least=1)
        need_number("exponent", self.exponent, above=0)

    def hits(self, fan_out: Sequence[int], after_backup: bool) -> list[float]:
        """Chance of a hit at each k = 0..K."""
        (rate,) = self.rates.hits((1,), after_backup)
        prefactor = (1 - rate) * self.fan_out**self.exponent
        return [Curve(prefactor, self.exponent).hit(width) for width in fan_out]


NEVER = Acceptance((0.0,), iid=True)  # a random string
Hits = Curve | Rates | Carried


@dataclass(frozen=True)
class Context:
    """A stretch of text, easy or hard: its laws, and the chance that the next round stays in it.

    backup: acceptance of speculations that the backup drafted; None: as the draft's own. fast:
    acceptance of those that an instant backup took out of the air, where both are used.
    """

    acceptance: Acceptance
    hits: Hits
    backup: Acceptance | None = None
    stay: float = 1.0
    fast: Acceptance = NEVER

    def __post_init__(self) -> None:
        need_probability("stay", self.stay)

    def drafted_by(self, backup: bool, fast: bool = False) -> Acceptance:
        if backup and fast:
            return self.fast
        return self.backup if backup and self.backup is not None else self.acceptance


@dataclass(frozen=True)
class Text:
    """What is decoded: one context, or an easy and a hard one that take turns.

    A hidden context drives acceptance and hits together. It is what makes rounds after a hit
    longer than rounds after a miss although both are drafted by the same model, and misses cluster.
    """

    contexts: tuple[Context, ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.contexts) <= 2:
            raise ValueError(f"contexts: expected one or two, got {len(self.contexts)}")
        if len(self.contexts) == 1 and self.contexts[0].stay != 1:
            stay = self.contexts[0].stay
            raise ValueError(f"stay: expected 1 with a single context, got {stay}")

    @classmethod
    def simple(cls, acceptance: Acceptance, hits: Hits, backup: Acceptance | None = None) -> Text:
        return cls((Context(acceptance, hits, backup),))


def check_fan_out(name: str, fan_out: Sequence[int], lookahead: int) -> None:
    if len(fan_out) != lookahead + 1:
        raise ValueError(
            f"{name}: expected {lookahead + 1} entries, for k = 0..{lookahead} accepted, "
            f"got {len(fan_out)}: {list(fan_out)}"
        )
    for k, width in enumerate(fan_out):
        need_integer(f"{name}[{k}]", width)
