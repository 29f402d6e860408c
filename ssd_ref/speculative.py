"""Speculative decoding (SD): two actors taking turns - one drafts, the other verifies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ssd_ref.fan_out import bonus_rank
from ssd_ref.laws import Law, usable
from ssd_ref.models import Model, Row, check_count, read
from ssd_ref.randomness import Randomness, Site
from ssd_ref.rounds import Generation, Outcome, Speculation
from ssd_ref.transcript import Limits, OnRound, open_transcript
from ssd_ref.verification import Verifier


@dataclass
class Chain:
    """A speculation in the making: up to `capacity` tokens, with their rows and sites."""

    capacity: int
    tokens: list[int] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)

    def grows(self, end_token: int | None) -> bool:
        """Whether another token is to be drafted: none follows an end token."""
        return len(self.tokens) < self.capacity and end_token not in self.tokens


@dataclass(eq=False)
class Drafter:
    """The actor that holds the draft. It learns the text from the outcomes it is told.

    Its session may lag behind the text (a speculation's last token is drawn but not read); what is
    missing is fed together with the next token.
    """

    draft: Model
    prompt: Sequence[int]
    limits: Limits
    lookahead: int
    law: Law
    randomness: Randomness

    def __post_init__(self) -> None:
        self.text, self.round = list(self.prompt), 1
        # Raw rows after d_1..d_k: k < n while drafting, and k = n too from SSD's glue forward.
        self.logits: list[Row] = []
        self.speculation: Speculation  # the one being verified
        # A prompt beyond the draft's context is cut: room() is 0, and nothing is ever drafted.
        self.session = self.draft.start(self.prompt[:-1][: self.draft.context_limit])

    def first(self) -> Speculation:
        """Round 1's speculation."""
        return self.speculate(self.draft_row, "draft")

    def answer(self, outcome: Outcome) -> Speculation:
        """The speculation that follows `outcome`, drafted while the verifier waits."""
        self.hear(outcome)
        return self.speculate(self.draft_row, "draft")

    def hear(self, outcome: Outcome) -> None:
        """Bring text and session up to date: the rejected tokens are forgotten."""
        kept = len(self.text) + outcome.accepted
        self.text += [*self.speculation.tokens[: outcome.accepted], outcome.bonus]
        self.session.rewind(min(self.session.length, kept))
        self.logits, self.round = [], self.round + 1

    def rank(self, outcome: Outcome) -> int | None:
        """Place of the bonus token among the draft's guesses at its k; None without a row there."""
        return bonus_rank(self.logits, self.speculation.tokens, outcome)

    def speculate(self, row_after: Callable[[list[int]], Row], served_by: str) -> Speculation:
        """Draw one token after another; `row_after(tokens)` is the law after text + tokens."""
        chain = Chain(self.room(len(self.text)))
        while chain.grows(self.limits.end_token):
            site = Site(self.randomness.sequence, self.round, "draft", len(chain.tokens))
            chain.rows.append(row_after(chain.tokens))
            chain.sites.append(site)
            chain.tokens.append(self.randomness.choose(chain.rows[-1], site))
        return self.finish(chain, served_by)

    def finish(self, chain: Chain, served_by: str) -> Speculation:
        """The chain as a speculation, which is now the one to be verified."""
        rows = np.array(chain.rows).reshape(-1, self.draft.vocabulary)
        self.speculation = Speculation(tuple(chain.tokens), rows, tuple(chain.sites), served_by)
        return self.speculation

    def room(self, length: int) -> int:
        """How many tokens to draft behind a text of `length` tokens."""
        room = min(self.lookahead, self.limits.room(length))
        if self.draft.context_limit is not None:
            room = min(room, self.draft.context_limit - length)
        return max(0, room)

    def draft_row(self, tokens: list[int]) -> Row:
        """One draft step: read what is missing of text + tokens; the draft's law after it."""
        text = self.text + tokens
        logits = read(self.session, text[self.session.length :], self.draft.vocabulary)[-1]
        self.logits.append(logits)
        return usable(self.law.rows(logits[None])[0], logits, "draft", len(text))


def speculative(
    target: Model,
    draft: Model,
    prompt: Sequence[int],
    *,
    max_new_tokens: int, lookahead: int,
    temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None,
    draft_temperature: float | None = None,
    draft_top_k: int | None = None, draft_top_p: float | None = None,
    eos: int | None = None, randomness: Randomness, on_round: OnRound | None = None,
) -> Generation:  # fmt: skip
    """Decode up to `max_new_tokens` tokens after `prompt`; their law is the target's own.

    lookahead: tokens drafted a round (K). temperature, top_k, top_p make the target's law, draft_*
    the draft's; None there means the target's value. `on_round(tokens, record)` is called after
    each round. Raises ValueError on arguments out of range or vocabularies that differ, LogitsError
    when logits that are needed are no law. Source: Leviathan et al. 2023, Chen et al. 2023.
    """
    check_pair(target, draft, lookahead)
    law = Law(temperature, top_k, top_p)
    draft_law = law_of_draft(law, draft_temperature, draft_top_k, draft_top_p)
    transcript = open_transcript(target, prompt, max_new_tokens, eos, on_round)
    if transcript.finish_reason:
        return transcript.generation()
    verifier = Verifier(target, transcript, law, randomness)
    speculator = Drafter(
        draft, transcript.prompt, transcript.limits, lookahead, draft_law, randomness
    )

    speculation = speculator.first()
    while True:
        outcome = verifier.verify(speculation)
        transcript.close_round(speculator.rank(outcome))
        if transcript.finish_reason:
            return transcript.generation()
        speculation = speculator.answer(outcome)


def check_pair(target: Model, draft: Model, lookahead: int) -> None:
    check_count("lookahead", lookahead)
    if target.vocabulary != draft.vocabulary:
        raise ValueError(
            "target and draft must have the same vocabulary: "
            f"got {target.vocabulary} and {draft.vocabulary} tokens"
        )


def law_of_draft(
    law: Law, temperature: float | None, top_k: int | None, top_p: float | None
) -> Law:
    """The draft's law: the target's, where nothing else is given."""
    own = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
    return Law(**vars(law) | {name: value for name, value in own.items() if value is not None})
