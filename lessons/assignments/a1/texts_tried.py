"""What tasks 1.5 and 1.6 are tried on: texts, and continuations of a text."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lessons.assignments import cases
from lessons.assignments.a1.blocks_tried import numbers
from lessons.assignments.a1.reference import Array
from lessons.assignments.cases import Generator
from lessons.assignments.spies import Spied
from lessons.assignments.trials import runs
from ssd_ref.exact_law import Decode
from ssd_ref.models import ContextModel, Row, TableModel
from ssd_ref.randomness import SeededRandomness
from ssd_ref.testing.check import Trial
from ssd_ref.testing.same import Words
from ssd_ref.testing.target_law import next_law, target_law
from ssd_ref.testing.trials import gives, has_law

# Task 1.5


def of_the_table(target: TableModel, prompt: Sequence[int], n: int, law: dict[str, Any]) -> str:
    settings = " ".join(f"{key}={value}" for key, value in law.items())
    head = f"the text of prompt={list(prompt)} max_new_tokens={n} {settings}"
    return "\n".join([head, *cases.rows("target", target)])


def text_law(target: TableModel, prompt: Sequence[int], n: int, **law: Any) -> Trial:
    def decoder(answer: Any) -> Decode:
        return lambda r: answer(target, list(prompt), max_new_tokens=n, **law, randomness=r)

    expected = target_law(target, prompt, max_new_tokens=n, **law)
    return has_law(of_the_table(target, prompt, n, law), decoder, expected)


def laws(rng: Generator) -> list[Trial]:
    by_hand = TableModel([[0.2, 0.5, 0.3], [0.6, 0.3, 0.1], [0.1, 0.1, 0.8]])
    fixed = [
        text_law(by_hand, [0], 2, temperature=0.5, top_k=2),
        text_law(by_hand, [2, 1], 2, top_p=0.7),
    ]
    random = [cases.table(rng, V, order, zeros=True) for V, order in ((2, 0), (2, 1), (3, 2))]
    return [
        *fixed,
        *(text_law(t, (1, 0), 3) for t in random),
        *(text_law(t, (0,), 3, temperature=0.7, top_k=2) for t in random),
        *(text_law(t, (0, 1, 1), 3, temperature=0.0) for t in random),
    ]


def ends(rng: Generator) -> list[Trial]:
    cycle = TableModel(np.eye(3)[[1, 2, 0]])
    fixed = [text_law(cycle, [0], n, eos=2) for n in (3, 2, 1, 0)] + [text_law(cycle, [2], 4)]
    return fixed + [text_law(cases.table(rng, V, 1), [0], 3, eos=V - 1) for V in (2, 3)]


def how_much(rng: Generator) -> list[Trial]:
    return [
        tokens_read(cases.table(rng, 3, order), prompt, n)
        for order, prompt, n in ((1, [0], 2), (2, [0, 2, 1], 4), (1, [1, 1], 1))
    ]


def tokens_read(target: TableModel, prompt: list[int], n: int) -> Trial:
    def read(answer: Any) -> int:
        spied = Spied(target)
        answer(spied, list(prompt), max_new_tokens=n, randomness=SeededRandomness(1))
        return spied.reads()

    return runs(
        f"how many tokens are read for {of_the_table(target, prompt, n, {})}",
        len(prompt) + n - 1,
        read,
    )


# Task 1.6


class Logits(ContextModel):
    """Logits that are no logarithms of probabilities; they depend on the last two tokens."""

    def __init__(self, table: Array) -> None:
        super().__init__(table.shape[-1])
        self.table = table

    def __repr__(self) -> str:
        return f"a target whose logits after the last two tokens are {self.table.tolist()}"

    def logits_after(self, context: Sequence[int]) -> Row:
        before, last = [0, 0, *context][-2:]
        row: Row = self.table[before, last]
        return row


def log_p(target: Logits, text: Sequence[int], tokens: Sequence[int]) -> float:
    """The oracle: token by token, each from the whole text before it."""
    total, text = 0.0, list(text)
    for token in tokens:
        p = next_law(target.logits_after(text).tolist(), 1.0, None, None)[token]
        total += math.log(p) if p > 0 else -math.inf
        text.append(token)
    return total


def scored(target: Logits, prompt: list[int], candidates: list[list[int]]) -> Trial:
    return gives([log_p(target, prompt, c) for c in candidates], target, prompt, candidates)


def random_candidates(rng: Generator, V: int, lengths: Sequence[int]) -> list[list[int]]:
    return [rng.integers(V, size=n).tolist() for n in lengths]


def score_values(rng: Generator) -> list[Trial]:
    sizes: list[tuple[int, list[int], Sequence[int]]] = [
        (2, [0], (2,)),
        (2, [1], (2, 2)),
        (3, [0, 2, 1], (3, 1, 4, 2)),
    ]
    return [
        scored(Logits(numbers(rng, V, V, V)), prompt, random_candidates(rng, V, lengths))
        for V, prompt, lengths in sizes
    ]


def score_edges(rng: Generator) -> list[Trial]:
    table = numbers(rng, 2, 2, 2)
    table[:, 1, 1] = -math.inf
    target = Logits(table)
    return [scored(target, [0], c) for c in ([[0], []], [[1, 1]], [[1, 1, 0], [1, 0]], [])]


def score_reads(rng: Generator) -> list[Trial]:
    return [
        frugal(Logits(numbers(rng, 3, 3, 3)), prompt, random_candidates(rng, 3, lengths))
        for prompt, lengths in (([0, 1], (2, 3)), ([2, 0, 1], (1, 2, 4, 2)))
    ]


def frugal(target: Logits, prompt: list[int], candidates: list[list[int]]) -> Trial:
    most = (1, len(candidates) + 1, len(prompt) + sum(len(c) + 1 for c in candidates))

    def fine(answer: Callable[..., Any]) -> Any:
        spied = Spied(target)
        answer(spied, prompt, candidates)
        got = (spied.starts(), spied.forwards(), spied.reads())
        return Words(f"no more than {most}") if np.all(np.array(got) <= most) else got

    case = f"(sessions, calls of extend, tokens read) for prompt={prompt}, candidates={candidates}"
    return runs(case, Words(f"no more than {most}"), fine)
