"""Round records as JSON lines, for the simulator, the lessons and anybody's own scripts.

The first line is a header, an object with the one key `header`; the command line writes into it

    weights     hash of the pair's weights
    prompt      tokens, text and source of the prompt
    settings    the decoders' arguments, fan-out lists written out
    version     of this package

Each further line is a round. Its fields are those of :class:`ssd_ref.RoundRecord`, described there
(counts are after the cut at the end of the text), and before them

    method      "ar", "sd" or "ssd"
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ssd_ref.rounds import RoundRecord

Recording = dict[str, list[RoundRecord]]  # a method's rounds, by its name


def write_rounds(
    path: Path, header: Mapping[str, Any], rounds: Mapping[str, Sequence[RoundRecord]]
) -> None:
    """Write the header and the rounds of each method, in order. Raises OSError."""
    lines: list[dict[str, Any]] = [{"header": dict(header)}]
    for method, records in rounds.items():
        lines += [{"method": method} | record.to_json() for record in records]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def read_rounds(path: Path) -> tuple[dict[str, Any], Recording]:
    """The header, and for each method its round records.

    Raises ValueError, naming file and line, where a line is cut short or has other fields.
    """
    header: dict[str, Any] = {}
    records: Recording = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            entry = json.loads(line)
            if number == 1:
                header = entry["header"]
            else:
                records.setdefault(entry.pop("method"), []).append(RoundRecord(**entry))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            what = "a header" if number == 1 else "a round record"
            raise ValueError(f"{path}:{number}: expected {what}, got {line[:80]!r}") from error
    return header, records
