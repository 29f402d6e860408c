# loses: 7.2/rounds 7.2/messages
# says: the outcome is sent before the verification has ended


def verifier(env, run, costs):
    yield from run.target.run(costs.target_prefill(draft_too=False))
    while True:
        round = yield run.speculations.receive()
        run.outcomes.send(round, costs.outcome_ns(round))
        yield from run.target.run(costs.verification(round))
        if run.count(round):
            return
        yield from run.target.run(costs.handshake(round))
