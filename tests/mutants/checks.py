"""The checks that mutants are run against, smallest inputs first.

Each check returns None, or where and how much a decoder was wrong. They run inside a process whose
`ssd_ref` is the mutated copy; `ssd_ref.testing` is never mutated.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

import ssd_ref
from ssd_ref import ScriptedRandomness, SeededRandomness, Site, TableModel
from ssd_ref.exact_law import ReplayError
from ssd_ref.randomness import invert, place
from ssd_ref.testing import compare_laws, target_law
from ssd_ref.testing.strategies import Case
from ssd_ref.testing.target_law import next_law

SSD: Any = sys.modules["ssd_ref.ssd"]  # `ssd_ref.ssd` is the function
SD: Any = sys.modules["ssd_ref.speculative"]


class Failure(NamedTuple):
    """size: the smallest (V, K, N) that shows it; variation: total variation, if of laws."""

    size: str
    variation: float | None = None


SIZES = [(2, 1, 1), (3, 1, 1), (2, 1, 2), (2, 2, 2), (2, 1, 3), (3, 2, 2), (3, 2, 3), (3, 2, 4)]
WITNESSES = {  # the cases' own tables, by size: (p, q)
    (2, 1, 1): [([0.5, 0.5], [0.8, 0.2]), ([0.4, 0.6], [0.7, 0.3]), ([0.25, 0.75], [0.5, 0.5])],
    (3, 1, 1): [([0.3, 0.3, 0.4], [0.5, 0.3, 0.2])],
    (2, 1, 2): [
        ([0.6, 0.4], [0.3, 0.7]),
        ([[0.5, 0.5], [0.9, 0.1]], [[0.5, 0.5], [0.9, 0.1]]),
        ([0.5, 0.5], [0.8, 0.2]),
        ([[0.2, 0.8], [0.6, 0.4]], [[0.8, 0.2], [0.6, 0.4]]),
    ],
    (2, 2, 2): [([0.5, 0.5], [0.8, 0.2])],
    (2, 1, 3): [
        ([0.5, 0.5], [[0.8, 0.2], [0.2, 0.8]]),
        ([0.5, 0.5], [[[0.2, 0.8], [0.2, 0.8]], [[0.8, 0.2], [0.8, 0.2]]]),
    ],
}
SETTINGS: list[dict[str, Any]] = [
    {},
    {"law": {"eos": 1}},
    {"law": {"temperature": 0.5}, "draft_law": {"draft_temperature": 1.5}},
    {"law": {"top_p": 0.613}},
    {"law": {"top_k": 1}},
    {"law": {"top_k": 2}},
    {"law": {"temperature": 0.0}},
]
LISTS = [
    {"fan_out": [2, 1, 1], "fan_out_miss": [0, 1, 2]},
    {"fan_out": [1, 0, 2], "fan_out_miss": [0, 2, 0], "backup": "uniform"},
    {"fan_out": [1, 2, 1], "saguaro_c": 0.3},
]


def table(V: int, order: int, rng: np.random.Generator, zeros: bool) -> TableModel:
    weights = rng.integers(0 if zeros else 1, 7, size=(V,) * (order + 1)).astype(float)
    weights[weights.sum(-1) == 0] = 1
    return TableModel(weights / weights.sum(-1, keepdims=True))


def pairs(V: int, K: int, N: int) -> Iterator[tuple[str, TableModel, TableModel]]:
    """Targets and drafts for one size: the cases' witnesses, then orders 0 to 2 with and without
    zeros, and a table of ties. The larger sizes keep to order 2."""
    for p, q in WITNESSES.get((V, K, N), []):
        yield "witness", TableModel(p), TableModel(q)
    rng = np.random.default_rng((V, K, N))
    for order in (0, 1, 2) if N < 3 else (2,):
        for zeros in (False, True) if N < 4 else (False,):
            kind = "order 2" if order == 2 else "lower order"
            yield kind, table(V, order, rng, zeros), table(V, order, rng, zeros)
    if N < 3:
        tie = TableModel(np.full((V, V), 1 / V))
        yield "ties", tie, tie


def law_cases() -> Iterator[tuple[Case, list[str]]]:
    """Cases, smallest first, with the decoders each concerns: SSD alone where only lists differ."""
    for V, K, N in SIZES:
        for kind, target, draft in pairs(V, K, N):
            every = kind in ("order 2", "ties") and N <= 2
            for settings in SETTINGS if every else SETTINGS[: 2 if N == 3 else 1]:
                names = ["AR", "SD", "SSD"]
                for cache in LISTS if N < 4 else LISTS[:1]:
                    yield Case(target, draft, [0], N, K, cache=cut(cache, K), **settings), names
                    names = ["SSD"]


def cut(cache: dict[str, Any], K: int) -> dict[str, Any]:
    """The lists brought to length K + 1."""
    return {k: [*v, 1][: K + 1] if isinstance(v, list) else v for k, v in cache.items()}


def text(name: str, case: Case, randomness: Any) -> Any:
    decoder, models, keywords = {
        "AR": (ssd_ref.autoregressive, [case.target], case.ar()),
        "SD": (ssd_ref.speculative, [case.target, case.draft], case.sd()),
        "SSD": (ssd_ref.ssd, [case.target, case.draft], case.ssd()),
    }[name]
    return decoder(*models, case.prompt, randomness=randomness, **keywords)


def where(name: str, case: Case) -> str:
    return f"{name} V,K,N={','.join(map(str, case.size))}"


def enumerate_all() -> dict[str, Failure | None]:
    """Enumerate every case once; the first failure of the law, and of the enumeration's rules."""
    found: dict[str, Failure | None] = {"law": None, "replay": None}
    for case, names in law_cases():
        expected = target_law(case.target, case.prompt, **case.ar())
        for name in names:
            try:
                got = ssd_ref.exact_law(lambda r, n=name, c=case: text(n, c, r).tokens)
            except ReplayError:
                return {**found, "replay": Failure(where(name, case))}
            comparison = compare_laws(got, expected, tolerance=1e-10)
            if not comparison.equal:
                return {**found, "law": Failure(where(name, case), comparison.total_variation)}
    return found


def enumerate_batch() -> dict[str, Failure | None]:
    """The second of two texts in lock-step, with every draw branched: even target, a draft whose
    row depends on the last token but one, and entries for the same outcomes in both texts."""
    from ssd_ref.batched import Numbered, Request, decode

    target = TableModel([0.5, 0.5])
    draft = TableModel([[[0.8, 0.2], [0.8, 0.2]], [[0.2, 0.8], [0.2, 0.8]]])
    both = [ssd_ref.Outcome(0, 0), ssd_ref.Outcome(0, 1)]

    def second(randomness: Any) -> Any:
        return decode(
            target, draft, [Request([0], 0, 2), Request([1], 1, 2)],
            randomness=lambda sequence: Numbered(randomness, sequence),
            method="ssd", lookahead=1, fan_out=[1, 1], predict=lambda rows, speculation: both,
        )[1].tokens  # fmt: skip

    try:
        got = ssd_ref.exact_law(second, marginalise=False)
    except ReplayError:
        return {"law": None, "replay": Failure("SSD, b=2 2,1,2")}
    comparison = compare_laws(got, target_law(target, [1], max_new_tokens=2), tolerance=1e-10)
    failure = Failure("SSD, b=2 2,1,2", comparison.total_variation)
    return {"law": None if comparison.equal else failure, "replay": None}


def long_cases() -> Iterator[tuple[Case, int]]:
    """Sampled texts of 14 tokens over position-dependent tables, with every pair of lists."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        V, K = 3 + seed % 2, 1 + seed % 3
        target, draft = table(V, 2, rng, seed % 2 == 0), table(V, 2, rng, False)
        law = {"eos": [None, V - 1][seed % 5 == 0]}
        yield Case(target, draft, [0], 14, K, law=law, cache=cut(LISTS[seed % 3], K)), seed


def rows() -> Failure | None:
    """Each speculation's rows are the draft's law (sigma included) on the true context."""
    found: list[Failure] = []

    class Spy(SSD.Verifier):  # type: ignore[misc]
        def verify(self, speculation: Any) -> Any:
            context = [*self.transcript.prompt, *self.transcript.tokens]
            for i, row in enumerate(speculation.rows):
                read = [*context, *speculation.tokens[:i]]
                if not np.allclose(row, expected_row(case, speculation.served_by, i, read)):
                    found.append(Failure(where("SSD", case)))
            return super().verify(speculation)

    with patch.object(SSD, "Verifier", Spy), patch.object(SD, "Verifier", Spy):
        for case, seed in long_cases():
            for name in ("SD", "SSD"):
                text(name, case, SeededRandomness(seed))
            if found:
                return found[0]
    return None


def expected_row(case: Case, served_by: str, i: int, context: list[int]) -> Any:
    V = case.draft.vocabulary
    if served_by == "backup" and case.cache.get("backup") == "uniform":
        return np.full(V, 1 / V)
    logits = case.draft.logits_after(context)
    row = np.array(next_law(list(logits), 1.0, None, None))
    lists = case.cache["fan_out"], case.cache.get("fan_out_miss", case.cache["fan_out"])
    if served_by != "draft":  # sigma, written anew
        width = lists[served_by == "backup"][i]
        favoured = sorted(range(V), key=lambda t: (-logits[t], t))[:width]
        row[favoured] *= case.cache.get("saguaro_c", 1.0)
        row /= row.sum()
    return row


def counters() -> Failure | None:
    """Draft = target: everything is accepted, in as few rounds as can be."""
    for case, seed in long_cases():
        own = {**case.cache, "saguaro_c": 1.0, "backup": "draft"}
        twins = Case(case.target, case.target, [0], 14, case.lookahead, case.law, cache=own)
        for name in ("SD", "SSD"):
            result = text(name, twins, SeededRandomness(seed))
            full = all(r.accepted == r.drafted for r in result.rounds)
            if not full or len(result.rounds) != -(-len(result.tokens) // (case.lookahead + 1)):
                return Failure(where(name, case))
    return None


def hits() -> Failure | None:
    """Who served each round follows from the guesses, read anew from the draft's logits."""
    for case, seed in long_cases():
        result = text("SSD", case, SeededRandomness(seed))
        lists = case.cache["fan_out"], case.cache.get("fan_out_miss", case.cache["fan_out"])
        context, widths, served = [0], lists[0], "first"
        for r in result.rounds:
            if r.served_by != served:
                return Failure(where("SSD", case))
            if r.bonus is None:
                continue
            start = len(context)
            emitted = result.tokens[start - 1 : start - 1 + r.emitted]
            logits = case.draft.logits_after([*context, *emitted[: r.accepted]])
            shortened = min(case.lookahead, 14 + 1 - start)
            order = sorted(range(case.draft.vocabulary), key=lambda t: (-logits[t], t))
            last = r.accepted == r.drafted
            width = widths[-1] if last else widths[r.accepted]
            if r.drafted > shortened:
                return Failure(where("SSD", case))
            hit = order.index(r.bonus) < width if last else None
            context += emitted
            hit = hit if last else (r.rank is not None and r.rank < width)
            served, widths = ("cache", lists[0]) if hit else ("backup", lists[1])
    return None


def guesses() -> Failure | None:
    """The guess set has F_k tokens at each k, none rejected, and holds Saguaro's set but d."""
    found: list[Failure] = []

    class Spy(SSD.Speculator):  # type: ignore[misc]
        def prepare(self) -> None:
            super().prepare()
            n = len(self.speculation)
            for k in range(n + 1):
                got = [o.bonus for o in self.guesses if o.accepted == k]
                out = self.speculation.tokens[k] if k < n else None
                rest = [t for t in range(case.draft.vocabulary) if t != out]
                rest.sort(key=lambda t: (-self.logits[k][t], t))
                if got != rest[: self.widths[k] if k < n else self.widths[-1]]:
                    found.append(Failure(where("SSD", case)))

    with patch.object(SSD, "Speculator", Spy):
        for case, seed in long_cases():
            text("SSD", case, SeededRandomness(seed))
            if found:
                return found[0]
    return None


def same_text() -> Failure | None:
    """The draft as backup and C = 1: SD and SSD emit the same tokens for the same seed."""
    for case, seed in long_cases():
        own = {**case.cache, "saguaro_c": 1.0, "backup": "draft"}
        plain = Case(case.target, case.draft, [0], 14, case.lookahead, case.law, cache=own)
        if (
            text("SD", plain, SeededRandomness(seed)).tokens
            != text("SSD", plain, SeededRandomness(seed)).tokens
        ):
            return Failure(where("SSD", case))
    return None


def logprobs() -> Failure | None:
    """log p of each token under the target's law: p = [.6, .4], q = [.9, .1]."""
    p, q = TableModel([0.6, 0.4]), TableModel([[0.9, 0.1], [0.5, 0.5]])
    p = TableModel([[0.6, 0.4], [0.3, 0.7]])
    for seed in range(20):
        result = ssd_ref.speculative(
            p, q, [0], max_new_tokens=4, lookahead=2, randomness=SeededRandomness(seed)
        )
        context = [0, *result.tokens]
        law = [math.log(p.table[a, b]) for a, b in pairwise(context)]
        if not np.allclose(law, result.logprobs, atol=1e-12):
            return Failure("SD V,K,N=2,2,4")
    return None


def scripted_zero() -> Failure | None:
    """u = 0 never accepts or draws what has probability 0 (CASES 4)."""
    target, draft = TableModel([0.0, 1.0]), TableModel([0.5, 0.5])
    result = ssd_ref.speculative(
        target, draft, [0], max_new_tokens=1, lookahead=1,
        randomness=ScriptedRandomness(lambda site: 0.0),
    )  # fmt: skip
    if result.tokens != [1] or invert([0.0, 1.0], 0.0) != 1:
        return Failure("SD V,K,N=2,1,1")
    return None


def addresses() -> Failure | None:
    """The seeded source: one uniform an address, none shared, batched draws equal single ones."""
    sites = [
        Site(sequence, round, role, index)
        for sequence in range(3)
        for round in range(1, 6)
        for role in ("draft", "accept", "bonus")
        for index in range(1 if role == "bonus" else 5)
    ]
    source = SeededRandomness(0)
    if len({source.uniform(site) for site in sites}) < len(sites):
        return Failure("two addresses share a uniform")
    if len({place(s.role, s.index) for s in sites}) < 11:
        return Failure("two addresses share a counter")
    grid = np.array([[0.0, 0.5, 0.5], [0.25, 0.75, 0.0]])
    exact = ScriptedRandomness(lambda site: 0.0)
    seeded = SeededRandomness(0)
    seeded.uniform = exact.uniform  # type: ignore[method-assign]
    if seeded.choose_rows(grid, sites[:2]) != [1, 0]:
        return Failure("batched draw of probability 0")
    return None


def gpt() -> Failure | None:
    """Blocks and branches of the GPT give the rows of a forward without a cache, in float64."""
    import torch

    from ssd_ref.gpt import GPTConfig, TinyGPT

    torch.manual_seed(0)
    model = TinyGPT(GPTConfig(5, 24, layers=2, heads=2, width=16)).double().eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(20 if weight.dim() == 2 else 1)
        full = lambda tokens: model(torch.tensor([tokens]))[0].numpy()  # noqa: E731
        tokens = [0, 1, 2, 3, 4, 0, 2, 4]
        session = model.start(tokens[:3])
        if not np.allclose(session.extend(tokens[3:]), full(tokens)[3:], atol=1e-9):
            return Failure("block of 5")
        branches = session.branch([4, 7])
        branches.extend([0, 1], [1, 3])
        got = branches.extend([0, 1], [2, 2])
        expected = [full([*tokens[:4], 1, 2])[-1], full([*tokens[:7], 3, 2])[-1]]
        if not np.allclose(got, expected, atol=1e-9):
            return Failure("two branches")
    return None


CHECKS: dict[str, Callable[[], Failure | None]] = {
    "counters": counters,
    "rows": rows,
    "hits": hits,
    "guesses": guesses,
    "same text": same_text,
    "log-probabilities": logprobs,
    "scripted u = 0": scripted_zero,
    "addresses": addresses,
}
