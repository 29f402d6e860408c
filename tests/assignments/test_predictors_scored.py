"""Assignment 9: the committed rounds, the score, and the leaderboard."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lessons.assignments.a9 import board, rounds, scoring
from ssd_ref.pair.loading import pair_hash, read_card
from ssd_ref.saguaro import Features, Observation

pytestmark = pytest.mark.slow  # left out of the everyday run

Past = tuple[Observation, ...]
PARTS = ("training", "evaluation")


def test_the_rounds_are_those_of_the_shipped_pair() -> None:
    with gzip.open(rounds.COMMITTED, "rt") as file:
        header = json.loads(next(file))
    assert header["weights"] == pair_hash(read_card())
    assert (header["lookahead"], header["temperature"]) == (rounds.LOOKAHEAD, rounds.TEMPERATURE)


def test_training_and_evaluation_share_no_prompt_and_the_sheet_has_their_sizes() -> None:
    training, evaluation = rounds.load("training"), rounds.load("evaluation")
    assert not {t.prompt for t in training} & {t.prompt for t in evaluation}
    sizes = [(len(p), sum(len(t.rounds) for t in p)) for p in (training, evaluation)]
    sheet = (rounds.FOLDER / "sheet.md").read_text()
    assert f"{sizes[0][0]} prompts ({sizes[0][1]} rounds)" in sheet
    assert f"the other {sizes[1][0]}, of other documents ({sizes[1][1]} rounds)" in sheet


def test_ranks_are_held_or_beyond_the_width() -> None:
    for text in rounds.load("evaluation"):
        for seen in text.rounds:
            assert seen.rank is not None and seen.rank >= 0
            assert len(seen.features.guesses[seen.accepted]) == rounds.WIDTH


def nothing(features: Features, past: Past) -> Sequence[tuple[int, int]]:
    return []


def test_who_guesses_nothing_has_no_hit_and_all_outcomes_hit_always() -> None:
    text = rounds.load("evaluation")[0]
    everything = [(k, r) for k in range(5) for r in range(257)]
    assert scoring.hits(nothing, text, 10) == 0
    assert scoring.hits(lambda f, past: everything, text, 5 * 257) == len(text.rounds)


def test_the_past_ends_before_the_round() -> None:
    text, lengths = rounds.load("evaluation")[0], []

    def predict(features: Features, past: Past) -> Sequence[tuple[int, int]]:
        lengths.append(len(past))
        assert features is text.rounds[len(past)].features
        return []

    scoring.hits(predict, text, 3)
    assert lengths == list(range(len(text.rounds)))


@pytest.mark.parametrize(
    ("guesses", "words"),
    [([(0, 0), (1, 0)], "at most 1"), ([(5, 0)], "k in 0..4"), ([(0, -1)], "rank >= 0")],
)
def test_illegal_guesses_are_named(guesses: Any, words: str) -> None:
    features = rounds.load("evaluation")[0].rounds[0].features
    with pytest.raises(scoring.IllegalGuess, match=words):
        scoring.checked(guesses, features, 1)
    with pytest.raises(scoring.IllegalGuess, match="different"):
        scoring.checked([(0, 0), (0, 0)], features, 2)


def test_the_score_is_reproducible_and_compares_itself_with_nothing_gained() -> None:
    again = [scoring.score(nothing, "word", 10, np.random.default_rng(3), 20) for _ in range(2)]
    assert again[0] == again[1] and again[0].high < 0 and again[0].rate == 0


def test_the_board_ranks_files_and_tells_why_one_has_no_score(tmp_path: Path) -> None:
    one = "def predictor(recorded, budget):\n    return lambda features, past: {}\n"
    files = {
        "all.py": one.format("[(4, r) for r in range(budget)]"),
        "none.py": one.format("[]"),
        "over.py": one.format("[(4, r) for r in range(budget + 1)]"),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    entries = {path.name: board.entry(path, 10) for path in board.files([tmp_path])}
    table = board.table(entries, 10).splitlines()
    assert [line.split(" | ")[1] for line in table[4:6]] == ["all.py", "none.py"]
    assert table[6].startswith("| - | over.py | IllegalGuess: expected at most 10 guesses, got 11")


def test_across_folds_a_predictor_that_is_believed_gains_nothing() -> None:
    source = (rounds.FOLDER / "reference.py").read_text()
    scope: dict[str, Any] = {"__name__": "lessons.assignments.a9.again"}
    exec(source, scope)
    score = scoring.across(scope["predictor"], 5, 2, np.random.default_rng(0))
    assert (score.difference, score.low, score.high) == (0, 0, 0)
    assert score.rounds == sum(len(t.rounds) for p in PARTS for t in rounds.load(p))
