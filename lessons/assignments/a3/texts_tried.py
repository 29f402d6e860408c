"""What tasks 3.4 and 3.5 are tried on: whole texts, their counts, and a law that looks back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lessons.assignments import cases
from lessons.assignments.a3 import reference
from lessons.assignments.a3.rounds_tried import kept
from lessons.assignments.cases import Generator, Setting
from lessons.assignments.spies import Spied
from lessons.assignments.trials import has_law_of, leaves_alone, runs
from ssd_ref.exact_law import Decode, exact_law
from ssd_ref.laws import Law
from ssd_ref.models import ContextModel, Model, Row, TableModel
from ssd_ref.randomness import Randomness, SeededRandomness
from ssd_ref.testing.check import Trial
from ssd_ref.testing.target_law import target_law
from ssd_ref.testing.trials import gives, has_law
from ssd_ref.verification import verify

# Task 3.4


def decoded(answer: Any, s: Setting, randomness: Randomness) -> Any:
    """(tokens, reason, rounds); s.law: law, draft_law, eos."""
    settings: dict[str, Any] = {"law": Law(), "draft_law": Law(), "eos": None, **s.law}
    return answer(s.target, s.draft, list(s.prompt), max_new_tokens=s.max_new_tokens,
                  lookahead=s.lookahead, **settings, randomness=randomness)  # fmt: skip


def text_law(s: Setting) -> Trial:
    def decoder(answer: Any) -> Decode:
        return lambda r: decoded(answer, s, r)[0]

    law, eos = s.law.get("law", Law()), s.law.get("eos")
    expected = target_law(s.target, s.prompt, max_new_tokens=s.max_new_tokens, eos=eos, **vars(law))
    return has_law(f"the text of\n{s}", decoder, expected)


ROLLED = Setting(TableModel([[0.2, 0.8], [0.6, 0.4]]), TableModel([[0.8, 0.2], [0.6, 0.4]]), 1, 2)
SIZES = [(2, 1, 3), (2, 2, 3), (3, 2, 3), (2, 3, 4), (3, 1, 3)]


def laws(rng: Generator) -> list[Trial]:
    random = [*cases.settings(rng, SIZES), *cases.settings(rng, SIZES[:3], zeros=True)]
    longer = [Setting(s.target, s.draft, s.lookahead, 3, (1, 0, 1)) for s in random[1:3]]
    plain = Setting(ROLLED.target, ROLLED.draft, 0, 2)
    return [text_law(s) for s in [ROLLED, *random, *longer, plain]]


def tempered(rng: Generator) -> list[Trial]:
    pairs = [(Law(2.0), Law()), (Law(), Law(0.5)), (Law(0.7, 2), Law(1.5)), (Law(0.0), Law())]
    settings = [cases.settings(rng, [(2, 1, 2), (3, 2, 3)])[i % 2] for i in range(len(pairs))]
    return [
        text_law(Setting(s.target, s.draft, s.lookahead, s.max_new_tokens,
                         law={"law": law, "draft_law": draft_law}))
        for s, (law, draft_law) in zip(settings, pairs, strict=True)
    ]  # fmt: skip


Rounds = list[tuple[int, int, int]]


def without_chance(s: Setting) -> tuple[list[int], str, Rounds]:
    """The oracle for one-hot tables: what each model would say next is certain."""
    text, rounds, eos = list(s.prompt), Rounds(), s.law.get("eos")
    reason = "length" if s.max_new_tokens == 0 else None
    while reason is None:
        room = len(s.prompt) + s.max_new_tokens - len(text)
        drafted: list[int] = []
        while len(drafted) < min(s.lookahead, room) and eos not in drafted:
            drafted.append(said(s.draft, [*text, *drafted]))
        emitted: list[int] = []
        for token in drafted:
            if said(s.target, [*text, *emitted]) != token:
                break
            emitted.append(token)
        accepted = len(emitted)
        emitted.append(said(s.target, [*text, *emitted]))
        new, reason = kept(emitted, room, eos)
        text += new
        rounds.append((len(drafted), min(accepted, len(new)), len(new)))
    return text[len(s.prompt) :], reason, rounds


def said(model: ContextModel, text: Sequence[int]) -> int:
    return int(model.logits_after(text).argmax())


def certain(rng: Generator, V: int, order: int) -> TableModel:
    return TableModel(np.eye(V)[rng.integers(V, size=(V,) * order)])


def ends(rng: Generator) -> list[Trial]:
    cycle, wrong = TableModel(np.eye(3)[[1, 2, 0]]), TableModel(np.eye(3)[[2, 0, 1]])
    two_back = np.add.outer(range(3), range(3))  # what follows depends on both
    sums, misses = TableModel(np.eye(3)[two_back % 3]), TableModel(np.eye(3)[(two_back + 1) % 3])
    half = TableModel(np.eye(3)[[1, 0, 0]])  # right after 0 and 2, wrong after 1
    by_hand = [Setting(cycle, cycle, 3, N) for N in (2, 5, 0, 1, 4, 6, 8)]
    by_hand += [
        Setting(cycle, wrong, 5, 4),
        Setting(cycle, half, 3, 7),
        Setting(cycle, half, 0, 3),
        Setting(sums, misses, 2, 5, (1, 1)),
    ]
    eos = [
        Setting(cycle, draft, K, N, law={"eos": 2})
        for draft, K, N in ((cycle, 3, 9), (cycle, 1, 2), (half, 4, 9), (cycle, 1, 1))
    ]
    random = [Setting(certain(rng, 3, 2), certain(rng, 3, 2), K, N, law={"eos": 0}, prompt=(1, 2))
              for K, N in ((1, 4), (2, 5), (3, 7), (2, 6))]  # fmt: skip
    return [whole_text(s) for s in [*by_hand, *eos, *random]]


def whole_text(s: Setting) -> Trial:
    """Tokens, reason and rounds; and the prompt is still what it was."""

    def text(answer: Any) -> Any:
        prompt = list(s.prompt)
        settings = {"law": Law(), "draft_law": Law(), **s.law}
        sizes = {"max_new_tokens": s.max_new_tokens, "lookahead": s.lookahead}
        source = SeededRandomness(1)
        found = answer(s.target, s.draft, prompt, **sizes, **settings, randomness=source)
        tokens, reason, rounds = found
        return {"tokens": list(tokens), "reason": reason,
                "rounds": [tuple(r) for r in rounds], "the prompt afterwards": prompt}  # fmt: skip

    tokens, reason, rounds = without_chance(s)
    expected = {"tokens": tokens, "reason": reason, "rounds": rounds,
                "the prompt afterwards": list(s.prompt)}  # fmt: skip
    return runs(f"the text and the rounds of\n{s}", expected, text)


class ByPlace(ContextModel):
    """The next token is certain, and depends on the length of the text alone."""

    def logits_after(self, context: Sequence[int]) -> Row:
        with np.errstate(divide="ignore"):
            row: Row = np.log(np.eye(self.vocabulary)[len(context) % self.vocabulary])
        return row


def counters(rng: Generator) -> list[Trial]:
    same = [forwards(ByPlace(3), N, K) for N, K in ((4, 1), (20, 1), (20, 3), (20, 4), (0, 2))]
    hidden = cases.settings(rng, [(2, 1, 3), (3, 1, 3), (2, 2, 4), (2, 3, 4)])[1:]
    return [*same, *(accepted_law(s) for s in hidden)]


def forwards(model: Model, N: int, K: int) -> Trial:
    def count(answer: Any) -> int:
        spied = Spied(model)
        answer(spied, model, [0], max_new_tokens=N, lookahead=K, law=Law(), draft_law=Law(),
               randomness=SeededRandomness(1))  # fmt: skip
        return spied.forwards()

    case = f"forwards of the target, where draft and target are the same, N={N} K={K}"
    return runs(case, -(-N // (K + 1)), count)


def accepted_law(s: Setting) -> Trial:
    """How many guesses a whole text accepts: as many as with the package's loop."""

    def decoder(answer: Any) -> Decode:
        return lambda r: [1] * sum(accepted for _, accepted, _ in decoded(answer, s, r)[2])

    law = exact_law(decoder(reference.speculative))
    expected = {len(ones): p for ones, p in law.items()}
    return has_law_of(f"how many guesses are accepted in all, of\n{s}", decoder, len, expected)


# Task 3.5


def penalty(row: Row, occurred: Sequence[int], weight: float) -> list[float]:
    """The oracle: token by token."""
    weights = [float(p) * (weight if t in occurred else 1.0) for t, p in enumerate(row)]
    return [w / sum(weights) for w in weights]


def penalised(rows: Row, generated: list[int], drafted: list[int], weight: float) -> Trial:
    expected = [penalty(row, [*generated, *drafted[:i]], weight) for i, row in enumerate(rows)]
    return gives(expected, rows, generated, drafted, weight, tolerance=1e-12)


def penalty_values(rng: Generator) -> list[Trial]:
    sizes = [(2, 1, 1), (3, 2, 2), (4, 0, 3), (5, 4, 2), (3, 3, 0)]
    by_hand = penalised(np.array([[0.4, 0.3, 0.2, 0.1]] * 3), [2, 2], [0, 1], 0.5)
    random = [
        (np.array([cases.law(rng, V) for _ in range(n + 1)]), rng.integers(V, size=g).tolist(),
         rng.integers(V, size=n).tolist(), float(rng.choice([0.5, 0.8, 2])))
        for V, g, n in sizes
    ]  # fmt: skip
    return [by_hand, *(penalised(*case) for case in random), leaves_alone(*random[0])]


class LooksBack(ContextModel):
    """A table's law with the penalty, from the whole text; the first token is the prompt."""

    def __init__(self, table: TableModel, weight: float) -> None:
        super().__init__(table.vocabulary)
        self.table, self.weight = table, weight

    def logits_after(self, context: Sequence[int]) -> Row:
        row = np.exp(self.table.logits_after(context))
        return np.log(penalty(row, context[1:], self.weight))


def penalty_laws(rng: Generator) -> list[Trial]:
    base = TableModel([0.6, 0.4])
    random = cases.settings(rng, [(2, 2, 3), (3, 1, 3), (3, 2, 3), (2, 3, 4)])
    return [looks_back(s, 0.5) for s in [Setting(base, base, 1, 2), *random]]


def looks_back(s: Setting, weight: float) -> Trial:
    def decoder(answer: Any) -> Decode:
        return lambda r: with_penalty(answer, s, weight, r)

    expected = target_law(LooksBack(s.target, weight), s.prompt, max_new_tokens=s.max_new_tokens)
    return has_law(f"the text, with weight {weight}, of\n{s}", decoder, expected)


def with_penalty(answer: Any, s: Setting, weight: float, randomness: Randomness) -> list[int]:
    """A loop of speculative decoding that asks the answer for the target's laws."""
    new: list[int] = []
    round, session = 1, s.draft.start([])
    while len(new) < s.max_new_tokens:
        text = [*s.prompt, *new]
        n = min(s.lookahead, s.max_new_tokens - len(new))
        session.rewind(0)
        speculation = reference.draft_block(session, text, n, Law(), None, randomness, round)
        after = [text + list(speculation.tokens[:i]) for i in range(n + 1)]
        rows = np.array([np.exp(s.target.logits_after(context)) for context in after])
        laws = answer(rows, list(new), list(speculation.tokens), weight)
        accepted, bonus = verify(laws.__getitem__, speculation, randomness, round)
        new += [*speculation.tokens[:accepted], bonus]
        round += 1
    return new[: s.max_new_tokens]
