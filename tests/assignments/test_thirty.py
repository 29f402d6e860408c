"""Thirty submissions at once, some of them harmful: each gets its own points, and all end."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from lessons.assignments import catalogue, grading, stored
from lessons.assignments.archives import collect

SECRET = "a secret of the instructor"
HARMFUL = ["crash", "hang", "memory_bomb", "asks_and_prints"]


@pytest.mark.slow
def test_thirty_submissions_are_graded_in_parallel(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    two = catalogue.load(2)
    wrong = {solution.path.stem: solution for solution in stored.wrong(2)}
    right = stored.right(2)
    named = [*HARMFUL, *sorted(set(wrong) - set(HARMFUL))]
    batch = [wrong[name] for name in named[:20]] + [right[i % len(right)] for i in range(10)]
    assert len(batch) == 30
    expected = {}
    for i, solution in enumerate(batch):
        folder = tmp_path / "batch" / f"student{i:02}"
        folder.mkdir(parents=True)
        (folder / two.file).write_text(solution.source())
        lost = sum(
            check.points for task, check in two.checks() if task.check_id(check) in solution.loses
        )
        expected[f"student{i:02}"] = two.points - lost
    submissions = collect([tmp_path / "batch"], 2, tmp_path / "scratch")
    begin = time.perf_counter()
    stream = grading.grade(2, submissions, SECRET, store=tmp_path / "store", jobs=2)
    points = {graded.student: graded.points for graded in stream}
    seconds = time.perf_counter() - begin
    assert points == expected
    with capsys.disabled():
        print(f"\n30 submissions, {len(HARMFUL)} harmful, two at a time: {seconds:.0f} s")
