"""The oracle of the batch: each text decoded alone by the core's own loops."""

from typing import Any

from ssd_ref import Generation, SeededRandomness, autoregressive, speculative, ssd
from ssd_ref.batched import Request
from ssd_ref.models import Model

SEED = 3


def seeded(sequence: int) -> SeededRandomness:
    return SeededRandomness(SEED, sequence)


def alone(target: Model, draft: Model, request: Request, *, method: str, **settings: Any):
    """What the core makes of a request, with the same draws."""
    settings = {**settings, "max_new_tokens": request.max_new_tokens}
    if request.temperature is not None:
        settings["temperature"] = request.temperature
    source = seeded(request.sequence)
    if method == "ar":
        return autoregressive(target, request.prompt, randomness=source, **settings)
    decoder = {"sd": speculative, "ssd": ssd}[method]
    return decoder(target, draft, request.prompt, randomness=source, **settings)


def same(one: Generation, other: Generation) -> bool:
    """Tokens, reason and records exactly; log-probabilities up to the last digits of a forward."""
    pairs = zip(one.logprobs, other.logprobs, strict=True)
    return (
        one.tokens == other.tokens
        and one.finish_reason == other.finish_reason
        and one.rounds == other.rounds
        and all(abs(a - b) < 1e-9 for a, b in pairs)
    )
