# loses: 1.3/block 1.3/stale 1.5/ends 1.6/edges 1.6/values
# says: all queries see what the first one sees
# says: the end token is left out: it belongs to the text
# says: each token is scored by the row that follows it
"""Written from the sheet alone."""


def attend(queries, keys, values, first):
    keys, values = keys[: first + 1], values[: first + 1]
    scores = queries @ keys.T / np.sqrt(queries.shape[1])
    scores = np.exp(scores - scores.max())
    return (scores / scores.sum(axis=1)[:, None]) @ values


def decode(
    target, prompt, *, max_new_tokens,
    temperature=1.0, top_k=None, top_p=None, eos=None, randomness,
):  # fmt: skip
    session = target.start(prompt[:-1])
    token = prompt[-1]
    tokens = []
    for index in range(max_new_tokens):
        law = with_temperature(session.extend([token])[0], temperature)
        law = truncated(law, top_k, top_p)
        token = randomness.choose(law, Site(randomness.sequence, index + 1, "bonus", 0))
        if token == eos:
            break
        tokens.append(token)
    return tokens


def scores(target, prompt, candidates):
    session = target.start(prompt)
    result = []
    for candidate in candidates:
        rows = session.extend(candidate)
        session.rewind(len(prompt))
        result.append(sum(np.log(with_temperature(row, 1)[t]) for row, t in zip(rows, candidate)))
    return result
