# loses: 3.2/reads 3.3/draft 3.5/values 3.5/law
# says: the last drafted token is read, too
# says: a token is penalised once for each occurrence
"""Written from the sheet alone."""


def draft_block(session, text, n, law, eos, randomness, round):
    def drawn(row, i):
        return randomness.choose(row, Site(randomness.sequence, round, "draft", i))

    tokens, rows = [], []
    if n > 0:
        logits = session.extend(text[session.length :])[-1]
        for i in range(n):
            row = law.rows(np.array([logits]))[0]
            token = drawn(row, i)
            tokens.append(token)
            rows.append(row)
            logits = session.extend([token])[0]
            if token == eos:
                break
    sites = [Site(randomness.sequence, round, "draft", i) for i in range(len(tokens))]
    return Speculation(
        tuple(tokens),
        np.array(rows).reshape(len(tokens), -1 if tokens else 1),
        tuple(sites),
        "draft",
    )


def roll_back(target, draft, length, accepted):
    target.rewind(length + accepted)
    if draft.length > length:
        draft.rewind(length)


def speculative(
    target, draft, prompt, *, max_new_tokens, lookahead, law, draft_law, eos=None, randomness
):
    text, rounds = list(prompt), []
    reader, drafter = target.start(text[:-1]), draft.start(text[:-1])
    reason = "length" if max_new_tokens == 0 else None
    while reason is None:
        room = len(prompt) + max_new_tokens - len(text)
        round = len(rounds) + 1
        n = min(lookahead, room)
        speculation = draft_block(drafter, text, n, draft_law, eos, randomness, round)
        rows = law.rows(reader.extend([text[-1], *speculation.tokens]))
        accepted, bonus = verify(rows.__getitem__, speculation, randomness, round)
        roll_back(reader, drafter, len(text), accepted)
        kept, reason = cut([*speculation.tokens[:accepted], bonus], room, eos)
        text += kept
        rounds.append((len(speculation), accepted, len(kept)))
    return text[len(prompt) :], reason, rounds


def penalised(rows, generated, drafted, weight):
    laws = []
    for i in range(len(rows)):
        law = rows[i].copy()
        for token in list(generated) + list(drafted)[:i]:
            law[token] = law[token] * weight
        laws.append(law / law.sum())
    return np.array(laws)
