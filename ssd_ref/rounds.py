"""What passes between the actors (`Speculation`, `Outcome`) and what remains (`Generation`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

from ssd_ref.models import Model, Rows, check_count, check_tokens
from ssd_ref.randomness import Site


@dataclass(frozen=True)
class Speculation:
    """Drafted tokens d_1..d_n, the rows (n, V) they were drawn from, and the sites of the draws.

    The rows travel with the tokens: whatever speculation a verifier is given, it tests each token
    against the law it was drawn from. So any speculation is exact, and a bad one only slow.
    """

    tokens: tuple[int, ...]
    rows: Rows
    sites: tuple[Site, ...]
    served_by: str

    def __post_init__(self) -> None:
        n = len(self.tokens)
        if len(self.sites) != n or self.rows.ndim != 2 or len(self.rows) != n:
            raise ValueError(
                f"Speculation: expected one row and one site for each of {n} tokens, "
                f"got rows of shape {self.rows.shape} and {len(self.sites)} sites"
            )
        for i, (token, row) in enumerate(zip(self.tokens, self.rows, strict=True)):
            if not (0 <= token < len(row) and row[token] > 0):
                raise ValueError(
                    f"Speculation: token {token} at index {i} cannot have been drawn from its row"
                )
        self.rows.flags.writeable = False

    def __len__(self) -> int:
        return len(self.tokens)


class Outcome(NamedTuple):
    """Verification outcome (k, t*): how many drafts were accepted, and the bonus token after them.

    It is the key of the speculation cache (Def. 4).
    """

    accepted: int
    bonus: int


@dataclass(frozen=True)
class RoundRecord:
    """One round as it shows in the text: counts are after the cut at an end token or a limit.

    served_by: who made the speculation - "draft" in SD, "first", "cache" or "backup" in SSD,
    "target" in AR, which has none. bonus: None when it was cut off. emitted = accepted + 1 bonus.
    rank: place of the bonus token among the draft's guesses at its k, 0 the first; None when the
    bonus was cut off or the draft had no row there.
    """

    round: int
    served_by: str
    drafted: int
    accepted: int
    bonus: int | None
    emitted: int
    rank: int | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Generation:
    """A decoded text: the new tokens, why it ends ("eos", "length" or "context"), and its rounds.

    logprobs: log p of each token under the target's law (temperature and truncation included).
    """

    tokens: list[int]
    finish_reason: str
    logprobs: list[float]
    rounds: list[RoundRecord]


@dataclass(frozen=True)
class Limits:
    """Where a text ends: after `max_new_tokens`, with `end_token`, or at the context limit.

    Lengths count the prompt. Precedence: eos, length, context.
    """

    prompt: int
    max_new_tokens: int
    context_limit: int | None = None
    end_token: int | None = None

    def room(self, length: int) -> int:
        """How many tokens a text of `length` tokens may still get."""
        left = self.prompt + self.max_new_tokens - length
        return left if self.context_limit is None else min(left, self.context_limit - length)

    def cut(self, length: int, tokens: Sequence[int]) -> tuple[list[int], str | None]:
        """What is kept of `tokens` behind `length` others, and why the text ends, if it does."""
        kept = list(tokens[: self.room(length)])
        if self.end_token in kept:
            return kept[: kept.index(self.end_token) + 1], "eos"
        if length + len(kept) == self.prompt + self.max_new_tokens:
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
        _, self.finish_reason = self.limits.cut(self.length, [])

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
        """Append d_1..d_k and t*, cut where the text ends, and open the round's record."""
        emitted = [*drafted[: outcome.accepted], outcome.bonus]
        kept, self.finish_reason = self.limits.cut(self.length, emitted)
        bonus = outcome.bonus if len(kept) == len(emitted) else None
        accepted = len(kept) - (bonus is not None)
        self.tokens += kept
        self.logprobs += logprobs[: len(kept)]
        self.rounds.append(
            RoundRecord(self.round, served_by, len(drafted), accepted, bonus, len(kept))
        )

    def close_round(self, rank: int | None) -> None:
        """Complete the record by the bonus token's rank, and show the round to the caller."""
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
    check_tokens(prompt, target.vocabulary, "prompt")
    prompt = tuple(int(token) for token in prompt) or (target.start_token,)
    if eos is not None:
        check_tokens([eos], target.vocabulary, "eos")
    limit = target.context_limit
    if limit is not None and len(prompt) > limit:
        raise ValueError(
            f"prompt: expected at most {limit} tokens (the target's context limit), "
            f"got {len(prompt)}"
        )
    return Transcript(prompt, Limits(len(prompt), max_new_tokens, limit, eos), on_round)
