"""What `compare --processes` adds: SSD in two processes, measured, drawn, written as a trace."""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ssd_ref.cli import lanes
from ssd_ref.cli.job import Job
from ssd_ref.cli.processes import open_engine
from ssd_ref.cli.run import Run
from ssd_ref.engine import Engine
from ssd_ref.engine.causes import Causes, causes, timed
from ssd_ref.engine.engine import Spans
from ssd_ref.randomness import SeededRandomness
from ssd_ref.rounds import Generation
from ssd_ref.study.meter import PREFILL

ROUNDS = 5  # drawn


@dataclass(frozen=True)
class Duo:
    """A measured run. faults: what was said of a speculator that failed."""

    text: Generation
    spans: Spans
    faults: tuple[str, ...]

    @property
    def seconds(self) -> float:
        """From the end of the prefills to the end of the last verification."""
        return timed(self.text, self.spans).ends[-1]

    @property
    def causes(self) -> Causes:
        return causes(self.spans)

    def to_json(self) -> dict[str, Any]:
        return {
            "tokens": self.text.tokens,
            "finish_reason": self.text.finish_reason,
            "round_records": [record.to_json() for record in self.text.rounds],
            "seconds": self.seconds,
            "where": self.causes._asdict(),
            "faults": list(self.faults),
        }


def decode(args: argparse.Namespace, job: Job) -> Duo | None:
    """The job's prompt by two processes, after a short warm-up; None for a text of no tokens."""
    options = job.settings.to_json()
    if options["max_new_tokens"] == 0:
        return None
    with open_engine(args, job.pair) as engine, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        short = min(options["max_new_tokens"], 2 * options["lookahead"] + 2)
        once(engine, job, options | {"max_new_tokens": short}, args.abort)
        text = once(engine, job, options, args.abort)
        duo = Duo(text, engine.spans, tuple(str(w.message) for w in caught))
    if args.trace is not None:
        write_trace(args, duo)
    return duo


def once(engine: Engine, job: Job, options: dict[str, Any], abort: bool) -> Generation:
    given = dict(options)
    randomness = SeededRandomness(given.pop("seed"))
    end = job.pair.tokenizer.end
    return engine.decode(job.prompt.tokens, **given, eos=end, randomness=randomness, abort=abort)


def write_trace(args: argparse.Namespace, duo: Duo) -> None:
    from sim.trace import chrome_trace

    log = lanes.intervals(duo.spans, lanes.begin_of(duo.spans))
    args.trace.write_text(json.dumps(chrome_trace({"ssd, measured": log})), encoding="utf-8")


def report(duo: Duo, runs: Sequence[Run], width: int) -> Iterator[str]:
    """The lines to print."""
    sd = next((run for run in runs if run.method == "sd"), None)
    ssd = next((run for run in runs if run.method == "ssd"), None)
    parts, total = duo.causes._asdict(), duo.causes.total
    shares = ", ".join(f"{name} {seconds / total:.0%}" for name, seconds in parts.items())
    yield ""
    yield f"SSD in two processes, measured: {duo.seconds:.3f} s after the prefills ({shares})"
    if sd is not None and sd.records:
        yield f"  SD on one thread took {after_prefill(sd):.3f} s after its prefills"
    if ssd is not None:
        same = ssd.tokens == duo.text.tokens
        yield "  the text is that of one process" if same else "  another text: a near-tie"
    yield from lanes.time_line(duo.spans, ROUNDS, width)
    yield lanes.LEGEND
    yield from (f"warning: {fault}" for fault in duo.faults)


def after_prefill(run: Run) -> float:
    """Seconds from the end of a run's prefills to its last outcome."""
    ends = [f.end for f in run.log.forwards if f.kind == PREFILL]
    return run.log.outcomes[-1] - max(ends, default=run.log.begin)
