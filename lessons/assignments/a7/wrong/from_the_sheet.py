# loses: 7.2/messages 7.3/overlap 7.3/overflow 7.3/whole 7.6/entries 7.6/whole
# says: the hand-shake is left out
# says: the backup drafts after a hit, too
# says: a hit waits for the whole cache: its own entry is enough
"""Written from the sheet alone."""


def verifier(env, run, costs):
    yield from run.target.run(costs.target_prefill(draft_too=False))
    finished = False
    while not finished:
        speculation = yield run.speculations.receive()
        yield from run.target.run(costs.verification(speculation))
        finished = run.count(speculation)
        if not finished:
            run.outcomes.send(speculation, costs.outcome_ns(speculation))


def speculator(env, run, costs, workload):
    yield from run.draft.run(costs.draft_prefill())
    round = workload.next()
    yield from run.draft.run_all(costs.cold_start(round))
    while True:
        run.speculations.send(round, costs.speculation_ns(round))
        yield from run.draft.run_all(costs.filling(round))
        outcome = yield run.outcomes.receive()
        yield from run.draft.run(costs.service(outcome))
        round = workload.next()
        yield from run.draft.run_all(costs.backup(round))


def one_by_one(env, run, costs, workload, place):
    def fill(round, outcome):
        yield from stoppable(
            env, run, costs.filling(round), outcome, lambda came, n: place(came) is None
        )

    yield from rounds(env, run, costs, workload, fill)
