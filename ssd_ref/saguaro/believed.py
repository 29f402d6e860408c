"""`believed`: prepare for the B most probable outcomes under the draft's own rows of this round.

Outcomes exclude each other, so under any belief the best cache holds the B most probable ones.
Fan-out lists (Thm 12) are the static form of this, blind to the round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ssd_ref.fan_out import bonus_ranking
from ssd_ref.models import Row, check_count
from ssd_ref.rounds import Outcome, Speculation
from ssd_ref.saguaro.calibration import Calibration
from ssd_ref.saguaro.features import Features, features


@dataclass(frozen=True)
class Believed:
    """A `predict` for :func:`ssd_ref.ssd` that makes at most `budget` guesses a round.

    It sees the draft's rows and the draft's speculation, nothing of the target. Guesses beyond the
    calibration's width at one k are never made: a large budget may not be used up.
    """

    budget: int
    calibration: Calibration

    def __post_init__(self) -> None:
        check_count("budget", self.budget)

    def choose(self, features: Features) -> list[tuple[int, int]]:
        """The outcomes to prepare for as (k, rank), most probable first.

        k: drafts accepted, n if all. At each k the ranks are 0, 1, .. without a gap, so that a
        round hits exactly if its (accepted, rank) is here, in a replay as in the decoder.
        """
        believed = [
            (-chance, k, rank)
            for k, reached in enumerate(self.reached(features))
            for rank, chance in enumerate(self.at(features, k, reached))
        ]
        return [(k, rank) for _, k, rank in sorted(believed)[: self.budget]]

    def __call__(self, logits: Sequence[Row], speculation: Speculation) -> list[Outcome]:
        """The same as outcomes (k, token)."""
        tokens = speculation.tokens
        chosen = self.choose(features(logits, speculation, self.calibration.width))
        order = {
            k: bonus_ranking(logits[k], tokens[k] if k < len(tokens) else None)
            for k in {k for k, _ in chosen}
        }
        return [Outcome(k, int(order[k][rank])) for k, rank in chosen]

    def reached(self, features: Features) -> list[float]:
        """The chance of "k accepted" for k = 0..n: the tests before are passed, the next one not.

        Empty where the draft has no rows.
        """
        reached, law = 1.0, []
        for kept in self.calibration.acceptance(features):
            law.append(reached * (1 - kept))
            reached *= kept
        return [*law, reached][: len(features.guesses)]

    def at(self, features: Features, k: int, reached: float) -> list[float]:
        """The chance of each outcome at k."""
        return [reached * chance for chance in self.calibration.bonus(features, k)]
