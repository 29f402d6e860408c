"""The usual mistakes in assignment 4, each as a function that makes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from lessons.assignments.a4 import reference
from lessons.assignments.spec import Slip
from ssd_ref.randomness import Randomness, Site
from ssd_ref.rounds import Outcome, Speculation

# Guesses


def guesses_with(
    rejects: bool = True,
    width: Callable[[Sequence[int], int, int], int] = lambda F, k, n: F[k] if k < n else F[-1],
    ranked: Callable[[Any], Any] = lambda z: np.argsort(-z, kind="stable"),
    places: Callable[[int], range] = lambda n: range(n + 1),
    row: Callable[[int], int] = lambda k: k,
    possible: bool = False,
    dropped_after: bool = False,
) -> Callable[..., list[Outcome]]:
    """width(F, k, n): how many at k. row(k): whose logits. dropped_after: d_{k+1} costs a guess."""

    def guesses(logits: Any, drafted: Sequence[int], fan_out: Sequence[int]) -> list[Outcome]:
        n, found = len(drafted), []
        for k in places(n):
            z = logits[row(k)]
            tokens = [int(t) for t in ranked(z) if not possible or z[t] > -np.inf]
            if dropped_after:
                tokens = tokens[: width(fan_out, k, n)]
            if k < n and rejects and drafted[k] in tokens:
                tokens.remove(drafted[k])
            found += [Outcome(k, t) for t in tokens[: width(fan_out, k, n)]]
        return found

    return guesses


GUESSES = (
    Slip("a drafted token is guessed as the bonus in its own place: it was rejected there", guesses_with(rejects=False), "lesson 05, section 2"),
    Slip("the rejected token is taken out of the guesses, and no other takes its place", guesses_with(dropped_after=True), "lesson 05, section 2"),
    Slip("the least likely tokens are guessed", guesses_with(ranked=lambda z: np.argsort(z, kind="stable")), "lesson 05, section 2"),
    Slip("of equally likely tokens the higher one comes first", guesses_with(ranked=lambda z: np.argsort(z, kind="stable")[::-1]), "lesson 05, section 2"),
    Slip("nothing is guessed for \"all accepted\"", guesses_with(places=range), "lesson 05, section 2"),
    Slip("a short speculation takes F_n where all were accepted: the last number is asked for", guesses_with(width=lambda F, k, n: F[k]), "lesson 05, section 2"),
    Slip("the same number of guesses is made everywhere", guesses_with(width=lambda F, k, n: F[0])),
    Slip("the guesses at k are read from the logits before d_k", guesses_with(row=lambda k: max(k - 1, 0)), "lesson 05, section 2"),
    Slip("the guesses at k are read from the first logits", guesses_with(row=lambda k: 0), "lesson 05, section 2"),
    Slip("tokens of probability 0 are left out: the target may think otherwise", guesses_with(possible=True), "lesson 05, section 2"),
    Slip("two tokens are ranked, whatever the vocabulary", guesses_with(ranked=lambda z: np.argsort(-z[:2], kind="stable"))),
    Slip("three tokens are ranked, however large the vocabulary", guesses_with(ranked=lambda z: np.argsort(-z[:3], kind="stable"))),
)  # fmt: skip


# The cache

Begin = Callable[[list[int], list[int], int, int], list[int]]


def prepare_with(
    begin: Begin = lambda text, drafted, k, t: [*text, *drafted[:k], t],
    ends: bool = True,
    key: Callable[[int, int], Any] = lambda k, t: Outcome(k, t),
) -> Callable[..., Any]:
    def prepare(text: Any, drafted: Any, guessed: Any, ended: Any, draft_after: Any) -> Any:
        cache = {}
        for k, t in guessed:
            longer = begin(list(text), list(drafted), k, t)
            if not (ends and ended(longer)):
                cache[key(k, t)] = draft_after(longer, Outcome(k, t))
        return cache

    return prepare


PREPARE = (
    Slip("an entry begins behind all drafted tokens, accepted or not", prepare_with(begin=lambda text, d, k, t: [*text, *d, t]), "lesson 05, section 3"),
    Slip("an entry begins behind the drafted tokens, without the bonus", prepare_with(begin=lambda text, d, k, t: [*text, *d[:k]]), "lesson 05, section 3"),
    Slip("an entry begins behind the text and the bonus, without the accepted tokens", prepare_with(begin=lambda text, d, k, t: [*text, t]), "lesson 05, section 3"),
    Slip("an entry begins one drafted token too far", prepare_with(begin=lambda text, d, k, t: [*text, *d[: k + 1], t]), "lesson 05, section 3"),
    Slip("guesses that end the text get an entry, too", prepare_with(ends=False)),
    Slip("the key is the bonus token alone: it needs the number of accepted tokens", prepare_with(key=lambda k, t: t), "lesson 05, section 3"),
    Slip("the key is the number of accepted tokens alone: it needs the bonus token", prepare_with(key=lambda k, t: k), "lesson 05, section 3"),
)  # fmt: skip


# The loop


def loop_with(
    guess: Callable[..., Any] = reference.guesses,
    fill: Callable[..., Any] = reference.prepare,
    look: Callable[[Any, Outcome], Any] = lambda cache, outcome: cache.get(outcome),
    verdict: Callable[..., Outcome] = reference.outcome_of,
    lasting: bool = False,
    peeks: bool = False,
    guessed_by: str = "draft",
    refill: bool = False,
    filler: bool = False,
    late: bool = False,
) -> Callable[..., Any]:
    """lasting: entries stay. peeks: prepares for the outcome itself. late: prepares after it.

    guessed_by: whose logits are ranked. refill: rows of a hit are those of the text as it is.
    filler: a miss sends token 0, without a law of its own, to a verdict for greedy decoding.
    """

    def ssd(target: Any, draft: Any, prompt: Any, *, max_new_tokens: int, lookahead: int,
            fan_out: Any, eos: int | None = None, randomness: Randomness) -> Any:  # fmt: skip
        text, served, who, cache = list(prompt), list[str](), "first", dict[Any, Any]()
        most = len(text) + max_new_tokens

        def drafts(longer: Sequence[int], branch: Any) -> Speculation:
            n, round = min(lookahead, most - len(longer)), len(served) + (branch is not None) + 1
            return reference.speculate(draft, longer, n, eos, round, branch, randomness)

        def ended(longer: Sequence[int]) -> bool:
            return reference.cut(longer[len(text) :], most - len(text), eos)[1]

        def prepared(guessed: Any) -> Any:
            old = cache if lasting else {}
            return {**old, **fill(tuple(text), s.tokens, guessed, ended, drafts)}

        s = drafts(text, None)
        while True:
            round, room = len(served) + 1, most - len(text)
            reader = target if guessed_by == "target" else draft
            guessed = guess(reference.logits_along(reader, text, s.tokens), s.tokens, fan_out)
            if not (peeks or late):
                cache = prepared(guessed)
            if filler and who == "backup":
                outcome = greedy_verdict(target, text, s, round, randomness)
            else:
                outcome = verdict(target, text, s, round, randomness)
            if peeks or late:
                cache = prepared([outcome] if peeks else guessed)
            kept, over = reference.cut([*s.tokens[: outcome[0]], outcome[1]], room, eos)
            text += kept
            served.append(who)
            if over:
                return text[len(prompt) :], served
            found = look(cache, outcome)
            who = "backup" if found is None else "cache"
            s = drafts(text, None) if found is None else found
            if refill and found is not None:
                s = with_rows_of(draft, text, s)

    return ssd


def with_rows_of(draft: Any, text: Sequence[int], s: Speculation) -> Speculation:
    """The tokens of a speculation with the laws that they would have behind `text`."""
    rows = [np.exp(z) for z in reference.logits_along(draft, text, s.tokens)[:-1]]
    return Speculation(s.tokens, np.reshape(rows, s.rows.shape), s.sites, s.served_by)


def greedy_verdict(target: Any, text: Any, s: Speculation, round: int, r: Randomness) -> Outcome:
    """A drafted token passes if the target likes it best; else a token of the target's own."""
    rows = [np.exp(z) for z in reference.logits_along(target, text, s.tokens)]
    for i, token in enumerate(s.tokens):
        r.commit(s.sites[i])
        if token != rows[i].argmax():
            return Outcome(i, r.choose(rows[i], Site(r.sequence, round, "bonus", 0)))
    return Outcome(len(s), r.choose(rows[-1], Site(r.sequence, round, "bonus", 0)))


def by_bonus(cache: Mapping[Outcome, Any], outcome: Outcome) -> Any:
    return {t: entry for (_, t), entry in cache.items()}.get(outcome[1])


def by_accepted(cache: Mapping[Outcome, Any], outcome: Outcome) -> Any:
    return {k: entry for (k, _), entry in cache.items()}.get(outcome[0])


SSD = (
    Slip("the key is the number of accepted tokens alone: it needs the bonus token", loop_with(look=by_accepted), "lesson 05, section 3"),
    Slip("the key is the bonus token alone: it needs the number of accepted tokens", loop_with(look=by_bonus), "lesson 05, section 3"),
    Slip("the key lacks the bonus token, and the laws are made anew behind the real text: they are not those that were drawn from", loop_with(look=by_accepted, refill=True), "lesson 05, section 8"),
    Slip("the key lacks the number of accepted tokens, and the laws are made anew behind the real text: they are not those that were drawn from", loop_with(look=by_bonus, refill=True), "lesson 05, section 8"),
    Slip("entries of earlier rounds stay in the cache and are used again", loop_with(lasting=True), "lesson 05, section 7"),
    Slip("the cache is prepared for the very outcome, after a look at it", loop_with(peeks=True), "lesson 05, section 5"),
    Slip("the cache is filled after the verdict: nothing is gained then", loop_with(late=True), "lesson 05, section 5"),
    Slip("the guesses are read from the target's logits: the draft does not have them", loop_with(guessed_by="target"), "lesson 05, section 2"),
    Slip("a drafted token is guessed as the bonus in its own place: it was rejected there", loop_with(guess=guesses_with(rejects=False)), "lesson 05, section 2"),
    Slip("after a miss another rule verifies: a token passes if the target likes it best", loop_with(filler=True), "lesson 02, section 1"),
    Slip("the cache is never asked: every round is a miss", loop_with(look=lambda cache, outcome: None), "lesson 05, section 6"),
    Slip("guesses that end the text get an entry, too", loop_with(fill=prepare_with(ends=False))),
    Slip("an entry begins behind all drafted tokens, accepted or not", loop_with(fill=prepare_with(begin=lambda text, d, k, t: [*text, *d, t])), "lesson 05, section 3"),
)  # fmt: skip


# Several texts


def serve_with(
    key: Callable[[int, int, int], Any] = lambda number, k, t: (number, k, t),
    early: bool = False,
    begin: Begin = lambda text, drafted, k, t: [*text, *drafted[:k], t],
    at: Callable[[int, int], int] = lambda i, number: number,
    first: bool = False,
) -> Callable[..., Any]:
    """early: waits first. at(i, number): which text the i-th outcome is taken to belong to.

    first: what stands under a key already is not drafted again.
    """

    def serve_all(texts: Any, drafted: Any, guessed: Any, draft_after: Any, wait: Any) -> Any:
        outcomes = wait() if early else None
        cache = {}
        for number, text in texts.items():
            for k, t in guessed[number]:
                longer = begin(list(text), list(drafted[number]), k, t)
                if not first or key(number, k, t) not in cache:
                    cache[key(number, k, t)] = draft_after(number, longer)
        served = {}
        for i, (name, (k, t)) in enumerate((outcomes or wait()).items()):
            number = at(i, name)
            if (found := cache.get(key(number, k, t))) is None:
                found = draft_after(number, begin(texts[number], drafted[number], k, t))
            served[number] = found
        return served

    return serve_all


SERVE_ALL = (
    Slip("the key lacks the text's number: another text's entry is found", serve_with(key=lambda number, k, t: (k, t)), "lesson 05, section 8"),
    Slip("the key lacks the text's number: the first text's entry serves the others", serve_with(key=lambda number, k, t: (k, t), first=True), "lesson 05, section 8"),
    Slip("the key lacks the bonus token", serve_with(key=lambda number, k, t: (number, k)), "lesson 05, section 3"),
    Slip("the key lacks the number of accepted tokens", serve_with(key=lambda number, k, t: (number, t)), "lesson 05, section 3"),
    Slip("the outcomes were waited for before anything was prepared", serve_with(early=True), "lesson 05, section 5"),
    Slip("an entry begins behind all drafted tokens, accepted or not", serve_with(begin=lambda text, d, k, t: [*text, *d, t]), "lesson 05, section 3"),
    Slip("the texts are taken to be numbered 0, 1, 2", serve_with(at=lambda i, number: i)),
)  # fmt: skip
