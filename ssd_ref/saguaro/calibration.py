"""From the draft's confidence to chances: what the recorded rounds of a setting say about it.

Two questions are asked of a recording. Is a drafted token kept, given how sure the draft was of it?
And where does the bonus token rank, given the draft's probabilities of the guesses? After a
rejection it comes from the residual (p-q)_+, at "all accepted" from p: two answers. Each is a
conditional logit with a handful of numbers; chances depend on temperature, truncation, C and the
pair, so a calibration is fitted for each setting, on other prompts than it is used on.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ssd_ref.models import check_count
from ssd_ref.saguaro.features import Features, Position
from ssd_ref.saguaro.logit import Array, fit_weights

TINY = 1e-9  # probabilities below count as this
LEAST = 100  # rounds that a fit needs
MOST = 100  # a weight beyond is no fit's

# The draft taken at its word, and the prior of every fit.
KEPT = (0.0, 1.0, -1.0, 0.0, 0.0)  # weights of `signs_of`: kept with its raw probability
BONUS = (1.0, 0.0)  # weights of log probability and of "none of the guesses weighed"


@dataclass(frozen=True)
class Observation:
    """A recorded round: its features and its outcome.

    accepted and rank as in the round record. Rounds with rank None say nothing and are left out:
    the bonus was cut off, or the draft had no row there.
    """

    features: Features
    accepted: int
    rank: int | None


@dataclass(frozen=True)
class Calibration:
    """Chances from features. As it is, without a fit, it takes the draft at its word.

    kept: weights of the numbers that describe a drafted token (:func:`signs_of`). rejected,
    all_kept: sharpness of the bonus token's law (1: the draft's own) at k < n and k = n, and weight
    of a bonus beyond the first `width` guesses. rounds: how many it was fitted on.
    """

    kept: tuple[float, ...] = KEPT
    rejected: tuple[float, ...] = BONUS
    all_kept: tuple[float, ...] = BONUS
    width: int = 24
    rounds: int = 0

    def __post_init__(self) -> None:
        check_count("width", self.width, least=1)
        for name, least in (("kept", -MOST), ("rejected", 0), ("all_kept", 0)):
            got, size = getattr(self, name), len(KEPT if name == "kept" else BONUS)
            if not (len(got) == size and all(abs(w) <= MOST for w in got) and got[0] >= least):
                raise ValueError(
                    f"{name}: expected {size} numbers in [-{MOST}, {MOST}], the first >= {least}, "
                    f"got {got!r}"
                )

    def acceptance(self, features: Features) -> list[float]:
        """The chance that each of the n drafted tokens is kept if it is tested."""
        scores = [
            sum(weight * sign for weight, sign in zip(self.kept, signs_of(position), strict=True))
            for position in features.positions
        ]
        return [1 / (1 + math.exp(min(-score, 500))) for score in scores]

    def bonus(self, features: Features, accepted: int) -> list[float]:
        """The chance of each of the first `width` guesses at "k accepted", given that k are.

        It never rises with the rank. The chances sum to less than 1: another token may come.
        """
        all_kept = accepted == len(features.positions)
        sharpness, elsewhere = self.all_kept if all_kept else self.rejected
        guesses, rest = weighed(features, accepted, self.width)
        scores = [sharpness * math.log(guess) for guess in guesses]
        scores.append(sharpness * math.log(rest) + elsewhere)
        odds = [math.exp(score - max(scores)) for score in scores]
        return [each / sum(odds) for each in odds[:-1]]

    def to_json(self) -> dict[str, Any]:
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Calibration:
        weights = {name: tuple(data[name]) for name in ("kept", "rejected", "all_kept")}
        return cls(**weights, width=data["width"], rounds=data["rounds"])


def fit(rounds: Iterable[Observation], width: int = 24) -> Calibration:
    """Calibrate on recorded rounds of one setting.

    width: how many guesses at each k are weighed; the features must hold as many, or all there are.
    Raises ValueError for fewer than 100 rounds with a rank, or features that are too narrow.
    """
    check_count("width", width, least=1)
    seen = [o for o in rounds if o.rank is not None]
    if len(seen) < LEAST:
        raise ValueError(f"fit: expected at least {LEAST} rounds with a rank, got {len(seen)}")
    for o in seen:
        check_observation(o, width)
    ends = [o for o in seen if o.accepted == len(o.features.positions)]
    rejections = [o for o in seen if o.accepted < len(o.features.positions)]
    sharpness = [fit_bonus(group, width) for group in (rejections, ends)]
    return Calibration(fit_kept(seen), sharpness[0], sharpness[1], width, len(seen))


def fit_kept(seen: Sequence[Observation]) -> tuple[float, ...]:
    """Every token that was tested: all that were kept, and the one that was rejected."""
    tested = [
        (signs_of(position), int(i == o.accepted))  # alternative 0: kept
        for o in seen
        for i, position in enumerate(o.features.positions[: o.accepted + 1])
    ]
    x = np.array([(signs, [0.0] * len(KEPT)) for signs, _ in tested]).reshape(-1, 2, len(KEPT))
    chosen = np.array([c for _, c in tested], dtype=np.intp)
    present = np.ones(x.shape[:2], dtype=bool)
    return tuple(fit_weights(x, present, chosen, np.array(KEPT)).tolist())


def fit_bonus(seen: Sequence[Observation], width: int) -> tuple[float, ...]:
    """Where the bonus token was among the first `width` guesses, or that it was none of them."""
    if not seen:
        return BONUS
    described = [alternatives(o.features, o.accepted, width) for o in seen]
    x, present = (np.array(parts) for parts in zip(*described, strict=True))
    chosen = np.array([min(o.rank, width) for o in seen if o.rank is not None], dtype=np.intp)
    sharpness, elsewhere = fit_weights(x, present, chosen, np.array(BONUS)).tolist()
    return (max(sharpness, 0.0), elsewhere)  # the draft's order is kept


def signs_of(position: Position) -> list[float]:
    """The numbers that tell whether a drafted token will be kept.

    A constant; log p and log(1 - p) of its raw probability p; the margin of the first choice; and
    how much likelier it was to be drawn than it seemed (temperature, C, another's row).
    """
    p = min(max(position.raw, TINY), 1 - TINY)
    drawn = max(position.drawn, TINY)
    return [1.0, math.log(p), math.log1p(-p), position.margin, math.log(drawn / p)]


def weighed(features: Features, accepted: int, width: int) -> tuple[list[float], float]:
    """The draft's probabilities of the first `width` guesses at k, and of all other tokens that
    may be the bonus; none below TINY."""
    guesses = features.guesses[accepted][:width]
    rejected = features.positions[accepted].raw if accepted < len(features.positions) else 0.0
    rest = 1 - rejected - sum(guesses)
    return [max(guess, TINY) for guess in guesses], max(rest, TINY)


def alternatives(features: Features, accepted: int, width: int) -> tuple[Array, Any]:
    """The same for the fit: (width + 1, 2) numbers, the last alternative for "no guess", and which
    of the alternatives there are."""
    guesses, rest = weighed(features, accepted, width)
    x, present = np.zeros((width + 1, 2)), np.zeros(width + 1, dtype=bool)
    x[: len(guesses), 0] = np.log(guesses)
    x[width] = math.log(rest), 1.0
    present[: len(guesses)] = present[width] = True
    return x, present


def check_observation(observation: Observation, width: int) -> None:
    features, k, rank = observation.features, observation.accepted, observation.rank
    slots = len(features.guesses)
    if not 0 <= k < slots:
        raise ValueError(f"accepted: expected a number below {slots}, the features' slots, got {k}")
    held = len(features.guesses[k])
    if rank is not None and not (rank >= 0 and (rank < held or held >= width)):
        raise ValueError(
            f"rank: expected one of the {held} guesses that the features hold at k = {k}, or "
            f"features with at least {width} guesses, got rank {rank}"
        )
