# loses: 3.1/order 3.4/ends 3.4/counters
# says: an end token counts that lies behind the limit
# says: no bonus is emitted when all was accepted
"""Written from the sheet alone."""


def cut(emitted, room, eos):
    if eos in emitted:
        return emitted[: emitted.index(eos) + 1][:room], "eos"
    if len(emitted) >= room:
        return emitted[:room], "length"
    return emitted, None


def speculative(
    target, draft, prompt, *, max_new_tokens, lookahead, law, draft_law, eos=None, randomness
):
    tokens, rounds = [], []
    target_session = target.start(prompt[:-1])
    draft_session = draft.start(prompt[:-1])
    if max_new_tokens == 0:
        return [], "length", []
    while True:
        text = list(prompt) + tokens
        room = max_new_tokens - len(tokens)
        round = len(rounds) + 1
        speculation = draft_block(
            draft_session, text, min(lookahead, room), draft_law, eos, randomness, round
        )
        drafted = list(speculation.tokens)
        rows = law.rows(target_session.extend(text[-1:] + drafted))
        outcome = verify(lambda i: rows[i], speculation, randomness, round)
        emitted = drafted[: outcome.accepted]
        if outcome.accepted < len(drafted) or not drafted:
            emitted.append(outcome.bonus)
        roll_back(target_session, draft_session, len(text), len(emitted) - 1)
        kept, reason = cut(emitted, room, eos)
        tokens += kept
        rounds.append((len(drafted), min(outcome.accepted, len(kept)), len(kept)))
        if reason:
            return tokens, reason, rounds
