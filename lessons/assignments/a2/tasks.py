"""Assignment 2: its tasks, what each is checked for, and what gives the answers away."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lessons.assignments import cases
from lessons.assignments.a2 import slips
from lessons.assignments.cases import Generator, Setting
from lessons.assignments.hiding import plugged
from lessons.assignments.spec import Assignment, Check, Task
from lessons.assignments.trials import has_law, has_law_of, leaves_alone, runs
from ssd_ref.exact_law import Decode
from ssd_ref.models import Row, TableModel
from ssd_ref.randomness import Randomness, ScriptedRandomness, Site
from ssd_ref.rounds import Outcome, Speculation
from ssd_ref.speculative import speculative
from ssd_ref.testing import trials
from ssd_ref.testing.check import Trial
from ssd_ref.testing.same import shown
from ssd_ref.testing.target_law import OutputLaw
from ssd_ref.testing.trials import gives

QUICK = 3.0  # seconds of computing for what takes milliseconds
ALMOST_1 = 1 - 2.0**-53  # the largest uniform there is
HIDES = ("ssd_ref.verification.acceptance", "ssd_ref.verification.verify",
         "ssd_ref.verification.Verifier.verify", "ssd_ref.speculative.speculative",
         "ssd_ref.ssd.ssd")  # fmt: skip
BY_HAND = (((0.4, 0.6), (0.7, 0.3)), ((0.5, 0.5), (0.8, 0.2)), ((0.3, 0.3, 0.4), (0.5, 0.3, 0.2)))
WITH_ZEROS = (
    ((1.0, 0.0), (0.5, 0.5)),
    ((0.0, 1.0), (0.5, 0.5)),
    ((0.5, 0.5, 0.0), (0.0, 0.5, 0.5)),
)
Pair = tuple[Row, Row]


def pairs(fixed: Sequence[Any], rng: Generator, zeros: bool = False) -> list[Pair]:
    """The cases that one can do by hand, then random ones of growing size."""
    random = [(cases.law(rng, V, zeros), cases.law(rng, V, zeros)) for V in (2, 3, 3, 4, 6)]
    return [(np.array(p), np.array(q)) for p, q in [*fixed, *random]]


# Task 2.1


def keeps(p: Row, q: Row, token: int, u: float) -> Trial:
    case = f"is_kept({shown(p)}, {shown(q)}, {token}, {u!r})"  # every digit of u
    expected = bool(u < min(1.0, p[token] / q[token]))
    return runs(case, expected, lambda answer: answer(p.copy(), q.copy(), token, u))


def around(p: Row, q: Row) -> list[Trial]:
    """Every token that q can draw, with u just below and above its chance, and far from it."""
    tried = []
    for token in np.flatnonzero(q).tolist():
        chance = min(1.0, p[token] / q[token])
        us = (0.5, chance * 0.999, min(chance * 1.001, ALMOST_1))
        tried += [keeps(p, q, token, float(u)) for u in us]
    return tried


def kept_laws(rng: Generator) -> list[Trial]:
    return [trial for p, q in pairs(BY_HAND, rng) for trial in around(p, q)]


def kept_edges(rng: Generator) -> list[Trial]:
    """u = 0 keeps nothing that p excludes; u just below 1 keeps all that p wants more of."""
    tried = []
    for p, q in pairs(WITH_ZEROS, rng, zeros=True):
        for token in np.flatnonzero(q).tolist():
            tried.append(keeps(p, q, token, 0.0))
            if p[token] == 0 or p[token] >= q[token]:
                tried.append(keeps(p, q, token, ALMOST_1))
    return [keeps(p, p, 0, ALMOST_1) for p, _ in pairs(BY_HAND, rng)] + tried


def kept_greedy(rng: Generator) -> list[Trial]:
    """One-hot laws: kept if and only if both say the same token."""
    return [
        keeps(np.eye(V)[best], np.eye(V)[guess], guess, float(u))
        for V in (2, 3, 5)
        for best, guess in rng.integers(V, size=(3, 2)).tolist()
        for u in (0.0, rng.random(), ALMOST_1)
    ]


# Task 2.2


def rest(p: Row, q: Row) -> Row:
    """The oracle: what is missing, entry by entry."""
    missing = [max(float(a) - float(b), 0.0) for a, b in zip(p, q, strict=True)]
    total = sum(missing)
    return np.array([m / total for m in missing]) if total > 0 else p


def rests(some: Sequence[Pair]) -> list[Trial]:
    """Equal rows are another check's."""
    return [gives(rest(p, q), p, q, tolerance=1e-12) for p, q in some if (p != q).any()]


def residual_laws(rng: Generator) -> list[Trial]:
    return rests(pairs(BY_HAND, rng))


def residual_zeros(rng: Generator) -> list[Trial]:
    return rests(pairs(WITH_ZEROS, rng, zeros=True))


def residual_equal(rng: Generator) -> list[Trial]:
    return [gives(p, p, p.copy(), tolerance=1e-12) for p, _ in pairs(BY_HAND, rng)]


def residual_tidy(rng: Generator) -> list[Trial]:
    return [leaves_alone(p, q) for p, q in pairs(BY_HAND, rng)]


# Task 2.3


def outcome_of(value: Any) -> Outcome:
    """What `verify` returned, if it can be an outcome."""
    if not isinstance(value, tuple) or len(value) != 2:
        raise TypeError(f"verify: expected an Outcome(accepted, bonus), got {value!r}")
    return Outcome(int(value[0]), int(value[1]))


def possible_outcome(value: Any, law_after: Callable[[int], Row], n: int) -> Outcome:
    outcome = outcome_of(value)
    if not 0 <= outcome.accepted <= n:
        raise ValueError(f"verify: {outcome.accepted} accepted of {n} guesses")
    if law_after(outcome.accepted)[outcome.bonus] == 0:
        raise ValueError(f"verify: the bonus token of {tuple(outcome)} has probability 0 there")
    return outcome


def in_the_loop(setting: Setting) -> Callable[[Any], Decode]:
    """The package's SD loop, with the answer in the place of its `verify`."""

    def decoder(answer: Any) -> Decode:
        def verify(law_after: Any, speculation: Speculation, *rest: Any) -> Outcome:
            value = answer(law_after, speculation, *rest)
            return possible_outcome(value, law_after, len(speculation))

        def decode(randomness: Randomness) -> list[int]:
            with plugged("ssd_ref.verification.verify", verify):
                run = speculative(setting.target, setting.draft, setting.prompt,
                                  **setting.sd(), randomness=randomness)  # fmt: skip
            return run.tokens

        return decode

    return decoder


def law_trials(settings: Sequence[Setting]) -> list[Trial]:
    return [has_law(f"the text of\n{s}", in_the_loop(s), s.expected()) for s in settings]


def one_guess(rng: Generator) -> list[Trial]:
    fixed = [Setting(TableModel(p), TableModel(q), 1, 1) for p, q in (*BY_HAND, *WITH_ZEROS)]
    return law_trials([*fixed, *cases.settings(rng, [(2, 1, 2), (3, 1, 2), (4, 1, 1)], zeros=True)])


def several(rng: Generator) -> list[Trial]:
    """Order-1 rows that tell row K from row K-1; then random tables of orders 0 to 2."""
    rows = TableModel([[0.5, 0.5], [0.9, 0.1]])
    fixed = [Setting(rows, rows, 1, 2), Setting(rows, TableModel([0.8, 0.2]), 2, 2)]
    sizes = [(2, 2, 2), (2, 2, 3), (3, 2, 2), (2, 3, 3)]
    random = [*cases.settings(rng, sizes), *cases.settings(rng, [*sizes, (3, 2, 3)], zeros=True)]
    return law_trials([*fixed, *random])


def greedy(rng: Generator) -> list[Trial]:
    tied = Setting(TableModel([0.4, 0.4, 0.2]), TableModel([0.2, 0.4, 0.4]), 2, 3)
    cycle, *astray = (TableModel(np.eye(3)[then]) for then in ([1, 2, 0], [1, 0, 0], [2, 2, 0]))
    random = cases.settings(rng, [(2, 2, 3), (3, 2, 4), (4, 3, 4)])
    return law_trials([Setting(s.target, s.draft, s.lookahead, s.max_new_tokens,
                               law={"temperature": 0.0})
                       for s in (*(Setting(cycle, draft, 2, 2) for draft in astray), tied,
                                 Setting(cycle, cycle, 2, 4), *random)])  # fmt: skip


def accepted_law(s: Setting) -> dict[int, float]:
    """The oracle: how many of K guesses are kept, from sum min(p, q) after each prefix."""
    law: dict[int, float] = defaultdict(float)
    waiting: list[tuple[tuple[int, ...], float]] = [((), 1.0)]
    while waiting:
        tokens, weight = waiting.pop()
        if len(tokens) == s.lookahead:
            law[s.lookahead] += weight
            continue
        p, q = row(s.target, tokens), row(s.draft, tokens)
        law[len(tokens)] += weight * (1 - np.minimum(p, q).sum())
        waiting += [((*tokens, x), weight * min(p[x], q[x])) for x in np.flatnonzero(q).tolist()]
    return {k: float(p) for k, p in law.items() if p > 1e-15}


def row(model: TableModel, tokens: Sequence[int]) -> Row:
    return np.exp(model.logits_after([0, *tokens]))


def one_round(s: Setting) -> Callable[[Any], Decode]:
    """A round by itself; gives one 1 for each accepted token."""

    def decoder(answer: Any) -> Decode:
        def decode(randomness: Randomness) -> list[int]:
            speculation = drafted(s, randomness)
            laws = [row(s.target, speculation.tokens[:i]) for i in range(s.lookahead + 1)]
            return [1] * outcome_of(answer(laws.__getitem__, speculation, randomness, 1)).accepted

        return decode

    return decoder


def drafted(s: Setting, randomness: Randomness) -> Speculation:
    tokens: list[int] = []
    rows, sites = [], []
    for i in range(s.lookahead):
        rows.append(row(s.draft, tokens))
        sites.append(Site(randomness.sequence, 1, "draft", i))
        tokens.append(randomness.choose(rows[-1], sites[-1]))
    return Speculation(tuple(tokens), np.array(rows), tuple(sites), "draft")


def accepted(rng: Generator) -> list[Trial]:
    fixed = [Setting(TableModel([0.6, 0.4]), TableModel([0.5, 0.5]), 1, 2)]
    settings = [*fixed, *cases.settings(rng, [(2, 2, 3), (3, 2, 3), (2, 3, 4)])]
    return [
        has_law_of(f"how many guesses are accepted in a round of\n{s}", one_round(s), len,
                   accepted_law(s))
        for s in settings
    ]  # fmt: skip


def edges(rng: Generator) -> list[Trial]:
    """u = 0 and u just below 1, where p excludes what q proposes: nothing impossible comes out."""
    settings = [Setting(TableModel(p), TableModel(q), K, K)
                for p, q in pairs(WITH_ZEROS, rng, zeros=True) for K in (1, 2)]  # fmt: skip
    return [possible(s, u) for s in settings for u in (0.0, ALMOST_1)]


def possible(s: Setting, u: float) -> Trial:
    def impossible_tokens(answer: Any) -> list[int]:
        speculation = drafted(s, ScriptedRandomness(lambda site: u))
        p = row(s.target, ())
        scripted = ScriptedRandomness(lambda site: u)
        k, bonus = outcome_of(answer(lambda i: p, speculation, scripted, 1))
        return [t for t in (*speculation.tokens[:k], bonus) if p[t] == 0]

    case = f"tokens of probability 0 that come out when every uniform is {u!r}, of\n{s}"
    return runs(case, [], impossible_tokens)


# Task 2.4


def two_guesses(p: Row, q: Row) -> Trial:
    def decoder(answer: Any) -> Decode:
        def decode(randomness: Randomness) -> list[int]:
            first, second = (randomness.choose(q, Site(0, 1, "draft", i)) for i in (0, 1))
            return [answer(p, q, (first, second), randomness)]

        return decode

    expected: OutputLaw = {(x,): float(p[x]) for x in np.flatnonzero(p).tolist()}
    case = f"the token of p={p.round(4).tolist()} q={q.round(4).tolist()}"
    return trials.has_law(case, decoder, expected, marginalise=False)


def two_laws(rng: Generator) -> list[Trial]:
    return [two_guesses(p, q) for p, q in pairs(BY_HAND, rng)]


def two_zeros(rng: Generator) -> list[Trial]:
    fixed = (*WITH_ZEROS, ((0.5, 0.3, 0.2, 0.0), (0.2, 0.2, 0.1, 0.5)))
    return [two_guesses(p, q) for p, q in [*pairs(fixed, rng, zeros=True), *equal(rng)]]


def equal(rng: Generator) -> list[Pair]:
    return [(p, p.copy()) for p, _ in pairs(BY_HAND, rng)]


ASSIGNMENT = Assignment(
    number=2,
    title="One round of verification",
    hours="3 to 5",
    folder=Path(__file__).parent,
    tasks=(
        Task("2.1", "Keep or reject one token", "is_kept",
             (Check("laws", 2, kept_laws, QUICK), Check("edges", 1, kept_edges, QUICK),
              Check("greedy", 1, kept_greedy, QUICK)),
             slips.IS_KEPT, HIDES, "lesson 02, section 1"),
        Task("2.2", "What replaces it", "residual",
             (Check("laws", 2, residual_laws, QUICK), Check("zeros", 1, residual_zeros, QUICK),
              Check("equal", 1, residual_equal, QUICK), Check("tidy", 1, residual_tidy, QUICK)),
             slips.RESIDUAL, HIDES, "lesson 02, sections 1 and 4"),
        Task("2.3", "A round", "verify",
             (Check("one", 2, one_guess), Check("several", 3, several), Check("greedy", 1, greedy),
              Check("accepted", 1, accepted), Check("edges", 1, edges)),
             slips.VERIFY, HIDES, "lesson 02, section 5"),
        Task("2.4", "Two guesses for one place", "verify_two",
             (Check("laws", 2, two_laws), Check("zeros", 2, two_zeros)),
             slips.VERIFY_TWO, HIDES, "lesson 02, section 2"),
    ),
)  # fmt: skip
