"""What is asked of a batch: the texts, and the settings that they share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

from ssd_ref.fan_out import Predictor, check_fan_out
from ssd_ref.laws import Law
from ssd_ref.models import Model, check_count, is_real
from ssd_ref.speculative import check_pair, law_of_draft
from ssd_ref.ssd import BACKUPS, Backup

DRAFTS = ("lookahead", "draft_temperature", "draft_top_k", "draft_top_p")
CACHES = ("fan_out", "fan_out_miss", "saguaro_c", "backup", "backup_for", "predict")
USES = {  # what each method has no use for, and what it needs
    "ar": (DRAFTS + CACHES, ()),
    "sd": (CACHES, ("lookahead",)),
    "ssd": ((), ("lookahead", "fan_out")),
}
BackupFor = Callable[[int], str | Backup]  # from how many texts would wait, to who drafts


@dataclass(frozen=True)
class Request:
    """A text to decode.

    sequence: the caller's number of it, by which its random draws are addressed; one batch has no
    number twice. temperature: None means the batch's.
    """

    prompt: Sequence[int]
    sequence: int
    max_new_tokens: int
    temperature: float | None = None


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a batch is decoded: the arguments of the core's decoders, and two more.

    method: "ar", "sd" or "ssd". What its decoder in the core does not take is refused here, too.
    backup_for: a policy that chooses the backup by the size of the batch, instead of `backup`
    (Thm 17): from the number of texts that go on into the next round. With it a text depends on its
    neighbours; its law does not. Raises ValueError on values out of range.
    """

    method: str
    lookahead: int | None = None
    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None
    draft_temperature: float | None = None
    draft_top_k: int | None = None
    draft_top_p: float | None = None
    eos: int | None = None
    fan_out: Sequence[int] | None = None
    fan_out_miss: Sequence[int] | None = None
    saguaro_c: float = 1.0
    backup: str | Backup = "draft"
    backup_for: BackupFor | None = None
    predict: Predictor | None = None

    def __post_init__(self) -> None:
        if self.method not in USES:
            raise ValueError(f"method: expected one of {list(USES)}, got {self.method!r}")
        self._check_who_takes_what()
        if self.lookahead is not None:
            check_count("lookahead", self.lookahead)
            for name in ("fan_out", "fan_out_miss"):
                self._check_list(name, getattr(self, name), self.lookahead)
        if not (is_real(self.saguaro_c) and 0 <= self.saguaro_c <= 1):
            raise ValueError(f"saguaro_c: expected a number in [0, 1], got {self.saguaro_c!r}")
        check_backup(self.backup)
        for name in ("backup_for", "predict"):
            value = getattr(self, name)
            if not (value is None or callable(value)):
                raise ValueError(f"{name}: expected a function or None, got {value!r}")
        if self.backup_for is not None and self.backup != "draft":
            raise ValueError(
                f"backup: backup_for chooses it, so none is taken; got {self.backup!r}"
            )
        self.draft_law(None)  # raises if it, or the target's, cannot be made

    def _check_who_takes_what(self) -> None:
        """An argument that the method has no use for is an error, and so is a lacking one."""
        foreign, needed = USES[self.method]
        for field in fields(self):
            value = getattr(self, field.name)
            unset = value is None if field.default is None else value == field.default
            if field.name in foreign and not unset:
                raise ValueError(f"{field.name}: {self.method} has no use for it, got {value!r}")
            if field.name in needed and value is None:
                raise ValueError(f"{field.name}: {self.method} needs it, got None")

    def _check_list(self, name: str, fan_out: Sequence[int] | None, lookahead: int) -> None:
        if fan_out is not None:
            object.__setattr__(self, name, check_fan_out(name, fan_out, lookahead))

    def law(self, temperature: float | None) -> Law:
        """The target's law for a text with a temperature of its own, or none."""
        own = self.temperature if temperature is None else temperature
        return Law(own, self.top_k, self.top_p)

    def draft_law(self, temperature: float | None) -> Law:
        return law_of_draft(
            self.law(temperature), self.draft_temperature, self.draft_top_k, self.draft_top_p
        )

    def check_models(self, target: Model, draft: Model | None) -> None:
        if self.lookahead is None:
            return
        if draft is None:
            raise ValueError(f"draft: {self.method} needs one, got None")
        check_pair(target, draft, self.lookahead)


def check_backup(backup: str | Backup) -> None:
    if not (callable(backup) or backup in BACKUPS):
        raise ValueError(f"backup: expected one of {BACKUPS} or a function, got {backup!r}")
