"""What if one cause of lost time did not exist? Each ideal changes one thing of a scenario."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sim.clock import Limit
from sim.costs import Linear, Link
from sim.laws import Rates, Text
from sim.report import Report
from sim.scenario import Scenario

NO_TIME = Linear(0.0)


def all_hits(s: Scenario) -> Scenario:
    """Every outcome was guessed; the rounds are then those that the cache serves."""
    contexts = tuple(replace(context, hits=Rates(1.0, 1.0)) for context in s.text.contexts)
    return s.with_(
        text=Text(contexts), fan_out=s.fan_out if sum(s.fan_out) else (1,) * len(s.fan_out)
    )


def free_link(s: Scenario) -> Scenario:
    return s.with_(link=Link())


def free_handshake(s: Scenario) -> Scenario:
    return s.with_(times=replace(s.times, handshake_ms=0.0, service_ms=0.0))


def free_filling(s: Scenario) -> Scenario:
    """T_p = 0: glue, tree steps and store take no time."""
    return s.with_(times=replace(s.times, glue=NO_TIME, tree=NO_TIME, store_ms=0.0))


def free_backup(s: Scenario) -> Scenario:
    """The backup drafts the same tokens in no time."""
    return s.with_(times=replace(s.times, backup=NO_TIME))


def everything(s: Scenario) -> Scenario:
    """All of these: what remains is verification, the bound of SSD at this K."""
    for ideal in (all_hits, free_link, free_handshake, free_filling, free_backup):
        s = ideal(s)
    return s


MEANING = {
    "as it is": "as it is",
    "all hits": "every outcome guessed: no misses",
    "free backup": "a backup that drafts in no time",
    "free link": "no time on the link",
    "free hand-shake and service": "no hand-shake and no service",
    "T_p = 0": "a cache that fills in no time (T_p = 0)",
    "all of these": "all five: only verification is left",
}
NOTES = (
    "times as fast: tokens/s over those of the first line. saved: ms a round less than there. ± is "
    "a 95 % interval; all lines draw from the same random numbers.",
    "Each line takes one cause of lost time away and leaves all else as it is. 0 saved: nobody "
    "waits for that cause. Savings do not add up: without misses a fast backup has nothing to "
    "save. Rounds after a miss may have fewer tokens, so that taking misses away gains twice.",
)

IDEALS: dict[str, Callable[[Scenario], Scenario]] = {
    "as it is": lambda s: s,
    "all hits": all_hits,
    "free backup": free_backup,
    "free link": free_link,
    "free hand-shake and service": free_handshake,
    "T_p = 0": free_filling,
    "all of these": everything,
}


def whatif(scenario: Scenario, limit: Limit, seed: int = 0) -> dict[str, Report]:
    """SSD under each ideal, with one seed: the same uniforms decide every run."""
    return {name: ideal(scenario).run("ssd", limit, seed) for name, ideal in IDEALS.items()}
