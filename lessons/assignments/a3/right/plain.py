"""Written out; the base of the stored wrong solutions."""

import numpy as np

from ssd_ref import Site, Speculation
from ssd_ref.verification import verify


def cut(emitted, room, eos):
    kept = list(emitted[:room])
    if eos in kept:
        return kept[: kept.index(eos) + 1], "eos"
    return kept, "length" if len(kept) == room else None


def draft_block(session, text, n, law, eos, randomness, round):
    def drawn(row, i):
        return randomness.choose(row, Site(randomness.sequence, round, "draft", i))

    def speculation(tokens, rows):
        sites = [Site(randomness.sequence, round, "draft", i) for i in range(len(tokens))]
        return Speculation(
            tuple(tokens), np.array(rows, ndmin=2)[: len(tokens)], tuple(sites), "draft"
        )

    tokens, rows = [], []
    missing = list(text[session.length :])
    while len(tokens) < n:
        rows.append(law.rows(session.extend(missing))[-1])
        tokens.append(drawn(rows[-1], len(tokens)))
        missing = tokens[-1:]
        if tokens[-1] == eos:
            break
    return speculation(tokens, rows)


def roll_back(target, draft, length, accepted):
    target.rewind(length + accepted)
    draft.rewind(min(draft.length, length + accepted))


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
        rounds.append((len(speculation), min(accepted, len(kept)), len(kept)))
    return text[len(prompt) :], reason, rounds


def penalised(rows, generated, drafted, weight):
    laws = np.array(rows)
    for i in range(len(laws)):
        for token in set(generated) | set(drafted[:i]):
            laws[i, token] *= weight
        laws[i] /= laws[i].sum()
    return laws
