"""The usual mistakes in assignment 9, each as a function that makes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lessons.assignments.a9.rounds import WIDTH
from lessons.assignments.a9.scoring import Ints, Predict, compared, training
from lessons.assignments.spec import Slip
from ssd_ref.saguaro import Believed, Calibration, Features, Observation, fit
from ssd_ref.saguaro.calibration import KEPT

Triple = tuple[float, float, float]


def learned(answer: Any, budget: int) -> Predict:
    """What an answer learns from the training rounds; the same answer learns once for a budget."""
    memory: dict[int, Predict] = getattr(answer, "learned", {})
    if budget not in memory:
        memory[budget] = answer(training(), budget)
        answer.learned = memory
    return memory[budget]


# The score


def mean_of_rates(mine: Ints, theirs: Ints, rounds: Ints, picks: Ints) -> Triple:
    rates = (mine - theirs) / rounds
    low, high = np.quantile(rates[picks].mean(axis=1), [0.025, 0.975])
    return float(rates.mean()), float(low), float(high)


def unpaired(mine: Ints, theirs: Ints, rounds: Ints, picks: Ints) -> Triple:
    one = mine[picks].sum(axis=1) / rounds[picks].sum(axis=1)
    other = theirs[picks].sum(axis=1) / rounds[picks].sum(axis=1)
    (low, high), (least, most) = (np.quantile(x, [0.025, 0.975]) for x in (one, other))
    return compared(mine, theirs, rounds, picks)[0], float(low - most), float(high - least)


def ninety(mine: Ints, theirs: Ints, rounds: Ints, picks: Ints) -> Triple:
    drawn = (mine - theirs)[picks].sum(axis=1) / rounds[picks].sum(axis=1)
    low, high = np.quantile(drawn, [0.05, 0.95])
    return compared(mine, theirs, rounds, picks)[0], float(low), float(high)


def all_rounds_below(mine: Ints, theirs: Ints, rounds: Ints, picks: Ints) -> Triple:
    low, high = np.quantile((mine - theirs)[picks].sum(axis=1) / rounds.sum(), [0.025, 0.975])
    return compared(mine, theirs, rounds, picks)[0], float(low), float(high)


def reversed_sign(mine: Ints, theirs: Ints, rounds: Ints, picks: Ints) -> Triple:
    return compared(theirs, mine, rounds, picks)


SCORE = (
    Slip(
        "the rates of the prompts are averaged: a short text then counts as much as a long one",
        mean_of_rates,
        "lesson 06, section 5",
    ),
    Slip(
        "two intervals are subtracted: both predictors met the same rounds, so take differences first",
        unpaired,
        "lesson 06, section 5",
    ),
    Slip("the interval holds 90 %: each end is at 2.5 %", ninety),
    Slip(
        "resampled hits are divided by all rounds: resample the rounds along with them",
        all_rounds_below,
    ),
    Slip("the difference has the wrong sign", reversed_sign),
)


# Predictors


def choosing(calibration: Callable[[list[Observation]], Calibration]) -> Any:
    def predictor(recorded: Any, budget: int) -> Predict:
        believed = Believed(budget, calibration([o for text in recorded for o in text]))
        return lambda features, past: believed.choose(features)

    return predictor


def at_its_word(seen: list[Observation]) -> Calibration:
    return Calibration(width=WIDTH)


def bonus_only(seen: list[Observation]) -> Calibration:
    fitted = fit(seen, WIDTH)
    return Calibration(KEPT, fitted.rejected, fitted.all_kept, WIDTH)


def over_budget(recorded: Any, budget: int) -> Predict:
    """The budget at every k."""

    def predict(features: Features, past: Any) -> list[tuple[int, int]]:
        return [(k, rank) for k in range(len(features.guesses)) for rank in range(budget)]

    return predict


def five_slots(recorded: Any, budget: int) -> Predict:
    """K = 4 written into it."""

    def predict(features: Features, past: Any) -> list[tuple[int, int]]:
        return [(i % 5, i // 5) for i in range(budget)]

    return predict


def all_kept_only(recorded: Any, budget: int) -> Predict:
    def predict(features: Features, past: Any) -> list[tuple[int, int]]:
        last = len(features.guesses) - 1
        return [(last, rank) for rank in range(budget if last >= 0 else 0)]

    return predict


def evenly(recorded: Any, budget: int) -> Predict:
    def predict(features: Features, past: Any) -> list[tuple[int, int]]:
        slots = len(features.guesses)
        return [(i % slots, i // slots) for i in range(budget if slots else 0)]

    return predict


PREDICTOR = (
    Slip(
        "the draft is taken at its word: learn from the recorded rounds how often it is right",
        choosing(at_its_word),
        "lesson 06, section 6",
    ),
    Slip("the budget is spent at each k: it is that of the whole round", over_budget),
    Slip("K is written into it: a round has len(features.positions) drafts", five_slots),
    Slip('all guesses are made at "all accepted"', all_kept_only, "lesson 06, section 3"),
    Slip("the same list serves every round: look at the features", evenly, "lesson 06, section 6"),
    Slip(
        "only the bonus is calibrated: how often a draft is kept must be learned, too",
        choosing(bonus_only),
        "lesson 06, section 6",
    ),
)
