"""The three protocols as processes over a clock.

AR and SD are one process on the target. SSD is Algorithm 1: a verifier and a speculator, each on
a device of its own, and two kinds of message. Source: Kumar, Dao, May (2026), Sec. 2.

Whoever holds up the next token says so on the lane `path`, which thus gives every nanosecond of
the makespan exactly one cause.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from simpy import Environment, Event

from sim.clock import Process, settle
from sim.recorder import IDLE
from sim.rounds import Costs, Kernel, Round, Rules, Workload
from sim.run import Run


def autoregressive(env: Environment, run: Run, costs: Costs, workload: Workload) -> Process:
    """One forward of the target for each token."""
    target, path = run.target, run.path
    path.enter("prefill")
    yield from target.run(costs.target_prefill(draft_too=False))
    while True:
        round = workload.next()
        path.enter("verification")
        yield from target.run(costs.ar_step(round))
        if run.count(round):
            return


def speculative(env: Environment, run: Run, costs: Costs, workload: Workload) -> Process:
    """SD: draft, then verify, on the same device."""
    target, path = run.target, run.path
    path.enter("prefill")
    yield from target.run(costs.target_prefill(draft_too=True))
    while True:
        round = workload.next()
        path.enter("drafting")
        yield from target.run_all(costs.drafting(round))
        path.enter("verification")
        yield from target.run(costs.verification(round))
        if run.count(round):
            return


def verifier(env: Environment, run: Run, costs: Costs) -> Process:
    """SSD, target side: wait for a speculation, verify it, tell the outcome."""
    target, path = run.target, run.path
    path.enter("prefill")
    yield from target.run(costs.target_prefill(draft_too=False))
    path.enter("cold start")  # until the first speculation is here
    while True:
        round = yield run.speculations.receive()
        path.enter("verification")
        yield from target.run(costs.verification(round))
        if run.count(round):
            return
        path.enter("handshake")
        yield from target.run(costs.handshake(round))
        path.enter("link")
        run.outcomes.send(round, costs.outcome_ns(round))


def speculator(
    env: Environment, run: Run, costs: Costs, workload: Workload, rules: Rules
) -> Process:
    """SSD, draft side: send a speculation, fill the cache for its outcomes, answer the outcome."""
    draft, path = run.draft, run.path
    yield from draft.run(costs.draft_prefill())
    round = workload.next()
    yield from draft.run_all(costs.cold_start(round))
    while True:
        transfer_ns = costs.speculation_ns(round)
        run.speculations.send(round, transfer_ns)
        if rules.sending_occupies_draft:
            yield from draft.run(Kernel("send", transfer_ns))
        outcome = run.outcomes.receive()
        assert outcome.callbacks is not None
        outcome.callbacks.append(lambda _: path.enter("overflow"))  # the draft holds it up now
        full = yield from fill(env, run, rules, costs.filling(round), outcome)
        yield outcome
        path.enter("service")
        yield from draft.run(costs.service(round))
        round = workload.next(fell_back=not full)
        if round.backups:
            path.enter("miss")
            yield from draft.run_all(costs.backup(round))
        path.enter("link")


def fill(
    env: Environment, run: Run, rules: Rules, kernels: Sequence[Kernel], outcome: Event
) -> Process:
    """Fill the cache, one kernel after another; returns whether it became full."""
    if rules.abort == "never":
        yield from run.draft.run_all(kernels)
        return True
    spent = 0  # rows computed on branches of this cache
    for kernel in kernels:
        yield settle(env)
        if kernel.ns and outcome.triggered and gives_up(rules, outcome):
            break
        spent += kernel.rows if kernel.kind == "tree" else 0
        run.draft.lane.enter(kernel.kind, kernel.rows)
        end = env.timeout(kernel.ns)
        if rules.abort == "instant":
            yield end | outcome  # if they come together, the end comes first
            if not end.processed and gives_up(rules, outcome):
                break
        yield end
    else:
        run.draft.lane.enter(IDLE)
        return True
    run.draft.lane.enter(IDLE)
    run.aborted_rows += spent
    return False


def gives_up(rules: Rules, outcome: Event) -> bool:
    """Whether this outcome, come before the cache is full, ends the filling."""
    return rules.late_hit == "fallback" or cast(Round, outcome.value).misses > 0
