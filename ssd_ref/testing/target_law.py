"""The law a decoder should have, from the target alone: an oracle that shares no code with them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ssd_ref.models import Model, check_count, check_tokens

OutputLaw = dict[tuple[int, ...], float]


def target_law(
    target: Model,
    prompt: Sequence[int],
    *,
    max_new_tokens: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    eos: int | None = None,
) -> OutputLaw:
    """The probability of every text by which the target may continue `prompt`.

    A text ends behind `eos`, after `max_new_tokens` tokens, or at the target's context limit. The
    law is multiplied out token by token, each row from a session of its own, in plain Python.
    """
    check_count("max_new_tokens", max_new_tokens)
    if not 0 <= temperature < math.inf:
        raise ValueError(f"temperature: expected a finite number >= 0, got {temperature}")
    if eos is not None:
        check_tokens([eos], target.vocabulary, "eos")
    start = list(prompt) or [target.start_token]
    law: OutputLaw = {}
    waiting: list[tuple[tuple[int, ...], float]] = [((), 1.0)]
    while waiting:
        tokens, weight = waiting.pop()
        length = len(start) + len(tokens)
        full = target.context_limit is not None and length >= target.context_limit
        if len(tokens) == max_new_tokens or full or (tokens and tokens[-1] == eos):
            law[tokens] = weight
            continue
        context = [*start, *tokens]
        logits = [float(z) for z in target.start(context[:-1]).extend(context[-1:])[0]]
        for token, p in enumerate(next_law(logits, temperature, top_k, top_p)):
            if p > 0:
                waiting.append(((*tokens, token), weight * p))
    return law


def next_law(
    logits: Sequence[float], temperature: float, top_k: int | None, top_p: float | None
) -> list[float]:
    """The law (V,) of one token: temperature, top-k, top-p; ties go to the lower index."""
    order = sorted(range(len(logits)), key=lambda token: (-logits[token], token))
    best = logits[order[0]]
    if temperature == 0:
        weights = {order[0]: 1.0}
    else:
        weights = {token: math.exp((logits[token] - best) / temperature) for token in order}
    if top_k is not None:
        weights = {token: weights[token] for token in list(weights)[:top_k]}
    if top_p is not None:
        total, before, kept = math.fsum(weights.values()), 0.0, {}
        for token, weight in weights.items():
            if before >= top_p * total:
                break
            kept[token] = weight
            before += weight
        weights = kept
    total = math.fsum(weights.values())
    return [weights.get(token, 0.0) / total for token in range(len(logits))]
