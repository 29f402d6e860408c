"""Autoregressive decoding (AR): one target forward for each token."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ssd_ref.laws import Law, usable
from ssd_ref.models import Model, read
from ssd_ref.randomness import Randomness, Site
from ssd_ref.rounds import Generation, Outcome
from ssd_ref.transcript import OnRound, open_transcript


def autoregressive(
    target: Model,
    prompt: Sequence[int],
    *,
    max_new_tokens: int,
    temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None,
    eos: int | None = None, randomness: Randomness, on_round: OnRound | None = None,
) -> Generation:  # fmt: skip
    """Decode up to `max_new_tokens` tokens after `prompt`, each from the target's own law.

    Every token is a round without a draft, drawn where a speculative round draws its bonus.
    `on_round(tokens, record)` is called after each. Raises ValueError on arguments out of range,
    LogitsError when the target's logits are no law.
    """
    law = Law(temperature, top_k, top_p)
    transcript = open_transcript(target, prompt, max_new_tokens, eos, on_round)
    if transcript.finish_reason:
        return transcript.generation()
    session = target.start(transcript.prompt[:-1])
    while not transcript.finish_reason:
        logits = read(session, [transcript.last], target.vocabulary)
        row = usable(law.rows(logits)[0], logits[0], "target", transcript.length)
        token = randomness.choose(row, Site(randomness.sequence, transcript.round, "bonus", 0))
        transcript.write([], Outcome(0, token), [math.log(row[token])], served_by="target")
        transcript.close_round(rank=None)
    return transcript.generation()
