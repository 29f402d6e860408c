"""The look of every figure of the course: one colour and one hatch for each role.

Colours are Okabe and Ito's, which colour-blind readers can tell apart; hatches do it in grey.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle

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


def shown(byte: int) -> str:
    """How a byte appears in a figure: a line end as an arrow, what cannot be printed as a box."""
    if byte == ord("\n"):
        return "↵"
    return chr(byte) if 32 <= byte < 127 else "□"
