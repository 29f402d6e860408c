"""A scenario: everything that a comparison of AR, SD and SSD needs, in one value."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sim.checks import need_choice, need_flag, need_integer
from sim.clock import Limit
from sim.costs import Link, Times
from sim.laws import Text, check_fan_out
from sim.report import Machines, Meter, Report, report_on
from sim.rounds import Rules, Workload
from sim.simulate import METHODS, simulate
from sim.theory import Derived, derive
from sim.work import BACKUPS, Work
from sim.workloads import Drawn


@dataclass(frozen=True)
class Scenario:
    """lookahead and fan_out are SSD's; sd_lookahead SD's (None: the same).

    fan_out: K+1 numbers of guesses, at k = 0..K accepted; fan_out_miss: the list after a round that
    the backup drafted (None: the same). batch: sequences in lock-step. sd_extra_step: SD drafts
    K+1 steps instead of K. fast_from: the batch from which the backup is an instant one whatever
    `backup` says (None: never), the policy of Thm 17. sd_text: the laws of SD's rounds, where
    `text` tells rounds apart by who served them although the same draft made them all (None:
    `text`).
    """

    text: Text
    times: Times
    lookahead: int
    fan_out: tuple[int, ...]
    fan_out_miss: tuple[int, ...] | None = None
    sd_lookahead: int | None = None
    sd_extra_step: bool = True
    backup: str = "draft"
    batch: int = 1
    rules: Rules = field(default_factory=Rules)
    link: Link = field(default_factory=Link)
    machines: Machines = field(default_factory=Machines)
    sd_text: Text | None = None
    fast_from: int | None = None

    def __post_init__(self) -> None:
        need_integer("batch", self.batch, least=1)
        need_integer("lookahead", self.lookahead)
        need_choice("backup", self.backup, BACKUPS)
        need_flag("sd_extra_step", self.sd_extra_step)
        check_fan_out("fan_out", self.fan_out, self.lookahead)
        if self.fan_out_miss is not None:
            check_fan_out("fan_out_miss", self.fan_out_miss, self.lookahead)
        if self.sd_lookahead is not None:
            need_integer("sd_lookahead", self.sd_lookahead)
        if self.fast_from is not None:
            need_integer("fast_from", self.fast_from, least=1)

    def with_(self, **changes: object) -> Scenario:
        return replace(self, **changes)  # type: ignore[arg-type]

    def is_fast(self, batch: int) -> bool:
        """Whether a batch of this size is at the threshold of the instant backup."""
        return self.fast_from is not None and batch >= self.fast_from

    def drafted_in(self, method: str) -> int:
        """Lookahead of a method: 0 in AR."""
        own = self.lookahead if self.sd_lookahead is None else self.sd_lookahead
        return {"ar": 0, "sd": own, "ssd": self.lookahead}[method]

    def workload(self, method: str, seed: int) -> Drawn:
        lookahead = self.drafted_in(method)
        if method != "ssd":
            return Drawn(self.sd_text or self.text, lookahead, seed, self.batch)
        fast = self.is_fast(self.batch)
        return Drawn(self.text, lookahead, seed, self.batch, self.fan_out, self.fan_out_miss, fast)

    def work(self, seed: int) -> Work:
        after_miss = self.fan_out if self.fan_out_miss is None else self.fan_out_miss
        widths = (sum(self.fan_out), sum(after_miss))
        kind, extra = self.backup, self.sd_extra_step
        return Work(self.times, self.link, widths, extra, kind, seed, self.fast_from)

    def derived(self) -> Derived:
        """Long-run hit rate and tokens per round of SSD, exactly."""
        fast = self.is_fast(self.batch)
        return derive(self.text, self.lookahead, self.fan_out, self.fan_out_miss, fast)

    def run(
        self,
        method: str,
        limit: Limit,
        seed: int = 0,
        workload: Workload | None = None,
        keep_log: bool = False,
    ) -> Report:
        """Simulate a method; `workload` replaces the scenario's laws (a recording)."""
        need_choice("method", method, METHODS)
        if method == "ssd" and self.lookahead == 0:
            raise ValueError("lookahead: expected at least 1 for SSD (K = 0 is AR), got 0")
        meter, free = Meter(), self.backup == "instant" or self.is_fast(self.batch)
        meter.served_by = [] if keep_log else None
        rounds = workload or self.workload(method, seed)
        run = simulate(method, rounds, self.work(seed), limit, self.rules, keep_log, meter.on_round)
        return report_on(run, method, self.machines, meter, free)
