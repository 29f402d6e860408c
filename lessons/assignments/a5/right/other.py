"""Logarithms in place of products, one function for both drafters, branches kept as arrays."""

import numpy as np

from ssd_ref import Law, Outcome, Site, Speculation
from ssd_ref.verification import verify


def sigma(logits, temperature, width, c):
    q = Law(temperature).rows(np.atleast_2d(logits))[0]
    rank = np.lexsort((np.arange(len(logits)), -logits)).argsort()
    with np.errstate(divide="ignore"):
        logs = np.log(q) + np.where(rank < width, np.log(c), 0.0)
    if logs.max() == -np.inf:
        return q
    e = np.exp(logs - logs.max())
    return e / e.sum()


def speculate(draft, text, n, eos, widths, c, temperature, uniform, round, branch, randomness):
    V, sequence = draft.vocabulary, randomness.sequence
    new, rows, sites = [], np.empty((0, V)), []
    alike = np.full(V, 1 / V)
    for i, width in zip(range(n), widths):
        row = (
            alike if uniform else sigma(draft.logits_after(list(text) + new), temperature, width, c)
        )
        sites += [Site(sequence, round, "draft", i, branch)]
        rows = np.vstack([rows, row])
        new += [randomness.choose(row, sites[i])]
        if new[i] == eos:
            break
    return Speculation(tuple(new), rows, tuple(sites), "draft")


def likeliest(z, many, never):
    return [t for t in sorted(range(len(z)), key=lambda t: (-z[t], t)) if t != never][:many]


def ssd(target, draft, prompt, **given):
    N, K, r = given["max_new_tokens"], given["lookahead"], given["randomness"]
    T, c, eos = given.get("temperature", 1.0), given.get("saguaro_c", 1.0), given.get("eos")
    lists = {"backup": given["fan_out_miss"], "cache": given["fan_out"], "first": given["fan_out"]}
    blind = given.get("backup", "draft") == "uniform"
    new, served = [], ["first"]

    def drafts(ahead, who, round, branch=None):
        return speculate(
            draft, [*prompt, *new, *ahead], min(K, N - len(new) - len(ahead)), eos, lists[who], c, T,
            blind and who == "backup", round, branch, r,
        )  # fmt: skip

    def over(tokens):
        return len(tokens) >= N or (eos is not None and eos in tokens)

    now = drafts([], "first", 1)
    while True:
        d, round, cache = list(now.tokens), len(served), {}
        many = [*lists[served[-1]][: len(d)], lists[served[-1]][-1]]
        for k in range(len(d), -1, -1):
            z = draft.logits_after([*prompt, *new, *d[:k]])
            for t in likeliest(z, many[k], d[k] if k < len(d) else None):
                if not over([*new, *d[:k], t]):
                    cache[k, t] = drafts([*d[:k], t], "cache", round + 1, Outcome(k, t))
        z = [target.logits_after([*prompt, *new, *d[:i]]) for i in range(len(d) + 1)]
        p = Law(T).rows(np.stack(z))
        k, t = verify(p.__getitem__, now, r, round)
        for token in [*d[:k], t]:
            if not over(new):
                new.append(token)
        if over(new):
            return new, served
        served.append("cache" if (k, t) in cache else "backup")
        now = cache.get((k, t)) or drafts([], "backup", round + 1)


def weight_for(law, guessed, mass):
    inside = sum(float(law[t]) for t in guessed)
    outside = 1 - inside
    if outside <= 0 or abs(mass - inside) < 1e-15:
        return 1
    return mass * outside / (inside - mass * inside)


def chains(session, lengths, firsts, n, eos):
    many = len(firsts)
    out = np.full((many, n), -1)
    last, alive = np.array(firsts), np.ones(many, dtype=bool)
    opened = session.branch(list(lengths))
    for step in range(n):
        which = np.flatnonzero(alive)
        if not which.size:
            break
        z = opened.extend(which.tolist(), last[which].tolist())
        last[which] = out[which, step] = np.argmax(z, axis=1)
        alive &= last != (-1 if eos is None else eos)
        alive[which] &= out[which, step] != (-1 if eos is None else eos)
    return [[int(t) for t in row if t >= 0] for row in out]
