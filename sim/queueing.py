"""Requests: how they arrive, what they ask for, and what they experience."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from sim.checks import need_choice, need_integer, need_number

LENGTHS = ("fixed", "geometric")
RAREST_PER_S = 1e-6  # rarer arrivals than these overflow 64 bits of nanoseconds


@dataclass(frozen=True)
class Demand:
    """Requests that arrive at random (`arrivals_per_s`) or keep a fixed number in the system.

    concurrency: closed loop; whoever leaves is replaced at once. tokens: new tokens of a request,
    all alike (`fixed`) or `geometric` with this mean. prompt: tokens of its prompt, which count as
    KV positions only; prefill times are the scenario's.
    """

    requests: int
    arrivals_per_s: float | None = None
    concurrency: int | None = None
    tokens: int = 64
    lengths: str = "fixed"
    prompt: int = 0
    warm_up: float = 0.2  # share of the requests that is discarded at the start

    def __post_init__(self) -> None:
        if (self.arrivals_per_s is None) == (self.concurrency is None):
            raise ValueError(
                "demand: expected one of arrivals_per_s and concurrency, "
                f"got {self.arrivals_per_s} and {self.concurrency}"
            )
        if self.arrivals_per_s is not None:
            need_number("arrivals_per_s", self.arrivals_per_s, above=0)
            need_number("arrivals_per_s", self.arrivals_per_s, least=RAREST_PER_S)
        if self.concurrency is not None:
            need_integer("concurrency", self.concurrency, least=1)
        need_integer("requests", self.requests, least=1)
        need_integer("tokens", self.tokens, least=1)
        need_integer("prompt", self.prompt)
        need_choice("lengths", self.lengths, LENGTHS)
        need_number("warm_up", self.warm_up)
        if self.warm_up >= 1:
            raise ValueError(f"warm_up: expected a share below 1, got {self.warm_up}")

    def sizes(self, seed: int) -> Iterator[int]:
        """New tokens of each request."""
        generator = np.random.Generator(np.random.Philox(np.random.SeedSequence((seed, 1))))
        while True:
            if self.lengths == "fixed":
                yield self.tokens
            else:
                yield from generator.geometric(1 / self.tokens, 1024).tolist()

    def gaps_ns(self, seed: int) -> Iterator[int]:
        """Times between arrivals, exponential, in whole nanoseconds."""
        assert self.arrivals_per_s is not None
        generator = np.random.Generator(np.random.Philox(np.random.SeedSequence((seed, 2))))
        while True:
            gaps = generator.exponential(1e9 / self.arrivals_per_s, 1024)
            yield from gaps.round().astype(np.int64).tolist()


@dataclass
class Request:
    """One request: what it asks for, and when its tokens came."""

    number: int
    tokens: int
    arrival_ns: int
    emitted: int = 0
    blocks_ns: list[int] = field(default_factory=list)  # end of each of its rounds

    @property
    def left(self) -> int:
        return self.tokens - self.emitted

    @property
    def sojourn_ns(self) -> int:
        return self.blocks_ns[-1] - self.arrival_ns

    @property
    def first_ns(self) -> int:
        """Time to first token: its first round's end; prefill alone yields no token (a rule)."""
        return self.blocks_ns[0] - self.arrival_ns


@dataclass(frozen=True)
class Experience:
    """What requests experienced after the warm-up. Milliseconds, medians and 99th percentiles.

    tpot_ms: (end - first token) / (n - 1), of requests with more than one token. gap_ms: between
    two blocks of one request. in_system: mean number of requests waiting or decoding.
    """

    requests: int
    tokens_per_s: float
    requests_per_s: float
    in_system: float
    sojourn_ms: float
    ttft_ms: tuple[float, float]
    tpot_ms: tuple[float, float] | None
    gap_ms: tuple[float, float] | None
    mean_batch: float


def experience(
    done: Sequence[Request], warm_up: float, area_ns: Sequence[tuple[int, int]], mean_batch: float
) -> Experience:
    """From finished requests in the order of leaving.

    area_ns: (time, number in system since then), from the start. The window reaches from the
    departure that ends the warm-up to the last one.
    """
    skip = int(warm_up * len(done))
    kept = done[skip:]
    begin = done[skip - 1].blocks_ns[-1] if skip else 0
    end = kept[-1].blocks_ns[-1]
    seconds = (end - begin) / 1e9
    if not seconds:
        raise ValueError(f"times: expected requests that take time, got 0 ns for {len(kept)}")
    several = [r for r in kept if r.tokens > 1]
    gaps = np.concatenate([np.diff(r.blocks_ns) for r in kept])
    tpot = [(r.blocks_ns[-1] - r.blocks_ns[0]) / (r.tokens - 1) for r in several]
    return Experience(
        requests=len(kept),
        tokens_per_s=sum(r.tokens for r in kept) / seconds,
        requests_per_s=len(kept) / seconds,
        in_system=mean_level(area_ns, begin, end),
        sojourn_ms=float(np.mean([r.sojourn_ns for r in kept])) / 1e6,
        ttft_ms=percentiles([r.first_ns for r in kept]),
        tpot_ms=percentiles(tpot) if tpot else None,
        gap_ms=percentiles(gaps) if len(gaps) else None,
        mean_batch=mean_batch,
    )


def percentiles(
    ns: Sequence[float] | np.ndarray[tuple[int], np.dtype[np.int64]],
) -> tuple[float, float]:
    low, high = np.percentile(np.asarray(ns) / 1e6, [50, 99])
    return float(low), float(high)


def mean_level(steps: Sequence[tuple[int, int]], begin: int, end: int) -> float:
    """Time average over [begin, end] of a level that is given by its changes."""
    area = 0
    for (at, level), (until, _) in zip(steps, [*steps[1:], (end, 0)], strict=True):
        area += level * max(0, min(until, end) - max(at, begin))
    return area / (end - begin)
