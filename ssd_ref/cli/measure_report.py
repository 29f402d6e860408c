"""What `measure` prints of its figures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ssd_ref.study.estimates import Estimate

Figure = dict[str, Any]  # an Estimate as JSON


def lines(figures: dict[str, Any]) -> Iterator[str]:
    """The report, line by line; intervals are 95 %, from resampled prompts."""
    s = figures["settings"]
    yield (
        f"K={s['lookahead']}, temperature {s['temperature']:g}, fan-out {list(s['fan_out'])}, "
        f"C={s['saguaro_c']:g}: {figures['texts']} texts of {s['max_new_tokens']} tokens from "
        f"{figures['prompts']} prompts, {figures['chances']} rounds that could be hits"
    )
    if s["temperature"] == 0:
        yield f"of the greedy text {figures['greedy_share_cut']:.0%} is cut: it repeats itself"
    yield ""
    for name, title in TITLES.items():
        yield f"{title:34} {shown(figures[name])}"
    for name, title in TABLES.items():
        yield f"\n{title}"
        for key, figure in pairs(figures[name], first=int(name == "acceptance")):
            yield f"  {key:>6}  {shown(figure)}"
    yield "\nMisses as c F^-r of F guesses; below, exponents from F to 2F: all r under a power law"
    for after, law in figures["power_law"].items():
        yield from law_lines(f"after {after}" if after != "all" else "all rounds", law)
    yield f"\n{'forwards a round':34} {'forwards':>9} {'tokens':>9}"
    for name, (count, tokens) in figures["forwards"].items():
        yield f"  {name:32} {count:9.2f} {tokens:9.2f}"


TITLES = {"hit_rate": "hit rate", "acceptance_iid": "accepted of tested drafts"}
TABLES = {
    "tokens": "Tokens a round: all, served from the cache (hit), by the backup (miss)",
    "hit_rate_after": "Hit rate after rounds that were served from the cache, by the backup",
    "hit_rate_by_k": "Hit rate by k accepted",
    "law_of_k": "Share of rounds with k accepted",
    "acceptance": "Acceptance at position 1 .. K",
    "coverage": "Bonus token among the first F guesses at its k",
}


def pairs(figures: Any, first: int) -> Iterator[tuple[str, Figure]]:
    """Names and figures; those of a list are numbered from `first` on."""
    if isinstance(figures, dict):
        yield from figures.items()
    else:
        yield from ((str(i), figure) for i, figure in enumerate(figures, start=first))


def law_lines(title: str, law: dict[str, Any]) -> Iterator[str]:
    if "refused" in law:
        yield f"  {title}: {law['refused']}"
        return
    yield f"  {title}: c {shown(law['prefactor'])}, r {shown(law['exponent'])}"
    slopes = (f"{step}: {shown(slope, n=False)}" for step, slope in law["slopes"].items())
    yield f"    {', '.join(slopes)}"


def shown(figure: Figure, n: bool = True) -> str:
    text = str(Estimate(**figure))
    return text if n else text.partition(" (")[0]
