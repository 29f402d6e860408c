# loses: 7.1/turns 7.1/whole
# says: drafting is done on the draft's device


def speculative(env, run, costs, workload):
    yield from run.target.run(costs.target_prefill(draft_too=True))
    while True:
        round = workload.next()
        yield from run.draft.run_all(costs.drafting(round))
        yield from run.target.run(costs.verification(round))
        if run.count(round):
            return
