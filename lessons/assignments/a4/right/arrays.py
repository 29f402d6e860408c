"""Ranks by arrays; the loop by recursion."""

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
    z = np.array(logits)
    n, V = len(drafted), z.shape[1]
    likelier = (z[:, None, :] > z[:, :, None]).sum(axis=2)
    before = ((z[:, None, :] == z[:, :, None]) & (np.arange(V) < np.arange(V)[:, None])).sum(axis=2)
    rank = likelier + before  # (n + 1, V); 0: the likeliest
    for k, d in enumerate(drafted):
        rank[k, rank[k] > rank[k, d]] -= 1
        rank[k, d] = V + 1
    found = []
    for k in range(n + 1):
        width = min(fan_out[k] if k < n else fan_out[-1], V)
        places = np.argsort(rank[k])[:width]
        found += [Outcome(k, int(t)) for t in places if rank[k, t] <= V]
    return found


def prepare(text, drafted, guessed, ended, draft_after):
    begins = {guess: [*text, *drafted[: guess[0]], guess[1]] for guess in guessed}
    return {guess: draft_after(begin, guess) for guess, begin in begins.items() if not ended(begin)}


def ssd(target, draft, prompt, **settings):
    most, K = len(prompt) + settings["max_new_tokens"], settings["lookahead"]
    eos, randomness = settings.get("eos"), settings["randomness"]

    def behind(text, round, branch=None):
        return speculate(draft, text, min(K, most - len(text)), eos, round, branch, randomness)

    def go_on(text, speculation, who, round):
        """What comes behind `text`: tokens, and who serves."""
        room, d = most - len(text), speculation.tokens
        guessed = guesses(logits_along(draft, text, d), d, settings["fan_out"])
        cache = prepare(
            text, d, guessed,
            lambda longer: longer[-1] == eos or eos in d[: len(longer) - len(text) - 1] or len(longer) >= most,
            lambda longer, guess: behind(longer, round + 1, guess),
        )  # fmt: skip
        k, t = outcome_of(target, text, speculation, round, randomness)
        kept, over = cut([*d[:k], t], room, eos)
        if over:
            return kept, [who]
        longer = [*text, *kept]
        if (k, t) in cache:
            tokens, served = go_on(longer, cache[k, t], "cache", round + 1)
        else:
            tokens, served = go_on(longer, behind(longer, round + 1), "backup", round + 1)
        return kept + tokens, [who, *served]

    return go_on(list(prompt), behind(list(prompt), 1), "first", 1)


def serve_all(texts, drafted, guessed, draft_after, wait):
    def begin(number, k, t):
        return [*texts[number], *drafted[number][:k], t]

    keys = [(number, *guess) for number in texts for guess in guessed[number]]
    entries = [draft_after(key[0], begin(*key)) for key in keys]
    verdicts = [(number, *outcome) for number, outcome in wait().items()]
    return {
        key[0]: entries[keys.index(key)] if key in keys else draft_after(key[0], begin(*key))
        for key in verdicts
    }
