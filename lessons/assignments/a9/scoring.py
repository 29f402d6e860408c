"""Scores a predictor on recorded rounds, against `believed` with the same budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lessons.assignments.a9.rounds import WIDTH, Recorded, load
from ssd_ref.saguaro import Believed, Calibration, Features, Observation, fit

Outcomes = Sequence[tuple[int, int]]
Predict = Callable[[Features, tuple[Observation, ...]], Outcomes]
Ints = NDArray[np.int64]
RESAMPLES = 2000


class IllegalGuess(ValueError):
    """A prediction breaks the rules of the game."""


@dataclass(frozen=True)
class Score:
    """Difference of two hit rates with its 95 % interval, and the hit rate itself."""

    difference: float
    low: float
    high: float
    rate: float
    rounds: int

    def __str__(self) -> str:
        return (
            f"{self.difference:+.4f} [{self.low:+.4f}, {self.high:+.4f}], "
            f"hit rate {self.rate:.4f}, n = {self.rounds} rounds"
        )


def checked(guesses: Any, features: Features, budget: int) -> set[tuple[int, int]]:
    """The guesses as a set; IllegalGuess says which rule they break."""
    found = [(int(k), int(rank)) for k, rank in guesses]
    slots = len(features.guesses)
    if len(found) > budget:
        raise IllegalGuess(f"expected at most {budget} guesses, got {len(found)}")
    if len(set(found)) < len(found):
        raise IllegalGuess(f"expected different guesses, got {found}")
    if not all(0 <= k < slots and rank >= 0 for k, rank in found):
        raise IllegalGuess(f"expected pairs (k, rank), k in 0..{slots - 1}, rank >= 0, got {found}")
    return set(found)


def hits(predict: Predict, text: Recorded, budget: int) -> int:
    """How many outcomes of a text are guessed; `predict` sees the past rounds, not this one's."""
    count = 0
    for number, seen in enumerate(text.rounds):
        guesses = checked(predict(seen.features, text.rounds[:number]), seen.features, budget)
        count += (seen.accepted, seen.rank) in guesses
    return count


def training() -> list[tuple[Observation, ...]]:
    return [text.rounds for text in load("training")]


@lru_cache
def baseline(name: str, budget: int) -> tuple[int, ...]:
    """Hits in each evaluation text: "believed", calibrated, or "word", the draft at its word."""
    seen = [o for text in load("training") for o in text.rounds]
    calibration = fit(seen, WIDTH) if name == "believed" else Calibration(width=WIDTH)
    believed = Believed(budget, calibration)
    return tuple(hits(partial(chosen_by, believed), t, budget) for t in load("evaluation"))


def compared(mine: Ints, theirs: Ints, rounds: Ints, picks: Ints) -> tuple[float, float, float]:
    """Difference of hit rates and its interval; picks (resamples, prompts): drawn with return."""
    drawn = (mine - theirs)[picks].sum(axis=1) / rounds[picks].sum(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float((mine - theirs).sum() / rounds.sum()), float(low), float(high)


def score(
    predict: Predict, name: str, budget: int, rng: np.random.Generator, prompts: int | None = None
) -> Score:
    """Against a baseline, on all evaluation texts or on so many, drawn."""
    texts = load("evaluation")
    chosen = np.arange(len(texts))
    if prompts is not None:
        chosen = np.sort(rng.permutation(len(texts))[:prompts])
    mine = np.array([hits(predict, texts[i], budget) for i in chosen])
    theirs = np.array(baseline(name, budget))[chosen]
    rounds = np.array([len(texts[i].rounds) for i in chosen])
    picks = rng.integers(len(chosen), size=(RESAMPLES, len(chosen)))
    difference, low, high = compared(mine, theirs, rounds, picks)
    return Score(difference, low, high, float(mine.sum() / rounds.sum()), int(rounds.sum()))


def across(
    predictor: Callable[[list[tuple[Observation, ...]], int], Predict], budget: int, folds: int,
    rng: np.random.Generator,
) -> Score:  # fmt: skip
    """Against `believed`, each text scored by what was learned from the texts of other folds."""
    texts = [*load("training"), *load("evaluation")]
    rows = []
    for fold in range(folds):
        learnt = [text.rounds for i, text in enumerate(texts) if i % folds != fold]
        believed = Believed(budget, fit([o for rounds in learnt for o in rounds], WIDTH))
        chooses = partial(chosen_by, believed)
        predict = predictor(learnt, budget)
        for text in texts[fold::folds]:
            rows.append([hits(p, text, budget) for p in (predict, chooses)] + [len(text.rounds)])
    mine, theirs, rounds = np.array(rows).T
    picks = rng.integers(len(rows), size=(RESAMPLES, len(rows)))
    rate = float(mine.sum() / rounds.sum())
    return Score(*compared(mine, theirs, rounds, picks), rate, int(rounds.sum()))


def chosen_by(believed: Believed, features: Features, past: tuple[Observation, ...]) -> Outcomes:
    return believed.choose(features)
