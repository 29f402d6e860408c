"""Written out with NumPy; the base of the stored wrong solutions."""

import numpy as np

from ssd_ref import Site


def with_temperature(logits, temperature):
    if temperature == 0:
        return np.eye(len(logits))[np.argmax(logits)]
    weights = np.exp((logits - np.max(logits)) / temperature)
    return weights / weights.sum()


def truncated(law, top_k, top_p):
    order = np.argsort(-law, kind="stable")
    kept = law[order]
    if top_k is not None:
        kept[top_k:] = 0
        kept /= kept.sum()
    if top_p is not None:
        kept[np.cumsum(kept) - kept >= top_p] = 0
        kept /= kept.sum()
    result = np.zeros(len(law))
    result[order] = kept
    return result


def attend(queries, keys, values, first):
    scores = queries @ keys.T / np.sqrt(keys.shape[1])
    for i in range(len(queries)):
        scores[i, first + i + 1 :] = -np.inf
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ values


def read_block(model, cache, tokens):
    first, n = cache.length, len(tokens)
    x = model.embedded(tokens, range(first, first + n))
    q, k, v = model.projected(x)
    cache.keys[first : first + n] = k
    cache.values[first : first + n] = v
    cache.length += n
    return model.logits(x, attend(q, cache.keys, cache.values, first))


def decode(
    target, prompt, *, max_new_tokens,
    temperature=1.0, top_k=None, top_p=None, eos=None, randomness,
):  # fmt: skip
    def drawn(law, index):
        return randomness.choose(law, Site(randomness.sequence, index + 1, "bonus", 0))

    session = target.start(prompt[:-1])
    last, tokens = prompt[-1], []
    while len(tokens) < max_new_tokens:
        logits = session.extend([last])[0]
        last = drawn(truncated(with_temperature(logits, temperature), top_k, top_p), len(tokens))
        tokens.append(last)
        if last == eos:
            break
    return tokens


def scores(target, prompt, candidates):
    session = target.start(prompt[:-1])
    found = []
    for candidate in candidates:
        rows = session.extend([prompt[-1], *candidate[:-1]])
        session.rewind(len(prompt) - 1)
        chances = [with_temperature(row, 1.0)[t] for row, t in zip(rows, candidate)]
        found.append(float(np.sum(np.log(chances))))
    return found
