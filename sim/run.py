"""One run: its clock, its devices, what was counted - and the call that makes it go."""

from __future__ import annotations

from collections.abc import Callable

from simpy import Environment

from sim.clock import AT_THE_END, Limit, late_event
from sim.devices import Channel, Device
from sim.recorder import Interval, Lane, Total
from sim.rounds import Round

OnRound = Callable[[Round, float], None]  # a round, and when its verification ended


class Run:
    """Devices, link and critical path of one run, with the counts that go with them.

    The lanes: `target` and `draft` (devices), `link`, and `path`, the cause of each instant.
    """

    def __init__(
        self,
        env: Environment,
        limit: Limit,
        log: list[Interval] | None = None,
        on_round: OnRound | None = None,
    ) -> None:
        self.env, self.limit, self.log = env, limit, log
        self.lanes = {name: Lane(env, name, log) for name in ("path", "target", "draft", "link")}
        self.path = self.lanes["path"]
        self.target = Device(env, self.lanes["target"])
        self.draft = Device(env, self.lanes["draft"])
        self.speculations = Channel(env, self.lanes["link"], "speculation")
        self.outcomes = Channel(env, self.lanes["link"], "outcome")
        self.on_round = on_round
        self.rounds = self.tokens = self.aborted_rows = 0
        self.ended = env.event()

    def count(self, round: Round) -> bool:
        """A verification has ended. Returns whether it was the last, which ends the run."""
        self.rounds += 1
        self.tokens += round.emitted
        if self.on_round is not None:
            self.on_round(round, self.env.now)
        last = self.limit.reached(self.rounds, self.tokens)
        if last:
            self.ended.succeed()
        return last

    def go(self) -> None:
        """Let the processes run to the end, and clip there what is still open."""
        if self.limit.until_ns is not None:
            self.ended = late_event(self.env, self.limit.until_ns, AT_THE_END)
        self.env.run(until=self.ended)
        for lane in self.lanes.values():
            lane.close()

    def totals(self) -> dict[str, dict[str, Total]]:
        return {name: lane.totals() for name, lane in self.lanes.items()}
