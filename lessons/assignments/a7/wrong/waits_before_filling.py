# loses: 7.3/overlap 7.3/overflow 7.3/whole
# says: the outcome is awaited before the cache is filled: nothing overlaps


def speculator(env, run, costs, workload):
    yield from run.draft.run(costs.draft_prefill())
    round = workload.next()
    yield from run.draft.run_all(costs.cold_start(round))
    while True:
        run.speculations.send(round, costs.speculation_ns(round))
        yield run.outcomes.receive()
        yield from run.draft.run_all(costs.filling(round))
        yield from run.draft.run(costs.service(round))
        round = workload.next()
        if round.backups:
            yield from run.draft.run_all(costs.backup(round))
