# loses: 7.1/whole 7.5/values 7.5/clock
# says: the prefill is left out
# says: a hit always takes one verification
"""Two faults in two tasks: each is named."""


def speculative(env, run, costs, workload):
    while True:
        round = workload.next()
        yield from run.target.run_all(costs.drafting(round))
        yield from run.target.run(costs.verification(round))
        if run.count(round):
            return


def speed(hit, tokens_hit, tokens_miss, t_p, t_b, abort):
    tokens = hit * tokens_hit + (1 - hit) * tokens_miss
    waits = 1 if abort else max(1, t_p)
    return tokens / (hit + (1 - hit) * (waits + t_b))
