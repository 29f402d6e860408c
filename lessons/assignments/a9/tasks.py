"""Assignment 9: its tasks. The score is reproducible: the seed chooses prompts and resamples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lessons.assignments.a9 import slips
from lessons.assignments.a9.rounds import load
from lessons.assignments.a9.scoring import checked, compared, score
from lessons.assignments.cases import Generator
from lessons.assignments.spec import Assignment, Check, Task
from lessons.assignments.trials import runs
from ssd_ref.saguaro import Features
from ssd_ref.testing.check import Raised, Trial, Wrong
from ssd_ref.testing.same import Words
from ssd_ref.testing.trials import gives

BUDGET, PROMPTS = 10, 30
MARGIN = 0.02  # of the hit rate: so much worse than `believed` is as good
HIDES = (
    *(f"ssd_ref.saguaro.believed.Believed.{name}"
      for name in ("__init__", "__call__", "choose", "reached", "at")),
    "ssd_ref.saguaro.calibration.fit", "ssd_ref.saguaro.calibration.Calibration.acceptance",
    "ssd_ref.saguaro.calibration.Calibration.bonus", "ssd_ref.study.replay.Belief.widths",
)  # fmt: skip


# Task 9.1


def compares(mine: Any, theirs: Any, rounds: Any, picks: Any) -> Trial:
    arrays = [np.array(x) for x in (mine, theirs, rounds, picks)]
    return gives(compared(*arrays), *arrays)


def counts(rng: Generator, prompts: int) -> tuple[Any, Any, Any]:
    rounds = rng.integers(5, 60, prompts)
    return rng.binomial(rounds, 0.7), rng.binomial(rounds, 0.6), rounds


def score_values(rng: Generator) -> list[Trial]:
    """By hand: two prompts of the same length; then random ones."""
    by_hand = compares([6, 8], [5, 5], [10, 10], [[0, 0], [0, 1], [1, 1]])
    return [by_hand, *(random_score(rng, n) for n in (3, 8, 20))]


def random_score(rng: Generator, prompts: int) -> Trial:
    return compares(*counts(rng, prompts), rng.integers(prompts, size=(200, prompts)))


def score_lengths(rng: Generator) -> list[Trial]:
    """Prompts of unlike length: a long text counts for more."""
    return [compares([1, 60], [1, 20], [2, 80], [[0, 0], [0, 1], [1, 1]]), random_score(rng, 5)]


def score_paired(rng: Generator) -> list[Trial]:
    """One is better by as much everywhere: the interval has no width."""
    return [compares([5, 9, 3], [4, 8, 2], [10, 10, 10], rng.integers(3, size=(50, 3)))]


# Task 9.2


def rules(rng: Generator) -> list[Trial]:
    """Few rounds, shortened ones and empty ones among them; several budgets."""
    texts = load("evaluation")
    rounds = texts[int(rng.integers(len(texts)))].rounds[:6]
    shapes = [
        *(seen.features for seen in rounds),
        shortened(rounds[0].features, 2), shortened(rounds[1].features, 0),
        replace(rounds[0].features, positions=(), guesses=()),
    ]  # fmt: skip
    return [
        legal(budget, features, rounds[: i % 3])
        for budget in (10, 3, 1, 0)
        for i, features in enumerate(shapes)
    ]


def shortened(features: Features, drafted: int) -> Features:
    return Features(
        features.served_by, features.positions[:drafted], features.guesses[: drafted + 1]
    )


def legal(budget: int, features: Features, past: Any) -> Trial:
    round = f"features of {len(features.positions)} drafts, past of {len(past)} rounds"
    case = f"predictor(training, {budget})({round})"

    def run(answer: Any) -> list[str]:
        predict = slips.learned(answer, budget)
        first, again = (list(predict(features, tuple(past))) for _ in range(2))
        checked(first, features, budget)
        return [] if first == again else [f"{first} and then {again}"]

    return runs(case, [], run)


def better_than(name: str, least: float) -> Callable[[Generator], list[Trial]]:
    """The lower end of the interval of (hits - hits of `name`) / rounds is above `least`."""

    def trials(rng: Generator) -> list[Trial]:
        seed = int(rng.integers(2**32))

        def trial(answer: Any) -> None:
            case = f"{BUDGET} guesses a round, {PROMPTS} prompts, hits less those of {NAMES[name]}"
            wanted = Words(f"a 95 % interval that lies above {least:g}")
            try:
                predict = slips.learned(answer, BUDGET)
                got = score(predict, name, BUDGET, np.random.default_rng(seed), PROMPTS)
            except Exception as error:
                raise Wrong(case, wanted, Raised(error)) from error
            if not got.low > least:
                raise Wrong(case, wanted, Words(got))

        return [trial]

    return trials


NAMES = {"word": "the draft at its word", "believed": "the calibrated `believed`"}

ASSIGNMENT = Assignment(
    number=9,
    title="Open: a better outcome predictor",
    hours="4 to 20",
    folder=Path(__file__).parent,
    tasks=(
        Task("9.1", "A fair score", "fair_score",
             (Check("values", 2, score_values), Check("lengths", 1, score_lengths),
              Check("paired", 1, score_paired)),
             slips.SCORE, read="lesson 06, section 5"),
        Task("9.2", "Predict outcomes", "predictor",
             (Check("rules", 3, rules), Check("word", 4, better_than("word", 0.0), 30.0),
              Check("believed", 3, better_than("believed", -MARGIN), 30.0)),
             slips.PREDICTOR, HIDES, "lesson 06, section 6"),
    ),
)  # fmt: skip
