"""Written out; the base of the stored wrong solutions."""

from sim.clock import settle
from sim.recorder import IDLE


def speculative(env, run, costs, workload):
    yield from run.target.run(costs.target_prefill(draft_too=True))
    while True:
        round = workload.next()
        yield from run.target.run_all(costs.drafting(round))
        yield from run.target.run(costs.verification(round))
        if run.count(round):
            return


def verifier(env, run, costs):
    yield from run.target.run(costs.target_prefill(draft_too=False))
    while True:
        round = yield run.speculations.receive()
        yield from run.target.run(costs.verification(round))
        if run.count(round):
            return
        yield from run.target.run(costs.handshake(round))
        run.outcomes.send(round, costs.outcome_ns(round))


def rounds(env, run, costs, workload, fill):
    yield from run.draft.run(costs.draft_prefill())
    round = workload.next()
    yield from run.draft.run_all(costs.cold_start(round))
    while True:
        run.speculations.send(round, costs.speculation_ns(round))
        outcome = run.outcomes.receive()
        yield from fill(round, outcome)
        yield outcome
        yield from run.draft.run(costs.service(round))
        round = workload.next()
        if round.backups:
            yield from run.draft.run_all(costs.backup(round))


def speculator(env, run, costs, workload):
    def fill(round, outcome):
        yield from run.draft.run_all(costs.filling(round))

    yield from rounds(env, run, costs, workload, fill)


def stoppable(env, run, kernels, outcome, enough):
    """Fill until `enough(outcome, entries filled)`."""
    for number, kernel in enumerate(kernels):
        yield settle(env)
        if outcome.triggered and enough(outcome.value, number):
            break
        run.draft.lane.enter(kernel.kind, kernel.rows)
        end = env.timeout(kernel.ns)
        yield end | outcome
        if not end.processed:
            if enough(outcome.value, number):
                break
            yield end
    run.draft.lane.enter(IDLE)


def impatient(env, run, costs, workload):
    def fill(round, outcome):
        def is_miss(came, number):
            return came.misses > 0

        yield from stoppable(env, run, costs.filling(round), outcome, is_miss)

    yield from rounds(env, run, costs, workload, fill)


def speed(hit, tokens_hit, tokens_miss, t_p, t_b, abort):
    tokens = hit * tokens_hit + (1 - hit) * tokens_miss
    full = max(1, t_p)
    return tokens / (hit * full + (1 - hit) * ((1 if abort else full) + t_b))


def one_by_one(env, run, costs, workload, place):
    def fill(round, outcome):
        def enough(came, number):
            entry = place(came)
            return entry is None or entry < number

        yield from stoppable(env, run, costs.filling(round), outcome, enough)

    yield from rounds(env, run, costs, workload, fill)
