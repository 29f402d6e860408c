"""What `bench` prints for people: the object of --json as a table, with what it does not claim."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ssd_ref.study.timing import RUN

Result = dict[str, Any]

CONDITIONS = {  # key's suffix: threads, temperature
    "@T=0": (1, 0),
    "": (1, 1),
    "@T=0,threads=2": (2, 0),
    "@T=1,threads=2": (2, 1),
}
RATIOS = (
    "Ratios are of speeds: seconds per token of the second method over those of the first on the",
    "same prompt, the median over n prompts; in brackets two order statistics that enclose the",
    "median with at least 95 %, whatever the distribution. Fewer than 6 prompts give none.",
)
SCOPE = (
    "Time counts from the end of the prefill. Texts have a fixed length: an end token does not",
    "end them. At temperature 0 they count up to the first block of 32 tokens that was generated",
    "before (64 more tokens are decoded, untimed, to see it), at the same token for all methods.",
)
NOT_FASTER = (
    "SSD is not faster than SD here, and cannot be: in one process draft and target take turns,",
    "so SSD does SD's work and fills a cache besides. Two threads share the work of one forward,",
    "they do not overlap two. `ssd-ref compare` computes what overlapping would give.",
)
NOTES = [" ".join(lines) for lines in (RATIOS, SCOPE, NOT_FASTER)]
RATE_GOAL, OUTSIDE_GOAL = 0.80, 0.15  # of bare forwards; of a run


def report(result: Result) -> Iterator[str]:
    """The lines to print."""
    settings = result["settings"]
    if result["interrupted"]:
        yield f"Interrupted after {result['seconds']:.0f} s: this is what was measured so far.\n"
    yield f"Weights {result['hash']}, {settings.get('max_new_tokens', 0)} tokens a text."
    yield from sweep_table(result) if "best" in result else comparison_table(result)
    yield from ("", *RATIOS)
    yield from ("", *SCOPE)
    yield from cuts(result)
    if "best" not in result:
        yield from ("", *NOT_FASTER)
        yield from ("", *outside(result))
    yield from ("", *steps(result["steps"]))


def comparison_table(result: Result) -> Iterator[str]:
    """Milliseconds per token of each method, and the two ratios, under each condition."""
    head = f"{'threads':>7}{'temperature':>13}" + "".join(f"{a:>8}" for a in ("AR", "SD", "SSD"))
    yield ""
    yield f"{'':20}{'ms per token, medians':>24}"
    yield f"{head}  {'SD/AR':<20} {'SSD/SD':<20} n"
    for suffix, (threads, temperature) in CONDITIONS.items():
        times = [result["seconds_per_token"].get(arm + suffix) for arm in ("ar", "sd", "ssd")]
        ratios = [result["ratios"].get(pair + suffix) for pair in ("sd/ar", "ssd/sd")]
        cells = "".join(f"{'-' if t is None else f'{1e3 * t:.2f}':>8}" for t in times)
        n = min((r["n"] for r in ratios if r), default=0)
        shown = " ".join(f"{interval(r):<20}" for r in ratios)
        yield f"{threads:>7}{temperature:>13}{cells}  {shown} {n}"


def interval(ratio: Result | None) -> str:
    if ratio is None or ratio["median"] is None:
        return "too few prompts"
    return f"{ratio['median']:.2f} [{ratio['low']:.2f}, {ratio['high']:.2f}]"


def sweep_table(result: Result) -> Iterator[str]:
    """SD/AR for each lookahead, at both temperatures, on one thread."""
    columns = ("@T=0", "")
    yield ""
    yield f"{'lookahead':>9}  {'SD/AR, temperature 0':<22}{'SD/AR, temperature 1':<22}"
    names = dict.fromkeys(key.partition("/")[0] for key in result["ratios"])
    for name in names:
        ratios = [result["ratios"].get(f"{name}/ar{suffix}") for suffix in columns]
        yield f"{name.partition('=')[2]:>9}  " + "".join(f"{interval(r):<22}" for r in ratios)
    for condition, key in result["best"].items():
        lookahead = key.partition("=")[2].partition("/")[0]
        yield f"Best at {condition}: lookahead {lookahead}, {interval(result['ratios'][key])}."
    yield "Neighbours whose intervals overlap are not told apart by this run."


def cuts(result: Result) -> Iterator[str]:
    """How much of the greedy texts was cut, and whether the methods agreed on the rest."""
    cut = result["cut"]
    yield (
        f"Cut: {cut['texts_cut']} of {cut['texts']} greedy texts, "
        f"{cut['share_of_tokens']:.0%} of their tokens."
    )
    if result["diverged"]:
        yield (
            f"{result['diverged']} greedy runs gave another text than the others: near-ties, since "
            "rows computed in blocks differ in their last bits."
        )


def outside(result: Result) -> Iterator[str]:
    """Time outside the models' forwards, beside what is aimed at."""
    shares, rate = result["outside_share"], result["bare"].get("ar/bare")
    told = [f"{arm.upper()} {shares[arm]:.1%}" for arm in ("ar", "sd", "ssd") if arm in shares]
    if told:
        yield "On one thread at temperature 1:"
        yield (
            f"  time outside the models' forwards: {', '.join(told)} "
            f"(SD's and SSD's goal: at most {OUTSIDE_GOAL:.0%})"
        )
    if rate is not None:
        yield (
            f"  AR's rate in bare single-token forwards: {interval(rate)}, n = {rate['n']} "
            f"(goal: at least {RATE_GOAL:.2f})"
        )


def steps(by_threads: Result) -> Iterator[str]:
    """Single forwards: the target over 1 to 9 tokens, the draft's step and its tree steps."""
    for name, times in by_threads.items():
        blocks, one = times["target_ms"], times["target_ms"]["1"]
        where = f"{name}, {times['context']} tokens read, medians of {times['n']}"
        yield f"Milliseconds of one forward, {where}:"
        yield "  target, tokens " + " ".join(f"{n}: {ms:.2f}" for n, ms in blocks.items())
        yield f"  target, 5 tokens over 1: {blocks['5'] / one:.2f}"
        trees = "  ".join(f"{n} branches: {ms:.2f}" for n, ms in times["draft_tree_ms"].items())
        draft, after = times["draft_ms"], times["draft_after_target_ms"]
        yield f"  draft, 1 token: {draft:.2f}, a target step / {one / draft:.1f};  {trees}"
        yield (
            f"  draft, 1 token of {RUN} behind a forward of the target: {after:.2f}, "
            f"a target step / {one / after:.1f}"
        )
