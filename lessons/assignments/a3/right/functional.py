"""Other helpers, other names, arrays instead of loops, and sessions that start empty."""

import numpy as np

from ssd_ref import Site, Speculation
from ssd_ref.verification import verify


def cut(emitted, room, eos):
    place = next((i for i, t in enumerate(emitted) if t == eos), None)
    if place is not None and place < room:
        return emitted[: place + 1], "eos"
    return emitted[:room], None if len(emitted) < room else "length"


def draft_block(session, text, n, law, eos, randomness, round):
    new, rows, sites = list(text), [], []
    while len(rows) < n:
        row = law.rows(session.extend(new[session.length :])[-1][None, :])[0]
        sites.append(Site(sequence=randomness.sequence, round=round, role="draft", index=len(rows)))
        rows.append(row)
        new.append(randomness.choose(row, sites[-1]))
        if new[-1] == eos:
            n = len(rows)
    q = np.zeros((0, 1)) if not rows else np.stack(rows)
    return Speculation(tuple(new[len(text) :]), q, tuple(sites), "draft")


def roll_back(target, draft, length, accepted):
    for session in (draft, target):
        if session.length > length + accepted:
            session.rewind(length + accepted)


def one_round(both, text, room, settings, round):
    target, draft = both
    s = draft_block(
        draft, text, min(settings["lookahead"], room), settings["draft_law"],
        settings.get("eos"), settings["randomness"], round,
    )  # fmt: skip
    p = settings["law"].rows(target.extend([*text, *s.tokens][target.length :]))[-len(s) - 1 :]
    k, bonus = verify(lambda i: p[i], s, settings["randomness"], round)
    roll_back(target, draft, len(text), k)
    new, reason = cut([*s.tokens[:k], bonus], room, settings.get("eos"))
    return new, reason, (len(s), k if k <= len(new) else len(new), len(new))


def speculative(target, draft, prompt, *, max_new_tokens, **settings):
    both, tokens, counts, reason = (target.start([]), draft.start([])), [], [], "length"
    while len(tokens) < max_new_tokens:
        room = max_new_tokens - len(tokens)
        new, reason, count = one_round(both, [*prompt, *tokens], room, settings, len(counts) + 1)
        tokens, counts = tokens + new, [*counts, count]
        if reason:
            break
    return tuple(tokens), reason, tuple(counts)


def penalised(rows, generated, drafted, weight):
    n, V = len(drafted), rows.shape[1]
    seen = np.zeros((n + 1, V), dtype=bool)
    seen[:, list(generated)] = True
    for i, d in enumerate(drafted):
        seen[i + 1 :, d] = True
    scaled = rows * np.where(seen, weight, 1)
    return scaled / scaled.sum(axis=1, keepdims=True)
