"""The usual mistakes in assignment 5, each as a function that makes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lessons.assignments.a5 import reference
from lessons.assignments.spec import Slip
from ssd_ref.fan_out import guess_outcomes
from ssd_ref.laws import Law
from ssd_ref.models import Row
from ssd_ref.randomness import Randomness, Site
from ssd_ref.rounds import Outcome, Speculation

# Sigma


def top(z: Row, width: int) -> Any:
    return np.argsort(-z, kind="stable")[:width]


def before_the_temperature(z: Row, temperature: float, width: int, c: float) -> Row:
    scaled = z.copy()
    with np.errstate(divide="ignore"):
        scaled[top(z, width)] += np.log(c)
    return np.asarray(Law(temperature).rows(scaled[None])[0])


def of_the_logits(z: Row, temperature: float, width: int, c: float) -> Row:
    scaled = z.copy()
    scaled[top(z, width)] *= c
    return np.asarray(Law(temperature).rows(scaled[None])[0])


def sigma_with(
    guessed: Callable[[Row, int], Any] = top,
    normalise: bool = True,
    weight: Callable[[float], float] = lambda c: c,
    others: bool = False,
    at_zero: str = "limit",
) -> Callable[..., Row]:
    """others: the weight falls on the tokens that are not guessed."""

    def sigma(z: Row, temperature: float, width: int, c: float) -> Row:
        q = Law(temperature).rows(z[None])[0]
        mask = np.zeros(len(q), dtype=bool)
        mask[guessed(z, width)] = True
        scaled = np.where(mask ^ others, q * weight(c), q)
        if scaled.sum() == 0 and at_zero == "limit":
            return np.asarray(q)
        return np.asarray(scaled / scaled.sum() if normalise else scaled)

    return sigma


def no_temperature(z: Row, temperature: float, width: int, c: float) -> Row:
    return reference.sigma(z, 1.0, width, c)


SIGMA = (
    Slip("where nothing is left at c = 0 it divides 0 by 0", sigma_with(at_zero="nan")),
    Slip("the weight acts on the logits before the temperature does", before_the_temperature),
    Slip("the logits are multiplied by c: the weight belongs to the probabilities", of_the_logits, "lesson 01, section 2"),
    Slip("the law is not normalised after the weight", sigma_with(normalise=False)),
    Slip("the weight falls on the tokens that are not guessed", sigma_with(others=True)),
    Slip("the guessed tokens are raised, not lowered", sigma_with(weight=lambda c: 1 / c if c else np.inf)),
    Slip("one guessed token too many is lowered", sigma_with(guessed=lambda z, w: top(z, w + 1))),
    Slip("the least likely tokens are lowered", sigma_with(guessed=lambda z, w: np.argsort(z, kind="stable")[:w])),
    Slip("of equally likely tokens the higher one counts as guessed", sigma_with(guessed=lambda z, w: np.argsort(z, kind="stable")[::-1][:w])),
    Slip("the weight is not used", sigma_with(weight=lambda c: 1.0)),
    Slip("the temperature is not used", no_temperature, "lesson 01, section 2"),
)  # fmt: skip


# Drafting


def speculate_with(
    width_at: Callable[[Sequence[int], int], int] = lambda widths, i: widths[i],
    carried: Callable[[Row, Row, float], Row] = lambda row, z, t: row,
    uniform_row: Callable[[Row], Row] = lambda row: np.full(len(row), 1 / len(row)),
    uniform_carried: bool = True,
    weight: Callable[[float], float] = lambda c: c,
    stops: bool = True,
) -> Callable[..., Speculation]:
    """carried(row, logits, temperature): the law that travels with a token."""

    def speculate(draft: Any, text: Any, n: int, eos: Any, widths: Any, c: float,
                  temperature: float, uniform: bool, round: int, branch: Any,
                  randomness: Randomness) -> Speculation:  # fmt: skip
        tokens: list[int] = []
        rows, sites = [], []
        while len(tokens) < n and not (stops and eos in tokens):
            i = len(tokens)
            z = draft.logits_after([*text, *tokens])
            row = reference.sigma(z, temperature, width_at(widths, i), weight(c))
            drawn_from = uniform_row(row) if uniform else row
            sites.append(Site(randomness.sequence, round, "draft", i, branch))
            tokens.append(randomness.choose(drawn_from, sites[-1]))
            neural = uniform and not uniform_carried
            rows.append(row if neural else drawn_from if uniform else carried(row, z, temperature))
        laws = np.reshape(rows, (len(tokens), draft.vocabulary))
        return Speculation(tuple(tokens), laws, tuple(sites), "draft")

    return speculate


SPECULATE = (
    Slip("the tokens are drawn from sigma, but carry the plain law: the test must use what they were drawn from", speculate_with(carried=lambda row, z, t: Law(t).rows(z[None])[0]), "lesson 05, section 7"),
    Slip("every place has the first width", speculate_with(width_at=lambda w, i: w[0])),
    Slip("the widths are off by one: d_1 is drawn with widths[0]", speculate_with(width_at=lambda w, i: w[i + 1])),
    Slip("sigma plays no part", speculate_with(weight=lambda c: 1.0)),
    Slip("a uniform backup draws uniformly, but carries the draft's law", speculate_with(uniform_carried=False), "lesson 05, section 7"),
    Slip("a uniform backup draws from the draft's law", speculate_with(uniform_row=lambda row: row)),
    Slip("tokens are drafted behind an end token", speculate_with(stops=False)),
)  # fmt: skip


# The loop

Lists = tuple[Sequence[int], Sequence[int]]


def loop_with(
    guess_list: Callable[[Lists, str], Sequence[int]] = lambda L, who: L[who == "backup"],
    entry_list: Callable[[Lists, str], Sequence[int]] = lambda L, who: L[0],
    backup_list: Callable[[Lists], Sequence[int]] = lambda L: L[1],
    drafts: Callable[..., Speculation] = reference.speculate,
    uniform_entries: bool = False,
    backup_is: Callable[[str], bool] = lambda backup: backup == "uniform",
    peeks: bool = False,
    late: bool = False,
    key: Callable[[int, int], Any] = lambda k, t: (k, t),
) -> Callable[..., Any]:
    """Lists are (fan_out, fan_out_miss). who: who served the speculation that is verified."""

    def ssd(target: Any, draft: Any, prompt: Any, *, max_new_tokens: int, lookahead: int,
            fan_out: Any, fan_out_miss: Any, saguaro_c: float = 1.0, backup: str = "draft",
            temperature: float = 1.0, eos: Any = None, randomness: Randomness) -> Any:  # fmt: skip
        text, served, who = list(prompt), list[str](), "first"
        most, lists = len(text) + max_new_tokens, (fan_out, fan_out_miss)

        def behind(longer: Any, widths: Any, uniform: bool, round: int, branch: Any) -> Speculation:
            n = min(lookahead, most - len(longer))
            return drafts(draft, longer, n, eos, widths, saguaro_c, temperature, uniform, round,
                          branch, randomness)  # fmt: skip

        def filled(guessed: Any, before: Sequence[int]) -> dict[Any, Speculation]:
            cache, d, room = {}, s.tokens, most - len(before)
            for k, t in guessed:
                if not reference.cut([*d[:k], t], room, eos)[1]:
                    cache[key(k, t)] = behind(
                        [*before, *d[:k], t], entry_list(lists, who),
                        uniform_entries and backup == "uniform", round + 1, Outcome(k, t),
                    )  # fmt: skip
            return cache

        s = behind(text, fan_out, False, 1, None)
        while True:
            round, room, before = len(served) + 1, most - len(text), tuple(text)
            widths = guess_list(lists, who)
            guessed = guess_outcomes(
                reference.logits_along(draft, text, s.tokens), s.tokens, widths
            )
            cache = {} if peeks or late else filled(guessed, before)
            outcome = reference.outcome_of(target, text, s, temperature, round, randomness)
            if peeks or late:
                cache = filled([outcome] if peeks else guessed, before)
            kept, over = reference.cut([*s.tokens[: outcome[0]], outcome[1]], room, eos)
            text += kept
            served.append(who)
            if over:
                return text[len(prompt) :], served
            found = cache.get(key(*outcome))
            who = "backup" if found is None else "cache"
            if found is None:
                found = behind(text, backup_list(lists), backup_is(backup), round + 1, None)
            s = found

    return ssd


SSD = (
    Slip("one list serves all: after a backup the other one is asked for", loop_with(guess_list=lambda L, who: L[0], backup_list=lambda L: L[0])),
    Slip("the guesses behind a backup are made with the wrong list", loop_with(guess_list=lambda L, who: L[0])),
    Slip("the two lists have changed places", loop_with(guess_list=lambda L, who: L[who != "backup"], entry_list=lambda L, who: L[1], backup_list=lambda L: L[0])),
    Slip("entries are drawn with the list of the speculation that is verified; an entry serves only after a hit", loop_with(entry_list=lambda L, who: L[who == "backup"])),
    Slip("entries are drawn with fan_out_miss; an entry serves only after a hit", loop_with(entry_list=lambda L, who: L[1])),
    Slip("a backup draws with the widths of fan_out", loop_with(backup_list=lambda L: L[0])),
    Slip("the entries of the cache are drawn uniformly, too: only the backup is", loop_with(uniform_entries=True)),
    Slip("the backup is always the draft", loop_with(backup_is=lambda backup: False)),
    Slip("tokens carry another law than they were drawn from", loop_with(drafts=SPECULATE[0].acts), "lesson 05, section 7"),
    Slip("sigma plays no part", loop_with(drafts=SPECULATE[3].acts)),
    Slip("the cache is prepared for the very outcome, after a look at it", loop_with(peeks=True), "lesson 05, section 5"),
    Slip("the cache is filled after the verdict: nothing is gained then", loop_with(late=True), "lesson 05, section 5"),
    Slip("the key lacks the number of accepted tokens", loop_with(key=lambda k, t: t), "lesson 05, section 3"),
    Slip("the key lacks the bonus token", loop_with(key=lambda k, t: k), "lesson 05, section 3"),
)  # fmt: skip


# The weight


def mass_of(law: Row, guessed: Sequence[int]) -> float:
    return float(law[list(guessed)].sum())


WEIGHT_FOR = (
    Slip("the ratio of the masses is given: the whole is normalised after the weight", lambda law, S, m: m / mass_of(law, S)),
    Slip("the ratio of the odds is upside down", lambda law, S, m: (1 - m) / m * mass_of(law, S) / (1 - mass_of(law, S))),
    Slip("the weight is that of the tokens that are not guessed", lambda law, S, m: mass_of(law, S) * (1 - m) / (m * (1 - mass_of(law, S)))),
    Slip("where every c does, it divides 0 by 0", lambda law, S, m: np.float64(m * (1 - mass_of(law, S))) / (mass_of(law, S) * (1 - m))),
)  # fmt: skip


# Branches


def chains_with(
    together: bool = True,
    first_length: Callable[[int], int] = lambda length: length,
    rests: bool = True,
    counts_first: bool = False,
) -> Callable[..., list[list[int]]]:
    """together: one forward a step. rests: a branch that has ended is not fed any more."""

    def chains(session: Any, lengths: Any, firsts: Any, n: int, eos: Any) -> list[list[int]]:
        branches = session.branch([first_length(length) for length in lengths])
        found = [[first] for first in firsts]
        for _ in range(n):
            growing = [j for j, c in enumerate(found) if not (rests and eos in c[1:])]
            for group in [growing] if together else [[j] for j in growing]:
                fed = [found[j][-1] for j in group]
                for j, row in zip(group, branches.extend(group, fed), strict=True):
                    found[j].append(int(row.argmax()))
        return found if counts_first else [c[1:] for c in found]

    return chains


def by_rewinding(session: Any, lengths: Any, firsts: Any, n: int, eos: Any) -> list[list[int]]:
    """Moves the session from text to text, and does not bring it back."""
    found = []
    for length, first in zip(lengths, firsts, strict=True):
        session.rewind(min(length, session.length))
        chain = [first]
        while len(chain) <= n and eos not in chain[1:]:
            chain.append(int(session.extend(chain[-1:])[0].argmax()))
        found.append(chain[1:])
    return found


CHAINS = (
    Slip("each branch gets forwards of its own: all that grow go into one", chains_with(together=False), "lesson 05, section 6"),
    Slip("the session is moved, and rewound from text to text", by_rewinding, "lesson 05, section 6"),
    Slip("a branch goes on behind the end token", chains_with(rests=False)),
    Slip("the first token is returned, too", chains_with(counts_first=True)),
    Slip("the branches begin one token too early", chains_with(first_length=lambda length: max(length - 1, 0))),
)  # fmt: skip
