"""A text decoded for study: its rounds, and what the draft knew of each before the outcome.

The recorder sits in the decoder's `predict`: it returns the guesses that would be made anyway, and
keeps the draft-side numbers (`ssd_ref.saguaro.features`) that a policy may look at. With
saguaro_c = 1 and the draft as backup neither text nor outcomes depend on the guesses: one such text
answers every fan-out list and every policy of its lookahead and temperature (see `replay`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import accumulate
from typing import Any, NamedTuple

from ssd_ref.fan_out import Predictor, check_fan_out, guess_outcomes
from ssd_ref.laws import Law
from ssd_ref.models import Model, Row, check_count
from ssd_ref.randomness import SeededRandomness
from ssd_ref.rounds import Outcome, RoundRecord, Speculation
from ssd_ref.saguaro import Features, features
from ssd_ref.ssd import ssd
from ssd_ref.study.meter import Log, Meter
from ssd_ref.study.timing import first_repeat

WIDTH = 24  # guesses at each k whose probability is kept


class Key(NamedTuple):
    """What tells recorded texts apart. prompt: its number; it is the random source's sequence."""

    setting: Setting
    prompt: int
    seed: int


@dataclass(frozen=True)
class Setting:
    """How a text is decoded, beside prompt and seed; texts have a fixed length.

    policy: names what chose the guesses; "lists" if the fan-out lists did.
    Raises ValueError for a temperature that is none and lists that do not fit the lookahead.
    """

    lookahead: int
    temperature: float
    fan_out: tuple[int, ...]
    fan_out_miss: tuple[int, ...] | None = None
    saguaro_c: float = 1.0
    max_new_tokens: int = 192
    policy: str = "lists"

    def __post_init__(self) -> None:
        check_count("lookahead", self.lookahead, least=1)
        Law(self.temperature)  # refuses what is no temperature
        check_fan_out("fan_out", self.fan_out, self.lookahead)
        if self.fan_out_miss is not None:
            check_fan_out("fan_out_miss", self.fan_out_miss, self.lookahead)

    @property
    def replayable(self) -> bool:
        """Whether text and outcomes would be the same with any other guesses."""
        return self.saguaro_c == 1

    def list_after(self, served_by: str) -> tuple[int, ...]:
        """The list that applies to a round with this `served_by`."""
        return (served_by == "backup" and self.fan_out_miss) or self.fan_out

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Setting:
        lists = {name: tuple(value) for name, value in data.items() if isinstance(value, list)}
        fields: dict[str, Any] = {**data, **lists}
        return cls(**fields)


@dataclass(frozen=True)
class Text:
    """One recorded text.

    counted: tokens before the first repeated block at temperature 0 (a small model that repeats
    itself is easy to draft for), all tokens elsewhere. guesses: how many were made in each round.
    features: of each round; none where guesses decide the text, which cannot be replayed then.
    forwards: {"draft glue": (forwards, tokens read)} and so on, as
    :class:`ssd_ref.study.meter.Log` names them, of the whole text.
    """

    key: Key
    counted: int
    rounds: tuple[RoundRecord, ...]
    guesses: tuple[int, ...]
    features: tuple[Features, ...] = ()
    forwards: dict[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def tokens(self) -> int:
        return sum(record.emitted for record in self.rounds)

    @property
    def full(self) -> int:
        """How many rounds count: from the first on, those that drafted `lookahead` tokens, got
        their bonus token, and end within the counted tokens."""
        ends = accumulate(record.emitted for record in self.rounds)
        lookahead = self.key.setting.lookahead
        for number, (record, end) in enumerate(zip(self.rounds, ends, strict=True)):
            if record.drafted < lookahead or record.bonus is None or end > self.counted:
                return number
        return len(self.rounds)

    def to_json(self) -> dict[str, Any]:
        """The text as one object; a round's fields without their names and its number."""
        return {
            "setting": asdict(self.key.setting),
            "prompt": self.key.prompt,
            "seed": self.key.seed,
            "counted": self.counted,
            "rounds": [list(record.to_json().values())[1:] for record in self.rounds],
            "guesses": self.guesses,
            "features": [each.to_json() for each in self.features],
            "forwards": self.forwards,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Text:
        """What `to_json` wrote. Raises ValueError, KeyError or TypeError for anything else."""
        return cls(
            Key(Setting.from_json(data["setting"]), data["prompt"], data["seed"]),
            data["counted"],
            tuple(RoundRecord(number, *row) for number, row in enumerate(data["rounds"], start=1)),
            tuple(data["guesses"]),
            tuple(Features.from_json(each) for each in data["features"]),
            {name: (forwards, tokens) for name, (forwards, tokens) in data["forwards"].items()},
        )


@dataclass
class Recorder:
    """A predictor that takes notes: `policy`'s guesses, or those of the setting's lists."""

    setting: Setting
    policy: Predictor | None = None
    noted: list[Features] = field(default_factory=list)
    guesses: list[int] = field(default_factory=list)
    records: list[RoundRecord] = field(default_factory=list)

    def __call__(self, logits: Sequence[Row], speculation: Speculation) -> Sequence[Outcome]:
        if self.setting.replayable:
            self.noted.append(features(logits, speculation, WIDTH))
        guesses = self.guess(logits, speculation)
        self.guesses.append(len(guesses))
        return guesses

    def guess(self, logits: Sequence[Row], speculation: Speculation) -> Sequence[Outcome]:
        if self.policy is not None:
            return self.policy(logits, speculation)
        fan_out = self.setting.list_after(speculation.served_by)
        return guess_outcomes(logits, speculation.tokens, fan_out)

    def on_round(self, tokens: list[int], record: RoundRecord) -> None:
        """Complete the notes where the draft had no rows: the text has outgrown it."""
        self.records.append(record)
        if len(self.guesses) < len(self.records):
            self.guesses.append(0)
            if self.setting.replayable:
                self.noted.append(Features(record.served_by, (), ()))


def record(
    target: Model,
    draft: Model,
    tokens: Sequence[int],
    key: Key,
    policy: Predictor | None = None,
) -> Text:
    """Decode the prompt `tokens` as `key` says and keep what is to be known of it."""
    setting, log = key.setting, Log()
    recorder = Recorder(setting, policy)
    generation = ssd(
        Meter(target, "target", log), Meter(draft, "draft", log), tokens,
        max_new_tokens=setting.max_new_tokens, lookahead=setting.lookahead,
        fan_out=setting.fan_out, fan_out_miss=setting.fan_out_miss, predict=recorder,
        saguaro_c=setting.saguaro_c, temperature=setting.temperature,
        randomness=SeededRandomness(key.seed, sequence=key.prompt), on_round=recorder.on_round,
    )  # fmt: skip
    text = generation.tokens
    counted = first_repeat(text) if setting.temperature == 0 else len(text)
    forwards = {
        name: (int(sums["forwards"]), int(sums["tokens"])) for name, sums in log.kinds().items()
    }
    rounds, guesses = tuple(recorder.records), tuple(recorder.guesses)
    return Text(key, counted, rounds, guesses, tuple(recorder.noted), forwards)
