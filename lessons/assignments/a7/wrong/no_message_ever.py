# loses: 7.2/rounds 7.2/messages 7.5/values 7.5/clock
# says: expected 8 link: idle | 8 target: verify
# says: got 8 link: idle | 10 draft: fill 1
# says: `abort` plays no part: a miss never waits for the cache
"""Written from the sheet alone: it waits for a speculation of its own, and both sides stand still."""


def verifier(env, run, costs):
    yield from run.target.run(costs.target_prefill(draft_too=False))
    while True:
        outcome = yield run.outcomes.receive()
        yield from run.target.run(costs.verification(outcome))
        run.count(outcome)


def speed(hit, tokens_hit, tokens_miss, t_p, t_b, abort):
    tokens = hit * tokens_hit + (1 - hit) * tokens_miss
    return tokens / (hit * max(1, t_p) + (1 - hit) * (1 + t_b))
