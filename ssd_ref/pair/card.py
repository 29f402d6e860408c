"""`python -m ssd_ref.pair.card`: write `weights/CARD.md`, for people, from `weights/card.json`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ssd_ref.pair.loading import ROLES, WEIGHTS, Card, pair_hash, read_card

STAGES = ("target", "draft", "samples")
TRAINING = {
    "steps": "steps",
    "minutes": "minutes on two shared cores",
    "loss": "last training loss",
    "held_out": "held-out nats (blocks of 256)",
}
SCOPE = """\
# Model card: the embedded pair

Generated from `card.json` by `python -m ssd_ref.pair.card`; do not edit.

Two small byte-level language models for showing how decoders work: a deep, narrow **target** and
a **draft** distilled from it. They know the wording of Python's documentation and nothing else;
what they write looks like documentation and is not to be believed. Tokens are the 256 bytes and
an end token, so any prompt can be read, but acceptance is low on text of another kind.
"""

TEXT = """\
## Text

Training: the help topics of `pydoc_data.topics` that are not held out, and the docstrings of the
standard library (parsed, never imported; duplicates and those that share a 48-byte window with
the held-out text are left out). Held out: the topics {topics}.
The text is read from the Python that runs; the figures here are for Python {python}, text hash
`{sha256:.16}`.

| | documents | bytes |
|---|---|---|
| training | {training_documents} | {training_bytes} |
| held out | {held_out_count} | {held_out_bytes} |

Share of the held-out text's 48-byte windows that occur in the training text as well:
{held_out_windows_in_training}.
"""

QUALITY = """\
## Quality

On the target's own continuations (up to 192 bytes) of {n} held-out prompts of 64 bytes, and on the
held-out text itself; each with its 95 % interval over n prompts or stretches of 128 bytes.
"""

LABELS = {
    "overlap_at_temperature_1": "mean of sum min(p, q) per position, temperature 1",
    "greedy_agreement_cycles_cut": "greedy: same most likely byte, cut at the first cycle",
    "greedy_agreement": "greedy: the same, cycles not cut",
    "accepted_at_temperature_1": "accepted / drafted, K=4, temperature 1",
    "accepted_greedy_cycles_cut": "accepted / drafted, K=4, greedy, cycles cut",
    "held_out_target": "held-out loss of the target, nats a byte",
    "held_out_draft": "held-out loss of the draft",
    "held_out_5_gram": "held-out loss of a Witten-Bell 5-gram of the training text",
}

SHAPES = """\
## Why these shapes

Step times on one thread (random weights, 200 tokens read, the least of 75 timings), and what they
predict: Theorem 7 of the paper with acceptance .75 and hit rate .85 at temperature 0, .68 and .7 at
temperature 1, each method at its own best lookahead, .4 ms (SD) and .6 ms (SSD) a round of other
work, a cache of 9 branches. Ratios of a machine like the one that measured; measure yours.
"""


SPEEDS = ("SD/AR", "K of SD", "SSD/SD", "K of SSD")
PREDICTED = (
    *("target", "draft", "draft_step", "target_5_tokens"),
    *(f"{what} T={t}" for t in (0, 1) for what in SPEEDS),
)
TRIALS = (
    *("temperature", "method", "K", "fan_out", "n"),
    *("tokens/s", "x AR", "x best SD", "tokens a round", "hit rate"),
)
TRIED = """\
Tried with the finished weights: SD in one process, SSD in two with a core each; held-out prompts,
128 new tokens, cycles not cut, on a machine that was busy with other work. `x AR` and `x best SD`
are medians over n prompts of that prompt's ratio.
"""


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(map(str, line)) + " |\n" for line in lines)


def models(card: Card) -> str:
    rows = []
    for role in ROLES:
        entry, c = card[role], card[role]["config"]
        shape = f"{c['layers']} x {c['width']}, {c['heads']} heads, {c['context_limit']} positions"
        digest = f"`{entry['sha256']:.16}`"
        rows.append([role, shape, entry["parameters"], entry["bytes"], digest])
    head = ["model", "shape", "parameters", "bytes (float16)", "sha256 begins"]
    return f"Hash of the pair: `{pair_hash(card)}`\n\n" + table(head, rows)


def text(card: Card) -> str:
    facts = card["corpus"]
    names = ", ".join(facts["held_out_topics"])
    return TEXT.format(topics=names, held_out_count=len(facts["held_out_topics"]), **facts)


def training(card: Card) -> str:
    rows = [
        [stage, *(card["training"][stage][key] for key in TRAINING)]
        for stage in STAGES
        if stage in card["training"]
    ]
    head = ["stage", *TRAINING.values()]
    notes = "".join(f"\n{note}\n" for note in card.get("notes", []))
    return (
        "## Training\n\nStages: *target*, next byte on the text; *draft*, the target's laws on the "
        "text\n(Kullback-Leibler); *samples*, the target's laws on its own samples (total "
        "variation).\nCurves: `curve-*.json`.\n\n" + table(head, rows) + notes
    )


def quality(card: Card) -> str:
    figures: dict[str, Any] = card["quality"]
    rows = [
        [label, f["mean"], f"{f['low']} to {f['high']}", f["n"]]
        for key, label in LABELS.items()
        for f in [figures[key]]
    ]
    cut = f"\nShare of the greedy text that the cut removes: {figures['greedy_share_cut']}.\n"
    intro = QUALITY.format(n=figures["overlap_at_temperature_1"]["n"])
    return intro + "\n" + table(["figure", "mean", "95 % interval", "n"], rows) + cut


def shapes(card: Card) -> str:
    rows: list[dict[str, Any]] = card["shapes"]["predicted"]
    steps = card["shapes"]["block_ms"]
    names = dict.fromkeys(row[role] for role in ROLES for row in rows)
    times = [[name, *steps[name]] for name in names]
    parts = [SHAPES, table(PREDICTED, [[row[key] for key in PREDICTED] for row in rows])]
    parts += ["Milliseconds for a block of n tokens:\n"]
    parts += [table(["shape", *map(str, range(1, 10))], times)]
    if tried := card["shapes"].get("tried"):
        parts += [TRIED, table(TRIALS, [[row[key] for key in TRIALS] for row in tried])]
    return "\n".join(parts)


def render(card: Card) -> str:
    """The card as Markdown; parts that have not been measured yet are left out."""
    parts = [SCOPE, models(card), text(card), training(card)]
    parts += [quality(card)] if "quality" in card else []
    parts += [shapes(card)] if "shapes" in card else []
    return "\n".join(parts)


def write_text(folder: Path = WEIGHTS) -> None:
    (folder / "CARD.md").write_text(render(read_card(folder)), encoding="utf-8")


if __name__ == "__main__":
    write_text()
