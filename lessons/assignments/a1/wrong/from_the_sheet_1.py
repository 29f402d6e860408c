# loses: 1.1/extremes 1.2/top_k 1.2/top_p 1.2/both 1.5/reads 1.6/reads
# says: an exponential overflows
# says: of equally likely tokens the higher one is kept
# says: every candidate reads the prompt again
"""Written from the sheet alone."""


def with_temperature(logits, temperature):
    if temperature == 0:
        law = np.zeros(len(logits))
        law[np.argmax(logits)] = 1.0
        return law
    e = np.exp(np.array(logits) / temperature)
    return e / np.sum(e)


def truncated(law, top_k, top_p):
    order = list(np.argsort(law)[::-1])  # likeliest first
    if top_k is not None:
        order = order[:top_k]
    if top_p is not None:
        total = 0.0
        for i, token in enumerate(order):
            total += law[token]
            if total >= top_p:
                order = order[: i + 1]
                break
    result = np.zeros(len(law))
    result[order] = law[order]
    return result / np.sum(result)


def decode(
    target, prompt, *, max_new_tokens,
    temperature=1.0, top_k=None, top_p=None, eos=None, randomness,
):  # fmt: skip
    def drawn(law, index):
        return randomness.choose(law, Site(randomness.sequence, index + 1, "bonus", 0))

    session = target.start([])
    logits = session.extend(prompt)[-1]
    tokens = []
    for index in range(max_new_tokens):
        law = truncated(with_temperature(logits, temperature), top_k, top_p)
        token = drawn(law, index)
        tokens.append(token)
        if token == eos:
            break
        logits = session.extend([token])[-1]
    return tokens


def scores(target, prompt, candidates):
    result = []
    for candidate in candidates:
        session = target.start([])
        rows = session.extend(list(prompt) + list(candidate))
        total = 0.0
        for i, token in enumerate(candidate):
            law = with_temperature(rows[len(prompt) - 1 + i], 1.0)
            total += np.log(law[token])
        result.append(total)
    return result
