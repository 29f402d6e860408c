"""Written out; the base of the stored wrong solutions."""

import numpy as np

from ssd_ref import Law, Outcome, Site, Speculation
from ssd_ref.fan_out import guess_outcomes
from ssd_ref.verification import verify


def logits_along(model, text, drafted):
    return [model.logits_after([*text, *drafted[:i]]) for i in range(len(drafted) + 1)]


def outcome_of(target, text, speculation, temperature, round, randomness):
    rows = Law(temperature).rows(np.array(logits_along(target, text, speculation.tokens)))
    return verify(rows.__getitem__, speculation, randomness, round)


def cut(emitted, room, eos):
    kept = list(emitted[:room])
    if eos in kept:
        return kept[: kept.index(eos) + 1], True
    return kept, len(kept) == room


def sigma(logits, temperature, width, c):
    q = Law(temperature).rows(logits[None])[0]
    guessed = np.argsort(-logits, kind="stable")[:width]
    scaled = q.copy()
    scaled[guessed] *= c
    return scaled / scaled.sum() if scaled.sum() > 0 else q


def speculate(draft, text, n, eos, widths, c, temperature, uniform, round, branch, randomness):
    def drawn(row, i):
        return randomness.choose(row, Site(randomness.sequence, round, "draft", i, branch))

    def speculation(tokens, rows):
        sites = [Site(randomness.sequence, round, "draft", i, branch) for i in range(len(tokens))]
        laws = np.reshape(rows, (len(tokens), draft.vocabulary))
        return Speculation(tuple(tokens), laws, tuple(sites), "draft")

    tokens, rows = [], []
    for i in range(n):
        if uniform:
            rows.append(np.ones(draft.vocabulary) / draft.vocabulary)
        else:
            rows.append(sigma(draft.logits_after([*text, *tokens]), temperature, widths[i], c))
        tokens.append(drawn(rows[-1], i))
        if tokens[-1] == eos:
            break
    return speculation(tokens, rows)


def ssd(
    target, draft, prompt, *, max_new_tokens, lookahead, fan_out, fan_out_miss,
    saguaro_c=1.0, backup="draft", temperature=1.0, eos=None, randomness,
):  # fmt: skip
    text, served = list(prompt), []
    most = len(prompt) + max_new_tokens

    def behind(longer, widths, uniform, round, branch):
        n = min(lookahead, most - len(longer))
        return speculate(
            draft,
            longer,
            n,
            eos,
            widths,
            saguaro_c,
            temperature,
            uniform,
            round,
            branch,
            randomness,
        )

    who, widths = "first", fan_out
    speculation = behind(text, fan_out, False, 1, None)
    while True:
        round, room, drafted = len(served) + 1, most - len(text), speculation.tokens
        cache = {}
        for k, t in guess_outcomes(logits_along(draft, text, drafted), drafted, widths):
            if not cut([*drafted[:k], t], room, eos)[1]:
                longer = [*text, *drafted[:k], t]
                cache[k, t] = behind(longer, fan_out, False, round + 1, Outcome(k, t))
        outcome = outcome_of(target, text, speculation, temperature, round, randomness)
        kept, over = cut([*drafted[: outcome.accepted], outcome.bonus], room, eos)
        text += kept
        served.append(who)
        if over:
            return text[len(prompt) :], served
        if outcome in cache:
            who, widths, speculation = "cache", fan_out, cache[outcome]
        else:
            who, widths = "backup", fan_out_miss
            speculation = behind(text, fan_out_miss, backup == "uniform", round + 1, None)


def weight_for(law, guessed, mass):
    q = law[list(guessed)].sum()
    if mass == 1 or mass == q:
        return 1.0
    return (mass / (1 - mass)) / (q / (1 - q))


def chains(session, lengths, firsts, n, eos):
    branches = session.branch(lengths)
    found = [[] for _ in lengths]
    feed = dict(enumerate(firsts))
    for _ in range(n):
        if not feed:
            break
        rows = branches.extend(list(feed), list(feed.values()))
        best = dict(zip(feed, rows.argmax(axis=1).tolist(), strict=True))
        for j, token in best.items():
            found[j].append(token)
        feed = {j: token for j, token in best.items() if token != eos}
    return found
