"""What tasks 4.1, 4.2 and 4.4 are tried on: guesses, the cache of a text, a cache of several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lessons.assignments.cases import Generator
from lessons.assignments.trials import runs
from ssd_ref.randomness import Site
from ssd_ref.rounds import Outcome, Speculation
from ssd_ref.testing.check import Trial
from ssd_ref.testing.trials import gives

# Task 4.1


def guessed(logits: Sequence[Sequence[float]], drafted: list[int], fan_out: list[int]) -> Trial:
    """The oracle: at each k the possible tokens in the order of their logits."""
    expected: list[Outcome] = []
    for k, row in enumerate(logits):
        left = [t for t in range(len(row)) if drafted[k : k + 1] != [t]]
        left.sort(key=lambda t: (-row[t], t))
        many = fan_out[k] if k < len(drafted) else fan_out[-1]
        expected += [Outcome(k, t) for t in left[:many]]
    return gives(expected, [np.array(row, dtype=float) for row in logits], drafted, fan_out)


def some(rng: Generator, V: int, n: int) -> tuple[list[list[float]], list[int]]:
    """Logits with ties, and drafted tokens."""
    return rng.integers(-2, 4, (n + 1, V)).astype(float).tolist(), rng.integers(V, size=n).tolist()


def ranking(rng: Generator) -> list[Trial]:
    """Nothing was drafted: ties and impossible tokens alone."""
    rows = ([3.0, 1.0, 2.0], [0.0, 2.0, 2.0, 1.0, 2.0], [1.0, 1.0, 1.0], [-np.inf, 0.5, -np.inf])
    random = [some(rng, V, 0)[0][0] for V in (3, 4, 6)]
    return [guessed([row], [], [F]) for row in (*rows, *random) for F in (1, 2, 3)]


def rejected(rng: Generator) -> list[Trial]:
    by_hand = ([[3.0, 2.0, 1.0], [1.0, 5.0, 4.0]], [0], [1, 1])
    likely = ([[3.0, 2.0, 1.0], [1.0, 5.0, 4.0], [0.0, 1.0, 7.0]], [0, 1], [2, 1, 1])
    random = [
        (*some(rng, V, n), rng.integers(1, V, n + 1).tolist()) for V, n in ((3, 1), (4, 2), (5, 3))
    ]
    return [guessed(*case) for case in (by_hand, likely, *random)]


def slots(rng: Generator) -> list[Trial]:
    lists: list[tuple[int, int, list[int]]] = [
        (3, 1, [1, 0, 2]), (4, 1, [1, 1, 1, 3]), (4, 0, [1, 2]), (3, 2, [0, 1, 0]),
        (4, 2, [9, 9, 9]), (3, 1, [0, 0]), (3, 2, [2, 0, 1, 3]),
    ]  # fmt: skip
    return [guessed(*some(rng, V, n), fan_out) for V, n, fan_out in lists]


# Task 4.2


def labelled(text: Sequence[int]) -> Speculation:
    """A speculation by whose tokens one can see which text it is for."""
    rows = np.full((len(text), 10), 0.1)
    sites = tuple(Site(0, 1, "draft", i) for i in range(len(text)))
    return Speculation(tuple(text), rows, sites, "draft")


def cache(text: list[int], drafted: list[int], guesses: list[Outcome], end: int | None) -> Trial:
    expected = {tuple(g): [*text, *drafted[: g[0]], g[1]] for g in guesses}
    expected = {g: longer for g, longer in expected.items() if longer[-1] != end}

    def entries(answer: Any) -> Any:
        def draft_after(longer: Sequence[int], guess: Outcome) -> Speculation:
            return labelled(longer)

        found = answer(
            tuple(text), tuple(drafted), list(guesses), lambda t: t[-1] == end, draft_after
        )
        return {key: list(s.tokens) for key, s in found.items()}

    case = f"the text that each entry begins behind, for text={text}, drafted={drafted}, guesses="
    case += f"{[tuple(g) for g in guesses]}, and token {end} ends a text"
    return runs(case, expected, entries)


def random_guesses(rng: Generator, n: int, many: int) -> list[Outcome]:
    pairs = rng.permutation([(k, t) for k in range(n + 1) for t in range(4)])[:many].tolist()
    return [Outcome(k, t) for k, t in pairs]


ALL = [Outcome(k, t) for k in range(3) for t in (1, 3)]


def texts(rng: Generator) -> list[Trial]:
    fixed = [cache([7], [1, 2], ALL, None), cache([7, 8], [1], [Outcome(0, 3)], None)]
    shapes = [(1, 2), (2, 4), (3, 7), (0, 2)]
    return fixed + [cache(rng.integers(9, size=2).tolist(), rng.integers(4, size=n).tolist(),
                          random_guesses(rng, n, many), None) for n, many in shapes]  # fmt: skip


def ends(rng: Generator) -> list[Trial]:
    fixed = [cache([7], [1, 2], ALL, 3), cache([7], [], [Outcome(0, 3)], 3), cache([7], [1], [], 3)]
    return fixed + [cache([5], [1, 2, 0], random_guesses(rng, 3, 8), 2) for _ in range(3)]


# Task 4.4

Texts = dict[int, tuple[list[int], list[int], list[Outcome], Outcome]]  # .., verdict


def some_texts(rng: Generator, numbers: Sequence[int], hits: Sequence[bool]) -> Texts:
    """Texts that end alike, with the same drafted tokens and the same guesses, nearly."""
    found: Texts = {}
    for number, hit in zip(numbers, hits, strict=True):
        guesses = random_guesses(rng, 2, 6)
        others = [Outcome(k, t) for k in range(3) for t in range(4) if (k, t) not in guesses]
        verdict = (guesses if hit else others)[int(rng.integers(len(guesses if hit else others)))]
        found[number] = ([number % 10, 1], rng.integers(4, size=2).tolist(), guesses, verdict)
    return found


def served(texts: Texts, show: Callable[[list[Any], Any], Any], what: str, expected: Any) -> Trial:
    def run(answer: Any) -> Any:
        log: list[Any] = []

        def draft_after(number: int, longer: Sequence[int]) -> Speculation:
            log.append((number, tuple(longer)))
            return labelled(longer)

        def wait() -> dict[int, Outcome]:
            log.append("wait")
            return {number: case[3] for number, case in texts.items()}

        parts = [{number: case[i] for number, case in texts.items()} for i in range(3)]
        return show(log, answer(*parts, draft_after, wait))

    lines = [
        f"text {number}: {text}, drafted {d}, guesses {list(map(tuple, guesses))}, then {tuple(v)}"
        for number, (text, d, guesses, v) in texts.items()
    ]
    return runs("\n".join([what, *lines]), expected, run)


def right_text(texts: Texts) -> Trial:
    expected = {number: [*text, *d[:k], t] for number, (text, d, _, (k, t)) in texts.items()}
    return served(texts, lambda log, got: {n: list(s.tokens) for n, s in got.items()},
                  "the text that each text's next speculation begins behind", expected)  # fmt: skip


def right_time(texts: Texts) -> Trial:
    """What was drafted before the wait, and what behind it, in any order."""
    early = sorted((n, (*text, *d[:k], t)) for n, (text, d, gs, _) in texts.items() for k, t in gs)
    late = sorted(
        (n, (*text, *d[: v[0]], v[1])) for n, (text, d, gs, v) in texts.items() if v not in gs
    )

    def sides(log: list[Any], got: Any) -> Any:
        place = log.index("wait")
        return {"before": sorted(log[:place]), "behind": sorted(log[place + 1 :])}

    return served(texts, sides, "(number, text) that is drafted, before and behind the wait",
                  {"before": early, "behind": late})  # fmt: skip


TWINS: Texts = {
    0: ([5, 1], [2, 2], [Outcome(0, 1), Outcome(1, 1), Outcome(2, 3)], Outcome(1, 1)),
    1: ([6, 1], [2, 0], [Outcome(0, 1), Outcome(1, 3), Outcome(2, 3)], Outcome(2, 3)),
    2: ([7, 1], [2, 3], [Outcome(0, 1)], Outcome(1, 1)),
}


def keys(rng: Generator) -> list[Trial]:
    shapes = [
        ([0], [True]),
        ([0, 1], [True, True]),
        ([4, 9], [True, False]),
        ([3, 1, 8], [True] * 3),
    ]
    alone = {0: TWINS[0]}
    return [right_text(t) for t in (alone, TWINS, *(some_texts(rng, *shape) for shape in shapes))]


def times(rng: Generator) -> list[Trial]:
    shapes = [([0], [False]), ([0, 1], [True, False]), ([4, 9, 2], [False, True, False])]
    return [right_time(t) for t in (TWINS, *(some_texts(rng, *shape) for shape in shapes))]
