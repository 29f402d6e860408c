"""What `ssd-sim validate` prints: predictions beside measurements, and what to make of them."""

from __future__ import annotations

import inspect
from argparse import Namespace
from collections.abc import Iterable, Iterator

from rich.console import Console

from sim import show
from sim import validate as validation
from sim.presets import PRESETS

VALIDATED = 5000  # rounds


def validate(args: Namespace, console: Console) -> None:
    rows = validation.validate(VALIDATED if args.rounds is None else args.rounds, args.seed or 0)
    notes = list(dict.fromkeys(r.note for r in rows if r.note))
    lines = [
        [f"{r.preset.split('-')[0].title()} {r.what.removesuffix(' of the table')}", r.role,
         show.number(r.measured), str(r.simulated), percent(r.error, r.uncertainty),
         "" if r.without_handshake == r.simulated.value else percent(r.error_without_handshake),
         f"{notes.index(r.note) + 1}" if r.note else ""]
        for r in rows
    ]  # fmt: skip
    columns = ["tokens/s of", "", "measured", "simulated", "error", "no h.-sh.", "note"]
    made = show.table("Calibrated presets against published measurements", columns, lines, 2)
    out = {
        "rows": [r.to_json() for r in rows],
        "fitted": validation.FITTED_PARAMETERS, "fitted_on": validation.FITTED_ON,
    }  # fmt: skip
    said = [f"{i}  {note}" for i, note in enumerate(notes, start=1)]
    show.emit(console, made, out, args.json, args.csv, [*VALIDATE_NOTES, *said, *counted(rows)])


VALIDATE_NOTES = (
    "Total tokens/s of a batch of b sequences; b = 1, T = 0 unless said. A/B: quotients, measured "
    "in the paper's table. no h.-sh.: the error without the hand-shake. A ± instead of an error: "
    "nothing was measured; by so much we think the prediction may be off.",
)


def percent(error: float | None, uncertainty: float | None = None) -> str:
    if error is None:
        return "-" if uncertainty is None else f"± {uncertainty:.0%}"
    return f"{error:+.1%}"


def counted(rows: Iterable[validation.Row]) -> Iterator[str]:
    """Numbers fitted beside rows predicted, and the origin of every other number."""
    rows = list(rows)
    for name, fitted in validation.FITTED_PARAMETERS.items():
        predicted = [r for r in rows if r.preset == name and r.role == "predicted"]
        measured = sum(r.measured is not None for r in predicted)
        yield (
            f"{name}: {len(fitted)} fitted ({', '.join(fitted)}, on "
            f"{validation.FITTED_ON[name]}); {len(predicted)} rows predicted, {measured} of them "
            "measured."
        )
        yield " ".join((inspect.getdoc(PRESETS[name]) or "").split())
