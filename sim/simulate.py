"""`simulate`: the one call that runs a method on a workload at given costs."""

from __future__ import annotations

from simpy import Environment

from sim.checks import need_choice
from sim.clock import Limit
from sim.protocols import autoregressive, speculative, speculator, verifier
from sim.recorder import Interval
from sim.rounds import Costs, Rules, Workload
from sim.run import OnRound, Run

METHODS = ("ar", "sd", "ssd")


def simulate(
    method: str,
    workload: Workload,
    costs: Costs,
    limit: Limit,
    rules: Rules | None = None,
    keep_log: bool = False,
    on_round: OnRound | None = None,
) -> Run:
    """Run `method` ("ar", "sd" or "ssd") until `limit`; what happened is in the run returned.

    keep_log: keep every interval (for time lines); without it memory does not grow with the run.
    on_round: called with each round and the time at which its verification ended.
    """
    need_choice("method", method, METHODS)
    env = Environment()
    log: list[Interval] | None = [] if keep_log else None
    run = Run(env, limit, log, on_round)
    if method == "ar":
        env.process(autoregressive(env, run, costs, workload))
    elif method == "sd":
        env.process(speculative(env, run, costs, workload))
    else:
        env.process(verifier(env, run, costs))
        env.process(speculator(env, run, costs, workload, rules or Rules()))
    run.go()
    return run
