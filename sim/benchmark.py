"""`python -m sim.benchmark`: is the simulator at least half as fast as SimPy alone?

The bare program does the same timeouts, hand-overs and conditions as SSD does, and nothing else: no
lanes, no costs, no workload. CPU time, interleaved, the best of five. Times are not tested (they
belong to a machine); this command is where they are looked at.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable

from simpy import Environment, Event, Store

from sim.clock import Limit, Process, settle
from sim.presets import toy
from sim.rounds import Rules

ROUNDS, KERNELS, MISS_EVERY = 5000, 5, 4  # the toy: glue and 4 tree steps, a quarter missed


def bare(abort: str) -> None:
    """As many timeouts, store hand-overs and conditions as `ssd` with this abort rule."""
    env = Environment()
    to_target, to_draft, done = Store(env), Store(env), env.event()

    def target() -> Process:
        for n in range(ROUNDS):
            yield to_target.get()
            yield env.timeout(10)
            yield env.timeout(0)
            send(env, to_draft, n)
        done.succeed()

    def draft() -> Process:
        while True:
            send(env, to_target, 0)
            outcome = to_draft.get()
            for _ in range(KERNELS):
                if abort != "never":
                    yield settle(env)
                end = env.timeout(1)
                if abort == "instant":
                    yield end | outcome
                yield end
            n = yield outcome
            yield env.timeout(0)
            if n % MISS_EVERY == 0:
                for _ in range(KERNELS - 1):
                    yield env.timeout(1)

    env.process(target())
    env.process(draft())
    env.run(until=done)


def send(env: Environment, inbox: Store, message: int) -> None:
    delivery = env.timeout(1, message)
    assert delivery.callbacks is not None

    def deliver(event: Event) -> None:
        inbox.put(event.value)

    delivery.callbacks.append(deliver)


def full(abort: str) -> None:
    toy().with_(rules=Rules(abort)).run("ssd", Limit(rounds=ROUNDS))


def cpu_seconds(call: Callable[[], object]) -> float:
    begin = time.process_time()
    call()
    return time.process_time() - begin


def peak_kilobytes(rounds: int) -> float:
    """Peak of allocated memory during a run without time line."""
    tracemalloc.start()
    toy().run("ssd", Limit(rounds=rounds))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 1e3


def main() -> None:
    for abort in ("never", "step", "instant"):
        runs = [(cpu_seconds(lambda: bare(abort)), cpu_seconds(lambda: full(abort)))  # noqa: B023
                for _ in range(5)]  # fmt: skip
        alone, ours = (min(times) * 1e6 / ROUNDS for times in zip(*runs, strict=True))
        print(f"{abort:8} {alone:5.1f} us a round bare, {ours:5.1f} ours: "
              f"{alone / ours:.2f} of the bare event rate")  # fmt: skip
    seconds = sum(cpu_seconds(lambda: toy().run(m, Limit(rounds=100_000)))  # noqa: B023
                  for m in ("ar", "sd", "ssd"))  # fmt: skip
    print(f"compare, 100,000 rounds each: {seconds:.1f} s of CPU time")
    print(f"peak memory: {peak_kilobytes(2000):.0f} kB for 2,000 rounds, "
          f"{peak_kilobytes(20_000):.0f} kB for 20,000")  # fmt: skip


if __name__ == "__main__":
    main()
