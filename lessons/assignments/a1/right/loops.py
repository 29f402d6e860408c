"""Plain Python where it can be, and helpers of its own."""

import math

import numpy as np

from ssd_ref import Site


def normalised(weights):
    total = math.fsum(weights)
    return np.array([w / total for w in weights])


def first_largest(values):
    best = 0
    for i, value in enumerate(values):
        if value > values[best]:
            best = i
    return best


def with_temperature(logits, temperature):
    best = first_largest(logits)
    if temperature == 0:
        return np.array([1.0 if i == best else 0.0 for i in range(len(logits))])
    return normalised(
        [math.exp((float(z) - float(logits[best])) / float(temperature)) for z in logits]
    )


def truncated(law, top_k, top_p):
    likeliest = sorted(range(len(law)), key=lambda t: (-law[t], t))
    if top_k is not None:
        likeliest = likeliest[:top_k]
    if top_p is not None:
        mass = sum(law[t] for t in likeliest)
        so_far, kept = 0.0, []
        for t in likeliest:
            kept.append(t)
            so_far += law[t] / mass
            if so_far >= top_p:
                break
        likeliest = kept
    return normalised([law[t] if t in likeliest else 0.0 for t in range(len(law))])


def attend(queries, keys, values, first):
    out = np.zeros((len(queries), values.shape[1]))
    for i, q in enumerate(queries):
        scores = [
            sum(a * b for a, b in zip(q, keys[j])) / math.sqrt(len(q)) for j in range(first + i + 1)
        ]
        top = max(scores)
        for j, w in enumerate(normalised([math.exp(s - top) for s in scores])):
            out[i] += w * values[j]
    return out


def read_block(model, cache, tokens):
    start = cache.length
    if not len(tokens):
        return np.zeros((0, len(model.embedding)))
    x = model.embedded(tokens, [start + i for i in range(len(tokens))])
    q, k, v = model.projected(x)
    for i in range(len(tokens)):
        cache.keys[start + i], cache.values[start + i] = k[i], v[i]
    cache.rewind(start + len(tokens))
    return model.logits(
        x, attend(q, cache.keys[: cache.length], cache.values[: cache.length], start)
    )


def decode(target, prompt, **settings):
    left, eos, randomness = settings["max_new_tokens"], settings.get("eos"), settings["randomness"]
    if left == 0:
        return []
    session = target.start([])
    row = session.extend(prompt)[-1]
    new = []
    while True:
        law = with_temperature(row, settings.get("temperature", 1.0))
        law = truncated(law, settings.get("top_k"), settings.get("top_p"))
        new.append(randomness.choose(law, Site(randomness.sequence, len(new) + 1, "bonus", 0)))
        if len(new) == left or new[-1] == eos:
            return new
        row = session.extend([new[-1]])[-1]


def scores(target, prompt, candidates):
    session = target.start([])
    row = session.extend(prompt)[-1]
    result = []
    for candidate in candidates:
        rows = [row, *session.extend(candidate[:-1])]
        session.rewind(len(prompt))
        total = 0.0
        for r, t in zip(rows, candidate):
            p = with_temperature(r, 1)[t]
            total += math.log(p) if p else -math.inf
        result.append(total)
    return result
