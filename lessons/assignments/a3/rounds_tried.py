"""What tasks 3.1 to 3.3 are tried on: the end of a text, a draft, a rollback."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lessons.assignments import cases
from lessons.assignments.cases import Generator
from lessons.assignments.spies import Spied
from lessons.assignments.trials import runs
from ssd_ref.exact_law import Decode
from ssd_ref.laws import Law
from ssd_ref.models import TableModel
from ssd_ref.randomness import Randomness, SeededRandomness, Site
from ssd_ref.rounds import Speculation
from ssd_ref.testing.check import Trial
from ssd_ref.testing.target_law import next_law, target_law
from ssd_ref.testing.trials import gives, has_law

# Task 3.1


def kept(emitted: Sequence[int], room: int, eos: int | None) -> tuple[list[int], str | None]:
    """The oracle: token by token."""
    text: list[int] = []
    for token in emitted:
        if len(text) == room:
            break
        text.append(token)
        if token == eos:
            return text, "eos"
    return text, "length" if len(text) == room else None


def cuts(emitted: list[int], room: int, eos: int | None) -> Trial:
    return gives(kept(emitted, room, eos), emitted, room, eos)


def end_tokens(rng: Generator) -> list[Trial]:
    random = [cuts(rng.integers(3, size=n).tolist(), 9, 2) for n in (2, 3, 4, 4, 5, 5)]
    by_hand = ([0, 1, 2, 0, 0], [2], [1, 2], [0, 1], [2, 2, 0])
    return [*(cuts(emitted, 9, 2) for emitted in by_hand), *random, cuts([0, 2], 9, None)]


def limits(rng: Generator) -> list[Trial]:
    sizes = [(3, 2), (3, 3), (2, 3), (1, 1), (5, 4), (4, 1)]
    return [cuts(rng.integers(3, size=n).tolist(), room, None) for n, room in sizes]


def both_ends(rng: Generator) -> list[Trial]:
    """An end token before, at and behind the last place that there is."""
    blocks = ([0, 1, 2, 1, 1, 1], [0, 1, 1, 1, 1, 2], [0, 1, 1, 1, 2, 1], [1, 1, 2, 1, 1, 2])
    random = [cuts(rng.integers(3, size=6).tolist(), int(rng.integers(1, 7)), 2) for _ in range(6)]
    return [*(cuts(block, 5, 2) for block in blocks), *random]


# Task 3.2

CYCLE = TableModel(np.eye(3)[[1, 2, 0]])

Draft = tuple[TableModel, list[int], int, int, Law, int | None]  # .., text, read, n, law, eos


def described(case: Draft) -> str:
    draft, text, read, n, law, eos = case
    line = f"text={text}, of which {read} tokens are read; n={n} {law} eos={eos}"
    return "\n".join([line, *cases.rows("draft", draft)])


def drafted(answer: Any, case: Draft, randomness: Randomness) -> tuple[Speculation, Spied]:
    draft, text, read, n, law, eos = case
    spied = Spied(draft)
    session = spied.start(text[:read])
    return answer(session, list(text), n, law, eos, randomness, 1), spied


def by_definition(case: Draft, seed: int) -> tuple[list[int], list[list[float]]]:
    """The oracle: tokens and rows, each row from the whole text before it."""
    draft, text, _, n, law, eos = case
    tokens: list[int] = []
    rows: list[list[float]] = []
    while len(tokens) < n and eos not in tokens:
        logits = draft.logits_after([*text, *tokens]).tolist()
        rows.append(next_law(logits, law.temperature, law.top_k, law.top_p))
        tokens.append(SeededRandomness(seed).choose(rows[-1], Site(0, 1, "draft", len(tokens))))
    return tokens, rows


def draft_law(case: Draft) -> Trial:
    def decoder(answer: Any) -> Decode:
        return lambda r: drafted(answer, case, r)[0].tokens

    draft, text, _, n, law, eos = case
    expected = target_law(draft, text, max_new_tokens=n, eos=eos, **vars(law))
    return has_law(f"the drafted tokens of {described(case)}", decoder, expected, marginalise=False)


def draft_laws(rng: Generator) -> list[Trial]:
    soft = [(2, 1, 2, Law()), (2, 2, 3, Law()), (3, 1, 2, Law(0.5)), (3, 2, 2, Law(1.5, 2))]
    by_hand = TableModel([[0.7, 0.3], [0.4, 0.6]])
    random = [(cases.table(rng, V, m, True), [1, 0, 1], 1, n, law, None) for V, m, n, law in soft]
    two_back = TableModel([[[0.8, 0.2], [0.8, 0.2]], [[0.2, 0.8], [0.2, 0.8]]])
    fixed: list[Draft] = [(by_hand, [0, 1], 1, 2, Law(), None), (CYCLE, [0], 0, 2, Law(), None),
                          (two_back, [0, 1, 0], 1, 1, Law(), None)]  # fmt: skip
    return [draft_law(case) for case in [*fixed, *random]]


def rows_carried(rng: Generator) -> list[Trial]:
    laws = [Law(0.5), Law(1.0, 2), Law(0.7, None, 0.8), Law()]
    found = []
    for law in laws:
        case: Draft = (cases.table(rng, 3, 2), [0, 2, 1], 1, 3, law, None)
        found += [(case, seed) for seed in (1, 2)]
    return [carries(case, seed) for case, seed in found]


def carries(case: Draft, seed: int) -> Trial:
    def tokens_and_rows(answer: Any) -> Any:
        speculation, _ = drafted(answer, case, SeededRandomness(seed))
        return list(speculation.tokens), speculation.rows

    what = f"tokens and rows of the speculation for {described(case)}"
    return runs(what, by_definition(case, seed), tokens_and_rows)


def draft_ends(rng: Generator) -> list[Trial]:
    """No token behind an end token; nothing at all for n = 0."""
    table = cases.table(rng, 3, 1)
    by_hand = TableModel([[0.5, 0.5], [0.9, 0.1]])
    return [
        draft_law((by_hand, [0], 0, 3, Law(), 1)),
        draft_law((CYCLE, [0], 0, 9, Law(), 2)),
        nothing((table, [0, 1], 1, 0, Law(), None)),
        draft_law((table, [0, 2], 1, 3, Law(), 2)),
        draft_law((table, [1], 0, 2, Law(0.0), 0)),
    ]


def nothing(case: Draft) -> Trial:
    def tokens_and_reads(answer: Any) -> Any:
        speculation, spied = drafted(answer, case, SeededRandomness(1))
        return list(speculation.tokens), spied.forwards()

    return runs(
        f"tokens, and forwards of the draft, for {described(case)}", ([], 0), tokens_and_reads
    )


def draft_reads(rng: Generator) -> list[Trial]:
    shapes = [([0, 1], 1, 2), ([0, 1, 1], 1, 2), ([0, 1, 0, 1], 2, 3), ([1], 0, 1)]
    return [reads((cases.table(rng, 3, 1), text, read, n, Law(), None)) for text, read, n in shapes]


def reads(case: Draft) -> Trial:
    _, text, read, _, _, _ = case
    tokens, _ = by_definition(case, 1)

    def tokens_read(answer: Any) -> Any:
        _, spied = drafted(answer, case, SeededRandomness(1))
        return [token for what, block in spied.log[1:] if what == "extend" for token in block]

    what = f"what the session reads for {described(case)}"
    return runs(what, [*text[read:], *tokens[:-1]], tokens_read)


# Task 3.3


def lengths(which: int, length: int, n: int, accepted: int, lag: int = 1) -> Trial:
    """What session number `which` holds (0: the target's, 1: the draft's)."""
    model = TableModel(np.full((2, 2), 0.5))
    read = (length + n, length + n - lag)
    expected = (length + accepted, min(read[1], length + accepted))[which]

    def after(answer: Any) -> int:
        sessions = [model.start([0] * tokens) for tokens in read]
        answer(*sessions, length, accepted)
        return sessions[which].length

    name = ("target", "draft")[which]
    case = (
        f"the {name}'s length after roll_back, text of {length}, {accepted} of {n} accepted, "
        f"before: target {read[0]}, draft {read[1]}"
    )
    return runs(case, expected, after)


def target_lengths(rng: Generator) -> list[Trial]:
    random = [(int(rng.integers(2, 9)), int(rng.integers(1, 6))) for _ in range(4)]
    fixed = [lengths(0, 3, 4, a) for a in (1, 0, 2, 3, 4)] + [lengths(0, 5, 0, 0)]
    return fixed + [lengths(0, length, n, int(rng.integers(n + 1))) for length, n in random]


def draft_lengths(rng: Generator) -> list[Trial]:
    random = [(int(rng.integers(2, 9)), int(rng.integers(1, 6))) for _ in range(4)]
    fixed = [lengths(1, 3, 4, a) for a in (1, 0, 2, 3, 4)]
    lagging = [lengths(1, 5, 0, 0), lengths(1, 5, 1, 1, lag=2), lengths(1, 4, 0, 0, lag=2)]
    return [*fixed, *lagging, *(lengths(1, L, n, int(rng.integers(n + 1))) for L, n in random)]
