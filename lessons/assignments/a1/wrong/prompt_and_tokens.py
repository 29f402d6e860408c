# loses: 1.5/law 1.5/ends
# says: the prompt is returned, too: only the new tokens are asked for


def decode(
    target, prompt, *, max_new_tokens,
    temperature=1.0, top_k=None, top_p=None, eos=None, randomness,
):  # fmt: skip
    text = list(prompt)
    session = target.start(text[:-1])
    for index in range(max_new_tokens):
        law = with_temperature(session.extend(text[-1:])[0], temperature)
        site = Site(randomness.sequence, index + 1, "bonus", 0)
        text.append(randomness.choose(truncated(law, top_k, top_p), site))
        if text[-1] == eos:
            break
    return text
