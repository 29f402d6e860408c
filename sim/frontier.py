"""Batches: speed for one user against speed of a device, each method at its best.

The paper's figures 6 and 7 as toys. A frontier compares methods at one number of devices: rates
are divided by the devices that a method uses, so that replicas of AR and SD fill the draft's place.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from sim.checks import need_number, need_probability
from sim.clock import Limit
from sim.intervals import Rate
from sim.laws import Acceptance, Carried, Rates, Text
from sim.published import QWEN_HIT, QWEN_HIT_WIDE
from sim.scenario import Scenario
from sim.spread import spread
from sim.theory import batch_speed, critical_batch

EXPONENT = math.log((1 - QWEN_HIT) / (1 - QWEN_HIT_WIDE[1])) / math.log(QWEN_HIT_WIDE[0] / 3)
LINES = ("ar", "sd", "ssd", "ssd instant")  # SSD once for each backup


@dataclass(frozen=True)
class Point:
    """A method at a batch size, with the settings that were best there."""

    method: str
    batch: int
    setting: str
    per_user: Rate  # tokens/s of one sequence
    per_device: float  # tokens/s of one device

    @property
    def device_rate(self) -> Rate:
        """per_device with its interval, in the proportion of per_user's."""
        return self.per_user.times(self.per_device / self.per_user.value)


def candidates(scenario: Scenario, method: str) -> dict[str, Scenario]:
    """The settings to choose from: K of SD as far as acceptance is stated; K and F of SSD, whose
    two backups are methods of their own, "ssd" and "ssd instant".

    Measured hit rates hold at one K and F; to let SSD choose they are carried to others by an
    assumption, which `assumptions` states.
    """
    if method == "ar":
        return {"": scenario}
    stated = longest(scenario)
    if method == "sd":
        return {f"K={k}": scenario.with_(sd_lookahead=k) for k in range(1, stated + 1)}
    chosen, scenario = {}, carried(scenario)
    for k in range(1, stated + 1):
        for f in sorted({1, 2, 4, max(scenario.fan_out)}):
            plain = scenario.with_(lookahead=k, fan_out=(f,) * (k + 1), fan_out_miss=None)
            instant = method == "ssd instant"
            chosen[f"K={k} F={f}"] = with_instant_backup(plain) if instant else plain
    return chosen


def carried(scenario: Scenario) -> Scenario:
    """Measured hit rates as laws that reach to other K and F (`sim.laws.Carried`)."""
    width = max(1, *scenario.fan_out)
    contexts = tuple(
        replace(context, hits=Carried(context.hits, width, EXPONENT))
        if isinstance(context.hits, Rates) else context
        for context in scenario.text.contexts
    )  # fmt: skip
    return scenario.with_(text=Text(contexts))


def assumptions(scenario: Scenario) -> list[str]:
    """What the choice of each method's best setting presumes."""
    stated = longest(scenario)
    said = [f"Each method at its best setting for each batch; K up to {stated}, as far as "
            "acceptance is stated. Rates are per device: replicas fill equal numbers."]  # fmt: skip
    if any(isinstance(context.hits, Rates) for context in scenario.text.contexts):
        said.append(
            f"Assumed: the hit rate measured at K = {scenario.lookahead} and F = "
            f"{max(scenario.fan_out)} is the same at every K, and a miss falls as F^-"
            f"{EXPONENT:.2f} (the exponent is that of the Qwen pair between F = 3 and 6)."
        )
    return [
        *said,
        "An instant backup takes no time, none of its drafts is accepted, and all guesses then go "
        "to k = 0 (assumed). How often they hit there is not published and decides between the "
        "backups: a weaker draft or clustered misses turn it round."
    ]  # fmt: skip


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
    runs, name = method.split()[0], next(iter(options))
    if len(options) > 1:
        short = Limit(rounds=max(1, rounds // 2))
        trial = {n: s.run(runs, short, seed + 1) for n, s in options.items()}
        name = max(trial, key=lambda n: trial[n].tokens_per_s.value)
    report = options[name].run(runs, Limit(rounds=rounds), seed)
    rate = report.tokens_per_s
    half = None if rate.half_width is None else rate.half_width / batch
    per_user = Rate(rate.value / batch, half, rate.rounds)
    return Point(method, batch, name, per_user, report.tokens_per_device_second)


def frontier(
    scenario: Scenario, batches: Sequence[int], rounds: int = 600, seed: int = 0, jobs: int = -1
) -> list[Point]:
    work = [
        (scenario, method, batch, rounds, seed)
        for method in LINES for batch in batches
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
        if p.method.startswith("ssd"):
            pairs = pairwise(sd)
            at = [
                b + (p.per_user.value - a) / (c - a) * (d - b)
                for (a, b), (c, d) in pairs if a <= p.per_user.value <= c and c > a
            ]  # fmt: skip
            found.append((p, max(at) if at else None))
    return found


def sd_at_least(points: Iterable[Point]) -> list[tuple[Point, float]]:
    """Points of SSD slower for a user than SD is at every batch, with the most that SD then has of
    a device: at larger batches, that were not run, it would have more.
    """
    points = list(points)
    sd = [p for p in points if p.method == "sd"]
    slowest = min((p.per_user.value for p in sd), default=0.0)
    most = max((p.per_device for p in sd), default=0.0)
    return [
        (p, most) for p in points if p.method.startswith("ssd") and p.per_user.value < slowest
    ]  # fmt: skip


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
    need_probability("hit", hit)
    need_number("tokens", tokens, above=0)
    need_number("tokens_fast", tokens_fast, above=0)
    need_number("t_p", t_p)
    need_number("t_b", t_b, above=0)
    batches = list(range(1, 17))
    return Fallback(
        batches,
        [batch_speed(hit, tokens, tokens, t_p, t_b, b) for b in batches],
        [batch_speed(hit, tokens, tokens_fast, t_p, 0.0, b) for b in batches],
        critical_batch(hit, tokens, hit * tokens + (1 - hit) * tokens_fast, t_b),
    )
