"""The work of each round as kernels: which forwards on how many rows, and how long they take."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from sim.checks import need_choice
from sim.costs import Forward, Link, Times
from sim.rounds import Kernel, Round

BACKUPS = ("draft", "instant")
NS_PER_MS = 1_000_000


@dataclass
class Work:
    """Implements `sim.rounds.Costs` for given times, link and fan-out.

    widths: guesses in all (sum of the fan-out) after a cached and after a backup's round. A round
    of the cache is glue, K tree steps on all branches, store. extra_step: SD's draft makes a step
    more, K+1, which writes the KV of d_K. A backup makes K steps (the glue forward wrote that KV),
    or none if it is `instant` (a look-up, a random string), as for batches from fast_from on.
    """

    times: Times
    link: Link = field(default_factory=Link)
    widths: tuple[int, int] = (0, 0)
    extra_step: bool = True
    backup_kind: str = "draft"
    seed: int = 0
    fast_from: int | None = None

    def __post_init__(self) -> None:
        need_choice("backup", self.backup_kind, BACKUPS)
        self.known: dict[tuple[str, str, int], Kernel] = {}
        self.filled: dict[tuple[int, int, int], tuple[Kernel, ...]] = {}
        self.stretch = {
            side: factors(self.times.jitter, (self.seed, stream))
            for stream, side in enumerate(("target", "draft"))
        }

    def kernel(self, side: str, kind: str, forward: Forward, rows: int) -> Kernel:
        known = self.known.get((side, kind, rows))
        kernel = known or self.learn(side, kind, forward.ms(rows), rows)
        return self.jittered(side, kernel) if self.times.jitter else kernel

    def pause(self, side: str, kind: str, ms: float) -> Kernel:
        """Work without rows."""
        kernel = self.known.get((side, kind, 0)) or self.learn(side, kind, ms, 0)
        return self.jittered(side, kernel) if self.times.jitter else kernel

    def learn(self, side: str, kind: str, ms: float, rows: int) -> Kernel:
        """Mean times are worked out once."""
        kernel = self.known[side, kind, rows] = Kernel(kind, round(ms * NS_PER_MS), rows)
        return kernel

    def jittered(self, side: str, kernel: Kernel) -> Kernel:
        return kernel._replace(ns=round(kernel.ns * next(self.stretch[side])))

    def target_prefill(self, draft_too: bool) -> Kernel:
        times = self.times
        both = times.target_prefill_ms + draft_too * times.draft_prefill_ms
        return self.pause("target", "prefill", both)

    def draft_prefill(self) -> Kernel:
        return self.pause("draft", "prefill", self.times.draft_prefill_ms)

    def ar_step(self, round: Round) -> Kernel:
        return self.kernel("target", "verify", self.times.ar or self.times.target, round.rows)

    def verification(self, round: Round) -> Kernel:
        if not round.drafted:
            return self.ar_step(round)  # SD with K = 0 is AR
        rows = round.rows * (round.drafted + 1)
        return self.kernel("target", "verify", self.times.target, rows)

    def drafting(self, round: Round) -> list[Kernel]:
        steps = self.steps("draft", round, round.drafted)
        if self.extra_step and steps:
            steps += self.steps("upkeep", round, 1)
        return steps

    def cold_start(self, round: Round) -> list[Kernel]:
        return self.steps("draft", round, round.drafted)

    def backup(self, round: Round) -> list[Kernel]:
        drafts = self.backup_kind == "draft" and not (
            self.fast_from and round.rows >= self.fast_from
        )
        return self.steps("backup", round, round.drafted) if drafts else []

    def steps(self, kind: str, round: Round, count: int) -> list[Kernel]:
        backup = kind == "backup"
        rows = round.backups if backup else round.rows
        forward = (backup and self.times.backup) or self.times.draft
        return self.repeated(kind, forward, rows, count)

    def repeated(self, kind: str, forward: Forward, rows: int, count: int) -> list[Kernel]:
        if not self.times.jitter:
            return [self.kernel("draft", kind, forward, rows)] * count
        return [self.kernel("draft", kind, forward, rows) for _ in range(count)]

    def filling(self, round: Round) -> Sequence[Kernel]:
        if self.times.jitter:
            return self.plan(round)
        key = (round.rows, round.drafted, round.backups)
        if key not in self.filled:
            self.filled[key] = tuple(self.plan(round))
        return self.filled[key]

    def plan(self, round: Round) -> list[Kernel]:
        times, (cached, missed) = self.times, self.widths
        branches = (round.rows - round.backups) * cached + round.backups * missed
        glued = round.rows * (round.drafted + 1)
        kernels = [self.kernel("draft", "glue", times.glue or times.draft, glued)]
        if branches:
            tree = times.tree or times.draft
            kernels += self.repeated("tree", tree, branches, round.drafted)
        if times.store_ms:
            kernels.append(self.pause("draft", "store", times.store_ms))
        return kernels

    def service(self, round: Round) -> Kernel:
        return self.pause("draft", "service", self.times.service_ms)

    def handshake(self, round: Round) -> Kernel:
        return self.pause("target", "handshake", self.times.handshake_ms)

    def speculation_ns(self, round: Round) -> int:
        return self.link.speculation_ns(round.rows * round.drafted)

    def outcome_ns(self, round: Round) -> int:
        return self.link.outcome_ns(round.rows)


def factors(cv: float, seed: tuple[int, int]) -> Iterator[float]:
    """Log-normal factors of mean 1 and coefficient of variation cv, drawn in blocks."""
    generator = np.random.Generator(np.random.Philox(np.random.SeedSequence(seed)))
    sigma = math.sqrt(math.log1p(cv * cv))
    while True:
        yield from generator.lognormal(-sigma * sigma / 2, sigma, 4096).tolist()
