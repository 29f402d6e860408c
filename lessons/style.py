"""The look of every figure of the course: one colour and one hatch for each role.

Colours are Okabe and Ito's, which colour-blind readers can tell apart; hatches do it in grey.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch, Patch, Rectangle

COLOURS = {
    "target": "#0072B2",
    "draft": "#E69F00",
    "accepted": "#56B4E9",
    "bonus": "#CC79A7",
    "hit": "#009E73",  # and every speculation made ahead of the verdict
    "miss": "#D55E00",  # and every waste
    "idle": "#EEEEEE",
}
HATCHES = {
    "target": "",
    "draft": "///",
    "accepted": "...",
    "bonus": "xxx",
    "hit": "\\\\\\",
    "miss": "++",
    "idle": "",
}
Block = tuple[float, float, str]  # begin, duration, role


def use() -> None:
    """Set matplotlib's defaults for the course."""
    plt.rcParams.update(
        {
            "figure.dpi": 100,
            "figure.constrained_layout.use": True,
            "font.size": 10,
            "axes.titlesize": 10,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "hatch.linewidth": 0.4,
            "legend.frameon": False,
        }
    )


def look(role: str) -> dict[str, Any]:
    """Fill, hatch and edge of a bar or block that plays `role`."""
    return {
        "facecolor": COLOURS[role],
        "hatch": HATCHES[role],
        "edgecolor": "black",
        "linewidth": 0.6,
    }


def legend(ax: Axes, labels: dict[str, str], *, hatched: bool = True, **where: Any) -> None:
    """A legend of roles: {role: what it means here}; placed right of the axes unless told."""
    looks = {role: look(role) if hatched else {**look(role), "hatch": ""} for role in labels}
    handles = [Patch(label=label, **looks[role]) for role, label in labels.items()]
    ax.legend(handles=handles, **({"loc": "upper left", "bbox_to_anchor": (1, 1)} | where))


def time_line(ax: Axes, lanes: dict[str, Sequence[Block]], unit: str) -> None:
    """One lane for each device, top to bottom, with its blocks of work."""
    for y, blocks in enumerate(lanes.values()):
        for role in {role: None for *_, role in blocks}:
            spans = [(begin, length) for begin, length, other in blocks if other == role]
            ax.broken_barh(spans, (y - 0.4, 0.8), **look(role))
    ax.set(yticks=range(len(lanes)), yticklabels=lanes, ylim=(len(lanes) - 0.4, -0.6))
    ax.set_xlabel(f"time in {unit}")


def painted_text(ax: Axes, pieces: Iterable[tuple[int, str]], columns: int = 64) -> None:
    """Bytes in a grid, each on the colour of its role; a bonus is in bold and underlined."""
    at = 0
    for at, (byte, role) in enumerate(pieces):
        x, y, bonus = at % columns, at // columns, role == "bonus"
        ax.add_patch(Rectangle((x, y), 1, 1, facecolor=COLOURS[role], alpha=0.55, linewidth=0))
        weight = "bold" if bonus else "normal"
        ax.text(x + 0.5, y + 0.48, shown(byte), family="monospace", ha="center", va="center",
                fontsize=9, weight=weight)  # fmt: skip
        if bonus:
            ax.plot([x + 0.15, x + 0.85], [y + 0.9, y + 0.9], color="black", linewidth=1.2)
    ax.set(xlim=(0, columns), ylim=(at // columns + 1, 0))
    ax.axis("off")


TREE = {
    "draft": "drafted, being verified",
    "bonus": "guessed bonus token",
    "hit": "prepared speculation",
    "accepted": "accepted draft",
    "miss": "rejected, or prepared in vain",
}
Guess = tuple[int, int]  # an outcome: drafts accepted, the token after them


def tree(
    ax: Axes,
    trunk: Sequence[int],
    cache: Mapping[Guess, Sequence[int]],
    outcome: Guess | None,
    word: Callable[[int], str],
) -> None:
    """A round's cache: the trunk d_1..d_K, and for each guess its branch (Figure 2 of the paper).

    With an outcome it shows what was accepted, and which branch was hit.
    """
    K, accepted = len(trunk), len(trunk) if outcome is None else outcome[0]
    box(ax, 0, 0, "text", "idle")
    for i, token in enumerate(trunk):
        role = "draft" if outcome is None else "accepted" if i < accepted else "miss"
        box(ax, i + 1, 0, word(token), role)
        ax.plot([i + 0.38, i + 0.62], [0, 0], color="black", zorder=0)
    ordered = sorted(cache.items(), key=lambda item: -item[0][0])  # last place on top
    for row, (guess, chain) in enumerate(ordered, start=1):
        role = "hit" if outcome is None or guess == outcome else "miss"
        branch(ax, row, guess[0], [word(guess[1]), *map(word, chain)], role, guess == outcome)
    if outcome is not None and outcome not in cache:
        ax.text(K + 0.7, 0, f"miss: {accepted} accepted, then {word(outcome[1])}",
                va="center", weight="bold")  # fmt: skip
    ax.set(xlim=(-0.6, 2 * K + 3.3), ylim=(len(cache) + 0.6, -0.7))
    ax.axis("off")


def branch(ax: Axes, row: int, k: int, words: Sequence[str], role: str, hit: bool) -> None:
    """A guess behind k accepted tokens, and the chain prepared for it."""
    width = 2.5 if hit else 0.8
    stem = [k + 0.38, k + 0.5, k + 0.5, k + 0.62], [0, 0, row, row]
    ax.plot(*stem, color="black", lw=width, zorder=0)
    for i, text in enumerate(words):
        if i:
            ax.plot([k + 0.38 + i, k + 0.62 + i], [row, row], color="black", lw=width, zorder=0)
        box(ax, k + 1 + i, row, text, role if i else "bonus", strong=hit)
    if hit:
        ax.text(k + 1.5 + len(words), row, "hit", va="center", weight="bold")


def box(ax: Axes, x: float, y: float, text: str, role: str, strong: bool = False) -> None:
    edge = {**look(role), "hatch": "", "linewidth": 2.5 if strong else 0.6}
    ax.add_patch(FancyBboxPatch((x - 0.33, y - 0.3), 0.66, 0.6, boxstyle="round,pad=0.05", **edge))
    weight = "bold" if strong else "normal"
    ax.text(x, y, text, ha="center", va="center", family="monospace", fontsize=9, weight=weight)


def shown(byte: int) -> str:
    """How a byte appears in a figure: a line end as an arrow, what cannot be printed as a box."""
    if byte == ord("\n"):
        return "↵"
    return chr(byte) if 32 <= byte < 127 else "□"


def sliders(draw: Callable[..., object], **knobs: tuple[float, float, float, float]) -> None:
    """A slider for each argument of `draw`, which shows a figure: (least, most, step, start).

    Nothing happens where no notebook runs: the lesson shows a static picture beside it.
    """
    try:
        import ipywidgets
        from IPython import get_ipython
    except ImportError:
        return
    if get_ipython() is None:
        return

    def slider(least: float, most: float, step: float, start: float) -> object:
        kind = ipywidgets.IntSlider if isinstance(step, int) else ipywidgets.FloatSlider
        return kind(
            min=least, max=most, step=step, value=start, continuous_update=False,
            style={"description_width": "initial"},
        )  # fmt: skip

    ipywidgets.interact(draw, **{name: slider(*knob) for name, knob in knobs.items()})
