"""The usual mistakes in assignment 1, each as a function that makes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lessons.assignments.a1.reference import Array, Cache, OneLayer, attend
from lessons.assignments.spec import Slip
from ssd_ref.laws import Law
from ssd_ref.models import Row
from ssd_ref.randomness import Randomness, Site

# Temperature


def softmax(z: Any) -> Row:
    e = np.exp(z - np.max(z))
    return np.asarray(e / e.sum())


def unguarded(z: Row, t: float) -> Row:
    """Right where nothing overflows."""
    if t == 0:
        return np.asarray(np.eye(len(z))[z.argmax()])
    e = np.exp(z / t)
    return np.asarray(e / e.sum())


def late_maximum(z: Row, t: float) -> Row:
    return np.eye(len(z))[z.argmax()] if t == 0 else softmax(z / t)


def last_of_equals(z: Row, t: float) -> Row:
    last = len(z) - 1 - z[::-1].argmax()
    return np.asarray(np.eye(len(z))[last] if t == 0 else Law(t).rows(z[None])[0])


def shared_among_equals(z: Row, t: float) -> Row:
    best = z == z.max()
    return np.asarray(best / best.sum() if t == 0 else Law(t).rows(z[None])[0])


def to_the_power(z: Row, t: float) -> Row:
    p = softmax(z) ** (1 / t)
    return np.asarray(p)


TEMPERATURE = (
    Slip("the temperature plays no part", lambda z, t: softmax(z), "lesson 01, section 2"),
    Slip("the logits are multiplied by the temperature", lambda z, t: softmax(z * t), "lesson 01, section 2"),
    Slip("the law is not normalised: its sum must be 1", lambda z, t: np.exp((z - z.max()) / max(t, 1e-9)), "lesson 01, section 2"),
    Slip("the law is not normalised after the power was taken", to_the_power, "lesson 01, section 2"),
    Slip("probabilities are divided by the temperature: it acts on the logits", lambda z, t: softmax(softmax(z) / t), "lesson 01, section 2"),
    Slip("an exponential overflows", unguarded, "lesson 01, section 2"),
    Slip("the largest logit is subtracted after the division, which has overflowed by then", late_maximum, "lesson 01, section 2"),
    Slip("temperature 0 is replaced by a small one", lambda z, t: Law(max(t, 1e-3)).rows(z[None])[0], "lesson 01, section 2"),
    Slip("the last one among equals wins, not the first", last_of_equals, "lesson 01, section 2"),
    Slip("equal largest logits share the probability", shared_among_equals, "lesson 01, section 2"),
    Slip("the rows were rounded to float32", lambda z, t: Law(t).rows(z[None])[0].astype(np.float32), "lesson 01"),
)  # fmt: skip


# Truncation


def cut(p: Row, keep: int | None, last: bool = True, normalise: bool = True, ties: int = 1) -> Row:
    """top-k by itself; ties: -1 lets the higher token come first."""
    if keep is None:
        return p
    order = np.lexsort((ties * np.arange(len(p)), -p))[:keep]
    kept = np.zeros(len(p))
    kept[order] = p[order]
    return kept / kept.sum() if normalise else kept


def size(p: Row, top_p: float | None, crossing: bool = True) -> int | None:
    """How many tokens top-p keeps; crossing: the one that reaches it among them."""
    if top_p is None:
        return None
    ranked = np.sort(p)[::-1].cumsum()
    below = int((ranked < top_p).sum())
    return max(1, min(len(p), below + crossing))


def truncated_with(
    k: Callable[[Row, int | None], Row] = cut,
    p: Callable[[Row, float | None], Row] = lambda law, p: cut(law, size(law, p)),
    swapped: bool = False,
) -> Callable[..., Row]:
    def truncated(law: Row, top_k: int | None, top_p: float | None) -> Row:
        return k(p(law, top_p), top_k) if swapped else p(k(law, top_k), top_p)

    return truncated


def all_equals(p: Row, keep: int | None) -> Row:
    if keep is None:
        return p
    kept = np.where(p >= np.sort(p)[::-1][min(keep, len(p)) - 1], p, 0)
    return np.asarray(kept / kept.sum())


def threshold(p: Row, top_p: float | None) -> Row:
    """Takes top-p for a least probability."""
    kept = p if top_p is None else np.where(p >= top_p, p, 0)
    return np.asarray(kept / kept.sum()) if kept.any() else p


def in_place(p: Row, keep: int | None) -> Row:
    if keep is not None:
        p[np.argsort(-p, kind="stable")[keep:]] = 0
        p /= p.sum()
    return p


def of_the_raw_law(law: Row, top_k: int | None, top_p: float | None) -> Row:
    sizes = [n for n in (top_k, size(law, top_p)) if n is not None]
    return cut(law, min(sizes, default=None))


TRUNCATED = (
    Slip("what is left is not normalised", truncated_with(k=lambda p, n: cut(p, n, normalise=False), p=lambda law, p: cut(law, size(law, p), normalise=False)), "lesson 01, section 2"),
    Slip("more than k tokens are kept where some are equally likely", truncated_with(k=all_equals), "lesson 01, section 2"),
    Slip("of equally likely tokens the higher one is kept", truncated_with(k=lambda p, n: cut(p, n, ties=-1)), "lesson 01, section 2"),
    Slip("the token with which the sum reaches top_p is dropped", truncated_with(p=lambda law, p: cut(law, size(law, p, crossing=False))), "lesson 01, section 2"),
    Slip("top_p is taken for the least probability that is kept: it is a sum", truncated_with(p=threshold), "lesson 01, section 2"),
    Slip("top-p comes before top-k", truncated_with(swapped=True), "lesson 01, section 2"),
    Slip("top-p sums the probabilities as they were before top-k", of_the_raw_law, "lesson 01, section 2"),
    Slip("the caller's law is written to", truncated_with(k=in_place)),
)  # fmt: skip


# Attention


def attend_with(
    last: Callable[[int, int], int] = lambda i, first: first + i, scale: float | None = None
) -> Callable[..., Array]:
    """last(i, first): the last slot that query i sees."""

    def attends(queries: Array, keys: Array, values: Array, first: int) -> Array:
        read = []
        for i, query in enumerate(queries):
            end = last(i, first) + 1
            z = keys[:end] @ query / (scale or np.sqrt(keys.shape[1]))
            read.append(softmax(z) @ values[:end] if end else np.zeros(keys.shape[1]))
        return np.array(read)

    return attends


ATTEND = (
    Slip("everything in the cache is seen: what comes later, and what was left over", attend_with(lambda i, first: 10**6), "lesson 01, section 4"),
    Slip("a token does not see itself", attend_with(lambda i, first: first + i - 1), "lesson 01, section 3"),
    Slip("a token sees the one behind it", attend_with(lambda i, first: first + i + 1), "lesson 01, section 3"),
    Slip("all queries see what the first one sees", attend_with(lambda i, first: first), "lesson 01, section 4"),
    Slip("the mask begins at slot 0, not at the first new token's place", attend_with(lambda i, first: i), "lesson 01, section 4"),
    Slip("the scores are not divided by the square root of C", attend_with(scale=1.0), "lesson 01, section 3"),
)  # fmt: skip


# A block


def block_with(
    positions: Callable[[int, int], range] = lambda first, n: range(first, first + n),
    move: bool = True,
    place: Callable[[int], int] = lambda first: first,
) -> Callable[..., Array]:
    """place(length): the slot of the block's first token. move: the length is brought up to date."""

    def reads(model: OneLayer, cache: Cache, tokens: Sequence[int]) -> Array:
        first, n = place(cache.length), len(tokens)
        x = model.embedded(tokens, positions(first, n))
        q, k, v = model.projected(x)
        cache.keys[first : first + n], cache.values[first : first + n] = k, v
        cache.length = first + n if move else cache.length
        return model.logits(x, attend(q, cache.keys, cache.values, first))

    return reads


def without_attention(model: OneLayer, cache: Cache, tokens: Sequence[int]) -> Array:
    x = model.embedded(tokens, range(cache.length, cache.length + len(tokens)))
    cache.length += len(tokens)
    return model.logits(x, 0 * x)


READ_BLOCK = (
    Slip("every block is placed at position 0 of the text", block_with(positions=lambda first, n: range(n)), "lesson 01, section 5"),
    Slip("the whole block is placed at one position", block_with(positions=lambda first, n: range(first, first + 1) if n == 1 else [first] * n), "lesson 01, section 5"),  # type: ignore[arg-type, return-value]
    Slip("the cache's length is not brought up to date", block_with(move=False), "lesson 01, section 4"),
    Slip("every block is written to the first slots", block_with(place=lambda length: 0), "lesson 01, section 4"),
    Slip("what attention has read is not added", without_attention, "lesson 01, section 3"),
)  # fmt: skip


# The loop


def decode_with(
    law: Callable[..., Law] = Law,
    whole: bool = False,
    more: int = 0,
    keeps_end: bool = True,
    stops: bool = True,
    fed: Callable[[list[int], int], list[int]] = lambda text, read: text[read:],
    chance: Callable[[Row, Any, Site], int] = lambda row, r, site: int(r.choose(row, site)),
) -> Callable[..., Any]:
    """fed(text, read): what is read next, when `read` tokens have been. more: extra tokens."""

    def decode(target: Any, prompt: Sequence[int], *, max_new_tokens: int, temperature: float = 1.0,
               top_k: int | None = None, top_p: float | None = None, eos: int | None = None,
               randomness: Randomness) -> list[int]:  # fmt: skip
        text, session = list(prompt), target.start(prompt[:-1])
        while len(text) < len(prompt) + max_new_tokens + more:
            z = session.extend(fed(text, session.length))[-1]
            site = Site(0, len(text) - len(prompt) + 1, "bonus", 0)
            text.append(chance(law(temperature, top_k, top_p).rows(z[None])[0], randomness, site))
            if text[-1] == eos and stops:
                text = text if keeps_end else text[:-1]
                break
        return text if whole else text[len(prompt) :]

    return decode


def from_scratch(target: Any, prompt: Sequence[int], **more: Any) -> Any:
    class Anew:
        """A session that reads the whole text anew for every row."""

        length = 0

        def extend(self, text: list[int]) -> Any:
            return target.start(text[:-1]).extend(text[-1:])

    class Starts:
        def start(self, tokens: Sequence[int]) -> Anew:
            return Anew()

    return decode_with()(Starts(), prompt, **more)


DECODE = (
    Slip("the prompt is returned, too: only the new tokens are asked for", decode_with(whole=True), "lesson 01, section 1"),
    Slip("the temperature plays no part in the loop", decode_with(law=lambda t, k, p: Law(1.0, k, p)), "lesson 01, section 2"),
    Slip("the truncations play no part in the loop", decode_with(law=lambda t, k, p: Law(t)), "lesson 01, section 2"),
    Slip("one token too many", decode_with(more=1), "lesson 01, section 1"),
    Slip("one token too few", decode_with(more=-1), "lesson 01, section 1"),
    Slip("the end token does not end the text", decode_with(stops=False), "lesson 01, section 1"),
    Slip("the end token is left out: it belongs to the text", decode_with(keeps_end=False), "lesson 01, section 1"),
    Slip("the whole text is read anew for each token: that is what the cache is for", from_scratch, "lesson 01, section 4"),
    Slip("the text so far is read once more behind itself", decode_with(fed=lambda text, read: text), "lesson 01, section 4"),
    Slip("the likeliest token is taken, whatever the law", decode_with(chance=lambda row, r, site: int(row.argmax())), "lesson 01, section 1"),
)  # fmt: skip


# Scores


def scores_with(
    rewinds: bool = True,
    row: Callable[[int], int] = lambda i: i,
    value: Callable[[list[float]], float] = lambda chances: float(np.log(chances).sum()),
    law: Callable[[Row], Row] = softmax,
) -> Callable[..., list[float]]:
    """row(i): which of the block's rows scores the candidate's token i."""

    def scores(target: Any, prompt: Any, candidates: Any) -> list[float]:
        session, found = target.start(prompt[:-1]), []
        for candidate in candidates:
            rows = session.extend([prompt[-1], *candidate])
            if rewinds:
                session.rewind(len(prompt) - 1)
            chances = [law(rows[row(i)])[token] for i, token in enumerate(candidate)]
            found.append(value(chances))
        return found

    return scores


def one_session_each(target: Any, prompt: Any, candidates: Any) -> list[float]:
    return [scores_with()(target, prompt, [candidate])[0] for candidate in candidates]


def step_by_step(target: Any, prompt: Any, candidates: Any) -> list[float]:
    session, found = target.start(prompt[:-1]), []
    for candidate in candidates:
        chances = []
        for last, token in zip([prompt[-1], *candidate], candidate, strict=False):
            chances.append(softmax(session.extend([last])[0])[token])
        session.rewind(len(prompt) - 1)
        found.append(float(np.log(chances).sum()))
    return found


SCORES = (
    Slip("the session still holds the candidate before: it was not rewound", scores_with(rewinds=False), "lesson 01, section 4"),
    Slip("each token is scored by the row that follows it, not by the one that it follows", scores_with(row=lambda i: i + 1), "lesson 01, section 4"),
    Slip("every token is scored by the first row", scores_with(row=lambda i: 0), "lesson 01, section 4"),
    Slip("probabilities are given: their logarithm is asked for", scores_with(value=lambda c: float(np.prod(c)))),
    Slip("the mean over the tokens is given: the sum is asked for", scores_with(value=lambda c: float(np.mean(np.log(c))) if c else 0.0)),
    Slip("the logits are added: a log-probability is what they become", scores_with(law=np.exp)),
    Slip("an epsilon keeps the logarithm finite: what is impossible has -inf", scores_with(value=lambda c: float(np.log(np.add(c, 1e-12)).sum()))),
    Slip("every candidate reads the prompt again, in a session of its own", one_session_each, "lesson 01, section 4"),
    Slip("a candidate is read token by token: a block reads it in one pass", step_by_step, "lesson 01, section 4"),
)  # fmt: skip
