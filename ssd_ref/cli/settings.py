"""How a text is decoded: the options of all three methods in one place, and their one call."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np

from ssd_ref.autoregressive import autoregressive
from ssd_ref.cli.errors import CommandError
from ssd_ref.laws import Law
from ssd_ref.models import Model, TableModel
from ssd_ref.randomness import SeededRandomness
from ssd_ref.rounds import Generation
from ssd_ref.speculative import speculative
from ssd_ref.ssd import BACKUPS, ssd
from ssd_ref.transcript import OnRound

METHODS = ("ar", "sd", "ssd")
MAX_LOOKAHEAD = 512  # the pair's context: more is never drafted


@dataclass(frozen=True)
class Settings:
    """Arguments of the decoders, by the decoders' own names; the defaults of the command line.

    fan_out: None means 2 guesses at each k < lookahead and 4 at k = lookahead, where a bonus token
    is likeliest. One number means that many at each k.
    """

    max_new_tokens: int = 128
    lookahead: int = 4
    fan_out: tuple[int, ...] | None = None
    fan_out_miss: tuple[int, ...] | None = None
    temperature: float = 1.0
    draft_temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    draft_top_k: int | None = None
    draft_top_p: float | None = None
    saguaro_c: float = 1.0
    backup: str = "draft"
    seed: int = 0

    def to_json(self) -> dict[str, Any]:
        """The arguments as the decoders get them, fan-out lists written out."""
        lists = self.fan_out or (2,) * self.lookahead + (4,), self.fan_out_miss
        fan_out, fan_out_miss = map(self.at_each_k, lists)
        return asdict(self) | {"fan_out": fan_out, "fan_out_miss": fan_out_miss}

    def at_each_k(self, fan_out: tuple[int, ...] | None) -> tuple[int, ...] | None:
        """The list, with a number that stands alone repeated for each k."""
        return fan_out * (self.lookahead + 1) if fan_out and len(fan_out) == 1 else fan_out

    def check(self) -> None:
        """Raises CommandError for the first setting that the decoders would refuse.

        Asked of the decoders themselves, for no tokens from a model of one: the rules are theirs.
        """
        if self.lookahead > MAX_LOOKAHEAD:
            raise CommandError(
                f"--lookahead: expected at most {MAX_LOOKAHEAD}, got {self.lookahead}"
            )
        if self.backup not in BACKUPS:  # the decoder takes a function, too
            raise CommandError(f"--backup: expected one of {BACKUPS}, got {self.backup!r}")
        for whose in ("", "draft_"):
            self.check_law(whose)
        nothing = replace(self, max_new_tokens=min(0, self.max_new_tokens))
        one = TableModel(np.ones(1))
        try:
            decode("ssd", one, one, [0], nothing, None, None)
        except ValueError as error:
            raise CommandError(as_option(str(error))) from error

    def check_law(self, whose: str) -> None:
        """The law's arguments alone: in the decoders' messages target and draft look the same."""
        names = ("temperature", "top_k", "top_p")
        given = {name: getattr(self, whose + name) for name in names}
        try:
            Law(**{name: value for name, value in given.items() if value is not None})
        except ValueError as error:
            raise CommandError(as_option(whose + str(error))) from error


def as_option(message: str) -> str:
    """A decoder's message with the argument it names written as the option it came from."""
    match = re.match(r"\w+", message)
    name = match.group() if match else ""
    if name not in {field.name for field in fields(Settings)}:
        return message
    return f"--{name.replace('_', '-')}{message[len(name) :]}"


def decode(
    method: str,
    target: Model,
    draft: Model,
    prompt: Sequence[int],
    settings: Settings,
    eos: int | None,
    on_round: OnRound | None,
) -> Generation:
    """What `method` makes of `prompt`. Raises what the decoder raises."""
    options = settings.to_json()
    options |= {"randomness": SeededRandomness(options.pop("seed")), "eos": eos}
    options |= {"on_round": on_round}
    if method == "ssd":
        return ssd(target, draft, prompt, **options)
    for name in ("fan_out", "fan_out_miss", "saguaro_c", "backup"):
        del options[name]
    if method == "sd":
        return speculative(target, draft, prompt, **options)
    for name in ("lookahead", "draft_temperature", "draft_top_k", "draft_top_p"):
        del options[name]
    return autoregressive(target, prompt, **options)
