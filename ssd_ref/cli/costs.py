"""From measured steps to a cost file that `ssd-sim --config` reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ssd_ref.engine.arm import Seen
from ssd_ref.engine.events import Span

Tables = dict[str, dict[str, Any]]


def tables(
    seen: Sequence[Seen], lookahead: int, fan_out: Sequence[int],
    sd_lookahead: int, sd_draft_ms: float, ar_ms: float, abort: bool,
) -> Tables:  # fmt: skip
    """The simulator's parameters; `seen`: runs of SSD, whose steps ran while the other process did.

    The target's and the tree's times are lines in their rows, all others means. What is neither a
    step nor a wait for one is the hand-shake. draft is SD's step, in one process with the target.
    """
    verifier = [span for run in seen for span in run.spans.verifier]
    speculator = [span for run in seen for span in run.spans.speculator]
    gaps = sum(len(run.rounds) - 1 for run in seen)
    found = {
        "target": line(verifier, "verify"),
        "ar": {"base_ms": ar_ms, "row_ms": 0.0},
        "draft": {"base_ms": sd_draft_ms, "row_ms": 0.0},
        "backup": mean(speculator, "backup"),
        "glue": mean(speculator, "glue"),
        "tree": line(speculator, "tree"),
    }
    handshake = 1e3 * sum(run.causes.handshake for run in seen) / max(1, gaps)
    return {name: table for name, table in found.items() if table} | {
        "method": {
            "lookahead": lookahead, "fan_out": list(fan_out),
            "sd_lookahead": sd_lookahead, "sd_extra_step": False, "backup": "draft",
        },
        "rules": {"abort": "step" if abort else "never"},
        "times": {"handshake_ms": handshake, "service_ms": 0.0, "store_ms": 0.0},
        "link": {"latency_us": 0.0},
    }  # fmt: skip


def line(spans: Iterable[Span], kind: str) -> dict[str, float]:
    """Least squares: base_ms + row_ms for each row, neither below 0; a mean for one size only."""
    of_kind = [span for span in spans if span.kind == kind]
    rows, ms = [s.rows for s in of_kind], [1e3 * (s.end - s.begin) for s in of_kind]
    if len(set(rows)) < 2:
        return mean(of_kind, kind)
    slope, base = map(float, np.polyfit(rows, ms, 1))
    if slope < 0 or base < 0:
        return mean(of_kind, kind)
    return {"base_ms": base, "row_ms": slope}


def mean(spans: Iterable[Span], kind: str) -> dict[str, float]:
    ms = [1e3 * (span.end - span.begin) for span in spans if span.kind == kind]
    return {"base_ms": float(np.mean(ms)), "row_ms": 0.0} if ms else {}


def to_toml(found: Tables, comment: str) -> str:
    """The tables as a file."""
    lines = [f"# {line}" for line in comment.splitlines()]
    for name, table in found.items():
        lines += ["", f"[{name}]", *(f"{key} = {value_of(v)}" for key, v in table.items())]
    return "\n".join(lines) + "\n"


def value_of(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    return f"{value:.6g}" if isinstance(value, float) else str(value)
