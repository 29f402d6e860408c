# loses: 7.4/miss 7.4/hit 7.4/whole 7.6/entries 7.6/whole
# says: a hit ends the filling, too: its answer may not be there yet
# says: an answer is sent before its entry is filled
"""Two faults of one kind, in two tasks."""


def at_any_outcome(env, run, costs, workload):
    def fill(round, outcome):
        yield from stoppable(env, run, costs.filling(round), outcome, lambda came, n: True)

    yield from rounds(env, run, costs, workload, fill)


def impatient(env, run, costs, workload):
    yield from at_any_outcome(env, run, costs, workload)


def one_by_one(env, run, costs, workload, place):
    yield from at_any_outcome(env, run, costs, workload)
