"""The usual mistakes in assignment 3, each as a function that makes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lessons.assignments.a3 import reference
from lessons.assignments.spec import Slip
from ssd_ref.laws import Law
from ssd_ref.models import Row, Rows
from ssd_ref.randomness import Randomness, Site
from ssd_ref.rounds import Speculation
from ssd_ref.verification import verify

Kept = tuple[list[int], str | None]


# The end


def last_token_only(emitted: Sequence[int], room: int, eos: int | None) -> Kept:
    kept = list(emitted[:room])
    return kept, "eos" if kept[-1:] == [eos] else "length" if len(kept) == room else None


def without_eos(emitted: Sequence[int], room: int, eos: int | None) -> Kept:
    kept, reason = reference.cut(emitted, room, eos)
    return (kept[:-1] if reason == "eos" else kept), reason


def length_first(emitted: Sequence[int], room: int, eos: int | None) -> Kept:
    kept, reason = reference.cut(emitted, room, eos)
    return kept, "length" if len(kept) == room else reason


def no_limit(emitted: Sequence[int], room: int, eos: int | None) -> Kept:
    kept, reason = reference.cut(emitted, len(emitted) + 1, eos)
    return kept, reason or ("length" if len(kept) >= room else None)


def eos_behind_the_room(emitted: Sequence[int], room: int, eos: int | None) -> Kept:
    kept, reason = reference.cut(emitted, room, eos)
    return kept, "eos" if eos in emitted else reason


def block_dropped(emitted: Sequence[int], room: int, eos: int | None) -> Kept:
    kept, reason = reference.cut(emitted, room, eos)
    return ([], "length") if len(emitted) > room else (kept, reason)


CUT = (
    Slip("only the last token of the block is compared with the end token", last_token_only, "lesson 03, section 9"),
    Slip("the end token is left out: it belongs to the text", without_eos),
    Slip("length takes precedence: an end token at the last place is still an end", length_first),
    Slip("the block is not cut at the limit", no_limit, "lesson 03, section 9"),
    Slip("an end token counts that lies behind the limit: it is never emitted", eos_behind_the_room),
    Slip("the whole block is dropped where a part of it still fits", block_dropped),
)  # fmt: skip


# The draft


def draft_with(
    choose: Callable[[Row, Randomness, Site], int] = lambda row, r, site: r.choose(row, site),
    drawn_from: Callable[[Law], Law] = lambda law: law,
    carried: Callable[[Law], Law] = lambda law: law,
    fed: Callable[[list[int], int], list[int]] = lambda text, read: text[read:],
    late: bool = False,
    stops: bool = True,
    more: int = 0,
    reads_last: bool = False,
) -> Callable[..., Speculation]:
    """carried(law): makes the rows that travel. late: each token carries the row behind it."""

    def draft_block(session: Any, text: Sequence[int], n: int, law: Law, eos: int | None,
                    randomness: Randomness, round: int) -> Speculation:  # fmt: skip
        tokens: list[int] = []
        logits, sites = [], []
        while len(tokens) < n + more and not (stops and eos in tokens):
            logits.append(session.extend(fed([*text, *tokens], session.length))[-1])
            sites.append(Site(randomness.sequence, round, "draft", len(tokens)))
            row = drawn_from(law).rows(logits[-1][None])[0]
            tokens.append(choose(row, randomness, sites[-1]))
        if reads_last and tokens:
            session.extend(tokens[-1:])
        if late:
            logits = [*logits[1:], *logits[-1:]]
        rows = [carried(law).rows(z[None])[0] for z in logits]
        return Speculation(
            tuple(tokens), np.array(rows, ndmin=2)[: len(tokens)], tuple(sites), "draft"
        )

    return draft_block


DRAFT_BLOCK = (
    Slip("the likeliest token is taken, but a soft law says what it was drawn from", draft_with(choose=lambda row, r, site: int(row.argmax())), "lesson 03, section 9"),
    Slip("the tokens are drawn at temperature 1 without truncation, whatever the law", draft_with(drawn_from=lambda law: Law(), carried=lambda law: Law()), "lesson 02, section 1"),
    Slip("the laws that travel are the draft's raw ones: those that were drawn from are asked for", draft_with(carried=lambda law: Law()), "lesson 03, section 9"),
    Slip("the tokens are drawn from the raw law, and carry another", draft_with(drawn_from=lambda law: Law()), "lesson 03, section 9"),
    Slip("the rows are off by one: each token carries the law of what follows it", draft_with(late=True), "lesson 02, section 5"),
    Slip("only the last token is read, although the session lacks more of the text", draft_with(fed=lambda text, read: text[-1:]), "lesson 03, section 9"),
    Slip("the whole text is read again behind what the session holds", draft_with(fed=lambda text, read: text), "lesson 01, section 4"),
    Slip("tokens are drafted behind an end token", draft_with(stops=False)),
    Slip("the last drafted token is read, too", draft_with(reads_last=True)),
    Slip("one token too many is drafted", draft_with(more=1)),
    Slip("a token is drawn where its test will draw: both share one uniform", draft_with(choose=lambda row, r, site: r.choose(row, site._replace(role="accept"))), "lesson 03, section 8"),
)  # fmt: skip


# Rollback


def roll_back_to(
    target: Callable[[int, int, int], int] = lambda length, k, read: length + k,
    draft: Callable[[int, int, int], int] = lambda length, k, read: min(read, length + k),
) -> Callable[..., None]:
    """target, draft: (length of the text, accepted, tokens read) -> the length to rewind to."""

    def roll_back(t: Any, d: Any, length: int, accepted: int) -> None:
        t.rewind(target(length, accepted, t.length))
        d.rewind(draft(length, accepted, d.length))

    return roll_back


ROLL_BACK = (
    Slip("the target is not rolled back", roll_back_to(target=lambda n, k, read: read), "lesson 02, section 5"),
    Slip("the draft is not rolled back", roll_back_to(draft=lambda n, k, read: read), "lesson 02, section 5"),
    Slip("what was accepted is forgotten, too", roll_back_to(lambda n, k, read: n, lambda n, k, read: min(read, n)), "lesson 02, section 5"),
    Slip("the draft is rewound to where the target is; after a round in which all was accepted it has not read that far", roll_back_to(draft=lambda n, k, read: n + k), "lesson 02, section 5"),
    Slip("the bonus token is counted as read", roll_back_to(lambda n, k, read: min(read, n + k + 1), lambda n, k, read: min(read, n + k + 1))),
    Slip("one token too many is forgotten", roll_back_to(lambda n, k, read: n + k - 1, lambda n, k, read: min(read, n + k - 1))),
    Slip("the draft forgets one token too many", roll_back_to(draft=lambda n, k, read: min(read, n + k - 1))),
)  # fmt: skip


# The loop


def loop_with(
    ends: Callable[..., Kept] = reference.cut,
    drafts: Callable[..., Speculation] = reference.draft_block,
    rolls: Callable[..., None] = reference.roll_back,
    n_of: Callable[[int, int], int] = min,
    laws: Callable[[Law, Rows], Rows] = lambda law, logits: law.rows(logits),
    rows_at: Callable[[int, int], int] = lambda i, n: i,
    bonus: bool = True,
    whole: bool = False,
    counts: Callable[[int, int], tuple[int, int]] = lambda accepted, kept: (
        min(accepted, kept),
        kept,
    ),
    own: bool = False,
) -> Callable[..., Any]:
    """rows_at(i, n): the row that stands for the law after d_1..d_i. own: the prompt is written to.

    counts(accepted, kept): what a round says was accepted and emitted. bonus: whether it is emitted
    when all was accepted.
    """

    def speculative(target: Any, draft: Any, prompt: Any, *, max_new_tokens: int, lookahead: int,
                    law: Law, draft_law: Law, eos: int | None = None, randomness: Randomness) -> Any:  # fmt: skip
        start = len(prompt)
        text = prompt if own else list(prompt)
        rounds: list[tuple[int, int, int]] = []
        reason = "length" if max_new_tokens == 0 else None
        reader, drafter = target.start(text[:-1]), draft.start(text[:-1])
        while reason is None:
            room, round = start + max_new_tokens - len(text), len(rounds) + 1
            s = drafts(drafter, text, n_of(lookahead, room), draft_law, eos, randomness, round)
            rows = laws(law, reader.extend([text[-1], *s.tokens]))
            rows = rows[[rows_at(i, len(s)) for i in range(len(s) + 1)]]
            accepted, last = verify(rows.__getitem__, s, randomness, round)
            rolls(reader, drafter, len(text), accepted)
            emitted = [*s.tokens[:accepted], last]
            if accepted == len(s) > 0 and not bonus:
                emitted.pop()
            kept, reason = ends(emitted, room, eos)
            text += kept
            rounds.append((len(s), *counts(accepted, len(kept))))
        return (text if whole else text[start:]), reason, rounds

    return speculative


SPECULATIVE = (
    Slip("the rejected token stays in the target's cache", loop_with(rolls=roll_back_to(target=lambda n, k, read: read)), "lesson 03, section 9"),
    Slip("the draft's cache is not rolled back", loop_with(rolls=roll_back_to(draft=lambda n, k, read: read)), "lesson 02, section 5"),
    Slip("the end token is looked for at the end of the block only", loop_with(ends=last_token_only), "lesson 03, section 9"),
    Slip("the end token is left out: it belongs to the text", loop_with(ends=without_eos)),
    Slip("the text is not cut at max_new_tokens", loop_with(ends=no_limit, n_of=lambda K, room: K), "lesson 03, section 9"),
    Slip("length takes precedence over the end token", loop_with(ends=length_first)),
    Slip("the prompt is returned, too: only the new tokens are asked for", loop_with(whole=True)),
    Slip("the caller's prompt is written to", loop_with(own=True)),
    Slip("the bonus is drawn from the row before the last drafted token", loop_with(rows_at=lambda i, n: min(i, max(n - 1, 0))), "lesson 03, section 9"),
    Slip("no bonus is emitted when all was accepted", loop_with(bonus=False), "lesson 02, section 5"),
    Slip("a round drafts K tokens even where fewer may come", loop_with(n_of=lambda K, room: K)),
    Slip("a round drafts one token less than may come", loop_with(n_of=lambda K, room: min(K, room - 1))),
    Slip("tokens count as accepted that were cut off", loop_with(counts=lambda accepted, kept: (accepted, kept))),
    Slip("a round is counted as the verifier reports it: what was cut off does not count", loop_with(counts=lambda accepted, kept: (accepted, accepted + 1)), "lesson 02, section 8"),
    Slip("the verifier ignores the temperature", loop_with(laws=lambda law, logits: Law().rows(logits)), "lesson 01, section 2"),
    Slip("the draft ignores its own temperature", loop_with(drafts=DRAFT_BLOCK[1].acts)),
    Slip("the laws that travel are the draft's raw ones: those that were drawn from are asked for", loop_with(drafts=DRAFT_BLOCK[2].acts), "lesson 03, section 9"),
    Slip("four tokens are drafted, whatever `lookahead` says", loop_with(n_of=lambda K, room: min(4, room))),
    Slip("two tokens are drafted, whatever `lookahead` says", loop_with(n_of=lambda K, room: min(2, room))),
    Slip("the rows were rounded to float32", loop_with(laws=lambda law, logits: law.rows(logits).astype(np.float32)), "lesson 01"),
)  # fmt: skip


# The penalty


def penalised_with(
    before: Callable[[list[int], list[int], int], list[int]] = lambda new, d, i: new + d[:i],
    each: bool = False,
    normalise: bool = True,
    at: Callable[[int], int] = lambda i: i,
) -> Callable[..., Rows]:
    """before(generated, drafted, i): what row i is told has occurred. each: once an occurrence."""

    def laws(rows: Rows, generated: Sequence[int], drafted: Sequence[int], weight: float) -> Rows:
        found = []
        for i in range(len(rows)):
            occurred = before(list(generated), list(drafted), i)
            row = rows[i].copy()
            for token in occurred if each else set(occurred):
                row[token] *= weight
            found.append(row / row.sum() if normalise else row)
        return np.array(found)

    return laws


def in_place(rows: Rows, generated: Any, drafted: Any, weight: float) -> Rows:
    rows[:] = reference.penalised(rows, generated, drafted, weight)
    return rows


PENALISED = (
    Slip("the drafted tokens leave no trace: row i comes behind i of them", penalised_with(before=lambda new, d, i: new), "lesson 02, section 5"),
    Slip("every row sees all drafted tokens: row i comes behind i of them", penalised_with(before=lambda new, d, i: new + d), "lesson 02, section 5"),
    Slip("every row sees all drafted tokens, and each occurrence counts: once is enough", penalised_with(before=lambda new, d, i: new + d, each=True), "lesson 02, section 5"),
    Slip("row i sees a drafted token too many", penalised_with(before=lambda new, d, i: new + d[: i + 1]), "lesson 02, section 5"),
    Slip("what was generated before the round is forgotten", penalised_with(before=lambda new, d, i: d[:i])),
    Slip("a token is penalised once for each occurrence: once is enough", penalised_with(each=True)),
    Slip("the laws are not normalised", penalised_with(normalise=False)),
    Slip("the rows that were given are written to", in_place),
)  # fmt: skip
