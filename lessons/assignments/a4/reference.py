"""Assignment 4: SSD on tables.

`model.logits_after(text)` are the logits (V,) of what follows a text; with tables there is no cache
of keys and values to look after. `sheet.md` says what each task asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ssd_ref import Law, Outcome, Site, Speculation, TableModel
from ssd_ref.models import Row
from ssd_ref.randomness import Randomness
from ssd_ref.verification import verify

### BEGIN SOLUTION
from ssd_ref import ssd as decoded
from ssd_ref.fan_out import guess_outcomes
### END SOLUTION


def logits_along(model: TableModel, text: Sequence[int], drafted: Sequence[int]) -> list[Row]:
    """Given: the model's logits after `text` and d_1..d_i, for i = 0..n."""
    return [model.logits_after([*text, *drafted[:i]]) for i in range(len(drafted) + 1)]


def speculate(
    draft: TableModel,
    text: Sequence[int],
    n: int,
    eos: int | None,
    round: int,
    branch: Outcome | None,
    randomness: Randomness,
) -> Speculation:
    """Given: up to n tokens behind `text`, for round number `round`; none follows `eos`.

    branch: the outcome that an entry of the cache is prepared for; None: it is drafted for the text
    as it is.
    """
    tokens: list[int] = []
    rows = np.empty((0, draft.vocabulary))
    sites: list[Site] = []
    while len(tokens) < n and eos not in tokens:
        rows = np.concatenate([rows, Law().rows(draft.logits_after([*text, *tokens])[None])])
        sites.append(Site(randomness.sequence, round, "draft", len(tokens), branch))
        tokens.append(randomness.choose(rows[-1], sites[-1]))
    return Speculation(tuple(tokens), rows, tuple(sites), "draft")


def outcome_of(
    target: TableModel,
    text: Sequence[int],
    speculation: Speculation,
    round: int,
    randomness: Randomness,
) -> Outcome:
    """Given: the target's verdict, (accepted, bonus token)."""
    rows = Law().rows(np.array(logits_along(target, text, speculation.tokens)))
    return verify(rows.__getitem__, speculation, randomness, round)


def cut(emitted: Sequence[int], room: int, eos: int | None) -> tuple[list[int], bool]:
    """Given: what is kept of a round's tokens if `room` may still come; does the text end there?"""
    kept = list(emitted[:room])
    if eos in kept:
        return kept[: kept.index(eos) + 1], True
    return kept, len(kept) == room


def guesses(logits: Sequence[Row], drafted: Sequence[int], fan_out: Sequence[int]) -> list[Outcome]:
    """Task 4.1: the outcomes to prepare for.

    logits: the draft's, after d_1..d_k, for k = 0..n. fan_out: K + 1 numbers; F_k guesses at "k
    accepted". Where fewer than K tokens were drafted, the place of "all accepted" takes the last
    number. At each k those tokens are guessed that the draft thinks likeliest, the lower one first
    among equals, and none that cannot be the bonus there.
    """
    ### BEGIN SOLUTION
    return guess_outcomes(logits, drafted, fan_out)
    ### END SOLUTION


def prepare(
    text: Sequence[int],
    drafted: Sequence[int],
    guessed: Sequence[Outcome],
    ended: Callable[[Sequence[int]], bool],
    draft_after: Callable[[Sequence[int], Outcome], Speculation],
) -> Mapping[Outcome, Speculation]:
    """Task 4.2: the cache: for each guess the speculation that would follow.

    drafted: d_1..d_n, which stand behind `text` and are being verified. ended(text): does the text
    end there? Such a guess gets no entry. draft_after(text, guess): a speculation behind `text`.
    """
    ### BEGIN SOLUTION
    texts = {Outcome(k, t): [*text, *drafted[:k], t] for k, t in guessed}
    return {guess: draft_after(t, guess) for guess, t in texts.items() if not ended(t)}
    ### END SOLUTION


def ssd(
    target: TableModel,
    draft: TableModel,
    prompt: Sequence[int],
    *,
    max_new_tokens: int,
    lookahead: int,
    fan_out: Sequence[int],
    eos: int | None = None,
    randomness: Randomness,
) -> tuple[list[int], list[str]]:
    """Task 4.3: the new tokens, and who served each round: "first", "cache" or "backup".

    While a speculation is being verified the next ones are prepared: all of them are drafted before
    `outcome_of` is called. If the outcome was guessed, its entry is the next speculation ("cache");
    if not, one is drafted then ("backup"). A round drafts min(K, tokens that may still come).
    Rounds are numbered from 1; an entry is for the next round. max_new_tokens >= 1.
    """
    ### BEGIN SOLUTION
    run = decoded(
        target, draft, prompt, max_new_tokens=max_new_tokens, lookahead=lookahead,
        fan_out=fan_out, eos=eos, randomness=randomness,
    )  # fmt: skip
    return run.tokens, [record.served_by for record in run.rounds]
    ### END SOLUTION


def serve_all(
    texts: Mapping[int, Sequence[int]],
    drafted: Mapping[int, Sequence[int]],
    guessed: Mapping[int, Sequence[Outcome]],
    draft_after: Callable[[int, Sequence[int]], Speculation],
    wait: Callable[[], Mapping[int, Outcome]],
) -> dict[int, Speculation]:
    """Task 4.4: one round for several texts at once: the speculation that each gets next.

    The keys of all arguments are the texts' numbers. draft_after(number, text): a speculation
    behind `text`, for the text of that number. wait(): the outcomes; it may be called once. Draft
    for every guess before it, and behind it only where the outcome was not guessed.
    """
    ### BEGIN SOLUTION
    cache = {
        (number, *guess): draft_after(number, [*text, *drafted[number][: guess[0]], guess[1]])
        for number, text in texts.items()
        for guess in guessed[number]
    }
    served = {}
    for number, (k, bonus) in wait().items():
        if (number, k, bonus) in cache:
            served[number] = cache[number, k, bonus]
        else:
            text = [*texts[number], *drafted[number][:k], bonus]
            served[number] = draft_after(number, text)
    return served
    ### END SOLUTION
