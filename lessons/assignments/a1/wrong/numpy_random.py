# loses: 1.5/law 1.5/ends
# says: it draws from np.random; every draw must go through the argument `randomness` (lesson 01)


def decode(
    target, prompt, *, max_new_tokens,
    temperature=1.0, top_k=None, top_p=None, eos=None, randomness,
):  # fmt: skip
    last, tokens = prompt[-1], []
    session = target.start(prompt[:-1])
    while len(tokens) < max_new_tokens:
        law = truncated(with_temperature(session.extend([last])[0], temperature), top_k, top_p)
        last = int(np.random.choice(len(law), p=law))
        tokens.append(last)
        if last == eos:
            break
    return tokens
