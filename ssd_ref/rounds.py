"""What passes between the actors (`Speculation`, `Outcome`) and what remains (`Generation`)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from ssd_ref.models import Rows
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
