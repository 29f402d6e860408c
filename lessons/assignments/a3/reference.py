"""Assignment 3: the loop of speculative decoding.

`session = model.start(tokens)` has read `tokens`; `session.extend(tokens)` reads more, and gives
the logits (n, V) of what follows each of them; `session.rewind(length)` forgets all behind `length`
tokens; `session.length` says how many it holds. `law.rows(logits)` makes laws (n, V) of logits.
`sheet.md` says what each task asks for.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ssd_ref import Law, Model, Site, Speculation
from ssd_ref.models import Row, Rows, Session
from ssd_ref.randomness import Randomness
from ssd_ref.verification import verify  # given: accept a prefix of a speculation, draw the bonus

### BEGIN SOLUTION
from ssd_ref.speculative import speculative as decoded
from ssd_ref.transcript import Limits
### END SOLUTION


def cut(emitted: Sequence[int], room: int, eos: int | None) -> tuple[list[int], str | None]:
    """Task 3.1: what is kept of the tokens that a round emits, and why the text ends, if it does.

    room: how many tokens may still come. eos: the end token, which belongs to the text (None: there
    is none). The second value is "eos", "length" (no room is left) or None; "eos" comes first.
    """
    ### BEGIN SOLUTION
    return Limits(0, room, None, eos).cut(0, emitted)
    ### END SOLUTION


def draft_block(
    session: Session,
    text: Sequence[int],
    n: int,
    law: Law,
    eos: int | None,
    randomness: Randomness,
    round: int,
) -> Speculation:
    """Task 3.2: draft up to n tokens d_1, d_2, .. behind `text`; no token follows `eos`.

    session: of the draft. It has read a first part of the text, which lacks at least one token, and
    often more. Afterwards it has read the text and all drafted tokens but the last, each once; for
    n = 0 it reads nothing. The speculation holds the laws that the tokens were drawn from.
    """

    def drawn(row: Row, i: int) -> int:
        """Given: draws the round's drafted token number i (0, 1, ..) from its law (V,)."""
        return randomness.choose(row, Site(randomness.sequence, round, "draft", i))

    def speculation(tokens: Sequence[int], rows: Sequence[Row]) -> Speculation:
        """Given: the speculation of these tokens and the laws that they were drawn from."""
        sites = [Site(randomness.sequence, round, "draft", i) for i in range(len(tokens))]
        return Speculation(
            tuple(tokens), np.array(rows, ndmin=2)[: len(tokens)], tuple(sites), "draft"
        )

    ### BEGIN SOLUTION
    tokens: list[int] = []
    rows: list[Row] = []
    while len(tokens) < n and eos not in tokens:
        logits = session.extend([*text, *tokens][session.length :])
        rows.append(law.rows(logits[-1:])[0])
        tokens.append(drawn(rows[-1], len(tokens)))
    return speculation(tokens, rows)
    ### END SOLUTION


def roll_back(target: Session, draft: Session, length: int, accepted: int) -> None:
    """Task 3.3: after a verification, make both sessions forget the rejected tokens.

    length: of the text before the round. The target's session has read that text and all of
    d_1..d_n; the draft's has not read d_n, and may lack more. `accepted` of them were kept. The
    bonus token has been read by neither.
    """
    ### BEGIN SOLUTION
    target.rewind(length + accepted)
    draft.rewind(min(draft.length, length + accepted))
    ### END SOLUTION


def speculative(
    target: Model,
    draft: Model,
    prompt: Sequence[int],
    *,
    max_new_tokens: int,
    lookahead: int,
    law: Law,
    draft_law: Law,
    eos: int | None = None,
    randomness: Randomness,
) -> tuple[list[int], str, list[tuple[int, int, int]]]:
    """Task 3.4: the new tokens, why they end, and (drafted, accepted, emitted) of each round.

    lookahead: K. law, draft_law: how laws are made of the target's and of the draft's logits. A
    round drafts min(K, tokens that may still come). Counts are those after the cut. Rounds are
    numbered from 1. The prompt holds at least one token.

    `verify(law_after, speculation, randomness, round)` is given: law_after(i) is the target's law
    after d_1..d_i, i = 0..n; it returns (accepted, bonus token).
    """
    ### BEGIN SOLUTION
    run = decoded(
        target, draft, prompt, max_new_tokens=max_new_tokens, lookahead=lookahead,
        temperature=law.temperature, top_k=law.top_k, top_p=law.top_p,
        draft_temperature=draft_law.temperature,
        draft_top_k=draft_law.top_k or draft.vocabulary, draft_top_p=draft_law.top_p or 1.0,
        eos=eos, randomness=randomness,
    )  # fmt: skip
    rounds = [(record.drafted, record.accepted, record.emitted) for record in run.rounds]
    return run.tokens, run.finish_reason, rounds
    ### END SOLUTION


def penalised(rows: Rows, generated: Sequence[int], drafted: Sequence[int], weight: float) -> Rows:
    """Task 3.5: the laws (n + 1, V) of a block, when repeating oneself is penalised.

    rows: (n + 1, V), the laws after d_1..d_i, i = 0..n, before the penalty. generated: the new
    tokens of the text so far. A token that occurs among the new tokens of the text before a place
    has its probability there multiplied by `weight` > 0 - once, however often it occurs.
    """
    ### BEGIN SOLUTION
    laws = []
    for i, row in enumerate(rows):
        factors = np.ones(len(row))
        factors[[*generated, *drafted[:i]]] = weight
        laws.append(row * factors / (row * factors).sum())
    return np.array(laws)
    ### END SOLUTION
