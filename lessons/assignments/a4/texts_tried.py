"""What task 4.3 is tried on: texts, hits, and what is drafted before a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lessons.assignments import cases
from lessons.assignments.a4 import reference
from lessons.assignments.cases import Generator, Setting
from lessons.assignments.spies import Logged
from lessons.assignments.trials import has_law_of, runs
from ssd_ref.exact_law import Decode, exact_law
from ssd_ref.models import TableModel
from ssd_ref.randomness import Randomness, SeededRandomness
from ssd_ref.testing.check import Trial
from ssd_ref.testing.trials import has_law


def decoded(answer: Any, s: Setting, randomness: Randomness) -> Any:
    return answer(s.target, s.draft, list(s.prompt), **s.sd(), randomness=randomness)


def text_law(s: Setting) -> Trial:
    def decoder(answer: Any) -> Decode:
        return lambda r: decoded(answer, s, r)[0]

    return has_law(f"the text of\n{s}", decoder, s.expected())


def with_lists(rng: Generator, settings: Sequence[Setting]) -> list[Setting]:
    """The same with a fan-out list of 0 to 2 guesses at each k."""
    return [
        Setting(s.target, s.draft, s.lookahead, s.max_new_tokens, s.prompt, s.law,
                {"fan_out": rng.integers(0, 3, s.lookahead + 1).tolist()})
        for s in settings
    ]  # fmt: skip


FLAT = TableModel([0.5, 0.5])
BY_LAST = TableModel([[0.8, 0.2], [0.2, 0.8]])
BY_TWO = TableModel([[[0.2, 0.8], [0.2, 0.8]], [[0.8, 0.2], [0.8, 0.2]]])
BY_FIRST = [[0.2, 0.1, 0.7], [0.1, 0.2, 0.7], [0.1, 0.2, 0.7]]  # the second guess changes
FIXED = [
    Setting(TableModel([0.6, 0.4]), TableModel([0.3, 0.7]), 1, 3, more={"fan_out": [0, 0]}),
    Setting(FLAT, BY_LAST, 1, 3, more={"fan_out": [1, 2]}),
    Setting(FLAT, BY_TWO, 1, 3, more={"fan_out": [1, 2]}),
    Setting(TableModel([0.8, 0.2]), TableModel([0.3, 0.7]), 1, 4, more={"fan_out": [1, 1]}),
]


def laws(rng: Generator) -> list[Trial]:
    random = cases.settings(rng, [(2, 1, 3), (2, 2, 3), (3, 1, 3), (3, 2, 3)], zeros=True)
    return [text_law(s) for s in [*FIXED, *with_lists(rng, random)]]


def hits_law(s: Setting) -> Trial:
    """How many rounds of a text are served from the cache: as many as the package's own."""

    def decoder(answer: Any) -> Decode:
        return lambda r: [1] * list(decoded(answer, s, r)[1]).count("cache")

    expected = {len(ones): p for ones, p in exact_law(decoder(reference.ssd)).items()}
    return has_law_of(f"how many rounds are served from the cache, of\n{s}", decoder, len, expected)


def hits(rng: Generator) -> list[Trial]:
    wide = Setting(BY_LAST, BY_TWO, 1, 3, more={"fan_out": [1, 1]})
    random = cases.settings(rng, [(2, 1, 3), (2, 2, 3), (3, 1, 3), (2, 2, 3)])
    stale = Setting(
        TableModel([0.4, 0.4, 0.2]), TableModel(BY_FIRST), 1, 3, more={"fan_out": [1, 0]}
    )
    return [hits_law(s) for s in [*FIXED[1:], wide, stale, *with_lists(rng, random)]]


def whole_text(s: Setting, seed: int = 1) -> Trial:
    def text(answer: Any) -> Any:
        tokens, served = decoded(answer, s, SeededRandomness(seed))
        return list(tokens), list(served)

    expected = decoded(reference.ssd, s, SeededRandomness(seed))
    return runs(f"the text, and who served each round, of\n{s}", expected, text)


def ends(rng: Generator) -> list[Trial]:
    """Certain tables: nothing depends on a draw. The package's own is the oracle."""
    cycle, half = TableModel(np.eye(3)[[1, 2, 0]]), TableModel(np.eye(3)[[1, 0, 0]])
    shapes = [(half, 2, 5), (cycle, 1, 4), (cycle, 3, 7), (half, 3, 8), (half, 1, 1)]
    plain = [Setting(cycle, d, K, N, more={"fan_out": [1] * (K + 1)}) for d, K, N in shapes]
    eos = [Setting(cycle, d, K, 9, law={"eos": 2}, more={"fan_out": [1, *[2] * K]})
           for d, K in ((half, 1), (cycle, 3), (half, 3))]  # fmt: skip
    wrong = Setting(cycle, TableModel(np.eye(3)[[0, 0, 1]]), 2, 5, more={"fan_out": [2, 0, 1]})
    return [whole_text(s) for s in [*plain, *eos, wrong]]


def prepared(s: Setting, seed: int) -> Trial:
    def entries(answer: Any) -> Any:
        source = Logged(seed)
        decoded(answer, s, source)
        return source.prepared()

    case = f"the entries' tokens (round, guess, index, before or behind the verdict, law) of\n{s}"
    return runs(case, entries(reference.ssd), entries)


def before(rng: Generator) -> list[Trial]:
    random = cases.settings(rng, [(2, 1, 3), (3, 2, 5), (3, 2, 6)])
    settings = [FIXED[1], *with_lists(rng, random)]
    return [prepared(s, seed) for s in settings for seed in (1, 2)]
