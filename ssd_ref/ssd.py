"""Speculative Speculative Decoding (SSD): the draft works while the target verifies.

While a speculation is being verified, the speculator guesses verification outcomes and drafts the
next speculation for each (the speculation cache). When the outcome arrives and was guessed, the
answer is there at once; otherwise a backup drafts it. Kumar, Dao, May (2026), Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ssd_ref.fan_out import Predictor, check_fan_out, guess_outcomes
from ssd_ref.laws import Law, LogitsError, check_law, ranking, saguaro, usable
from ssd_ref.models import Model, Row, is_real, read
from ssd_ref.randomness import Randomness, Site
from ssd_ref.rounds import Generation, Outcome, Speculation
from ssd_ref.speculative import Chain, Drafter, check_pair, law_of_draft
from ssd_ref.transcript import OnRound, open_transcript
from ssd_ref.verification import Verifier

BACKUPS = ("draft", "uniform")
Backup = Callable[[Sequence[int]], Row]  # text so far, drafts included -> a law of the next token


@dataclass(kw_only=True)
class Entry(Chain):
    """A cache entry in the making: the speculation after `outcome`, drafted on a branch."""

    outcome: Outcome
    branch: int
    error: LogitsError | None = None  # raised only if the entry is used

    def grows(self, end_token: int | None) -> bool:
        return self.error is None and super().grows(end_token)


@dataclass(eq=False)
class Speculator(Drafter):
    """SD's drafter, who also fills a cache of speculations before it may see the outcome."""

    fan_out: Sequence[int]  # for rounds served from the cache, and the first
    fan_out_miss: Sequence[int] | None = None  # for rounds served by the backup; None: the same
    saguaro_c: float = 1.0
    backup: str | Backup = "draft"
    predict: Predictor | None = None  # who chooses the guesses; None: the fan-out lists

    def __post_init__(self) -> None:
        super().__post_init__()
        self.widths = self.fan_out  # the list of the speculation being drawn or verified
        self.guesses: list[Outcome] = []
        self.cache: dict[Outcome, Entry] = {}  # an entry for each guess that does not end the text

    def first(self) -> Speculation:
        """Round 1 has no cache."""
        return self.speculate(self.draft_row, "first")

    def prepare(self) -> None:
        """While the target verifies: fix the guesses (Sec. 4.1), then fill the cache (Sec. 4.2)."""
        self.logits = self.glue()
        self.guesses = self.guess()
        entries = self.open_entries()
        while growing := [entry for entry in entries if entry.grows(self.limits.end_token)]:
            self.tree_step(growing)
        self.cache = {entry.outcome: entry for entry in entries}

    def answer(self, outcome: Outcome) -> Speculation:
        """Hit: the prepared speculation, at once. Miss: the backup drafts (Sec. 4.3)."""
        self.hear(outcome)
        if outcome in self.cache:
            self.widths, entry = self.fan_out, self.cache[outcome]
            if entry.error is not None:
                raise entry.error
            return self.finish(entry, "cache")
        self.widths = self.fan_out_miss or self.fan_out
        row_after = self.draft_row if self.backup == "draft" else self.backup_row
        return self.speculate(row_after, "backup")

    def glue(self) -> list[Row]:
        """One forward on [last token, d_1..d_n]: n + 1 rows of logits, to read the guesses from.

        It reads again what a backup has just drafted: a block costs about as much as one token.
        """
        tokens, length = self.speculation.tokens, len(self.text)
        limit = self.draft.context_limit
        if limit is not None and length + len(tokens) > limit:
            return []  # the text has outgrown the draft
        self.session.rewind(min(self.session.length, length - 1))
        unread = [*self.text, *tokens][self.session.length :]
        logits = read(self.session, unread, self.draft.vocabulary)
        return list(logits[-len(tokens) - 1 :])

    def guess(self) -> list[Outcome]:
        """The guess set: the largest logits at each k, as many as the list says, or a policy's."""
        if self.predict is None or not self.logits:
            return guess_outcomes(self.logits, self.speculation.tokens, self.widths)
        return list(self.predict(self.logits, self.speculation))

    def open_entries(self) -> list[Entry]:
        """An empty entry for each guess after which the text goes on."""
        length, tokens = len(self.text), self.speculation.tokens
        going_on = [
            (k, t) for k, t in self.guesses if self.limits.cut(length, [*tokens[:k], t])[1] is None
        ]
        self.branches = self.session.branch([length + k for k, _ in going_on])
        return [
            Entry(self.room(length + k + 1), outcome=Outcome(k, t), branch=b)
            for b, (k, t) in enumerate(going_on)
        ]

    def tree_step(self, entries: list[Entry]) -> None:
        """One forward on the branches of `entries`, which all get their next token."""
        index = len(entries[0].tokens)  # all that still grow are equally long
        feed = [(entry.tokens or [entry.outcome.bonus])[-1] for entry in entries]
        logits = self.branches.extend([entry.branch for entry in entries], feed)
        for entry, z, row in zip(entries, logits, self.law.rows(logits), strict=True):
            length = len(self.text) + entry.outcome.accepted + 1 + index
            try:  # an entry serves only after a hit, whose list is `fan_out`
                row = self.sigma(usable(row, z, "draft", length), z, self.fan_out[index])
                entry.rows.append(row)
            except LogitsError as error:
                entry.error = error
        drawn = [entry for entry in entries if entry.error is None]
        place = (self.randomness.sequence, self.round + 1, "draft", index)
        sites = [Site(*place, branch=entry.outcome) for entry in drawn]
        tokens = self.randomness.choose_rows(np.array([e.rows[-1] for e in drawn]), sites)
        for entry, site, token in zip(drawn, sites, tokens, strict=True):
            entry.sites.append(site)
            entry.tokens.append(token)

    def draft_row(self, tokens: list[int]) -> Row:
        row = super().draft_row(tokens)
        return self.sigma(row, self.logits[-1], self.widths[len(tokens)])

    def backup_row(self, tokens: list[int]) -> Row:
        """A backup that costs next to nothing: every token alike, or a law of the caller's."""
        if isinstance(self.backup, str):
            return np.full(self.draft.vocabulary, 1 / self.draft.vocabulary)
        return check_law(self.backup([*self.text, *tokens]), self.draft.vocabulary, "backup")

    def sigma(self, row: Row, logits: Row, width: int) -> Row:
        """Saguaro sampling (Sec. 4.2): less weight on the `width` tokens that will be guessed."""
        if self.saguaro_c == 1:
            return row
        return saguaro(row, ranking(logits)[:width], self.saguaro_c)


def ssd(
    target: Model,
    draft: Model,
    prompt: Sequence[int],
    *,
    max_new_tokens: int, lookahead: int,
    fan_out: Sequence[int], fan_out_miss: Sequence[int] | None = None,
    saguaro_c: float = 1.0, backup: str | Backup = "draft", predict: Predictor | None = None,
    temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None,
    draft_temperature: float | None = None,
    draft_top_k: int | None = None, draft_top_p: float | None = None,
    eos: int | None = None, randomness: Randomness, on_round: OnRound | None = None,
) -> Generation:  # fmt: skip
    """Decode as :func:`speculative` does, with the next speculations prepared during verification.

    fan_out: guesses at "k accepted", k = 0..lookahead, for the cache of a round whose speculation
    came from the cache (or is the first); fan_out_miss: after a backup (None: the same list).
    saguaro_c: weight in [0, 1] of the guessed tokens in the draft's law; 1 leaves it alone.
    backup: who drafts after a miss: "draft", "uniform", or a function from the text to a law of the
    next token. predict: chooses the guesses from the draft's rows and its speculation, instead of
    the lists, which then serve saguaro_c alone. With saguaro_c = 1 and the draft as backup the
    text is that of `speculative` for the same randomness, up to the arithmetic of a batched forward
    (exactly, with tables): the cache decides the clock, the seed the text.
    """
    check_pair(target, draft, lookahead)
    fan_out = check_fan_out("fan_out", fan_out, lookahead)
    if fan_out_miss is not None:
        fan_out_miss = check_fan_out("fan_out_miss", fan_out_miss, lookahead)
    if not (is_real(saguaro_c) and 0 <= saguaro_c <= 1):
        raise ValueError(f"saguaro_c: expected a number in [0, 1], got {saguaro_c!r}")
    if not (callable(backup) or backup in BACKUPS):
        raise ValueError(f"backup: expected one of {BACKUPS} or a function, got {backup!r}")
    law = Law(temperature, top_k, top_p)
    draft_law = law_of_draft(law, draft_temperature, draft_top_k, draft_top_p)
    transcript = open_transcript(target, prompt, max_new_tokens, eos, on_round)
    if transcript.finish_reason:
        return transcript.generation()
    verifier = Verifier(target, transcript, law, randomness)
    speculator = Speculator(
        draft, transcript.prompt, transcript.limits, lookahead, draft_law, randomness,
        fan_out, fan_out_miss, saguaro_c, backup, predict,
    )  # fmt: skip

    speculation = speculator.first()
    while True:
        # With two devices these two run at the same time: neither reads what the other produces.
        speculator.prepare()
        outcome = verifier.verify(speculation)
        transcript.close_round(speculator.rank(outcome))
        if transcript.finish_reason:
            return transcript.generation()
        speculation = speculator.answer(outcome)
