"""Reports: speed, where every millisecond went, and what it cost."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from sim.checks import need_number
from sim.intervals import BatchMeans, Rate, quotient
from sim.recorder import Interval
from sim.rounds import Round
from sim.run import Run

CAUSES = (
    "prefill", "queue", "cold start", "drafting", "verification", "overflow", "handshake", "link",
    "service", "miss",
)  # fmt: skip
"""What a nanosecond of the makespan can be spent on, as the lane `path` has it. overflow: the cache
is being filled although the outcome is here. In short reports handshake, link and service are one
(measurements cannot tell them apart)."""


@dataclass(frozen=True)
class Machines:
    """Devices by weight (their number, or their price), and model sizes in 10^9 parameters."""

    target_weight: float = 1.0
    draft_weight: float = 1.0
    target_billions: float = 1.0
    draft_billions: float = 0.0

    def __post_init__(self) -> None:
        need_number("target_weight", self.target_weight, above=0)
        need_number("draft_weight", self.draft_weight)
        need_number("target_billions", self.target_billions, above=0)
        need_number("draft_billions", self.draft_billions)

    def weight(self, method: str) -> float:
        """AR and SD run on the target's devices, SSD on those and the draft's."""
        return self.target_weight + (self.draft_weight if method == "ssd" else 0.0)


class Meter:
    """Counts the rounds of a run as they end; rates leave out the first, which has no cache."""

    def __init__(self) -> None:
        self.pace = BatchMeans()  # tokens per nanosecond
        self.hits = BatchMeans()  # sequences that the cache served, per sequence
        self.last_ns = 0.0
        self.rounds = self.sequences = self.accepted = self.drafted = 0
        self.backups = self.emitted = self.emitted_backup = self.cached_drafts = 0
        self.stalls = 0  # rounds that waited for a backup
        self.served_by: list[str] | None = None  # a list: keep who served each round

    def on_round(self, round: Round, now_ns: float) -> None:
        if self.served_by is not None:
            answered = "backup" if round.backups else "cache"
            self.served_by.append(answered if self.last_ns else "first")
        self.accepted += round.accepted
        self.drafted += round.drafted * round.rows
        if self.last_ns:
            self.pace.add(round.emitted, now_ns - self.last_ns)
            self.hits.add(round.rows - round.backups, round.rows)
            self.rounds += 1
            self.sequences += round.rows
            self.emitted += round.emitted
            self.backups += round.backups
            self.emitted_backup += round.emitted_backup
            self.stalls += round.backups > 0
            self.cached_drafts += round.drafted * (round.rows - round.backups)
        self.last_ns = now_ns


@dataclass(frozen=True)
class Rows:
    """Token forwards of one model, by what became of them; every forward is in one class.

    useful: a token of the text. rejected: verified and refused. unused: on branches that no
    outcome took. aborted: on branches of a cache that was given up. upkeep: glue forwards and
    SD's extra step, which propose nothing.
    """

    useful: int = 0
    rejected: int = 0
    unused: int = 0
    aborted: int = 0
    upkeep: int = 0

    @property
    def total(self) -> int:
        return sum(vars(self).values())


KEPT_OUT = ("log", "pace", "served_by")  # of JSON


@dataclass(frozen=True)
class Report:
    """What a run amounts to. Times in milliseconds, rates per second, sizes in 10^9 parameters.

    tokens_per_s leaves out prefill and the first round, and carries a 95 % interval. hit_rate and
    tokens_hit, tokens_miss are None where nothing is prepared or no such round occurred.
    """

    method: str
    rounds: int
    tokens: int
    makespan_ms: float
    tokens_per_s: Rate
    tokens_per_round: float
    round_ms: float
    hit_rate: float | None
    tokens_hit: float | None
    tokens_miss: float | None
    causes_ms: dict[str, float]
    utilisation: dict[str, float]
    target_rows: Rows
    draft_rows: Rows
    parameter_tokens: float  # 10^9 parameters read by a token forward, per token of the text
    device_weight: float
    flops_by_fate: dict[str, float]  # 10^9 operations per token of the text, of both models
    hits: Rate | None  # hit_rate with its interval
    served_by: tuple[str, ...] = ()  # with a log: "first", "cache" or "backup", round by round
    pace: BatchMeans = field(default_factory=BatchMeans, repr=False, compare=False)
    log: list[Interval] | None = None

    @property
    def flops(self) -> float:
        """10^9 floating-point operations per token of the text: 2 for each parameter-token."""
        return 2 * self.parameter_tokens

    def over(self, other: Report) -> Rate:
        """How many times as many tokens/s as another run of as many rounds, with one seed."""
        return quotient(self.pace, other.pace)

    @property
    def tokens_per_device_second(self) -> float:
        return self.tokens_per_s.value / self.device_weight

    def to_json(self) -> dict[str, Any]:
        data = {name: value for name, value in asdict(self).items() if name not in KEPT_OUT}
        return data | {"tokens_per_device_second": self.tokens_per_device_second}


def report_on(run: Run, method: str, machines: Machines, meter: Meter, free_backup: bool) -> Report:
    """free_backup: tokens of the backup cost no forward."""
    totals, makespan = run.totals(), float(run.env.now)
    spent_ns = sum(ns for _, ns in meter.pace.sums) + meter.pace.cost
    if not makespan or (meter.rounds and not spent_ns):
        raise ValueError(f"times: expected rounds that take time, got 0 ns for all {run.rounds}")
    causes = {cause: totals["path"][cause].ns / 1e6 for cause in CAUSES if cause in totals["path"]}
    target, draft = rows_of(run, method, meter, free_backup)
    cached = meter.sequences - meter.backups
    ssd = method == "ssd" and meter.sequences > 0
    weighted = target.total * machines.target_billions + draft.total * machines.draft_billions
    working = ("verify", "draft", "upkeep", "glue", "tree", "store", "backup", "service", "prefill")
    return Report(
        method=method,
        rounds=run.rounds,
        tokens=run.tokens,
        makespan_ms=makespan / 1e6,
        tokens_per_s=meter.pace.rate(1e9),
        tokens_per_round=ratio(meter.emitted, meter.sequences),
        round_ms=ratio(spent_ns, meter.rounds * 1e6),
        hit_rate=cached / meter.sequences if ssd else None,
        tokens_hit=ratio(meter.emitted - meter.emitted_backup, cached) if ssd and cached else None,
        tokens_miss=meter.emitted_backup / meter.backups if ssd and meter.backups else None,
        causes_ms=causes,
        utilisation={
            name: sum(totals[name][kind].ns for kind in working if kind in totals[name]) / makespan
            for name in ("target", "draft")
        },
        target_rows=target,
        draft_rows=draft,
        parameter_tokens=ratio(weighted, run.tokens),
        device_weight=machines.weight(method),
        flops_by_fate=flops(target, draft, machines, run.tokens),
        hits=meter.hits.rate() if ssd else None,
        served_by=tuple(meter.served_by or ()) if method == "ssd" else (),
        pace=meter.pace,
        log=run.log,
    )


def rows_of(run: Run, method: str, meter: Meter, free_backup: bool) -> tuple[Rows, Rows]:
    """Every row in the log of the run, target's and draft's, by what became of it."""
    rows = dict.fromkeys(("verify", "draft", "backup", "tree", "glue", "upkeep"), 0)
    for lane in ("target", "draft"):
        for kind, total in run.lanes[lane].totals().items():
            rows[kind] = rows.get(kind, 0) + total.rows
    target = Rows(useful=run.tokens, rejected=rows["verify"] - run.tokens)
    accepted = meter.accepted - free_backup * (meter.emitted_backup - meter.backups)
    cached = meter.cached_drafts if method == "ssd" else 0
    return target, Rows(
        useful=accepted,
        rejected=rows["draft"] + rows["backup"] + cached - accepted,
        unused=rows["tree"] - cached - run.aborted_rows,
        aborted=run.aborted_rows,
        upkeep=rows["glue"] + rows["upkeep"],
    )


def flops(target: Rows, draft: Rows, machines: Machines, tokens: int) -> dict[str, float]:
    """10^9 operations per token of the text by what became of the forwards."""
    weights = ((target, 2 * machines.target_billions), (draft, 2 * machines.draft_billions))
    return {
        fate: ratio(sum(getattr(rows, fate) * weight for rows, weight in weights), tokens)
        for fate in vars(target)
    }


def ratio(a: float, b: float) -> float:
    return a / b if b else float("nan")
