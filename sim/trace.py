"""A run as Chrome trace events, for Perfetto or chrome://tracing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sim.recorder import IDLE, Interval

LANES = ("target", "draft", "link", "path")
LANE_TITLES = {"path": "path (cause of each instant)"}


def chrome_trace(logs: Mapping[str, Iterable[Interval]]) -> dict[str, Any]:
    """One process for each log ("sd", "ssd", ..), one thread for each lane; idle time is left out.

    `ts` and `dur` are microseconds, as the format has it.
    """
    events: list[dict[str, Any]] = []
    for pid, (name, log) in enumerate(logs.items(), start=1):
        events.append(about("process_name", pid, 0, name))
        for tid, lane in enumerate(LANES, start=1):
            events.append(about("thread_name", pid, tid, LANE_TITLES.get(lane, lane)))
        events += [work(x, pid, LANES.index(x.lane) + 1) for x in log if x.kind != IDLE]
    return {"traceEvents": events, "displayTimeUnit": "ms"}


def about(what: str, pid: int, tid: int, name: str) -> dict[str, Any]:
    return {"name": what, "ph": "M", "pid": pid, "tid": tid, "args": {"name": name}}


def work(x: Interval, pid: int, tid: int) -> dict[str, Any]:
    return {
        "name": x.kind, "ph": "X", "pid": pid, "tid": tid,
        "ts": x.begin_ns / 1e3, "dur": (x.end_ns - x.begin_ns) / 1e3, "args": {"rows": x.rows},
    }  # fmt: skip
