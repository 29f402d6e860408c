"""The one place where logits become the law that is drawn from, tested against and corrected with.

Temperature, then top-k, then top-p, then Saguaro's sigma; float64 throughout. A row that is no law
(NaN, +inf, no mass) is marked by NaN and named when somebody uses it, not before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ssd_ref.models import Row, Rows, check_count, is_real


class LogitsError(ValueError):
    """A model gave logits from which no token can be drawn."""


@dataclass(frozen=True)
class Law:
    """How next-token rows are made of logits.

    temperature: 0 means the one-hot law of the largest logit, first index among equals.
    top_k: keep the k most probable tokens. top_p: keep the most probable ones up to and including
    the one whose sum crosses p. Among equals the lower index comes first. None: keep all.
    Raises ValueError unless temperature is finite and >= 0, top_k >= 1, 0 < top_p <= 1.
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None

    def __post_init__(self) -> None:
        if not (is_real(self.temperature) and 0 <= self.temperature < np.inf):
            raise ValueError(
                f"temperature: expected a finite number >= 0, got {self.temperature!r}"
            )
        if self.top_k is not None:
            check_count("top_k", self.top_k, least=1)
        if self.top_p is not None and not (is_real(self.top_p) and 0 < self.top_p <= 1):
            raise ValueError(f"top_p: expected a number in (0, 1] (or None), got {self.top_p!r}")

    def rows(self, logits: Rows) -> Rows:
        """Laws (n, V) of logits (n, V); a row of NaN where there is none."""
        logits = np.asarray(logits, dtype=np.float64)
        top = logits.max(axis=1, keepdims=True)
        if self.temperature == 0:
            p = np.zeros(logits.shape)
            p[np.arange(len(p)), logits.argmax(axis=1)] = 1
            return np.where(np.isfinite(top), p, np.nan)
        with np.errstate(over="ignore", invalid="ignore"):  # a tiny temperature; inf - inf
            p = np.exp((logits - top) / self.temperature)
        p /= p.sum(axis=1, keepdims=True)  # one bad entry makes the sum NaN, and so the whole row
        return p if self.top_k is None and self.top_p is None else self._truncated(p)

    def _truncated(self, p: Rows) -> Rows:
        order = np.argsort(-p, axis=1, kind="stable")
        ranked = np.take_along_axis(p, order, axis=1)
        if self.top_k is not None:
            ranked[:, self.top_k :] = 0
            ranked /= ranked.sum(axis=1, keepdims=True)
        if self.top_p is not None:
            before = ranked.cumsum(axis=1) - ranked
            ranked[before >= self.top_p] = 0
            ranked /= ranked.sum(axis=1, keepdims=True)
        kept = np.empty_like(p)
        np.put_along_axis(kept, order, ranked, axis=1)
        return kept


def usable(row: Row, logits: Row, whose: str, length: int) -> Row:
    """`row` itself; LogitsError when it was marked, naming model, place and fault."""
    if row[0] == row[0]:  # not NaN
        return row
    bad = np.flatnonzero(np.isnan(logits) | (logits == np.inf))
    got = f"{logits[bad[0]]} for token {bad[0]}" if len(bad) else "-inf for every token"
    raise LogitsError(
        f"{whose}'s logits after {length} tokens: expected finite numbers or -inf, got {got}"
    )


def check_law(row: ArrayLike, vocabulary: int, whose: str) -> Row:
    """`row` with its sum made 1; ValueError unless it is a law over the vocabulary (to 1e-9)."""
    law = np.array(row, dtype=np.float64)
    if law.shape != (vocabulary,) or not (law >= 0).all() or abs(law.sum() - 1) > 1e-9:
        raise ValueError(f"{whose}: expected a law of {vocabulary} tokens, got {row!r}")
    return np.asarray(law / law.sum())


def ranking(logits: Row) -> NDArray[np.intp]:
    """Tokens by falling logit, lower index first among equals; -inf comes last but is listed."""
    return np.argsort(-logits, kind="stable")


def saguaro(row: Row, guessed: NDArray[np.intp], c: float) -> Row:
    """Saguaro sampling (Def. 14), sigma: the guessed tokens' probability times c, then normalised.

    Lowering q on tokens that will be guessed moves the residual (p-q)_+ onto them. With c = 0 and
    all the mass on guessed tokens: the limit c -> 0+, which is `row`.
    """
    scaled = row.copy()
    scaled[guessed] *= c
    mass = scaled.sum()
    return scaled / mass if mass > 0 else row
