# loses: 7.4/miss 7.4/whole
# says: the kernel that is running goes on to its end after a miss


def impatient(env, run, costs, workload):
    def fill(round, outcome):
        for kernel in costs.filling(round):
            yield settle(env)
            if outcome.triggered and outcome.value.misses:
                return
            yield from run.draft.run(kernel)

    yield from rounds(env, run, costs, workload, fill)
