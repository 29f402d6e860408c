"""Each lesson is a plain Python program: it runs to its end and warns of nothing."""

from __future__ import annotations

import runpy
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import pytest

import ssd_ref
from ssd_ref.pair.loading import WeightsError

FOLDER = Path(__file__).parents[2] / "lessons"
LESSONS = sorted(FOLDER.glob("[0-9][0-9]_*.py"))


@pytest.fixture(scope="module")
def embedded_weights() -> None:
    """The lessons decode with the embedded pair: without it they cannot be tested."""
    try:
        ssd_ref.load_pair()
    except WeightsError as error:
        pytest.fail(f"the lessons decode with the embedded pair: {error}")


def test_the_first_two_lessons_are_there() -> None:
    assert {"02_speculative_decoding", "05_ssd"} <= {path.stem for path in LESSONS}


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
@pytest.mark.usefixtures("embedded_weights")
def test_lesson_runs(lesson: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    matplotlib.use("Agg")
    monkeypatch.syspath_prepend(FOLDER)  # where a lesson finds `style`
    try:
        runpy.run_path(str(lesson), run_name="__main__")
    finally:
        plt.close("all")
