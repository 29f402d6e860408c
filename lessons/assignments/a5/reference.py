"""Assignment 5: the whole speculator.

`model.logits_after(text)` are the logits (V,) of what follows a text. `sheet.md` says what each
task asks for.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ssd_ref import Law, Outcome, Site, Speculation, TableModel
from ssd_ref.fan_out import guess_outcomes  # given: (logits, drafted, fan-out list) -> guesses
from ssd_ref.models import Row, Session
from ssd_ref.randomness import Randomness
from ssd_ref.verification import verify

### BEGIN SOLUTION
from ssd_ref import ssd as decoded
from ssd_ref.laws import ranking, saguaro
### END SOLUTION


def logits_along(model: TableModel, text: Sequence[int], drafted: Sequence[int]) -> list[Row]:
    """Given: the model's logits after `text` and d_1..d_i, for i = 0..n."""
    return [model.logits_after([*text, *drafted[:i]]) for i in range(len(drafted) + 1)]


def outcome_of(
    target: TableModel,
    text: Sequence[int],
    speculation: Speculation,
    temperature: float,
    round: int,
    randomness: Randomness,
) -> Outcome:
    """Given: the target's verdict, (accepted, bonus token)."""
    rows = Law(temperature).rows(np.array(logits_along(target, text, speculation.tokens)))
    return verify(rows.__getitem__, speculation, randomness, round)


def cut(emitted: Sequence[int], room: int, eos: int | None) -> tuple[list[int], bool]:
    """Given: what is kept of a round's tokens if `room` may still come; does the text end there?"""
    kept = list(emitted[:room])
    if eos in kept:
        return kept[: kept.index(eos) + 1], True
    return kept, len(kept) == room


def sigma(logits: Row, temperature: float, width: int, c: float) -> Row:
    """Task 5.1: the law (V,) that Saguaro sampling draws from.

    It is the law at this temperature, with the probability of the guessed tokens multiplied by c
    and the whole normalised. Guessed are the `width` tokens of largest logit, the lower one first
    among equals. c in [0, 1]; where nothing would be left at c = 0, the limit c -> 0 is meant.
    """
    ### BEGIN SOLUTION
    return saguaro(Law(temperature).rows(logits[None])[0], ranking(logits)[:width], c)
    ### END SOLUTION


def speculate(
    draft: TableModel,
    text: Sequence[int],
    n: int,
    eos: int | None,
    widths: Sequence[int],
    c: float,
    temperature: float,
    uniform: bool,
    round: int,
    branch: Outcome | None,
    randomness: Randomness,
) -> Speculation:
    """Task 5.2: up to n tokens behind `text`; none follows `eos`.

    d_{i+1} is drawn from `sigma` of the draft's logits behind d_1..d_i, of width widths[i], i = 0,
    1, .. - or, if `uniform`, from the law in which all tokens are alike, which sigma leaves alone.
    """

    def drawn(row: Row, i: int) -> int:
        """Given: draws token number i (0, 1, ..) of this speculation from its law (V,)."""
        return randomness.choose(row, Site(randomness.sequence, round, "draft", i, branch))

    def speculation(tokens: Sequence[int], rows: Sequence[Row]) -> Speculation:
        """Given: the speculation of these tokens and the laws that they were drawn from."""
        sites = (Site(randomness.sequence, round, "draft", i, branch) for i in range(len(tokens)))
        laws = np.reshape(rows, (len(tokens), draft.vocabulary))
        return Speculation(tuple(tokens), laws, tuple(sites), "draft")

    ### BEGIN SOLUTION
    tokens: list[int] = []
    rows: list[Row] = []
    while len(tokens) < n and eos not in tokens:
        logits = draft.logits_after([*text, *tokens])
        row = sigma(logits, temperature, widths[len(tokens)], c)
        rows.append(np.full(len(row), 1 / len(row)) if uniform else row)
        tokens.append(drawn(rows[-1], len(tokens)))
    return speculation(tokens, rows)
    ### END SOLUTION


def ssd(
    target: TableModel,
    draft: TableModel,
    prompt: Sequence[int],
    *,
    max_new_tokens: int,
    lookahead: int,
    fan_out: Sequence[int],
    fan_out_miss: Sequence[int],
    saguaro_c: float = 1.0,
    backup: str = "draft",
    temperature: float = 1.0,
    eos: int | None = None,
    randomness: Randomness,
) -> tuple[list[int], list[str]]:
    """Task 5.3: the new tokens, and who served each round: "first", "cache" or "backup".

    As in assignment 4: all entries are drafted before the verdict; a round drafts min(K, tokens
    that may still come); a guess with which the text ends gets no entry; rounds are numbered
    from 1.
    fan_out, fan_out_miss: the lists of K + 1 numbers. A list decides two things: how many outcomes
    of a speculation's verification are guessed, and the widths with which that speculation is
    drawn. A backup's speculation has fan_out_miss, every other one fan_out.
    backup: "draft", or "uniform".
    The temperature is that of target and draft. max_new_tokens >= 1.
    """
    ### BEGIN SOLUTION
    run = decoded(
        target, draft, prompt, max_new_tokens=max_new_tokens, lookahead=lookahead,
        fan_out=fan_out, fan_out_miss=fan_out_miss, saguaro_c=saguaro_c, backup=backup,
        temperature=temperature, eos=eos, randomness=randomness,
    )  # fmt: skip
    return run.tokens, [record.served_by for record in run.rounds]
    ### END SOLUTION


def weight_for(law: Row, guessed: Sequence[int], mass: float) -> float:
    """Task 5.4: the c with which sigma puts probability `mass` on the guessed tokens.

    law: (V,), at c = 1. guessed: distinct tokens. 0 <= mass <= what the law puts on them. Where
    every c does, 1.
    """
    ### BEGIN SOLUTION
    q = float(law[list(guessed)].sum())
    if mass in (1.0, q):
        return 1.0
    return mass * (1 - q) / (q * (1 - mass))
    ### END SOLUTION


def chains(
    session: Session, lengths: Sequence[int], firsts: Sequence[int], n: int, eos: int | None
) -> list[list[int]]:
    """Task 5.5 (bonus): what the model would say behind many texts, all in one forward a step.

    session: has read a text, and is not to be moved. Text j is its first lengths[j] tokens and then
    the token firsts[j]. Behind each, up to n tokens, each the likeliest (the lower one first among
    equals); none follows `eos`. `b = session.branch(lengths)` opens a branch for each entry, and
    `b.extend(which, tokens)` feeds tokens[i] to branch which[i], in one forward, and gives the
    logits (len(which), V) of what follows. No more than n forwards; one that feeds nothing is none.
    """
    ### BEGIN SOLUTION
    branches = session.branch(lengths)
    found: list[list[int]] = [[] for _ in lengths]
    for _ in range(n):
        growing = [j for j, chain in enumerate(found) if eos not in chain]
        fed = [[firsts[j], *found[j]][-1] for j in growing]
        if growing:
            for j, row in zip(growing, branches.extend(growing, fed), strict=True):
                found[j].append(int(row.argmax()))
    return found
    ### END SOLUTION
