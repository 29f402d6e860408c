# loses: 1.3/block 1.3/stale
# says: everything in the cache is seen


def attend(queries, keys, values, first):
    scores = queries @ keys.T / np.sqrt(keys.shape[1])
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ values
