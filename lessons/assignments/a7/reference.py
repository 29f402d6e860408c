"""Assignment 7: SSD as two processes over a clock.

A process is a generator that yields SimPy's events. `run` holds what happens, and the devices:

    yield from run.target.run(kernel)          the target is busy with a kernel (run.draft alike)
    yield from run.draft.run_all(kernels)      one kernel after another
    run.draft.lane.enter(kind, rows)           from now on it is of this kind (IDLE: of none)
    run.speculations.send(round, ns)           to the verifier; returns at once, arrives ns later
    round = yield run.speculations.receive()   waits for it (run.outcomes alike, the other way)
    last = run.count(round)                    a verification has ended; True: the text is complete

`costs` makes the kernels (costs.verification(round), ..; a Kernel has kind, ns, rows), `workload`
the rounds: `workload.next()`. A round's `backups` is 1 if nobody has prepared its speculation, its
`misses` is 1 if its outcome is not among the guesses. `sheet.md` says what each task asks for.
"""

from collections.abc import Callable, Generator
from typing import Any

from simpy import Environment

from sim.recorder import IDLE
from sim.rounds import Costs, Round, Workload
from sim.run import Run

### BEGIN SOLUTION
from sim import protocols, theory
from sim.clock import settle
from sim.rounds import Rules
### END SOLUTION

Process = Generator[Any, Any, Any]


def speculative(env: Environment, run: Run, costs: Costs, workload: Workload) -> Process:
    """Task 7.1: SD on the target's device, from the prefill (of both models) to the last round.

    Kernels: costs.target_prefill(draft_too=True), costs.drafting(round), costs.verification(round).
    """
    ### BEGIN SOLUTION
    yield from protocols.speculative(env, run, costs, workload)
    ### END SOLUTION


def verifier(env: Environment, run: Run, costs: Costs) -> Process:
    """Task 7.2: the target's side of SSD.

    Kernels: costs.target_prefill(draft_too=False), costs.verification(round), and between the end
    of a verification and the sending of its outcome costs.handshake(round). The message "outcome"
    is the round itself and takes costs.outcome_ns(round).
    """
    ### BEGIN SOLUTION
    yield from protocols.verifier(env, run, costs)
    ### END SOLUTION


def speculator(env: Environment, run: Run, costs: Costs, workload: Workload) -> Process:
    """Task 7.3: the draft's side. It reads the outcome only when the cache is full.

    Kernels: costs.draft_prefill(), once costs.cold_start(round), then for each round
    costs.filling(round) (the cache for its outcome), and when the outcome is read
    costs.service(round); costs.backup(round) for a round that nobody has prepared. The message
    "speculation" is the round itself and takes costs.speculation_ns(round).
    """
    ### BEGIN SOLUTION
    yield from protocols.speculator(env, run, costs, workload, Rules(abort="never"))
    ### END SOLUTION


def impatient(env: Environment, run: Run, costs: Costs, workload: Workload) -> Process:
    """Task 7.4: as 7.3, but an outcome that is a miss ends the filling at once.

    The kernel that is running is cut off then. A hit waits until the cache is full.
    """
    ### BEGIN SOLUTION
    yield from protocols.speculator(env, run, costs, workload, Rules(abort="instant"))
    ### END SOLUTION


def speed(
    hit: float, tokens_hit: float, tokens_miss: float, t_p: float, t_b: float, abort: bool
) -> float:
    """Task 7.5: tokens per verification time in the long run. Times in verifications.

    hit: share of rounds that the cache served; tokens_hit, tokens_miss: mean tokens of a round that
    the cache, or the backup, served. t_p, t_b: to fill the cache, to draft by the backup.
    abort: True for the speculator of 7.4, False for that of 7.3. Everything else takes no time.
    """
    ### BEGIN SOLUTION
    return theory.ssd_speed(hit, tokens_hit, tokens_miss, t_p, t_b, abort=abort)
    ### END SOLUTION


def one_by_one(
    env: Environment,
    run: Run,
    costs: Costs,
    workload: Workload,
    place: Callable[[Round], int | None],
) -> Process:
    """Task 7.6: as 7.4, but the cache is filled entry after entry: a kernel of filling each.

    place(outcome): the number of the entry, from 0, that has the answer; None: there is none (a
    miss). Ask only when the outcome has come. As soon as it has come *and* its entry is there (or
    there is none) the filling ends, within a kernel if need be.
    """
    ### BEGIN SOLUTION
    yield from run.draft.run(costs.draft_prefill())
    round = workload.next()
    yield from run.draft.run_all(costs.cold_start(round))
    while True:
        run.speculations.send(round, costs.speculation_ns(round))
        outcome = run.outcomes.receive()

        def is_there(came: Any, filled: int) -> bool:
            """Whether no more filling is needed once `filled` entries are there."""
            entry = place(came.value)
            return entry is None or entry < filled

        for number, kernel in enumerate(costs.filling(round)):
            yield settle(env)
            if outcome.triggered and is_there(outcome, number):
                break
            run.draft.lane.enter(kernel.kind, kernel.rows)
            end = env.timeout(kernel.ns)
            yield end | outcome
            if not end.processed and not is_there(outcome, number):
                yield end
            if not end.processed:
                break
        run.draft.lane.enter(IDLE)
        yield outcome
        yield from run.draft.run(costs.service(round))
        round = workload.next()
        if round.backups:
            yield from run.draft.run_all(costs.backup(round))
    ### END SOLUTION
