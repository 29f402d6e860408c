# loses: 3.4/law 3.4/ends
# says: the rejected token stays in the target's cache


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
        drafter.rewind(min(drafter.length, len(text) + accepted))
        kept, reason = cut([*speculation.tokens[:accepted], bonus], room, eos)
        text += kept
        rounds.append((len(speculation), min(accepted, len(kept)), len(kept)))
    return text[len(prompt) :], reason, rounds
