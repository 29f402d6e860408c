"""A batch of submissions: in parallel, resumable, each check in a process of its own."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from lessons.assignments import catalogue, hints, results
from lessons.assignments.archives import Submission
from lessons.assignments.results import Graded, Result
from lessons.assignments.running import run_check
from lessons.assignments.spec import PUBLIC_SEED, Assignment

LEAST_SEED = 8  # characters


def seed_from(path: Path | None) -> str:
    """The instructor's secret; without a file the public seed, which students know."""
    if path is None:
        return PUBLIC_SEED
    seed = path.read_text(encoding="utf-8").strip()
    if len(seed) < LEAST_SEED:
        raise ValueError(
            f"{path}: expected a seed of at least {LEAST_SEED} characters, got {len(seed)}"
        )
    return seed


def grade(
    number: int,
    submissions: Sequence[Submission],
    seed: str,
    *,
    store: Path,
    jobs: int = 2,
    again: Collection[str] = (),
) -> Iterator[Graded]:
    """Grade each submission, in whatever order they end.

    What `store` already holds for the same file, seed and version of the assignment is given back
    at once, but for the students named in `again`. All else is appended to `store` as it comes.
    """
    done = results.read(store)
    waiting = []
    for submission in submissions:
        digest = digest_of(number, submission, seed)
        if digest in done and submission.student not in again:
            yield done[digest]
        else:
            waiting.append((submission, digest))
    for graded in in_parallel(number, waiting, seed, jobs):
        results.append(store, [graded])
        yield graded


def in_parallel(
    number: int, waiting: Sequence[tuple[Submission, str]], seed: str, jobs: int
) -> Iterator[Graded]:
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # of the workers: one core each
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max(1, min(jobs, len(waiting))), mp_context=context) as pool:
        futures = [pool.submit(grade_one, number, *one, seed) for one in waiting]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            pool.shutdown(cancel_futures=True)


def grade_one(number: int, submission: Submission, digest: str, seed: str) -> Graded:
    """All checks of one submission. Runs in a worker."""
    assignment = catalogue.load(number)
    if submission.path is None:
        checks, notes = nothing(assignment), submission.notes
    else:
        ids = [task.check_id(check) for task, check in assignment.checks()]
        checks = [run_check(assignment, id, submission.path, seed) for id in ids]
        notes = (*submission.notes, *hints.beside(submission.path))
    return Graded(submission.student, submission.id, number, digest, tuple(checks), notes)


def nothing(assignment: Assignment) -> list[Result]:
    return [
        Result(task.check_id(check), check.points, 0.0, "missing", "no file to grade was found")
        for task, check in assignment.checks()
    ]


def digest_of(number: int, submission: Submission, seed: str) -> str:
    """Changes with the student's file, the seed, and the code that grades."""
    digest = hashlib.sha256(f"{submission.student}\n{submission.id}\n{seed}\n".encode())
    folder = catalogue.load(number).folder
    for path in sorted([*catalogue.FOLDER.glob("*.py"), *folder.glob("*.py")]):
        digest.update(path.read_bytes())
    if submission.path is not None:
        digest.update(submission.path.read_bytes())
    return digest.hexdigest()
