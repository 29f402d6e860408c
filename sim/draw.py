"""Pictures: time lines, speeds, batches. Roles differ in hatch as well as in colour."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sim.recorder import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# kind: colour (Okabe and Ito), hatch, what the legend says
LOOKS: dict[str, tuple[str, str, str]] = {
    "verify": ("#0072B2", "", "verification"),
    "draft": ("#E69F00", "///", "drafting"),
    "upkeep": ("#F0E442", "///", "SD's extra step"),
    "glue": ("#F0E442", "\\\\", "glue forward"),
    "tree": ("#009E73", "\\\\\\", "filling the cache"),
    "backup": ("#D55E00", "+++", "backup after a miss"),
    "service": ("#CC79A7", "...", "service"),
    "handshake": ("#CC79A7", "...", "hand-shake"),
    "store": ("#CC79A7", "", "store"),
    "prefill": ("#56B4E9", "---", "prefill"),
    "speculation": ("#000000", "", "speculation on the link"),
    "outcome": ("#FFFFFF", "", "outcome on the link"),
    "send": ("#999999", "", "sending"),
}
WHITE: dict[str, Any] = {"linestyle": "none", "color": "white", "markersize": 6}
MARKS: dict[str, dict[str, Any]] = {
    "cache": WHITE | {"marker": "o", "label": "a hit: the cache served"},
    "backup": WHITE | {"marker": "X", "label": "a miss: the backup served"},
}
DEVICES = ("target", "draft", "link")
MOST_INTERVALS = 400


def time_line(
    logs: Mapping[str, Iterable[Interval]], title: str = "",
    served_by: Mapping[str, Sequence[str]] | None = None,
) -> Figure:  # fmt: skip
    """One lane for each device of each log, on one time axis (Figure 1 of the paper, toy).

    served_by: for each log who served its rounds, which marks verifications as hits and misses.
    """
    lanes = {f"{method.upper()} {lane}": list[Interval]() for method in logs for lane in DEVICES}
    for method, log in logs.items():
        for x in log:
            if x.lane in DEVICES and x.kind in LOOKS:
                lanes[f"{method.upper()} {x.lane}"].append(x)
    lanes = {name: intervals for name, intervals in lanes.items() if intervals}
    count = sum(map(len, lanes.values()))
    if not 0 < count <= MOST_INTERVALS:
        raise ValueError(
            f"time line: expected 1 to {MOST_INTERVALS} intervals, got {count}; draw fewer rounds"
        )
    figure, ax = new_axes(9, 0.6 + 0.55 * len(lanes))
    for y, (name, intervals) in enumerate(lanes.items()):
        for kind in dict.fromkeys(x.kind for x in intervals):
            spans = [
                (x.begin_ns / 1e6, (x.end_ns - x.begin_ns) / 1e6)
                for x in intervals if x.kind == kind
            ]  # fmt: skip
            ax.broken_barh(spans, (y - 0.4, 0.8), **look(kind))
        if name.endswith("target"):
            mark_rounds(ax, y, intervals, (served_by or {}).get(name.split()[0].lower(), ()))
    ax.set(yticks=range(len(lanes)), yticklabels=list(lanes), ylim=(len(lanes) - 0.4, -0.6))
    ax.set_xlabel("time in ms")
    ax.set_title(title)
    legend(ax, {x.kind for intervals in lanes.values() for x in intervals})
    return figure


def mark_rounds(
    ax: Axes, y: float, intervals: Iterable[Interval], served_by: Sequence[str]
) -> None:
    """A mark in each verification of a hit or a miss, for eyes and printers without colour."""
    rounds = [x for x in intervals if x.kind == "verify"]
    for who, mark in MARKS.items():
        at = [(x.begin_ns + x.end_ns) / 2e6 for x, by in zip(rounds, served_by, strict=False)
              if by == who]  # fmt: skip
        if at:
            ax.plot(at, [y] * len(at), **mark)


def speeds(rates: Mapping[str, float], published: Mapping[str, Mapping[str, float]]) -> Figure:
    """Bars of tokens/s by method, with published values as marks (Figures 1 and 7, toy)."""
    figure, ax = new_axes(5, 3)
    fills = {"ar": "verify", "sd": "draft", "ssd": "tree"}
    for x, (method, rate) in enumerate(rates.items()):
        ax.bar(x, rate, 0.6, **look(fills[method]))
    for (source, row), mark in zip(published.items(), "o+x", strict=False):
        at = [(x, row[m]) for x, m in enumerate(rates) if m in row]
        ax.plot(*zip(*at, strict=True), "k" + mark, label=source)
    ax.set(xticks=range(len(rates)), xticklabels=[m.upper() for m in rates], ylabel="tokens/s")
    if published:
        ax.legend(frameon=False)
    return figure


def lines(
    curves: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    xlabel: str, ylabel: str, at: float | None = None, note: str = "", labels: Sequence[Any] = (),
) -> Figure:  # fmt: skip
    """Named curves that differ in dash and mark too; `at` draws a vertical line with a note."""
    figure, ax = new_axes(6, 3.6)
    styles = zip(curves.items(), ("-o", "--s", ":^", "-.d"), ("verify", "draft", "tree", "backup"),
                 strict=False)  # fmt: skip
    for (name, (x, y)), style, kind in styles:
        ax.plot(x, y, style, color=LOOKS[kind][0], label=name, markersize=4)
        for label, a, b in zip(labels, x, y, strict=False):
            ax.annotate(str(label), (a, b), fontsize=7, xytext=(3, 3), textcoords="offset points")
    if at is not None:
        ax.axvline(at, color="black", linewidth=0.8)
        ax.annotate(note, (at, ax.get_ylim()[1]), fontsize=8, va="top")
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.legend(frameon=False)
    return figure


def new_axes(width: float, height: float) -> tuple[Figure, Axes]:
    """Axes of a figure of its own: no window, no global state."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    ax = figure.subplots()
    ax.spines[["top", "right"]].set_visible(False)
    return figure, ax


def look(kind: str) -> dict[str, Any]:
    colour, hatch, _ = LOOKS[kind]
    return {"facecolor": colour, "hatch": hatch, "edgecolor": "black", "linewidth": 0.5}


def legend(ax: Axes, kinds: set[str]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = [
        Patch(label=LOOKS[kind][2], **look(kind)) for kind in LOOKS if kind in kinds
    ]
    marks = [Line2D([], [], **mark | {"markeredgecolor": "black"}) for mark in MARKS.values()]
    drawn = {line.get_label() for line in ax.get_lines()}
    handles += [mark for mark in marks if mark.get_label() in drawn]
    ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(1, 1), frameon=False, fontsize=8)
