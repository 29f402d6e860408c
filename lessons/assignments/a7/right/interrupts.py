"""The filling is a process of its own, which is interrupted; other names; no helper of the clock."""

from simpy import Interrupt


def speculative(clock, world, prices, texts):
    yield from world.target.run(prices.target_prefill(True))
    done = False
    while not done:
        this = texts.next()
        for piece in [*prices.drafting(this), prices.verification(this)]:
            yield from world.target.run(piece)
        done = world.count(this)


def verifier(clock, world, prices):
    yield from world.target.run(prices.target_prefill(False))
    this = yield world.speculations.receive()
    yield from world.target.run(prices.verification(this))
    while not world.count(this):
        yield from world.target.run(prices.handshake(this))
        world.outcomes.send(this, prices.outcome_ns(this))
        this = yield world.speculations.receive()
        yield from world.target.run(prices.verification(this))


def filling(clock, world, kernels, ready):
    try:
        for number, kernel in enumerate(kernels):
            world.draft.lane.enter(kernel.kind, kernel.rows)
            yield clock.timeout(kernel.ns)
            ready[number].succeed()
    except Interrupt:
        pass
    world.draft.lane.enter("idle")


def draft_side(clock, world, prices, texts, needs):
    """needs(outcome, number of entries) -> how many entries must be there, 0 for a miss."""
    yield from world.draft.run(prices.draft_prefill())
    this = texts.next()
    yield from world.draft.run_all(prices.cold_start(this))
    while True:
        world.speculations.send(this, prices.speculation_ns(this))
        kernels = prices.filling(this)
        ready = [clock.event() for _ in kernels]
        cache = clock.process(filling(clock, world, kernels, ready))
        came = yield world.outcomes.receive()
        count = needs(came, len(kernels))
        if count:
            yield ready[count - 1]
        if count < len(kernels) and cache.is_alive:
            cache.interrupt()
        yield cache
        yield from world.draft.run(prices.service(this))
        this = texts.next()
        if this.backups:
            yield from world.draft.run_all(prices.backup(this))


def speculator(clock, world, prices, texts):
    return draft_side(clock, world, prices, texts, lambda came, all_of_them: all_of_them)


def impatient(clock, world, prices, texts):
    return draft_side(
        clock, world, prices, texts, lambda came, entries: 0 if came.misses else entries
    )


def speed(p, e_p, e_b, t_p, t_b, abort):
    per_hit = t_p if t_p > 1 else 1
    per_miss = (1 if abort else per_hit) + t_b
    return (p * e_p + (1 - p) * e_b) / (p * per_hit + (1 - p) * per_miss)


def one_by_one(clock, world, prices, texts, place):
    def needs(came, entries):
        entry = place(came)
        return 0 if entry is None else entry + 1

    return draft_side(clock, world, prices, texts, needs)
