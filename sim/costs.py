"""How long a forward takes: constants, a line in the rows, or a device's bandwidth and peak.

A *row* is one token position that a forward computes. All three say milliseconds for a number of
rows; `Times` puts them together into the work of a round.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from sim.checks import need_choice, need_flag, need_integer, need_number


class Forward(Protocol):
    def ms(self, rows: int) -> float: ...


@dataclass(frozen=True)
class Linear:
    """base_ms + row_ms for each row; row_ms = 0 is a constant."""

    base_ms: float
    row_ms: float = 0.0

    def __post_init__(self) -> None:
        need_number("base_ms", self.base_ms)
        need_number("row_ms", self.row_ms)

    def ms(self, rows: int) -> float:
        return self.base_ms + self.row_ms * rows


@dataclass(frozen=True)
class Chip:
    """What a data sheet says of an accelerator, in units of 10^9 bytes and 10^12 operations."""

    name: str
    bandwidth_gb_s: float
    peak_tflops: float


CHIPS = {
    chip.name: chip
    for chip in (Chip("a100", 2039, 312), Chip("h100", 3350, 989), Chip("h200", 4800, 989))
}
"""80 GB A100 SXM, H100 SXM and H200 SXM: memory bandwidth and dense bfloat16 peak as printed in
NVIDIA's public data sheets for these parts (without sparsity)."""


@dataclass(frozen=True)
class Roofline:
    """A model's forward on `devices` chips: reading the weights, and computing the rows.

    overhead + bytes / bandwidth + FLOPs / (peak x efficiency). The *sum* is the default: the
    maximum, `rule="max"`, makes verification free up to hundreds of rows, which nobody measured.
    Efficiencies are what a kernel reaches of the data sheet, to be fitted ([?], not published).
    Communication between chips is part of the overhead.
    """

    chip: str
    parameters_billions: float
    devices: int = 1
    bytes_per_parameter: float = 2.0
    bandwidth_efficiency: float = 0.7
    compute_efficiency: float = 0.5
    overhead_ms: float = 0.0
    rule: str = "sum"

    def __post_init__(self) -> None:
        need_choice("chip", self.chip, CHIPS)
        need_choice("rule", self.rule, ("sum", "max"))
        need_integer("devices", self.devices, least=1)
        need_number("parameters_billions", self.parameters_billions, above=0)
        need_number("bytes_per_parameter", self.bytes_per_parameter, above=0)
        need_number("overhead_ms", self.overhead_ms)
        for name in ("bandwidth_efficiency", "compute_efficiency"):
            need_number(name, getattr(self, name), above=0)
            if getattr(self, name) > 1:
                raise ValueError(f"{name}: expected at most 1, got {getattr(self, name)}")

    def ms(self, rows: int) -> float:
        chip = CHIPS[self.chip]
        gigabytes = self.parameters_billions * self.bytes_per_parameter
        teraflop = 2 * self.parameters_billions * rows / 1e3
        reading = gigabytes / (chip.bandwidth_gb_s * self.bandwidth_efficiency * self.devices)
        computing = teraflop / (chip.peak_tflops * self.compute_efficiency * self.devices)
        parts = max(reading, computing) if self.rule == "max" else reading + computing
        return self.overhead_ms + 1e3 * parts


@dataclass(frozen=True)
class Link:
    """Between draft and target: one-way latency, and bandwidth for the draft's rows q.

    A speculation carries 4 bytes for each token and, unless greedy, its row of V probabilities:
    K V bytes_per_probability a sequence. An outcome carries 8 bytes. gb_per_s None: only latency.
    KV caches never cross the link (Sec. 2).
    """

    latency_us: float = 0.0
    gb_per_s: float | None = None
    vocabulary: int = 128_256
    bytes_per_probability: float = 4.0
    greedy: bool = True

    def __post_init__(self) -> None:
        need_number("latency_us", self.latency_us)
        need_flag("greedy", self.greedy)
        need_integer("vocabulary", self.vocabulary, least=1)
        need_number("bytes_per_probability", self.bytes_per_probability, above=0)
        if self.gb_per_s is not None:
            need_number("gb_per_s", self.gb_per_s, above=0)

    def speculation_ns(self, tokens: int) -> int:
        row = 0.0 if self.greedy else self.vocabulary * self.bytes_per_probability
        return self.transfer_ns(tokens * (4 + row))

    def outcome_ns(self, sequences: int) -> int:
        return self.transfer_ns(8 * sequences)

    def transfer_ns(self, size: float) -> int:
        seconds_e9 = size / self.gb_per_s if self.gb_per_s else 0.0
        return round(self.latency_us * 1e3 + seconds_e9)


@dataclass(frozen=True)
class Times:
    """The work of target and draft.

    target: a verification of its rows, b (K+1) of them; ar: an AR step of b rows (None: as target).
    draft: a draft step of b rows; backup: the backup's step, on the rows that missed; glue: a pass
    on b (K+1) rows; tree: one on as many rows as there are branches (None: as draft).
    service_ms: the draft reads an outcome and looks its answer up; store_ms: end of a filling;
    handshake_ms: from the end of a verification until the outcome is sent. jitter: coefficient of
    variation of a log-normal factor on every kernel.
    """

    target: Forward
    draft: Forward
    ar: Forward | None = None
    glue: Forward | None = None
    tree: Forward | None = None
    backup: Forward | None = None
    service_ms: float = 0.0
    store_ms: float = 0.0
    handshake_ms: float = 0.0
    target_prefill_ms: float = 0.0
    draft_prefill_ms: float = 0.0
    jitter: float = 0.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if name.endswith("_ms") or name == "jitter":
                need_number(name, value)
