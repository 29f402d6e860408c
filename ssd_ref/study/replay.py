"""Hits under any policy, from recorded texts: who would have served each round.

Exact where a text's setting is `replayable`: the cache decides the clock, not the text, so that the
outcomes of a recording are those of decoding again (tests compare the two round by round).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Protocol

from ssd_ref.rounds import RoundRecord
from ssd_ref.saguaro import Believed, Features
from ssd_ref.study.texts import Text


class Policy(Protocol):
    """Which outcomes a round prepares for, from draft-side data only."""

    def widths(self, features: Features) -> tuple[int, ...]:
        """Guesses at "k accepted", k = 0..n, likeliest first, in a round of n drafted tokens."""
        ...


@dataclass(frozen=True)
class Lists:
    """Fixed lists: K+1 numbers, after a round that the cache served (or the first), and after one
    that the backup served (None: the same)."""

    fan_out: tuple[int, ...]
    fan_out_miss: tuple[int, ...] | None = None

    def widths(self, features: Features) -> tuple[int, ...]:
        """The last place of a shortened speculation uses the last number."""
        after_miss = features.served_by == "backup"
        fan_out = (after_miss and self.fan_out_miss) or self.fan_out
        return (*fan_out[: len(features.positions)], fan_out[-1])


@dataclass(frozen=True)
class Belief:
    """The `believed` policy: the most probable outcomes of this round."""

    believed: Believed

    @property
    def digest(self) -> str:
        """A few digits that change with the calibration."""
        numbers = json.dumps(self.believed.calibration.to_json()).encode()
        return hashlib.sha256(numbers).hexdigest()[:12]

    def widths(self, features: Features) -> tuple[int, ...]:
        """A count at each k: of two guesses at one k the likelier one is chosen first."""
        counts = [0] * (len(features.positions) + 1)
        for k, _ in self.believed.choose(features):
            counts[k] += 1
        return tuple(counts)


@dataclass(frozen=True)
class Replayed:
    """A text's rounds as another policy would have served them, and the guesses of each."""

    prompt: int
    rounds: tuple[RoundRecord, ...]
    guesses: tuple[int, ...]
    full: int  # rounds that count: see Text.full


def replay(text: Text, policy: Policy) -> Replayed:
    """What `policy` makes of a recorded text. Raises ValueError unless it can be replayed."""
    if not text.key.setting.replayable or len(text.features) != len(text.rounds):
        raise ValueError(f"replay: expected a text recorded with C = 1, got {text.key.setting}")
    rounds, guesses, served_by = [], [], "first"
    for record, features in zip(text.rounds, text.features, strict=True):
        widths = policy.widths(replace(features, served_by=served_by)) if features.guesses else ()
        rounds.append(replace(record, served_by=served_by))
        guesses.append(sum(widths))
        served_by = "cache" if hits(record, widths) else "backup"
    return Replayed(text.key.prompt, tuple(rounds), tuple(guesses), text.full)


def hits(record: RoundRecord, widths: tuple[int, ...]) -> bool:
    """Whether the outcome of a round was guessed."""
    return record.rank is not None and record.rank < widths[record.accepted]


def as_decoded(text: Text) -> Replayed:
    """The rounds as they were served when the text was decoded."""
    return Replayed(text.key.prompt, text.rounds, text.guesses, text.full)


def replay_all(texts: Iterable[Text], policy: Policy) -> list[Replayed]:
    return [replay(text, policy) for text in texts]
