"""The threshold policy of Thm 17: a slow, accurate backup in small batches, a fast one in large.

In a batch one row's miss stalls all, so a backup's latency is paid ever more often as the batch
grows, and its better speculations are worth it only up to some batch b*. Here is no more than a
decoder needs to choose; `sim.theory` has the closed form of b*, for a fast backup that takes no
time, and the other formulas of speed. This one compares Cor. 16 for both backups, so the fast one
may take time and have a hit rate of its own after it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from ssd_ref.models import check_count, is_real
from ssd_ref.rounds import RoundRecord
from ssd_ref.ssd import BACKUPS, Backup


@dataclass(frozen=True)
class BackupFigures:
    """What was measured with one backup in use.

    hit: share of rounds served from the cache (stationary, so hits after hits and after misses
    both count). tokens_hit, tokens_miss: mean tokens of a round by what served it. latency: of the
    backup, in verifications. Raises ValueError on numbers out of range.
    """

    hit: float
    tokens_hit: float
    tokens_miss: float
    latency: float

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            least = 1 if name.startswith("tokens") else 0
            most = 1 if name == "hit" else math.inf
            if not (is_real(value) and least <= value <= most and math.isfinite(value)):
                bounds = f"in [{least}, {most:g}]" if name == "hit" else f">= {least}"
                raise ValueError(f"{name}: expected a finite number {bounds}, got {value!r}")

    @classmethod
    def of(cls, rounds: Sequence[RoundRecord], latency: float) -> BackupFigures:
        """From the records of decodings with this backup; first rounds do not count.

        ValueError unless there are rounds of both kinds.
        """
        hits = [r.emitted for r in rounds if r.served_by == "cache"]
        misses = [r.emitted for r in rounds if r.served_by == "backup"]
        if not hits or not misses:
            raise ValueError(
                "rounds: expected some served from the cache and some by the backup, "
                f"got {len(hits)} and {len(misses)}"
            )
        hit = len(hits) / (len(hits) + len(misses))
        return cls(hit, sum(hits) / len(hits), sum(misses) / len(misses), latency)

    @property
    def tokens(self) -> float:
        """N, the mean tokens of a round."""
        return self.hit * self.tokens_hit + (1 - self.hit) * self.tokens_miss

    def round_time(self, batch: int, fill: float) -> float:
        """Of a lock-step round, in verifications (Cor. 16: rows miss independently)."""
        all_hit = self.hit**batch
        return all_hit * max(1, fill) + (1 - all_hit) * (1 + self.latency)


@dataclass(frozen=True)
class Threshold:
    """The better of two backups for a batch. fill: T_p, time to fill the cache, in verifications.

    slow_backup, fast_backup: the values of :func:`ssd_ref.ssd`'s `backup` that they stand for.
    """

    slow: BackupFigures
    fast: BackupFigures
    fill: float = 1.0
    slow_backup: str | Backup = "draft"
    fast_backup: str | Backup = "uniform"

    def __post_init__(self) -> None:
        if not (is_real(self.fill) and 0 <= self.fill < math.inf):
            raise ValueError(f"fill: expected a finite number >= 0, got {self.fill!r}")
        for name in ("slow_backup", "fast_backup"):
            backup = getattr(self, name)
            if not (callable(backup) or backup in BACKUPS):
                raise ValueError(f"{name}: expected one of {BACKUPS} or a function, got {backup!r}")

    def fast_is_better(self, batch: int) -> bool:
        """By the tokens of a round over its time; the fast backup among equals."""
        check_count("batch", batch, least=1)
        slow = self.slow.tokens * self.fast.round_time(batch, self.fill)
        return slow <= self.fast.tokens * self.slow.round_time(batch, self.fill)

    def backup_for(self, batch: int) -> str | Backup:
        """The backup to use in a batch of this size."""
        return self.fast_backup if self.fast_is_better(batch) else self.slow_backup

    def critical_batch(self, most: int = 4096) -> int | None:
        """b*: the least batch from which on, up to `most`, the fast backup is the better one.

        None: at `most` rows the slow one still is. With hit rates that differ the fast backup may
        also be better in smaller batches, and not in between: :meth:`backup_for` knows.
        """
        check_count("most", most, least=1)
        batch = most
        while batch >= 1 and self.fast_is_better(batch):
            batch -= 1
        return None if batch == most else batch + 1

    def sensitivity(self, change: float = 0.1) -> dict[str, tuple[int | None, int | None]]:
        """b* with each measured quantity lowered and raised by the share `change`, by its name."""
        if not (is_real(change) and 0 < change < 1):
            raise ValueError(f"change: expected a number in (0, 1), got {change!r}")
        return {
            f"{side}.{name}": (
                self.changed(side, name, 1 - change).critical_batch(),
                self.changed(side, name, 1 + change).critical_batch(),
            )
            for side in ("slow", "fast")
            for name in asdict(self.slow)
        }

    def changed(self, side: str, name: str, factor: float) -> Threshold:
        """One quantity times `factor`, kept within its range."""
        figures: BackupFigures = getattr(self, side)
        value = getattr(figures, name) * factor
        value = min(value, 1.0) if name == "hit" else value
        value = max(value, 1.0) if name.startswith("tokens") else value
        return replace(self, **{side: replace(figures, **{name: value})})  # type: ignore[arg-type]
