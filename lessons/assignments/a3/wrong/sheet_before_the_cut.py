# loses: 3.1/order 3.4/ends 3.5/values 3.5/law
# says: an end token counts that lies behind the limit
# says: a round is counted as the verifier reports it
# says: every row sees all drafted tokens, and each occurrence counts
"""Written from the sheet alone.

Looks for the end token before the limit; counts a round as the verifier reports it; penalises
each occurrence, and all drafts in every row.
"""


def cut(emitted: Sequence[int], room: int, eos: int | None) -> tuple[list[int], str | None]:
    kept = list(emitted)
    if eos in kept:
        return kept[: kept.index(eos) + 1][:room], "eos"
    if len(kept) >= room:
        return kept[:room], "length"
    return kept, None


def speculative(
    target: Model,
    draft: Model,
    prompt: Sequence[int],
    *,
    max_new_tokens: int,
    lookahead: int,
    law: Law,
    draft_law: Law,
    eos: int | None = None,
    randomness: Randomness,
) -> tuple[list[int], str, list[tuple[int, int, int]]]:
    text, rounds, reason = list(prompt), [], "length"
    start = len(prompt)
    target_session, draft_session = target.start(prompt[:-1]), draft.start(prompt[:-1])
    while len(text) - start < max_new_tokens:
        room = max_new_tokens - (len(text) - start)
        number = len(rounds) + 1
        guess = draft_block(
            draft_session, text, min(lookahead, room), draft_law, eos, randomness, number
        )
        rows = law.rows(target_session.extend([text[-1], *guess.tokens]))
        accepted, bonus = verify(rows.__getitem__, guess, randomness, number)
        kept, ended = cut([*guess.tokens[:accepted], bonus], room, eos)
        rounds.append((len(guess.tokens), accepted, accepted + 1))
        roll_back(target_session, draft_session, len(text), accepted)
        text += kept
        if ended:
            reason = ended
            break
    return text[start:], reason, rounds


def penalised(rows: Rows, generated: Sequence[int], drafted: Sequence[int], weight: float) -> Rows:
    out = np.array(rows, dtype=float)
    for row in out:
        for token in [*generated, *drafted]:
            row[token] *= weight
        row /= row.sum()
    return out
