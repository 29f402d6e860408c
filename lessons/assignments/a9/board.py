"""A local leaderboard: who predicts outcomes best, at equal budget.

    python -m lessons.assignments.a9.board FILE_OR_FOLDER...

Scores the `predictor` of each file (assignment9.py, or any name) against the calibrated `believed`
on all evaluation rounds, and prints a table, the best first. Same files, same table. With --folds N
both learn from N-1 parts of all texts and are scored on the other one, N times: does a gain last?
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from lessons.assignments import slices
from lessons.assignments.a9.scoring import Score, across, score, training
from lessons.assignments.spec import generator

BUDGET = 10


def files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path]


def entry(path: Path, budget: int, folds: int = 0) -> Score | str:
    """The score of a file, or why it has none."""
    rng = generator("board", str(budget))
    try:
        predictor = slices.load(path, ["predictor"]).predictor
        if folds:
            return across(predictor, budget, folds, rng)
        return score(predictor(training(), budget), "believed", budget, rng)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def table(entries: dict[str, Score | str], budget: int) -> str:
    """Markdown; a file without a score comes last, with the reason."""
    scored = {name: s for name, s in entries.items() if isinstance(s, Score)}
    lines = [
        f"Hit rate with {budget} guesses a round, less that of `believed`; 95 % intervals.",
        "",
        "| place | file | difference | interval | hit rate | rounds |",
        "|---|---|---|---|---|---|",
    ]
    ranked = sorted(scored.items(), key=lambda item: (-item[1].difference, item[0]))
    for place, (name, s) in enumerate(ranked, start=1):
        lines.append(
            f"| {place} | {name} | {s.difference:+.4f} | {s.low:+.4f} to {s.high:+.4f} | "
            f"{s.rate:.4f} | {s.rounds} |"
        )
    lines += [f"| - | {n} | {s} | | | |" for n, s in entries.items() if isinstance(s, str)]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", type=Path, nargs="+")
    parser.add_argument("--budget", type=int, default=BUDGET)
    parser.add_argument("--folds", type=int, default=0)
    options = parser.parse_args(arguments)
    budget, found = options.budget, list(files(options.paths))
    print(table({str(path): entry(path, budget, options.folds) for path in found}, budget))


if __name__ == "__main__":
    main()
