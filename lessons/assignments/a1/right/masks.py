"""Masks and whole arrays; the laws by other formulas."""

import numpy as np

from ssd_ref import Site


def with_temperature(logits, temperature):
    z = np.array(logits, dtype=np.float64)
    largest = z.max()
    if not temperature:
        return (np.arange(z.size) == np.flatnonzero(z == largest)[0]).astype(float)
    z = (z - largest) / temperature
    return np.exp(z - np.log(np.exp(z).sum()))


def truncated(law, top_k, top_p):
    kept = np.array(law)
    rank = np.lexsort((np.arange(kept.size), -kept)).argsort()  # 0: the likeliest
    if top_k is not None:
        kept = np.where(rank < top_k, kept, 0)
        kept = kept / kept.sum()
    if top_p is not None:
        likelier = rank[None, :] < rank[:, None]
        kept = np.where((likelier * kept).sum(axis=1) < top_p, kept, 0)
        kept = kept / kept.sum()
    return kept


def attend(queries, keys, values, first):
    n, slots = len(queries), len(keys)
    scores = (queries @ keys.T) / keys.shape[1] ** 0.5
    scores = scores + np.triu(np.full((n, slots), -np.inf), first + 1)
    scores = scores - scores.max(axis=-1, keepdims=True, initial=-1e300)
    weights = np.exp(scores)
    return (weights @ values) / weights.sum(axis=-1, keepdims=True)


def read_block(model, cache, tokens):
    where = cache.length + np.arange(len(tokens))
    x = model.embedded(tokens, where)
    q, cache.keys[where], cache.values[where] = model.projected(x)
    read = attend(q, cache.keys, cache.values, cache.length)
    cache.length += len(tokens)
    return model.logits(x, read)


def decode(
    target, prompt, *, max_new_tokens, temperature=1.0, top_k=None, top_p=None, eos=None, randomness
):
    text = list(prompt)
    session = target.start(text[:-1])
    for place in range(1, max_new_tokens + 1):
        row = session.extend(text[session.length :])[-1]
        law = truncated(with_temperature(row, temperature), top_k, top_p)
        text.append(randomness.choose(law, Site(randomness.sequence, place, "bonus", 0)))
        if text[-1] == eos:
            break
    return tuple(text[len(prompt) :])


def scores(target, prompt, candidates):
    *before, last = prompt
    session = target.start(before)
    sums = []
    for c in candidates:
        logits = session.extend([last, *c])[: len(c)]
        session.rewind(len(before))
        logits = logits - logits.max(axis=1, keepdims=True, initial=-1e300)
        logs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        sums.append(logs[np.arange(len(c)), list(c)].sum() if len(c) else 0)
    return np.array(sums)
