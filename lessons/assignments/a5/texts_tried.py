"""What task 5.3 is tried on: texts, hits, and what is drafted before a verdict."""

from __future__ import annotations

from typing import Any

from lessons.assignments import cases
from lessons.assignments.a5 import reference
from lessons.assignments.cases import Generator, Setting
from lessons.assignments.spies import Logged
from lessons.assignments.trials import has_law_of, runs
from ssd_ref.exact_law import Decode, exact_law
from ssd_ref.models import TableModel
from ssd_ref.randomness import Randomness, SeededRandomness
from ssd_ref.speculative import speculative
from ssd_ref.testing.check import Trial
from ssd_ref.testing.trials import has_law


def decoded(answer: Any, s: Setting, randomness: Randomness) -> Any:
    return answer(s.target, s.draft, list(s.prompt), **s.sd(), randomness=randomness)


def text_law(s: Setting) -> Trial:
    def decoder(answer: Any) -> Decode:
        return lambda r: decoded(answer, s, r)[0]

    return has_law(f"the text of\n{s}", decoder, s.expected())


Options = tuple[float, str, dict[str, Any]]  # saguaro_c, backup, what changes the law


def with_lists(rng: Generator, s: Setting, options: Options) -> Setting:
    c, backup, law = options
    lists = {
        name: rng.integers(0, 3, s.lookahead + 1).tolist() for name in ("fan_out", "fan_out_miss")
    }
    more = {**lists, "saguaro_c": c, "backup": backup}
    return Setting(s.target, s.draft, s.lookahead, s.max_new_tokens, s.prompt, law, more)


# The first list guesses the lower token alone, the second one none, or all.
ROWS = TableModel([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.3, 0.3, 0.4]])
DRAFT = TableModel([[0.2, 0.2, 0.6], [0.3, 0.4, 0.3], [0.3, 0.5, 0.2]])


def by_hand(N: int, c: float, backup: str, fan_out: list[int], miss: list[int]) -> Setting:
    more = {"fan_out": fan_out, "fan_out_miss": miss, "saguaro_c": c, "backup": backup}
    return Setting(ROWS, DRAFT, 1, N, more=more)


def laws(rng: Generator) -> list[Trial]:
    options: list[Options] = [
        (0.5, "draft", {}), (0.5, "uniform", {}), (0.3, "draft", {"temperature": 0.5}),
        (0.6, "draft", {"eos": 1}), (0.0, "uniform", {"temperature": 2.0}),
    ]  # fmt: skip
    random = cases.settings(rng, [(2, 1, 3), (2, 2, 3), (3, 1, 3), (2, 2, 3), (2, 1, 3)])
    fixed = [by_hand(3, 0.5, "draft", [1, 1], [2, 0]), by_hand(3, 0.5, "uniform", [1, 1], [2, 1])]
    pairs = zip(random, options, strict=True)
    return [text_law(s) for s in [*fixed, *(with_lists(rng, s, o) for s, o in pairs)]]


def same_text(rng: Generator) -> list[Trial]:
    """At c = 1, with the draft as backup, the seed decides the text, and the cache the clock."""
    random = cases.settings(rng, [(3, 2, 12), (4, 3, 12), (3, 1, 10)])
    settings = [with_lists(rng, s, (1.0, "draft", {})) for s in random]
    return [as_without_a_cache(s, seed) for s in settings for seed in (1, 2)]


def as_without_a_cache(s: Setting, seed: int) -> Trial:
    def text(answer: Any) -> list[int]:
        return list(decoded(answer, s, SeededRandomness(seed))[0])

    plain = Setting(s.target, s.draft, s.lookahead, s.max_new_tokens, s.prompt, s.law)
    source = SeededRandomness(seed)
    expected = speculative(s.target, s.draft, s.prompt, **plain.sd(), randomness=source)
    return runs(f"the text, for the seed {seed}, of\n{s}", expected.tokens, text)


def hits_law(s: Setting) -> Trial:
    """How many rounds of a text are served from the cache: as many as the package's own."""

    def decoder(answer: Any) -> Decode:
        return lambda r: [1] * list(decoded(answer, s, r)[1]).count("cache")

    expected = {len(ones): p for ones, p in exact_law(decoder(reference.ssd)).items()}
    return has_law_of(f"how many rounds are served from the cache, of\n{s}", decoder, len, expected)


def hits(rng: Generator) -> list[Trial]:
    fixed = [
        by_hand(3, 0.5, "draft", [1, 1], [2, 0]),
        by_hand(3, 0.4, "uniform", [0, 1], [2, 2]),
        by_hand(3, 0.3, "uniform", [1, 0], [0, 2]),
    ]
    random = cases.settings(rng, [(2, 1, 3)])[0]
    return [
        hits_law(s) for s in [*fixed, with_lists(rng, random, (0.4, "draft", {"temperature": 0.7}))]
    ]


def prepared(s: Setting, seed: int) -> Trial:
    def entries(answer: Any) -> Any:
        source = Logged(seed)
        decoded(answer, s, source)
        return source.prepared()

    case = f"the entries' tokens (round, guess, index, before or behind the verdict, law) of\n{s}"
    return runs(case, entries(reference.ssd), entries)


def before(rng: Generator) -> list[Trial]:
    random = cases.settings(rng, [(2, 1, 3), (3, 2, 5), (3, 2, 6)])
    options: list[Options] = [(1.0, "draft", {}), (0.5, "uniform", {}), (0.4, "draft", {})]
    fixed = [by_hand(6, 0.5, "draft", [0, 1], [2, 3]), by_hand(6, 0.5, "uniform", [1, 0], [2, 2])]
    settings = [*fixed, *(with_lists(rng, s, o) for s, o in zip(random, options, strict=True))]
    return [prepared(s, seed) for s in settings for seed in (1, 2)]
