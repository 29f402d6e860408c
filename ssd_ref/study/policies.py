"""Policies for a budget of guesses, fitted on calibration texts of one lookahead and temperature.

Lists come in two: for rounds that the cache served (and the first), and for those that the backup
served. Which calibration round is of which kind depends on the policy; it is decided by replaying
them with the uniform list of the same budget.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ssd_ref.saguaro import (
    Believed,
    Calibration,
    Observation,
    all_accepted_only,
    fit,
    geometric,
    measured,
    uniform,
)
from ssd_ref.study.figures import FAR, Chances, chances
from ssd_ref.study.replay import Belief, Lists, Policy, replay_all
from ssd_ref.study.texts import Text

BELIEVED = "believed"
LEAST = 100  # calibration rounds after hits, and after misses, for a list of their own


@dataclass
class Calibrated:
    """The calibration texts of one setting. vocabulary: of the models; lists never exceed it."""

    texts: Sequence[Text]
    vocabulary: int
    lookahead: int = field(init=False)

    def __post_init__(self) -> None:
        settings = {text.key.setting for text in self.texts}
        if len(settings) != 1:
            raise ValueError(f"calibration: expected texts of one setting, got {len(settings)}")
        self.lookahead = settings.pop().lookahead

    def policy(self, name: str, budget: int) -> Policy:
        """The policy `name` (one of NAMES) with `budget` guesses a round."""
        if name not in NAMES:
            raise ValueError(f"policy: expected one of {', '.join(NAMES)}, got {name!r}")
        if name == BELIEVED:
            return Belief(Believed(budget, self.calibration))
        return NAMED[name](self, budget)

    @cached_property
    def calibration(self) -> Calibration:
        """Of the belief, from all rounds that count, served as they were when recorded."""
        return fit(
            Observation(features, record.accepted, record.rank)
            for text in self.texts
            for features, record in list(zip(text.features, text.rounds, strict=True))[: text.full]
        )

    def uniform(self, budget: int) -> Lists:
        return Lists(uniform(budget, self.lookahead, self.vocabulary))

    def all_accepted_only(self, budget: int) -> Lists:
        return Lists(all_accepted_only(budget, self.lookahead, self.vocabulary))

    def geometric(self, budget: int) -> Lists:
        """Thm 12's list with a, r and c fitted after hits, and after misses."""

        def fitted(c: Chances, miss: bool | None) -> tuple[int, ...]:
            law = c.power_law(miss)
            a, r, prefactor = c.acceptance_iid(miss).value, law.exponent.value, law.prefactor.value
            assert a is not None and r is not None and prefactor is not None
            return geometric(a, r, budget, self.lookahead, prefactor, self.vocabulary)

        return self.both(budget, fitted)

    def measured(self, budget: int) -> Lists:
        """The list that would have hit most often after hits, and after misses."""

        def counted(c: Chances, miss: bool | None) -> tuple[int, ...]:
            chosen = c.after(miss)
            ranks = [None if rank == FAR else rank for rank in c.rank[chosen].tolist()]
            outcomes = zip(c.accepted[chosen].tolist(), ranks, strict=True)
            return measured(outcomes, budget, self.lookahead, self.vocabulary)

        return self.both(budget, counted)

    def both(self, budget: int, of: Callable[[Chances, bool | None], tuple[int, ...]]) -> Lists:
        """A list after hits and one after misses; of all rounds where a kind has too few."""
        c = chances(replay_all(self.texts, self.uniform(budget)))
        kinds = [miss if c.after(miss).sum() >= LEAST else None for miss in (False, True)]
        return Lists(of(c, kinds[0]), of(c, kinds[1]))


NAMED: dict[str, Callable[[Calibrated, int], Lists]] = {
    "uniform": Calibrated.uniform,
    "geometric": Calibrated.geometric,
    "measured": Calibrated.measured,
    "all_accepted_only": Calibrated.all_accepted_only,
}
NAMES = (*NAMED, BELIEVED)
