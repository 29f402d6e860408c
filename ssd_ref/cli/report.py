"""What `compare` shows: the texts with their tokens' origins, the table, the time line, the notes.

Origins are told twice, by colour and by a mark under each character, so that neither a pipe nor a
reader who sees no colours misses them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ssd_ref.cli.run import INTERRUPTED, Run
from ssd_ref.cli.settings import Settings
from ssd_ref.cli.text import TextStream
from ssd_ref.rounds import RoundRecord
from ssd_ref.study.overlap import LEGEND as LANES_LEGEND
from ssd_ref.study.overlap import time_line

NAMES = {"ar": "AR", "sd": "SD", "ssd": "SSD"}
STYLES = {  # the target cyan, the draft yellow, what was speculated ahead of time green
    "-": "yellow", "=": "green", "^": "cyan", "*": "bold cyan",
    "V": "cyan", "d": "yellow", "p": "green",
}  # fmt: skip
LEGEND = "- = accepted draft   ^ * bonus token   = * in a round served from the cache"
LOW_ACCEPTANCE, ENOUGH_TESTS = 0.5, 10

OTHER_DRAWS = "AR and SD: other draws from the same law; at temperature 0 the texts are the same."
NEAR_TIE = (
    "Rows computed in blocks and batches differ in their last bits, so that texts can part at a "
    "near-tie; with --dtype float64 they are the same."
)
OTHER_DRAFTS = "With C < 1 or a uniform backup SSD drafts other tokens, for the same law."
ONE_THREAD = (
    "One thread cannot overlap, so SSD's own seconds are not below SD's here. Overlapped: a round "
    "takes its drafting (next to none on a hit, the backup's on a miss) + the larger of "
    "verification and preparation; no link, no abort, and the prefills one after the other."
)

Marked = list[tuple[str, str]]  # characters, each with its token's mark


def mark_of(record: RoundRecord, index: int) -> str:
    """The mark of a round's index-th token."""
    marks = "=*" if record.served_by == "cache" else "-^"
    return marks[index >= record.accepted]


def marked_text(run: Run, end_token: int) -> Marked:
    """The text of a run; a character of several tokens has the mark of the last."""
    stream, text, rest = TextStream(end_token), Marked(), iter(run.tokens)
    mark = ""
    for record in run.records:
        for index in range(record.emitted):
            mark = mark_of(record, index)
            text += [(char, mark) for char in stream.feed([next(rest)])]
    return text + [(char, mark) for char in stream.close()]


def lines_of(text: Marked, width: int) -> Iterator[Marked]:
    """Lines of at most `width` cells; a newline shows as an arrow, a tab as its symbol."""
    line, used = Marked(), 0
    for char, mark in text:
        shown = {"\n": "\u21b5", "\t": "\u2409"}.get(char, char)
        if used + cell_len(shown) > width:
            yield line
            line, used = Marked(), 0
        line.append((shown, mark))
        used += cell_len(shown)
        if char == "\n":
            yield line
            line, used = Marked(), 0
    if line:
        yield line


def print_texts(console: Console, runs: Sequence[Run], end_token: int) -> None:
    """Each run's text, with a line of marks under each line of a speculative one."""
    for run in runs:
        console.rule(
            f"{NAMES[run.method]}  {len(run.tokens)} tokens, end: {run.finish_reason}",
            align="left", characters="-", style="none",
        )  # fmt: skip
        for line in lines_of(marked_text(run, end_token), console.width - 1):
            console.print(coloured(line))
            if run.method != "ar":
                console.print(coloured((mark * cell_len(char), mark) for char, mark in line))
    console.print(legend(LEGEND))


def coloured(cells: Iterable[tuple[str, str]]) -> Text:
    """Characters in the colours of their marks."""
    runs = groupby(cells, key=lambda cell: STYLES.get(cell[1], ""))
    return Text.assemble(*(("".join(char for char, _ in run), style) for style, run in runs))


def legend(line: str) -> Text:
    """A legend's line, each mark in its colour."""
    return coloured((char, mark) for mark in re.split(r"(\s+)", line) for char in mark)


def share(part: float, whole: float) -> str:
    return f"{part / whole:.0%} of {whole}" if whole else "none"


def one_line(run: Run) -> str:
    """A run in one line, for a reader who sees its text."""
    parts = [f"{NAMES[run.method]}: {len(run.tokens)} tokens, end: {run.finish_reason}"]
    parts.append(f"{len(run.records)} rounds")
    if run.method != "ar":
        parts.append(f"accepted {acceptance(run)} drafts")
    if run.method == "ssd":
        parts.append(f"hits {hit_rate(run)} rounds after the first")
    return ", ".join([*parts, f"{run.log.seconds:.3f} s"])


def print_table(console: Console, runs: Sequence[Run]) -> None:
    """The figures, a column for each run."""
    table = Table("", box=box.SIMPLE_HEAD, pad_edge=False)
    for run in runs:
        table.add_column(NAMES[run.method], justify="right")
    for name, values in figures(runs):
        table.add_row(name, *values)
    console.print(table)


def figures(runs: Sequence[Run]) -> Iterator[tuple[str, list[str]]]:
    """Rows of the table: a name, and one cell for each run."""
    yield "tokens", [f"{len(r.tokens)}" for r in runs]
    yield "rounds", [f"{len(r.records)}" for r in runs]
    yield "tokens per round", [f"{len(r.tokens) / max(1, len(r.records)):.2f}" for r in runs]
    yield "acceptance: accepted of drafted", [acceptance(r) for r in runs]
    yield "hit rate, of rounds after the first", [hit_rate(r) for r in runs]
    yield "target forwards", [f"{r.log.count('target')}" for r in runs]
    yield "draft forwards", [f"{r.log.count('draft')}" for r in runs]
    yield "seconds, one thread", [f"{r.log.seconds:.3f}" for r in runs]
    plans = [r.overlap() for r in runs]
    if any(plans):
        cells = ["" if plan is None else f"{plan.seconds:.3f}" for plan in plans]
        yield "seconds, overlapped: computed", cells


def acceptance(run: Run) -> str:
    return "" if run.method == "ar" else share(run.accepted, run.drafted)


def hit_rate(run: Run) -> str:
    return share(run.hits, run.chances) if run.method == "ssd" else ""


def print_time_line(console: Console, run: Run) -> None:
    """SSD's first five rounds on two lanes."""
    plan = run.overlap()
    if plan is None:
        return
    console.print(Text("SSD's first rounds on two lanes, computed from this run's own steps:"))
    for line in time_line(plan, rounds=5, width=console.width - 1):
        lane = line.startswith(("target", "draft"))
        console.print(
            Text(line[:8]) + coloured((cell, cell) for cell in line[8:]) if lane else Text(line)
        )
    console.print(legend(LANES_LEGEND))


def warnings(runs: Sequence[Run]) -> list[str]:
    """What to beware of. Acceptance is low when fewer than half of ten or more tests succeed."""
    found = []
    for run in runs:
        rate = run.accepted / max(1, run.tested)
        if run.tested >= ENOUGH_TESTS and rate < LOW_ACCEPTANCE:
            found.append(
                f"{NAMES[run.method]}: the target accepted only {rate:.0%} of the {run.tested} "
                f"drafts it tested (warned below {LOW_ACCEPTANCE:.0%}); the prompt may be unlike "
                "Python's documentation, and speculation gains little on it"
            )
    return found


def notes(runs: Sequence[Run], settings: Settings, weights: str) -> list[str]:
    """What the figures say and what they do not claim."""
    texts = {run.method: run.tokens for run in runs if run.finish_reason != INTERRUPTED}
    return [
        f"The model knows only Python's documentation. Weights {weights}.",
        *agreements(texts, settings),
        *([ONE_THREAD] if "ssd" in texts else []),
        "Forwards leave out the prefill; a step on all the cache's branches is one.",
    ]


def agreements(texts: dict[str, list[int]], settings: Settings) -> Iterator[str]:
    """Which methods gave the same text, and why where they did not."""
    greedy = settings.temperature == 0
    if "sd" in texts:
        same = agreement("AR and SD", texts["ar"], texts["sd"], NEAR_TIE)
        yield same if greedy else OTHER_DRAWS
    if "ssd" in texts:
        same_drafts = settings.saguaro_c == 1 and settings.backup == "draft"
        reason = NEAR_TIE if greedy or same_drafts else OTHER_DRAFTS
        yield agreement("SD and SSD", texts["sd"], texts["ssd"], reason)


def agreement(who: str, a: Sequence[int], b: Sequence[int], reason: str) -> str:
    if list(a) == list(b):
        return f"{who}: the same text."
    same = [x == y for x, y in zip(a, b, strict=False)]
    return f"{who}: the texts part after {[*same, False].index(False)} tokens. {reason}"
