"""Recorded rounds of the embedded pair, small enough to be committed.

    python -m lessons.assignments.a9.rounds --seed 0 --out lessons/assignments/a9/rounds.jsonl.gz

records them anew (64 prompts of 192 tokens, K = 4, temperature 1, float64; some minutes). A grader
who wants rounds that nobody has seen records another seed into `private.jsonl.gz` beside this file:
it is then what submissions are scored on. Training is always on the committed rounds.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ssd_ref.saguaro import Features, Observation
from ssd_ref.saguaro.features import Position
from ssd_ref.study.texts import Text

FOLDER = Path(__file__).parent
COMMITTED, PRIVATE = FOLDER / "rounds.jsonl.gz", FOLDER / "private.jsonl.gz"
WIDTH = 10  # guesses at each k whose probability is kept
DIGITS = 3  # significant ones
LOOKAHEAD, TEMPERATURE = 4, 1.0


@dataclass(frozen=True)
class Recorded:
    """A text's rounds that count, in order. part: "training" or "evaluation"."""

    prompt: int
    part: str
    rounds: tuple[Observation, ...]


@lru_cache
def load(part: str) -> tuple[Recorded, ...]:
    """The texts to train on, or to be scored on."""
    path = PRIVATE if part == "evaluation" and PRIVATE.exists() else COMMITTED
    with gzip.open(path, "rt", encoding="utf-8") as file:
        next(file)  # the header
        texts = [from_json(json.loads(line)) for line in file]
    return tuple(text for text in texts if text.part == part)


def from_json(data: dict[str, Any]) -> Recorded:
    return Recorded(data["prompt"], data["part"], tuple(map(observation, data["rounds"])))


def observation(row: list[Any]) -> Observation:
    accepted, rank, raw, margin, guesses = row
    # Temperature 1 and C = 1: a token is drawn from the row as it is.
    positions = tuple(Position(p, p, m) for p, m in zip(raw, margin, strict=True))
    return Observation(Features("first", positions, tuple(map(tuple, guesses))), accepted, rank)


def rows_of(text: Text) -> Iterator[list[Any]]:
    """What is kept of each round that counts."""
    for record, features in list(zip(text.rounds, text.features, strict=True))[: text.full]:
        raw = [short(p.raw) for p in features.positions]
        margin = [short(p.margin) for p in features.positions]
        guesses = [[short(g) for g in row[:WIDTH]] for row in features.guesses]
        yield [record.accepted, record.rank, raw, margin, guesses]


def short(x: float) -> float:
    return float(f"{x:.{DIGITS - 1}e}")


def write(path: Path, texts: Iterable[Text], header: dict[str, Any], training: set[int]) -> None:
    lines = [json.dumps(header)]
    for text in texts:
        part = "training" if text.key.prompt in training else "evaluation"
        data = {"prompt": text.key.prompt, "part": part, "rounds": list(rows_of(text))}
        lines.append(json.dumps(data, separators=(",", ":")))
    packed = gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0)
    path.write_bytes(packed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--work", type=Path, help="recorded texts to take from and add to")
    parser.add_argument("--jobs", type=int, default=-1)
    options = parser.parse_args()
    from ssd_ref.study.collect import collect, embedded, keys_of
    from ssd_ref.study.committed import pair_hash
    from ssd_ref.study.prompts import held_out
    from ssd_ref.study.store import Store
    from ssd_ref.study.sweep import Grid

    prompts = held_out()
    (setting,) = Grid(temperatures=(TEMPERATURE,), lookaheads=(LOOKAHEAD,)).recordings()
    everyone = {**prompts["calibration"], **prompts["evaluation"]}
    weights = {"weights": pair_hash(), "dtype": "float64"}
    store = Store(options.work, weights)
    keys = keys_of([setting], everyone, [options.seed])
    texts = collect(store, keys, everyone, embedded, jobs=options.jobs)
    header = {**weights, "seed": options.seed, "lookahead": LOOKAHEAD, "temperature": TEMPERATURE}
    write(options.out, texts, header, set(prompts["calibration"]))


if __name__ == "__main__":
    main()
