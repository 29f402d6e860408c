"""Nested tables in place of one, a loop over the rounds, and other names."""

import numpy as np

from ssd_ref import Law, Outcome, Site, Speculation
from ssd_ref.verification import verify


def logits_along(model, text, drafted):
    return [model.logits_after([*text, *drafted[:i]]) for i in range(len(drafted) + 1)]


def speculate(draft, text, n, eos, round, branch, randomness):
    tokens, rows, sites = [], np.empty((0, draft.vocabulary)), []
    while len(tokens) < n and eos not in tokens:
        rows = np.concatenate([rows, Law().rows(draft.logits_after([*text, *tokens])[None])])
        sites.append(Site(randomness.sequence, round, "draft", len(tokens), branch))
        tokens.append(randomness.choose(rows[-1], sites[-1]))
    return Speculation(tuple(tokens), rows, tuple(sites), "draft")


def outcome_of(target, text, speculation, round, randomness):
    rows = Law().rows(np.array(logits_along(target, text, speculation.tokens)))
    return verify(rows.__getitem__, speculation, randomness, round)


def cut(emitted, room, eos):
    kept = list(emitted[:room])
    if eos in kept:
        return kept[: kept.index(eos) + 1], True
    return kept, len(kept) == room


def order(z):
    return sorted(range(len(z)), key=lambda t: (-z[t], t))


def guesses(logits, drafted, fan_out):
    n = len(drafted)
    widths = [*fan_out[:n], fan_out[-1]]
    cannot = [*drafted, None]
    return [
        (k, t)
        for k, (z, width, never) in enumerate(zip(logits, widths, cannot))
        for t in [x for x in order(z) if x != never][:width]
    ]


def prepare(text, drafted, guessed, ended, draft_after):
    entries = {}
    for k in reversed(range(len(drafted) + 1)):
        trunk = list(text) + list(drafted)[:k]
        for guess in [g for g in guessed if g[0] == k]:
            if not ended([*trunk, guess[1]]):
                entries[guess] = draft_after([*trunk, guess[1]], Outcome(*guess))
    return entries


def ssd(target, draft, prompt, *, max_new_tokens, lookahead, fan_out, eos=None, randomness):
    new, served = [], ["first"]

    def left():
        return max_new_tokens - len(new)

    now = speculate(draft, prompt, min(lookahead, left()), eos, 1, None, randomness)
    for round in range(1, max_new_tokens + 1):
        text, room = [*prompt, *new], left()
        next_ones = [[None] * draft.vocabulary for _ in range(len(now) + 1)]
        for k, t in guesses(logits_along(draft, text, now.tokens), now.tokens, fan_out):
            emitted = [*now.tokens[:k], t]
            if not cut(emitted, room, eos)[1]:
                n = min(lookahead, room - k - 1)
                next_ones[k][t] = speculate(
                    draft, text + emitted, n, eos, round + 1, Outcome(k, t), randomness
                )
        k, bonus = outcome_of(target, text, now, round, randomness)
        kept, over = cut([*now.tokens[:k], bonus], room, eos)
        new += kept
        if over:
            break
        now = next_ones[k][bonus]
        served.append("backup" if now is None else "cache")
        if now is None:
            n = min(lookahead, left())
            now = speculate(draft, [*prompt, *new], n, eos, round + 1, None, randomness)
    return tuple(new), tuple(served)


def serve_all(texts, drafted, guessed, draft_after, wait):
    caches = {
        name: {
            tuple(g): draft_after(name, list(text) + list(drafted[name][: g[0]]) + [g[1]])
            for g in guessed[name]
        }
        for name, text in sorted(texts.items(), reverse=True)
    }
    heard = wait()
    result = {}
    for name in texts:
        k, t = heard[name]
        hit = caches[name].get((k, t))
        result[name] = hit or draft_after(name, (*texts[name], *drafted[name][:k], t))
    return result
