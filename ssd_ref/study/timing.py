"""What a run and a step cost: seconds per token up to a cut, and one forward of each size."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from statistics import median
from typing import Any

from ssd_ref.models import Model
from ssd_ref.rounds import Generation
from ssd_ref.study.meter import PREFILL, Clock, Log, Meter
from ssd_ref.transcript import OnRound

CYCLE = 32  # tokens of a block that, generated twice, counts as the beginning of a cycle
BLOCKS = range(1, 10)  # tokens of the target's timed forwards
BRANCHES = (2, 4, 8)  # of the draft's timed tree steps
RUN = 4  # draft steps in a row


def first_repeat(tokens: Sequence[int], block: int = CYCLE) -> int:
    """How many tokens come before the first block of `block` tokens that was generated before.

    The block and its earlier occurrence may overlap: a text that repeats itself with a period p
    from position a on is cut at a + p. The prompt does not count. Without a repeat: len(tokens).
    """
    seen = set()
    for start in range(len(tokens) - block + 1):
        piece = tuple(tokens[start : start + block])
        if piece in seen:
            return start
        seen.add(piece)
    return len(tokens)


@dataclass(frozen=True)
class Timed:
    """One decoding. ends: seconds from the prefill's end to each round's; emitted: tokens of each.

    outside: seconds of that time outside the models' forwards.
    """

    tokens: tuple[int, ...]
    ends: tuple[float, ...]
    emitted: tuple[int, ...]
    outside: float

    def rounds(self, tokens: int) -> float:
        """Rounds that the first `tokens` tokens took; of the last one, the share they are of it."""
        for number, total in enumerate(accumulate(self.emitted)):
            if total >= tokens:
                return number + 1 - (total - tokens) / self.emitted[number]
        raise ValueError(f"expected at most {sum(self.emitted)} tokens, got {tokens}")

    def seconds(self, tokens: int) -> float:
        """Time that the first `tokens` tokens took, a round's time being spread over its tokens."""
        full, part = divmod(self.rounds(tokens), 1)
        ends = (0.0, *self.ends)
        begin = ends[int(full)]
        return begin + part * (ends[int(full) + 1] - begin) if part else begin

    @property
    def outside_share(self) -> float:
        return self.outside / self.ends[-1]


Decode = Callable[[Model, Model, OnRound], Generation]  # target, draft, on_round


def timed(decode: Decode, target: Model, draft: Model, clock: Clock = time.perf_counter) -> Timed:
    """Run `decode` on metered models; time counts from the end of the prefill."""
    log = Log(clock)
    meters = Meter(target, "target", log), Meter(draft, "draft", log)
    generation = log.run(lambda: decode(*meters, lambda tokens, record: log.outcome()))
    begin = max((f.end for f in log.forwards if f.kind == PREFILL), default=log.begin)
    inside = sum(f.end - f.begin for f in log.forwards if f.kind != PREFILL)
    return Timed(
        tuple(generation.tokens),
        tuple(end - begin for end in log.outcomes),
        tuple(record.emitted for record in generation.rounds),
        log.outcomes[-1] - begin - inside,
    )


def bare_forwards(
    model: Model, prompt: Sequence[int], count: int, clock: Clock = time.perf_counter
) -> Timed:
    """`count` single-token forwards after `prompt` and nothing else: the least AR could cost."""
    session = model.start(prompt[:-1])
    tokens = tuple(prompt[i % len(prompt)] for i in range(count))
    begin, ends = clock(), []
    for token in tokens:
        session.extend([token])
        ends.append(clock() - begin)
    return Timed(tokens, tuple(ends), (1,) * count, outside=0.0)


def step_times(
    target: Model,
    draft: Model,
    prompt: Sequence[int],
    seconds: float = 1.0,
    clock: Clock = time.perf_counter,
) -> dict[str, Any]:
    """Median milliseconds of one forward behind `prompt`; the sizes take turns for `seconds`.

    target_ms: over 1 to 9 tokens. draft_ms: one token. draft_tree_ms: one step of 2, 4, 8 branches.
    The draft's are means over RUN steps in a row that follow others of its own, as the target's
    follow its own. draft_after_target_ms: the mean over the RUN steps that follow a forward of the
    target, which has had the processor's caches: what drafting costs where both share a core.
    n: how often each was timed. The first lap, which is slower, counts only if it is the only one.
    """
    steps = {("target", size): block_step(target, prompt, size, clock) for size in BLOCKS}
    steps["after", 1] = draft_steps(draft, prompt, clock)
    steps["draft", 1] = draft_steps(draft, prompt, clock)
    steps |= {("tree", size): tree_steps(draft, prompt, size, clock) for size in BRANCHES}
    times: dict[tuple[str, int], list[float]] = {key: [] for key in steps}
    began = clock()
    while not times["draft", 1] or clock() - began < seconds:
        for key, step in steps.items():
            times[key].append(step())
    ms = {key: 1e3 * median(values[1:] or values) for key, values in times.items()}
    return {
        "target_ms": {str(size): ms["target", size] for size in BLOCKS},
        "draft_ms": ms["draft", 1],
        "draft_after_target_ms": ms["after", 1],
        "draft_tree_ms": {str(size): ms["tree", size] for size in BRANCHES},
        "n": max(1, len(times["draft", 1]) - 1),
        "context": len(prompt),
    }


def block_step(model: Model, prompt: Sequence[int], size: int, clock: Clock) -> Callable[[], float]:
    """Times a forward over `size` tokens."""
    session, tokens = model.start(prompt), [prompt[i % len(prompt)] for i in range(size)]

    def step() -> float:
        begin = clock()
        session.extend(tokens)
        took = clock() - begin
        session.rewind(len(prompt))
        return took

    return step


def draft_steps(model: Model, prompt: Sequence[int], clock: Clock) -> Callable[[], float]:
    """Times one of RUN steps in a row, a token each."""
    session, token = model.start(prompt), [prompt[0]]

    def step() -> float:
        begin = clock()
        for _ in range(RUN):
            session.extend(token)
        took = clock() - begin
        session.rewind(len(prompt))
        return took / RUN

    return step


def tree_steps(model: Model, prompt: Sequence[int], size: int, clock: Clock) -> Callable[[], float]:
    """Times one of RUN steps in a row of `size` branches, a token each."""
    session, tokens = model.start(prompt), [prompt[i % len(prompt)] for i in range(size)]

    def step() -> float:
        branches = session.branch([len(prompt)] * size)
        begin = clock()
        for _ in range(RUN):
            branches.extend(range(size), tokens)
        return (clock() - begin) / RUN

    return step


@contextmanager
def threads(count: int) -> Iterator[None]:
    """PyTorch on `count` threads inside the block, and on as many as before after it."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
