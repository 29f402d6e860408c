"""Serving: requests join a batch between rounds, stall it, and leave at their last token.

Rules that change a result: a request joins only between rounds. Its prefill stalls the batch (in SD
and SSD the draft's prefill too, in SSD beside the target's). In SSD its first round has no cache
and stalls the batch as a miss would: the draft drafts it, in one pass with a just-in-time backup.
It reserves KV positions for its whole text and a round of K+1; nothing is evicted. First come,
first served. Its first token is that of its first round. It leaves at its last token, in the middle
of a block if need be; what is prepared for it is still filled, unless the filling is given up for
one who stays. Every round drafts K tokens. Abort, late hits and sending follow `sim.rounds.Rules`:
a late hit that falls back, and a miss that ends the filling, take the entries of all rows. From a
batch of `fast_from` rows on the backup is instant (the threshold of Thm 17).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from simpy import Environment, Event

from sim.checks import need_integer
from sim.clock import Limit, Process, settle
from sim.protocols import fill
from sim.queueing import Demand, Experience, Request, experience
from sim.rounds import Costs, Kernel, Round, Rules
from sim.run import Run
from sim.scenario import Scenario
from sim.workloads import Drawn

CAPACITY_SHARE = 0.98  # of the closed-loop throughput, above which arrivals are refused

NONE = (math.nan, math.nan)
READINGS: dict[str, Callable[[Experience], float]] = {
    "tokens/s": lambda e: e.tokens_per_s,
    "requests/s": lambda e: e.requests_per_s,
    "requests in the system": lambda e: e.in_system,
    "mean batch": lambda e: e.mean_batch,
    "ms from arrival to last token": lambda e: e.sojourn_ms,
    "ms to first token, p50": lambda e: e.ttft_ms[0],
    "ms to first token, p99": lambda e: e.ttft_ms[1],
    "ms a token after the first, p50": lambda e: (e.tpot_ms or NONE)[0],
    "ms a token after the first, p99": lambda e: (e.tpot_ms or NONE)[1],
    "ms between blocks, p50": lambda e: (e.gap_ms or NONE)[0],
    "ms between blocks, p99": lambda e: (e.gap_ms or NONE)[1],
}


@dataclass
class Row:
    """A request in the batch, with a stream of outcomes of its own.

    cold: no round yet. missed: the backup has to draft its next round; fell_back: because the
    filling was given up.
    """

    request: Request
    outcomes: Drawn
    cold: bool = True
    missed: bool = False
    fell_back: bool = False


class Desk:
    """Where requests wait, join and leave."""

    def __init__(self, env: Environment, scenario: Scenario, method: str, demand: Demand,
                 kv_positions: int | None, seed: int) -> None:  # fmt: skip
        self.env, self.scenario, self.method = env, scenario, method
        self.demand, self.seed = demand, seed
        self.kv_free = kv_positions
        self.waiting: deque[Request] = deque()
        self.rows: list[Row] = []
        self.done: list[Request] = []
        self.levels = [(0, 0)]  # (time, requests in the system)
        self.arrived = 0
        self.sizes: Iterator[int] = demand.sizes(seed)
        self.bell = env.event()

    def arrivals(self) -> Process:
        """Open arrivals; in a closed loop all come at once and `leave` sends the next."""
        for _ in range(self.demand.concurrency or 0):
            self.arrive()
        if self.demand.arrivals_per_s is not None:
            for gap in self.demand.gaps_ns(self.seed):
                yield self.env.timeout(gap)
                self.arrive()

    def arrive(self) -> None:
        request = Request(self.arrived, next(self.sizes), int(self.env.now))
        needed = self.positions(request)
        if self.kv_free is not None and needed > self.kv_free + self.reserved():
            raise ValueError(
                f"kv_positions: expected at least {needed} for request {request.number}, "
                f"got {self.kv_free + self.reserved()}"
            )
        self.arrived += 1
        self.waiting.append(request)
        self.levels.append((int(self.env.now), self.levels[-1][1] + 1))
        if not self.bell.triggered:
            self.bell.succeed()

    def positions(self, request: Request) -> int:
        """KV positions at worst: all text but its last token, and a round of K + 1."""
        ahead = self.scenario.drafted_in(self.method) + 1
        return self.demand.prompt + request.tokens - 1 + ahead

    def reserved(self) -> int:
        return sum(self.positions(row.request) for row in self.rows)

    def admit(self) -> list[Row]:
        """Let requests join while there is room in the batch and in the KV cache."""
        joined = []
        while self.waiting and len(self.rows) < self.scenario.batch:
            needed = self.positions(self.waiting[0])
            if self.kv_free is not None:
                if needed > self.kv_free:
                    break
                self.kv_free -= needed
            request = self.waiting.popleft()
            alone = replace(self.scenario, batch=1)
            row = Row(request, alone.workload(self.method, self.seed * 1_000_003 + request.number))
            self.rows.append(row)
            joined.append(row)
        return joined

    def close_round(self) -> bool:
        """All rows get their tokens; who has all of them leaves. Whether the run is over."""
        fast = self.scenario.is_fast(len(self.rows))
        for row in list(self.rows):
            row.outcomes.fast = fast
            outcome, request = row.outcomes.next(row.fell_back), row.request
            request.emitted += min(outcome.emitted, request.left)
            request.blocks_ns.append(int(self.env.now))
            row.cold, row.missed, row.fell_back = False, outcome.misses > 0, False
            if not request.left:
                self.leave(row)
        return len(self.done) >= self.demand.requests

    def leave(self, row: Row) -> None:
        self.rows.remove(row)
        self.done.append(row.request)
        if self.kv_free is not None:
            self.kv_free += self.positions(row.request)
        self.levels.append((int(self.env.now), self.levels[-1][1] - 1))
        if self.demand.concurrency is not None:
            self.arrive()


def server(env: Environment, run: Run, desk: Desk, costs: Costs, rules: Rules) -> Process:
    """Rounds of the batch, one after another, as long as there are requests."""
    path, target, method = run.path, run.target, desk.method
    lookahead, number = desk.scenario.drafted_in(method), 0
    while True:
        yield settle(env)  # who arrives at the instant at which a round ends joins the next
        joined = desk.admit()
        if not desk.rows:
            path.enter("queue")  # nobody is here
            desk.bell = env.event()
            yield desk.bell
            continue
        if joined:
            path.enter("prefill")
            yield from prefill(env, run, costs, method, len(joined))
        number += 1
        missed = sum(row.missed for row in desk.rows) if method == "ssd" else 0
        round = Round(number, lookahead, rows=len(desk.rows), backups=missed)
        if method == "ssd":
            yield from ssd_round(env, run, desk, costs, round, rules)
        else:
            path.enter("drafting")
            yield from target.run_all(costs.drafting(round) if lookahead else ())
            path.enter("verification")
            yield from target.run(costs.verification(round))
            finish(run, desk, round)
        if run.ended.triggered:
            return


def prefill(env: Environment, run: Run, costs: Costs, method: str, rows: int) -> Process:
    """One for each that joined; the draft's run beside the target's where it has a device."""
    mine = costs.target_prefill(draft_too=method == "sd")
    both = [env.process(run.target.run_all([mine] * rows))]
    if method == "ssd":
        both.append(env.process(run.draft.run_all([costs.draft_prefill()] * rows)))
    yield env.all_of(both)


def ssd_round(
    env: Environment, run: Run, desk: Desk, costs: Costs, round: Round, rules: Rules
) -> Process:
    """Drafting for rows without an entry, verification beside filling, then the answer."""
    path, draft, target = run.path, run.draft, run.target
    kernels = catching_up(desk, costs, round)
    if kernels:
        path.enter("miss")
        yield from draft.run_all(kernels)
    path.enter("link")
    transfer_ns, outcome = costs.speculation_ns(round), env.event()
    filling = env.process(filled(env, run, rules, costs, round, outcome))
    yield env.timeout(transfer_ns)
    path.enter("verification")
    yield from target.run(costs.verification(round))
    if finish(run, desk, round):
        return
    path.enter("handshake")
    yield from target.run(costs.handshake(round))
    path.enter("link")
    yield env.timeout(costs.outcome_ns(round))
    path.enter("overflow")
    outcome.succeed(round._replace(misses=sum(row.missed for row in desk.rows)))
    full = yield filling
    if not full:
        for row in desk.rows:
            row.missed = row.fell_back = True  # no entry can be used
    path.enter("service")
    yield from draft.run(costs.service(round))


def catching_up(desk: Desk, costs: Costs, round: Round) -> list[Kernel]:
    """What is drafted while all wait: new rows by the draft, missed ones by the backup."""
    new = sum(row.cold for row in desk.rows)
    backup = list(costs.backup(round._replace(backups=round.backups + new)))
    if round.backups and backup:
        return backup
    return list(costs.cold_start(round._replace(rows=new))) if new else []


def filled(
    env: Environment, run: Run, rules: Rules, costs: Costs, round: Round, outcome: Event
) -> Process:
    """Send if that occupies the draft, then fill; returns whether the cache became full."""
    if rules.sending_occupies_draft:
        yield from run.draft.run(Kernel("send", costs.speculation_ns(round)))
    full = yield from fill(env, run, rules, costs.filling(round), outcome)
    return full


def finish(run: Run, desk: Desk, round: Round) -> bool:
    before = sum(row.request.emitted for row in desk.rows)
    served = list(desk.rows)
    over = desk.close_round()
    emitted = sum(row.request.emitted for row in served) - before
    run.count(round._replace(emitted=emitted))
    if over and not run.ended.triggered:
        run.ended.succeed()
    return over


def serve(
    scenario: Scenario, method: str, demand: Demand, kv_positions: int | None = None, seed: int = 0,
    keep_log: bool = False,
) -> tuple[Experience, Run]:  # fmt: skip
    """Serve until `demand.requests` have left; `scenario.batch` is the largest batch.

    Raises ValueError for arrivals above capacity, found by a short closed loop: the queue would
    grow without end, and every number would tell only how long one waited.
    """
    check(scenario, method, kv_positions)
    if demand.arrivals_per_s is not None:
        capacity = capacity_per_s(scenario, method, demand, kv_positions, seed)
        if demand.arrivals_per_s > CAPACITY_SHARE * capacity:
            most = CAPACITY_SHARE * capacity
            raise ValueError(
                f"arrivals_per_s: expected at most {most:.3g}, {CAPACITY_SHARE} of the capacity "
                f"of {method} here, got {demand.arrivals_per_s}"
            )
    env = Environment()
    run = Run(env, Limit(rounds=2**62), [] if keep_log else None)
    desk = Desk(env, scenario, method, demand, kv_positions, seed)
    env.process(desk.arrivals())
    env.process(server(env, run, desk, scenario.work(seed), scenario.rules))
    run.go()
    rows = sum(len(request.blocks_ns) for request in desk.done)
    rows += sum(len(row.request.blocks_ns) for row in desk.rows)
    return experience(desk.done, demand.warm_up, desk.levels, rows / run.rounds), run


def check(scenario: Scenario, method: str, kv_positions: int | None) -> None:
    if kv_positions is not None:
        need_integer("kv_positions", kv_positions, least=1)
    if method == "ssd" and scenario.lookahead == 0:
        raise ValueError("lookahead: expected at least 1 for SSD (K = 0 is AR), got 0")


def capacity_per_s(
    scenario: Scenario, method: str, demand: Demand, kv_positions: int | None, seed: int
) -> float:
    """Requests a second in a closed loop that always fills the batch."""
    closed = replace(demand, arrivals_per_s=None, concurrency=2 * scenario.batch,
                     requests=40 * scenario.batch)  # fmt: skip
    return serve(scenario, method, closed, kv_positions, seed)[0].requests_per_s
