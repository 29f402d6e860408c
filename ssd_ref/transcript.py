"""The text as it grows: where it ends, and what is recorded of each round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ssd_ref.models import Model, check_count, check_tokens
from ssd_ref.rounds import Generation, Outcome, RoundRecord


@dataclass(frozen=True)
class Limits:
    """Where a text ends: after `max_new_tokens`, with `end_token`, or at the context limit.

    Lengths count the prompt. Precedence: eos, length, context.
    """

    prompt_length: int
    max_new_tokens: int
    context_limit: int | None = None
    end_token: int | None = None

    def room(self, length: int) -> int:
        """How many tokens a text of `length` tokens may still get."""
        left = self.prompt_length + self.max_new_tokens - length
        return left if self.context_limit is None else min(left, self.context_limit - length)

    def cut(self, length: int, tokens: Sequence[int]) -> tuple[list[int], str | None]:
        """What is kept of `tokens` behind `length` others, and why the text ends, if it does."""
        kept = list(tokens[: self.room(length)])
        if self.end_token in kept:
            return kept[: kept.index(self.end_token) + 1], "eos"
        if length + len(kept) == self.prompt_length + self.max_new_tokens:
            return kept, "length"
        return kept, "context" if self.room(length + len(kept)) == 0 else None


OnRound = Callable[[list[int], RoundRecord], None]  # the tokens a round emitted, and its record


@dataclass
class Transcript:
    """The text as the verifier writes it: prompt, committed tokens, a record of each round."""

    prompt: tuple[int, ...]
    limits: Limits
    on_round: OnRound | None = None
    tokens: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    rounds: list[RoundRecord] = field(default_factory=list)
    finish_reason: str | None = None

    def __post_init__(self) -> None:
        _, self.finish_reason = self.limits.cut(self.length, [])  # there may be room for nothing

    @property
    def length(self) -> int:
        return len(self.prompt) + len(self.tokens)

    @property
    def last(self) -> int:
        return (self.tokens or self.prompt)[-1]

    @property
    def round(self) -> int:
        """Number of the round in progress, from 1."""
        return len(self.rounds) + 1

    def write(
        self, drafted: Sequence[int], outcome: Outcome, logprobs: Sequence[float], served_by: str
    ) -> None:
        """Append d_1..d_k and t*, cut where the text ends, and begin the round's record."""
        emitted = [*drafted[: outcome.accepted], outcome.bonus]
        kept, self.finish_reason = self.limits.cut(self.length, emitted)
        accepted = min(outcome.accepted, len(kept))
        bonus = outcome.bonus if len(kept) > accepted else None
        self.tokens += kept
        self.logprobs += logprobs[: len(kept)]
        self.rounds.append(
            RoundRecord(self.round, served_by, len(drafted), accepted, bonus, len(kept))
        )

    def close_round(self, rank: int | None) -> None:
        """Complete the record by what only the speculator knows, and show it to the caller."""
        record = self.rounds[-1]
        if record.bonus is not None:
            self.rounds[-1] = record = replace(record, rank=rank)
        if self.on_round is not None:
            self.on_round(self.tokens[-record.emitted :], record)

    def generation(self) -> Generation:
        assert self.finish_reason is not None, "the text has not ended"
        return Generation(self.tokens, self.finish_reason, self.logprobs, self.rounds)


def open_transcript(
    target: Model,
    prompt: Sequence[int],
    max_new_tokens: int,
    eos: int | None = None,
    on_round: OnRound | None = None,
) -> Transcript:
    """The transcript of a checked request; an empty prompt is read as the target's start token."""
    check_count("max_new_tokens", max_new_tokens)
    prompt = tuple(prompt) or (target.start_token,)
    check_tokens(prompt, target.vocabulary, "prompt")
    prompt = tuple(int(token) for token in prompt)
    if eos is not None:
        check_tokens([eos], target.vocabulary, "eos")
    limit = target.context_limit
    if limit is not None and len(prompt) > limit:
        raise ValueError(
            f"prompt: expected at most {limit} tokens (the target's context limit), "
            f"got {len(prompt)}"
        )
    return Transcript(prompt, Limits(len(prompt), max_new_tokens, limit, eos), on_round)
