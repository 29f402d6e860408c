# loses: 1.3/block 1.3/stale 1.4/pieces 1.4/rewind 1.6/values 1.6/edges
# says: every block is placed at position 0
# says: the logits are added
"""Written from the sheet alone.

Takes logits for log-probabilities, masks after the softmax, and counts a block's positions from
0.
"""


def attend(queries: Array, keys: Array, values: Array, first: int) -> Array:
    scores = queries @ keys.T / np.sqrt(queries.shape[1])
    weights = np.exp(scores - scores.max())
    weights = weights / weights.sum(axis=1, keepdims=True)
    position = first + np.arange(len(queries))
    weights = weights * (np.arange(len(keys)) <= position[:, None])
    return weights @ values


def read_block(model: OneLayer, cache: Cache, tokens: Sequence[int]) -> Array:
    first, end = cache.length, cache.length + len(tokens)
    x = model.embedded(tokens, range(len(tokens)))
    queries, keys, values = model.projected(x)
    cache.keys[first:end] = keys
    cache.values[first:end] = values
    cache.length = end
    return model.logits(x, attend(queries, cache.keys, cache.values, first))


def scores(
    target: Model, prompt: Sequence[int], candidates: Sequence[Sequence[int]]
) -> list[float]:
    session = target.start(prompt[:-1])
    found = []
    for candidate in candidates:
        session.rewind(len(prompt) - 1)
        rows = session.extend([prompt[-1], *candidate])
        found.append(float(sum(rows[i][token] for i, token in enumerate(candidate))))
    return found
