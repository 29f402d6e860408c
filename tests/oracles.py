"""Independent answers: plain Python, sharing no code with the decoders.

A model is used here only through `logits_after(context)`.
"""

import math
from collections.abc import Sequence

from ssd_ref.models import ContextModel

OutputLaw = dict[tuple[int, ...], float]


def law_row(
    logits: Sequence[float],
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> list[float]:
    """The law of one row, step by step: temperature, then top-k, then top-p."""
    largest = max(logits)
    if temperature == 0:
        first = list(logits).index(largest)
        return [float(token == first) for token in range(len(logits))]
    weights = [math.exp((z - largest) / temperature) for z in logits]
    best_first = sorted(range(len(weights)), key=lambda token: (-weights[token], token))
    kept = best_first if top_k is None else best_first[:top_k]
    if top_p is not None:
        mass, wanted, short = sum(weights[token] for token in kept), [], 0.0
        for token in kept:
            if short < top_p:
                wanted.append(token)
            short += weights[token] / mass
        kept = wanted
    mass = sum(weights[token] for token in kept)
    return [w / mass if token in kept else 0.0 for token, w in enumerate(weights)]


def target_law(
    model: ContextModel,
    prompt: Sequence[int],
    max_new_tokens: int,
    *,
    eos: int | None = None,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> OutputLaw:
    """The probability of every text that the target alone may write, by recursion over tokens."""
    law: OutputLaw = {}

    def write(text: tuple[int, ...], probability: float) -> None:
        context = [*prompt, *text]
        full = model.context_limit is not None and len(context) >= model.context_limit
        if len(text) == max_new_tokens or full or text[-1:] == (eos,):
            law[text] = law.get(text, 0.0) + probability
            return
        row = law_row(model.logits_after(context).tolist(), temperature, top_k, top_p)
        for token, p in enumerate(row):
            if p > 0:
                write((*text, token), probability * p)

    write((), 1.0)
    return law


def total_variation(a: OutputLaw, b: OutputLaw) -> float:
    return 0.5 * sum(abs(a.get(text, 0.0) - b.get(text, 0.0)) for text in a.keys() | b.keys())


def assert_laws_equal(
    found: OutputLaw, expected: OutputLaw, tolerance: float = 1e-12, what: str = ""
) -> None:
    """The same probability for every text; the message shows the text that departs most."""
    off = {t: abs(found.get(t, 0.0) - expected.get(t, 0.0)) for t in found.keys() | expected.keys()}
    worst = max(off, key=lambda text: off[text])
    assert off[worst] <= tolerance, (
        f"{what} {worst}: expected probability {expected.get(worst, 0.0)}, "
        f"got {found.get(worst, 0.0)} (total variation {total_variation(found, expected):.4g})"
    )
