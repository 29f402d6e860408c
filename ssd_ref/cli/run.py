"""One method run on one prompt under the meter, and the figures that describe the run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ssd_ref.cli.pairs import Pair, Tokenizer
from ssd_ref.cli.settings import Settings, decode
from ssd_ref.rounds import RoundRecord
from ssd_ref.study.meter import Log, Meter
from ssd_ref.study.overlap import Overlap, overlap
from ssd_ref.transcript import OnRound

INTERRUPTED = "interrupted"


@dataclass
class Run:
    """What a method did so far. finish_reason: the Generation's, or "interrupted"."""

    method: str
    log: Log
    tokens: list[int] = field(default_factory=list)
    records: list[RoundRecord] = field(default_factory=list)
    finish_reason: str = INTERRUPTED

    def decode(
        self, pair: Pair, prompt: Sequence[int], settings: Settings, show: OnRound | None = None
    ) -> None:
        """Run to the end of the text; an exception leaves what was decoded up to it.

        `show` is called after each round, and its time is part of the run's.
        """

        def on_round(tokens: list[int], record: RoundRecord) -> None:
            self.log.outcome()
            self.tokens += tokens
            self.records.append(record)
            if show is not None:
                show(tokens, record)

        target = Meter(pair.target, "target", self.log)
        draft = Meter(pair.draft, "draft", self.log)
        eos = pair.tokenizer.end
        generation = self.log.run(
            lambda: decode(self.method, target, draft, prompt, settings, eos, on_round)
        )
        self.finish_reason = generation.finish_reason

    @property
    def drafted(self) -> int:
        return sum(record.drafted for record in self.records)

    @property
    def accepted(self) -> int:
        return sum(record.accepted for record in self.records)

    @property
    def tested(self) -> int:
        """Drafts that the target tested: the accepted ones, and a round's one rejection.

        In a round that was cut, a rejection is not to be seen and not counted.
        """
        return self.accepted + sum(
            r.bonus is not None and r.accepted < r.drafted for r in self.records
        )

    @property
    def hits(self) -> int:
        return sum(record.served_by == "cache" for record in self.records)

    @property
    def chances(self) -> int:
        """Rounds that can be hits in SSD: all but the first, which has no cache."""
        return max(0, len(self.records) - 1)

    def overlap(self) -> Overlap | None:
        """SSD's rounds laid on two lanes; None for other methods, or when cut short."""
        if self.method != "ssd" or self.finish_reason == INTERRUPTED:
            return None
        return overlap(self.log, self.records)

    def to_json(self, tokenizer: Tokenizer) -> dict[str, Any]:
        """The run as one object. `rounds` is a count; `target_forwards` and `draft_forwards` leave
        out the prefill, which `forwards` has too; `seconds` is the whole call, prefill included.
        """
        plan = self.overlap()
        return {
            "tokens": self.tokens,
            "text": tokenizer.decode(self.tokens),
            "finish_reason": self.finish_reason,
            "rounds": len(self.records),
            "round_records": [record.to_json() for record in self.records],
            "emitted": sum(record.emitted for record in self.records),
            "drafted": self.drafted,
            "accepted": self.accepted,
            "hits": self.hits,
            "target_forwards": self.log.count("target"),
            "draft_forwards": self.log.count("draft"),
            "forwards": self.log.kinds(),
            "seconds": self.log.seconds,
        } | ({} if plan is None else {"overlapped_seconds": plan.seconds})


def warm_up(pair: Pair, prompt: Sequence[int], settings: Settings, methods: Sequence[str]) -> None:
    """A short run of each method: a process's first forwards are slower than all others."""
    short = min(settings.max_new_tokens, 2 * settings.lookahead + 2)
    for method in methods:
        Run(method, Log()).decode(pair, prompt, replace(settings, max_new_tokens=short))
