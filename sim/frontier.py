"""Batches: speed for one user against speed of a device, each method at its best.

The paper's figures 6 and 7 as toys. A frontier compares methods at one number of devices: rates
are divided by the devices that a method uses, so that replicas of AR and SD fill the draft's place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from sim.clock import Limit
from sim.intervals import Rate
from sim.laws import Acceptance, Rates, Text
from sim.scenario import Scenario
from sim.spread import spread
from sim.theory import batch_speed, critical_batch


@dataclass(frozen=True)
class Point:
    """A method at a batch size, with the settings that were best there."""

    method: str
    batch: int
    setting: str
    per_user: Rate  # tokens/s of one sequence
    per_device: float  # tokens/s of one device


def candidates(scenario: Scenario, method: str) -> dict[str, Scenario]:
    """The settings to choose from: K of SD as far as acceptance is stated; K, F, backup of SSD.

    Measured hit rates hold at one K and F, so that only a hit curve lets SSD choose.
    """
    if method == "ar":
        return {"": scenario}
    stated = longest(scenario)
    if method == "sd":
        return {f"K={k}": scenario.with_(sd_lookahead=k) for k in range(1, stated + 1)}
    if any(isinstance(context.hits, Rates) for context in scenario.text.contexts):
        return {f"K={scenario.lookahead} as measured": scenario}
    chosen = {}
    for k in range(1, stated + 1):
        for f in (1, 2, 4):
            plain = scenario.with_(lookahead=k, fan_out=(f,) * (k + 1), fan_out_miss=None)
            chosen[f"K={k} F={f} draft"] = plain
            chosen[f"K={k} F={f} instant"] = with_instant_backup(plain)
    return chosen


def longest(scenario: Scenario) -> int:
    """The largest K for which acceptance is stated, 8 at most."""
    contexts = (*scenario.text.contexts, *(scenario.sd_text or scenario.text).contexts)
    laws = [context.acceptance for context in contexts]
    return min(8 if law.iid else len(law.hazards) for law in laws)


def with_instant_backup(s: Scenario) -> Scenario:
    """A backup that takes no time and is never accepted; all guesses then go to k = 0."""
    none = Acceptance((0.0,), iid=True)
    contexts = tuple(replace(context, backup=none) for context in s.text.contexts)
    miss = (sum(s.fan_out), *(0 for _ in s.fan_out[1:]))
    return s.with_(text=Text(contexts), backup="instant", fan_out_miss=miss,
                   sd_text=s.sd_text or s.text)  # fmt: skip


def best(scenario: Scenario, method: str, batch: int, rounds: int, seed: int) -> Point:
    """The setting with the most tokens/s at this batch; chosen and measured on other seeds."""
    options = {name: s.with_(batch=batch) for name, s in candidates(scenario, method).items()}
    limit, name = Limit(rounds=rounds), next(iter(options))
    if len(options) > 1:
        trial = {n: s.run(method, limit, seed + 1) for n, s in options.items()}
        name = max(trial, key=lambda n: trial[n].tokens_per_s.value)
    report = options[name].run(method, limit, seed)
    rate = report.tokens_per_s
    half = None if rate.half_width is None else rate.half_width / batch
    per_user = Rate(rate.value / batch, half, rate.rounds)
    return Point(method, batch, name, per_user, report.tokens_per_device_second)


def frontier(
    scenario: Scenario, batches: Sequence[int], rounds: int = 600, seed: int = 0, jobs: int = -1
) -> list[Point]:
    work = [
        (scenario, method, batch, rounds, seed)
        for method in ("ar", "sd", "ssd") for batch in batches
    ]  # fmt: skip
    return list(spread(best, work, jobs))


def sd_at_ssd_speed(points: Iterable[Point]) -> list[tuple[Point, float | None]]:
    """For each point of SSD: tokens/s/device that SD has at the same tokens/s/user.

    Read off SD's frontier by straight lines; None where SD cannot be that fast (or was not run at
    batches that large).
    """
    points = list(points)
    sd = sorted((p.per_user.value, p.per_device) for p in points if p.method == "sd")
    found: list[tuple[Point, float | None]] = []
    for p in points:
        if p.method == "ssd":
            pairs = pairwise(sd)
            at = [
                b + (p.per_user.value - a) / (c - a) * (d - b)
                for (a, b), (c, d) in pairs if a <= p.per_user.value <= c and c > a
            ]  # fmt: skip
            found.append((p, max(at) if at else None))
    return found


@dataclass(frozen=True)
class Fallback:
    """Speed per row in verifications by batch size, with a slow accurate and a fast backup."""

    batches: list[int]
    neural: list[float]
    fast: list[float]
    critical: float


def fallback(hit: float, tokens: float, tokens_fast: float, t_p: float, t_b: float) -> Fallback:
    """Figure 6, toy: Cor. 16 for both backups, and their crossing, b* of Thm 17.

    tokens: after a hit and after the neural backup; tokens_fast: after the fast one, which takes
    no time and, by assumption, leaves the hit rate as it is (b* is very sensitive to that).
    """
    batches = list(range(1, 17))
    return Fallback(
        batches,
        [batch_speed(hit, tokens, tokens, t_p, t_b, b) for b in batches],
        [batch_speed(hit, tokens, tokens_fast, t_p, 0.0, b) for b in batches],
        critical_batch(hit, tokens, hit * tokens + (1 - hit) * tokens_fast, t_b),
    )
