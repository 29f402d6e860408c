"""How busy other processes kept the machine while something was measured."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from typing import NamedTuple


class Reading(NamedTuple):
    """A moment of `time.perf_counter`, and processor seconds that other processes have used."""

    at: float
    foreign: float

    def until(self, later: Reading) -> float:
        """Cores that other processes kept busy between the two readings."""
        return (later.foreign - self.foreign) / (later.at - self.at)


def reading(own: Iterable[int]) -> Reading | None:
    """A reading in which the processes `own` are not foreign; None where the platform has none."""
    try:
        with open("/proc/stat", encoding="ascii") as file:
            fields = [int(field) for field in file.readline().split()[1:9]]
        busy = sum(fields) - fields[3] - fields[4]  # without idle, and without waiting for disks
        foreign = busy - sum(map(ticks, own))
    except (OSError, ValueError, IndexError):
        return None
    return Reading(time.perf_counter(), foreign / os.sysconf("SC_CLK_TCK"))


def ticks(process: int) -> int:
    """What a process has used of the processors."""
    with open(f"/proc/{process}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])
