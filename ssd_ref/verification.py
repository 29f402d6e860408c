"""Verification: one round of speculative sampling (Leviathan et al. 2023; Chen et al. 2023)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ssd_ref.laws import Law, usable
from ssd_ref.models import Model, Row, read
from ssd_ref.randomness import Randomness, Site
from ssd_ref.rounds import Outcome, Speculation
from ssd_ref.transcript import Transcript


def acceptance(p: Row, q: Row, token: int) -> tuple[float, Row]:
    """The chance min(1, p/q) that `token`, drawn from q, is kept, and the law of what replaces it.

    Why what is emitted has law p, whatever q is: x is drawn and kept with chance q min(1, p/q) =
    min(p, q). Something is rejected with chance 1 - sum min(p, q) = sum (p-q)_+, and replaced from
    the residual (p-q)_+ / sum (p-q)_+. Together, min(p, q) + (p-q)_+ = p.

    Where no entry of p-q is positive, p and q are equal up to rounding: the token is kept, unless
    p excludes it.
    """
    excess = np.maximum(p - q, 0)
    mass = excess.sum()
    if mass == 0:
        return float(p[token] > 0), p
    return float(min(p[token], q[token]) / q[token]), excess / mass


def verify(
    law_after: Callable[[int], Row], speculation: Speculation, randomness: Randomness, round: int
) -> Outcome:
    """Accept a prefix of the drafted tokens d_1..d_n and draw the bonus token after it.

    `law_after(i)` is the target's law after d_1..d_i. The first rejected token is replaced by a
    draw from the residual; if none is rejected, the bonus is drawn from the law after d_n.
    """
    sequence, n = randomness.sequence, len(speculation)
    for i, (token, q, site) in enumerate(
        zip(speculation.tokens, speculation.rows, speculation.sites, strict=True)
    ):
        randomness.commit(site)
        keep, residual = acceptance(law_after(i), q, token)
        rejected = randomness.choose((keep, 1 - keep), Site(sequence, round, "accept", i))
        if rejected:
            return Outcome(i, randomness.choose(residual, Site(sequence, round, "bonus", 0)))
    return Outcome(n, randomness.choose(law_after(n), Site(sequence, round, "bonus", 0)))


class Verifier:
    """The actor that holds the target and writes the text.

    Between rounds the target has read all of the text but its last token, which is fed together
    with the next speculation.
    """

    def __init__(
        self, target: Model, transcript: Transcript, law: Law, randomness: Randomness
    ) -> None:
        self.transcript, self.law, self.randomness = transcript, law, randomness
        self.session, self.vocabulary = target.start(transcript.prompt[:-1]), target.vocabulary

    def verify(self, speculation: Speculation) -> Outcome:
        """One forward on [last token, d_1..d_n]; the outcome is written to the transcript."""
        length = self.transcript.length
        fed = [self.transcript.last, *speculation.tokens]
        logits = read(self.session, fed, self.vocabulary)
        rows = self.law.rows(logits)

        def law_after(i: int) -> Row:
            return usable(rows[i], logits[i], "target", length + i)

        outcome = verify(law_after, speculation, self.randomness, self.transcript.round)
        self.session.rewind(length + outcome.accepted)
        emitted = (*speculation.tokens[: outcome.accepted], outcome.bonus)
        logprobs = [float(np.log(rows[i][token])) for i, token in enumerate(emitted)]
        self.transcript.write(speculation.tokens, outcome, logprobs, speculation.served_by)
        return outcome
