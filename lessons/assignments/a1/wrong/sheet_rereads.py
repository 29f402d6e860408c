# loses: 1.1/extremes 1.5/reads
# says: an exponential overflows
# says: the whole text is read anew for each token
"""Written from the sheet alone.

Plain softmax without the maximum; every step starts a new session on the whole text.
"""


def with_temperature(logits: Row, temperature: float) -> Row:
    if temperature == 0:
        law = np.zeros(len(logits))
        law[np.argmax(logits)] = 1
        return law
    powers = np.exp(np.asarray(logits) / temperature)
    return powers / powers.sum()


def decode(
    target: Model,
    prompt: Sequence[int],
    *,
    max_new_tokens: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    eos: int | None = None,
    randomness: Randomness,
) -> list[int]:
    def drawn(law: Row, index: int) -> int:
        """Given: draws the new token number `index` (0 is the first) from its law (V,)."""
        return randomness.choose(law, Site(randomness.sequence, index + 1, "bonus", 0))

    text = list(prompt)
    for index in range(max_new_tokens):
        row = target.start(text[:-1]).extend(text[-1:])[0]
        law = truncated(with_temperature(row, temperature), top_k, top_p)
        text.append(drawn(law, index))
        if text[-1] == eos:
            break
    return text[len(prompt) :]
