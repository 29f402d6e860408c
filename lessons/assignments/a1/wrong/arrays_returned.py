# loses: 1.5/law 1.5/ends
# says: expected integers in [0, 3), the decoder gave (array(


def decode(
    target, prompt, *, max_new_tokens,
    temperature=1.0, top_k=None, top_p=None, eos=None, randomness,
):  # fmt: skip
    last, tokens = prompt[-1], []
    session = target.start(prompt[:-1])
    while len(tokens) < max_new_tokens:
        law = truncated(with_temperature(session.extend([last])[0], temperature), top_k, top_p)
        last = randomness.choose(law, Site(randomness.sequence, len(tokens) + 1, "bonus", 0))
        tokens.append(np.array(last))
        if last == eos:
            break
    return tokens
