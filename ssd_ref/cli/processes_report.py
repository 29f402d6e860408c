"""What `bench --processes` prints for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ssd_ref.cli.bench_report import SCOPE, cuts, interval

Result = dict[str, Any]
BUSY = 0.1  # cores that others may use before we say so
READ = (
    "Ratios are of speeds on the same prompt, the median over n prompts; in brackets two order",
    "statistics that enclose the median with at least 95 %. SD and AR run on one thread and on",
    "two; the faster is the baseline. SSD has a core for the target and one for the draft.",
)
LIMIT = (
    "If every round were a hit, prepared in time and handed over in no time, verifying were all.",
)


def report(result: Result) -> Iterator[str]:
    """The lines to print."""
    if result["interrupted"]:
        yield f"Interrupted after {result['seconds']:.0f} s: this is what was measured so far.\n"
    yield f"Weights {result['hash']}, {result['settings']['max_new_tokens']} tokens a text."
    yield from ("", "ms per token, medians:")
    for arm, seconds in result["seconds_per_token"].items():
        yield f"  {arm:<28}{1e3 * seconds:>8.2f}"
    yield from ("", "ratios of speeds:")
    for name, ratio in result["ratios"].items():
        threads = f"{ratio['threads']} thread{'s' * (ratio['threads'] > 1)}"
        yield (
            f"  {name:<28}{interval(ratio):<20} n = {ratio['n']}, "
            f"against {ratio['baseline']} on {threads}"
        )
    yield from ("", *READ, "", *SCOPE)
    yield from cuts(result)
    yield from where(result["where"])
    yield from load(result["foreign_cores"])


def where(arms: Result) -> Iterator[str]:
    """What SSD's time went into."""
    names = ("verifying", "misses", "overflow", "handshake")
    head = "".join(f"{name:>11}" for name in names)
    yield from ("", f"{'where the time of SSD went':<36}{head}{'hit rate':>10}{'rounds':>8}")
    for arm, shares in arms.items():
        cells = "".join(f"{shares[name]:>11.1%}" for name in names)
        yield f"  {arm:<34}{cells}{shares['hit_rate']:>10.2f}{shares['rounds']:>8}"
    yield from LIMIT


def load(cores: float | None) -> Iterator[str]:
    if cores is not None and cores > BUSY:
        yield ""
        yield (
            f"Other processes used {cores:.1f} cores meanwhile. SSD needs two cores for itself: "
            "these figures are too low for it."
        )
