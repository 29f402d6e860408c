"""Written out; the base of the stored wrong solutions."""
# ruff: noqa: B023  # the functions are used within their round

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


def guesses(logits, drafted, fan_out):
    n, found = len(drafted), []
    for k in range(n + 1):
        ranked = [int(t) for t in np.argsort(-logits[k], kind="stable")]
        if k < n:
            ranked.remove(drafted[k])
        found += [Outcome(k, t) for t in ranked[: fan_out[k] if k < n else fan_out[-1]]]
    return found


def prepare(text, drafted, guessed, ended, draft_after):
    cache = {}
    for k, t in guessed:
        begin = [*text, *drafted[:k], t]
        if not ended(begin):
            cache[Outcome(k, t)] = draft_after(begin, Outcome(k, t))
    return cache


def ssd(target, draft, prompt, *, max_new_tokens, lookahead, fan_out, eos=None, randomness):
    text, served, who = list(prompt), [], "first"
    most = len(prompt) + max_new_tokens
    speculation = speculate(draft, text, min(lookahead, max_new_tokens), eos, 1, None, randomness)
    while True:
        round, room = len(served) + 1, most - len(text)
        drafted = speculation.tokens
        guessed = guesses(logits_along(draft, text, drafted), drafted, fan_out)

        def ended(longer):
            return cut(longer[len(text) :], room, eos)[1]

        def draft_after(longer, branch):
            n = min(lookahead, most - len(longer))
            return speculate(draft, longer, n, eos, round + 1, branch, randomness)

        cache = prepare(text, drafted, guessed, ended, draft_after)
        outcome = outcome_of(target, text, speculation, round, randomness)
        kept, over = cut([*drafted[: outcome.accepted], outcome.bonus], room, eos)
        text += kept
        served.append(who)
        if over:
            return text[len(prompt) :], served
        if outcome in cache:
            speculation, who = cache[outcome], "cache"
        else:
            speculation, who = draft_after(text, None), "backup"


def serve_all(texts, drafted, guessed, draft_after, wait):
    cache = {}
    for number, text in texts.items():
        for k, t in guessed[number]:
            cache[number, k, t] = draft_after(number, [*text, *drafted[number][:k], t])
    served = {}
    for number, (k, t) in wait().items():
        if (number, k, t) in cache:
            served[number] = cache[number, k, t]
        else:
            served[number] = draft_after(number, [*texts[number], *drafted[number][:k], t])
    return served
