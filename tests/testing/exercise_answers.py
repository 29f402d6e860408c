"""Answers to the lessons' exercises: right ones, by another way than theirs, and wrong ones."""

from __future__ import annotations

import math

import numpy as np

import ssd_ref
from ssd_ref import SeededRandomness, Site


def law(logits, temperature):
    if temperature == 0:
        return [float(i == list(logits).index(max(logits))) for i in range(len(logits))]
    top = max(logits)
    weights = [math.exp((z - top) / temperature) for z in logits]
    return [w / sum(weights) for w in weights]


def greedy(best, tokens):
    for i, (b, t) in enumerate(zip(best, tokens, strict=False)):
        if b != t:
            return [*tokens[:i], b]
    return [*tokens, best[len(tokens)]]


def best_lookahead(alpha, c):
    speeds = [sum(alpha**i for i in range(K + 1)) / (1 + c * K) for K in range(300)]
    return speeds.index(max(speeds))


def target_first(p, q, r):
    y = r.choose(p, Site(0, 1, "bonus", 0))
    return (y, 1 if y == r.choose(q, Site(0, 1, "draft", 0)) else 0)


def all_accepted(case):
    keywords = {**case.ssd(), "max_new_tokens": 12, "saguaro_c": 1.0, "backup": "draft"}
    keywords["draft_temperature"] = None
    run = ssd_ref.ssd(
        case.target, case.target, case.prompt, randomness=SeededRandomness(3), **keywords
    )
    assert len(run.rounds) == math.ceil(12 / (keywords["lookahead"] + 1))


def all_accepted_as_asked(case):
    """Leaves the case's settings on: the draft's law is then another one than the target's."""
    source = SeededRandomness(3)
    run = ssd_ref.ssd(case.target, case.target, case.prompt, randomness=source, **case.ssd())
    assert all(r.accepted == r.drafted for r in run.rounds)


def redrawing(prompt, n, r):
    """Written as two rounds at most, without a cache: what would be in it is drawn when needed."""
    P, Q = np.array([[0.7, 0.3], [0.3, 0.7]]), np.array([[0.8, 0.2], [0.2, 0.8]])
    text = [prompt]
    for round in (1, 2):
        if len(text) > n:
            break
        last = text[-1]
        d = r.choose(Q[last], Site(0, round, "draft", 0))
        if round == 2 and Q[last, d] < 0.25:
            d = r.choose(Q[last], Site(0, round, "draft", 1))
        a = min(1, P[last, d] / Q[last, d])
        if r.choose((a, 1 - a), Site(0, round, "accept", 0)) == 0:
            text += [d, r.choose(P[d], Site(0, round, "bonus", 0))]
        else:
            rest = np.maximum(P[last] - Q[last], 0)
            text.append(r.choose(rest / rest.sum(), Site(0, round, "bonus", 0)))
    return text[1 : n + 1]


def row_by_row_mask(length, n):
    return [[column > length + row for column in range(length + n)] for row in range(n)]


def first_bracket(p, u):
    return next(i for i in range(len(p)) if u < sum(p[: i + 1]))


def best_shares(weights, prefactors, r, budget):
    """By the multiplier: the shares' sum falls as it grows, so it is found by bisection."""
    low, high = 1e-9, 1e9
    for _ in range(200):
        multiplier = math.sqrt(low * high)
        shares = [
            (r * w * c / multiplier) ** (1 / (1 + r))
            for w, c in zip(weights, prefactors, strict=True)
        ]
        low, high = (multiplier, high) if sum(shares) > budget else (low, multiplier)
    return shares


def most_hits(outcomes, budget, lookahead):
    fan_out = [0] * (lookahead + 1)
    while sum(fan_out) < budget:
        hits = [sum(o == (k, fan_out[k]) for o in outcomes) for k in range(lookahead + 1)]
        fan_out[hits.index(max(hits))] += 1
    return fan_out


def most_probable(kept, bonus, budget):
    chances = {}
    for k, row in enumerate(bonus):
        stops = 1 - kept[k] if k < len(kept) else 1
        for rank, chance in enumerate(row):
            chances[k, rank] = math.prod(kept[:k]) * stops * chance
    return sorted(chances, key=lambda outcome: (-chances[outcome], outcome))[:budget]


def bent(q, guessed, c):
    weight = np.where(np.isin(np.arange(len(q)), guessed), c, 1.0)
    row = np.array(q) * weight
    return row / row.sum() if row.any() else q


def found_by_a_rejection(p, q, guessed):
    missing = np.clip(np.subtract(p, q), 0, None)
    return missing[guessed].sum() / missing.sum() if missing.any() else None


def law_of_a_lie(p, drawn, told):
    """Token by token: proposed and kept, or proposed, rejected and replaced."""
    missing = np.clip(np.subtract(p, told), 0, None)
    replacement = missing / missing.sum() if missing.any() else missing
    out = np.zeros(len(p))
    for token, chance in enumerate(drawn):
        keep = min(1.0, p[token] / told[token]) if told[token] else 1.0
        out[token] += chance * keep
        out += chance * (1 - keep) * replacement
    return out


def batch_clock(rounds, t_p, t_n):
    """Interval by interval: what lies before each verification, and the verification."""
    waits = [set(served) != {"cache"} for served in rounds]
    total = t_n * sum(waits) + len(rounds)
    return total + sum(max(0, t_p - 1) for later in waits[1:] if not later)


def least_batch(slow, fast):
    for b in range(1, 1001):
        (h, n, t), (g, m, u) = slow, fast
        if m * (1 + (1 - h**b) * t) >= n * (1 + (1 - g**b) * u):
            return b
    return None


WITNESSES = {
    "accept always": (2, 1, 1),
    "bonus from row K-1": (2, 1, 2),
    "sum of the mask": (2, 2, 2),
    "token matching": None,
}


def pause_divided(pause, backup, filling):
    def count(blocks):
        return sum(any(b <= t < e for b, e in blocks) for t in range(*pause))

    miss, overflow = count(backup), count(filling)
    return (miss, overflow, len(range(*pause)) - miss - overflow)


RIGHT = {
    "L00.1": [0.75, np.float64(3 / 4)],
    "L00.2": [first_bracket, lambda p, u: int(np.searchsorted(np.cumsum(p), u, side="right"))],
    "L00.3": [[0, 1, 10, 2], (0, 1, 10, 2)],
    "L00.4": [(2, 4, 5, 7), (np.ones((2, 4, 5, 3)) @ np.ones((4, 3, 7))).shape],
    "L01.1": [law, lambda z, t: ssd_ref.Law(t).rows(np.array([z]))[0]],
    "L01.2": [row_by_row_mask, lambda old, n: np.triu(np.ones((n, old + n), dtype=bool), old + 1)],
    "L01.3": [lambda n, p, b, w, f: 1000 * (p * b / w if b / w > 2 * n / f else 2 * p * n / f)],
    "L02.1": [lambda p, q: sum(map(min, p, q)), lambda p, q: np.minimum(p, q).sum()],
    "L02.2": [greedy],
    "L02.3": [best_lookahead],
    "L02.4": [target_first],
    "L03.1": [([0.5, 0.5, 0], [0.25, 0.25, 0.5]), (np.array([0, 1, 0]), np.array([0.5, 0.5, 0]))],
    "L03.2": [all_accepted],
    "L03.3": [(3, (0, 1)), [3, [0, 1]]],
    "L03.4": [WITNESSES],
    "L04.1": [lambda h: 1 + sum(math.prod(h[: i + 1]) for i in range(len(h)))],
    "L04.2": [lambda K, c: 1 + K * c],
    "L05.1": [
        lambda rs: (
            None
            if not [r for r in rs if r.served_by != "first"]
            else np.mean([r.served_by == "cache" for r in rs if r.served_by != "first"])
        )
    ],
    "L05.2": [lambda rs, f: [rs[i].rank < f[rs[i].accepted] for i in range(len(rs) - 1)]],
    "L05.3": [redrawing],
    "L05.4": [lambda h, g: (1 - g) / (g - g * h - 1) if g - g * h < 1 else None],
    "L06.1": [best_shares],
    "L06.2": [most_hits],
    "L06.3": [most_probable],
    "L07.1": [bent],
    "L07.2": [found_by_a_rejection],
    "L07.3": [law_of_a_lie],
    "L08.1": [lambda h, s: int(math.log(s) / math.log(h) + 1e-12)],
    "L08.2": [batch_clock],
    "L08.3": [least_batch],
    "L09.1": [pause_divided],
    "L09.2": [lambda d, K, v: (K * d + v) / max(K * d, v)],
    "L11.1": [lambda f: 1 + np.dot(range(len(f)), f)],
    "L11.2": [lambda b, s, f: ([x for x, y, z in zip(b, s, f, strict=True) if z >= y] + [None])[0]],
    "L10.1": [
        lambda K, b, E: 70.6 * (K + 1) / E + 1.24 * ((K + 1) * (K > 0) + K * b) / E,
    ],
    "L10.2": [lambda T, g: None if g > 1 + T else 1 - (1 + T - g) / (T * g)],
}

WRONG = [
    ("L00.1", 0.9, "P(rain | wet)"),
    ("L00.4", None, "the shape of the scores"),
    ("L01.1", lambda z, t: np.ones(len(z)), "([0.0, 0.0], 1.0)"),
    ("L01.1", lambda z, t: law(z, t) if max(z) < 700 else [math.nan] * 2, "[5000.0, 5000.0]"),
    ("L01.2", lambda old, n: None, "(0, 1)"),
    ("L02.2", lambda best, tokens: [], "([1], [])"),
    ("L02.3", lambda a, c: 3, "expected 0"),
    ("L02.4", lambda p, q, r: [0, 0], "first departure at position 1"),
    ("L02.4", lambda p, q, r: None, "got      TypeError: None was returned"),
    ("L03.1", 3, "two rows of three numbers"),
    ("L03.1", ([0.5, 0.5, 0], [0.8, 0.1, 0.1]), "expected [0.5, 0.5, 0.0]"),
    ("L03.1", ([1, 1, 1], [1, 0, 0]), "two laws"),
    ("L03.2", lambda case: 1 / 0, "a correct decoder, lookahead 0"),
    ("L03.2", None, "TypeError"),
    ("L03.2", all_accepted_as_asked, "a correct decoder, lookahead 1"),
    ("L04.1", lambda h: 1 + sum(h) / len(h), "(())"),
    ("L05.1", lambda rs: 0, "expected None"),
    ("L05.3", lambda prompt, n, r: [0] * n, "first departure at position 1"),
    ("L05.4", lambda h, g: 0, "(1.0, 1.2)"),
    ("L05.4", lambda h, g: (g - 1) / (1 - g + g * h or 1), "(0.2, 1.5)"),
    ("L07.1", lambda q, s, c: q, "([0.5, 0.5], [0], 0.25)"),
    ("L08.2", lambda rounds, t_p, t_n: 0, "expected 1.5"),
    ("L11.2", lambda b, s, f: b[0], "expected None"),
    ("L09.1", lambda pause, backup, filling: (0, 0, 0), "(10, 20), [], []"),
    ("L09.2", lambda d, K, v: K * d, "expected 1.0"),
    ("L10.1", lambda K, b, E: 70.6, "(1, 0, 1.5)"),
]
