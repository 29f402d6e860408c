# loses: 3.3/target 3.3/draft 3.4/ends 3.4/counters
# says: the draft is rewound to where the target is
# says: a round drafts one token less than may come
"""Written from the sheet alone.

Drafts one token less than there is room for, to leave place for the bonus; both sessions are
rewound to the same length.
"""


def roll_back(target: Session, draft: Session, length: int, accepted: int) -> None:
    target.rewind(length + accepted)
    draft.rewind(length + accepted)


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
            draft_session, text, min(lookahead, room - 1), draft_law, eos, randomness, number
        )
        rows = law.rows(target_session.extend([text[-1], *guess.tokens]))
        accepted, bonus = verify(rows.__getitem__, guess, randomness, number)
        kept, ended = cut([*guess.tokens[:accepted], bonus], room, eos)
        rounds.append((len(guess.tokens), min(accepted, len(kept)), len(kept)))
        roll_back(target_session, draft_session, len(text), accepted)
        text += kept
        if ended:
            reason = ended
            break
    return text[start:], reason, rounds
