"""The prompts of a study: one held-out document to calibrate on, the others to be evaluated."""

from __future__ import annotations

from collections.abc import Sequence

CALIBRATION_TOPIC = "import"
PARTS = ("calibration", "evaluation")


def held_out(count: int = 64) -> dict[str, dict[int, Sequence[int]]]:
    """{"calibration": .., "evaluation": ..}: prompts of 64 bytes by their number, no document in
    both. Fitted numbers (fan-out lists, the belief's calibration) come from the first only.
    """
    from ssd_ref.pair.corpus import held_out_corpus

    corpus = held_out_corpus()
    found: dict[str, dict[int, Sequence[int]]] = {part: {} for part in PARTS}
    for number, prompt in enumerate(corpus.prompts(count)):
        calibrates = bytes(prompt) in corpus.held_out[CALIBRATION_TOPIC]
        found[PARTS[not calibrates]][number] = prompt
    return found
