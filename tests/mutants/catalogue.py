"""The mutants: the smallest changes to the real code that make a decoder wrong, or only look so.

Each names a file of `ssd_ref` and the lines it replaces; one that no longer applies is an error, so
the catalogue cannot rot.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """`edits`: (old, new) pairs for `file`. `exact`: the output law stays the target's."""

    name: str
    file: str
    edits: tuple[tuple[str, str], ...]
    exact: bool = False
    survives: bool = False  # not a fault: no check of the law may fail, a counter may


def mutant(name: str, file: str, *edits: tuple[str, str], **kind: bool) -> Mutant:
    return Mutant(name, file, edits, **kind)


KEPT = "float(min(p[token], q[token]) / q[token])"
REJECTED = (
    "            return Outcome(i, randomness.choose"
    '(residual, Site(sequence, round, "bonus", 0)))\n'
)
TEST = """        rejected = randomness.choose((keep, 1 - keep), Site(sequence, round, "accept", i))
"""
ALL_ACCEPTED = """randomness.choose(law_after(n), Site"""
DRAWN = "chain.tokens.append(self.randomness.choose(chain.rows[-1], site))"
LOOKUP = """        if outcome in self.cache:
            self.widths, entry = self.fan_out, self.cache[outcome]
"""
BY_ACCEPTED = """        near = [e for o, e in self.cache.items() if o.accepted == outcome.accepted]
        if near:
            self.widths, entry = self.fan_out, near[0]
"""
BY_BONUS = BY_ACCEPTED.replace("o.accepted == outcome.accepted", "o.bonus == outcome.bonus")
SERVE = """            return self.finish(entry, "cache")
"""
RECOMPUTED = """            tokens = list(entry.tokens)
            entry.rows = [self.draft_row(tokens[:i]) for i in range(len(tokens))]
            return self.finish(entry, "cache")
"""

VERIFICATION = [
    mutant("accept always", "verification.py", (KEPT, "1.0")),
    mutant(
        "ratio inverted",
        "verification.py",
        (KEPT, "float(min(p[token], q[token]) / p[token]) if p[token] > 0 else 1.0"),
    ),
    mutant("residual := p", "verification.py", ("excess / mass", "p")),
    mutant(
        "residual := softmax of the excess",
        "verification.py",
        ("excess / mass", "np.exp(excess) / np.exp(excess).sum()"),
    ),
    mutant(
        "residual := |p - q|",
        "verification.py",
        ("excess / mass", "np.abs(p - q) / np.abs(p - q).sum()"),
    ),
    mutant(
        "accepted := sum of the acceptance mask",
        "verification.py",
        ("    sequence, n =", "    residuals = []\n    sequence, n ="),
        (REJECTED, "            residuals.append(residual)\n"),
        (
            "    return Outcome(n, ",
            "    if residuals:\n"
            '        bonus = Site(sequence, round, "bonus", 0)\n'
            "        return Outcome(n - len(residuals), randomness.choose(residuals[0], bonus))\n"
            "    return Outcome(n, ",
        ),
    ),
    mutant(
        "bonus from row K-1",
        "verification.py",
        (ALL_ACCEPTED, "randomness.choose(law_after(max(n - 1, 0)), Site"),
    ),
    mutant(
        "bonus from q",
        "verification.py",
        (ALL_ACCEPTED, "randomness.choose(speculation.rows[-1] if n else law_after(n), Site"),
    ),
    mutant(
        "filler accepted iff argmax p, else p",
        "verification.py",
        (
            TEST,
            '        if speculation.served_by == "backup":\n'
            "            keep, residual = float(token == law_after(i).argmax()), law_after(i)\n"
            + TEST,
        ),
    ),
    mutant(
        "rejected tokens stay in the target's context",
        "verification.py",
        ("self.session.rewind(length + outcome.accepted)", "pass"),
    ),
    mutant(
        "target rewound one token too far",
        "verification.py",
        (
            "self.session.rewind(length + outcome.accepted)",
            "self.session.rewind(max(0, length + outcome.accepted - 1))",
        ),
    ),
    mutant(
        "verifier ignores the temperature",
        "verification.py",
        ("rows = self.law.rows(logits)", "rows = Law().rows(logits)"),
    ),
    mutant(
        "log-probabilities of the row after",
        "verification.py",
        ("np.log(rows[i][token])", "np.log(rows[max(i - 1, 0)][token] + 1e-300)"),
        exact=True,
    ),
]

LAWS = [
    mutant(
        "top-p drops the token that crosses",
        "laws.py",
        (
            "ranked[before >= self.top_p] = 0",
            "ranked[(before > 0) & (before + ranked > self.top_p)] = 0",
        ),
    ),
    mutant(
        "top-k keeps one too many",
        "laws.py",
        ("ranked[:, self.top_k :] = 0", "ranked[:, self.top_k + 1 :] = 0"),
    ),
    mutant(
        "the last of equals wins at temperature 0",
        "laws.py",
        ("logits.argmax(axis=1)", "logits.shape[1] - 1 - logits[:, ::-1].argmax(axis=1)"),
    ),
    mutant(
        "truncated rows not normalised after top-k",
        "laws.py",
        (
            "            ranked[:, self.top_k :] = 0\n"
            "            ranked /= ranked.sum(axis=1, keepdims=True)\n",
            "            ranked[:, self.top_k :] = 0\n"
            "            ranked[:, 0] += 1 - ranked.sum(axis=1)\n",
        ),
    ),
]

ADDRESSES = [
    mutant(
        "draft and acceptance share one uniform",
        "randomness.py",
        ('return 1 + 2 * index + ("draft", "accept").index(role)', "return 1 + index"),
        exact=True,
    ),
    mutant(
        "every round draws the same uniforms",
        "randomness.py",
        ("[0, 0, block, round]", "[0, 0, block, 0]"),
        exact=True,
    ),
    mutant(
        "all sequences share a stream",
        "randomness.py",
        ("[seed, sequence]", "[seed, 0]"),
        exact=True,
    ),
    mutant("u = 0 is accepted", "randomness.py", ('side="right"', 'side="left"'), exact=True),
    mutant(
        "batched draws use <",
        "randomness.py",
        ("(rows.cumsum(axis=1) <= np", "(rows.cumsum(axis=1) < np"),
        exact=True,
    ),
    mutant(
        "a cache entry's draws have addresses of their own",
        "randomness.py",
        (
            "divmod(place(site.role, site.index), BLOCK)",
            "divmod(place(site.role, site.index) + 64 * (site.branch is not None), BLOCK)",
        ),
        exact=True,
    ),
    mutant(
        "the bonus is drawn at the last test's address",
        "verification.py",
        (REJECTED, REJECTED.replace('"bonus", 0', '"accept", i')),
        exact=True,
    ),
]

DRAFTING = [
    mutant(
        "draft by argmax, soft q in the ratio",
        "speculative.py",
        (
            DRAWN,
            "top = np.eye(len(chain.rows[-1]))[chain.rows[-1].argmax()]\n            "
            + DRAWN.replace("chain.rows[-1]", "top"),
        ),
    ),
    mutant(
        "draft tempered, raw q in the ratio",
        "speculative.py",
        (
            DRAWN,
            "sharp = chain.rows[-1] ** 2 / (chain.rows[-1] ** 2).sum()\n            "
            + DRAWN.replace("chain.rows[-1]", "sharp"),
        ),
    ),
    mutant(
        "draft from top-2, raw q in the ratio",
        "speculative.py",
        (
            DRAWN,
            "kept = np.where(chain.rows[-1] >= np.sort(chain.rows[-1])[-2], chain.rows[-1], 0)\n"
            "            " + DRAWN.replace("chain.rows[-1]", "kept / kept.sum()"),
        ),
    ),
    mutant(
        "the rejected token stays in the draft's context for the bonus",
        "speculative.py",
        (
            "[*self.speculation.tokens[: outcome.accepted], outcome.bonus]",
            "[*self.speculation.tokens, outcome.bonus][: outcome.accepted + 1]",
        ),
        exact=True,
    ),
    mutant(
        "d_K never enters the draft's context",
        "speculative.py",
        ("read(self.session, text[self.session.length :], ", "read(self.session, text[-1:], "),
        exact=True,
    ),
    mutant(
        "no shortening",
        "speculative.py",
        ("min(self.lookahead, self.limits.room(length))", "self.lookahead"),
        exact=True,
    ),
    mutant(
        "drafting goes on behind an end token",
        "speculative.py",
        (" and end_token not in self.tokens", ""),
        exact=True,
    ),
]

ENDS = [
    mutant(
        "end token tested on the block's last token only",
        "transcript.py",
        ("if self.end_token in kept:", "if kept and kept[-1] == self.end_token:"),
    ),
    mutant(
        "no cut at N",
        "transcript.py",
        ("kept = list(tokens[: self.room(length)])", "kept = list(tokens)"),
        ("length + len(kept) == self.prompt_length", "length + len(kept) >= self.prompt_length"),
    ),
    mutant(
        "one token short of N",
        "transcript.py",
        (
            "left = self.prompt_length + self.max_new_tokens - length",
            "left = self.prompt_length + max(self.max_new_tokens - 1, 0) - length",
        ),
        (
            "length + len(kept) == self.prompt_length + self.max_new_tokens",
            "length + len(kept) == self.prompt_length + max(self.max_new_tokens - 1, 0)",
        ),
    ),
]

CACHE = [
    mutant(
        "key without the bonus token, q recomputed",
        "ssd.py",
        (LOOKUP, BY_ACCEPTED),
        (SERVE, RECOMPUTED),
    ),
    mutant("key without k, q recomputed", "ssd.py", (LOOKUP, BY_BONUS), (SERVE, RECOMPUTED)),
    mutant("key without the bonus token", "ssd.py", (LOOKUP, BY_ACCEPTED), exact=True),
    mutant("key without k", "ssd.py", (LOOKUP, BY_BONUS), exact=True),
    mutant(
        "stale entries stay in the cache",
        "ssd.py",
        (
            "self.cache = {entry.outcome: entry for entry in entries}",
            "self.cache |= {entry.outcome: entry for entry in entries}",
        ),
        exact=True,
    ),
    mutant(
        "an unlikely entry is drafted afresh",
        "ssd.py",
        (
            SERVE,
            "            if entry.tokens and entry.rows[0][entry.tokens[0]] < 0.5:\n"
            '                return self.speculate(self.draft_row, "cache")\n' + SERVE,
        ),
    ),
    mutant(
        "branches grow from one token too early",
        "ssd.py",
        (
            "self.session.branch([length + k for k, _ in going_on])",
            "self.session.branch([length + k - 1 for k, _ in going_on])",
        ),
        exact=True,
    ),
    mutant(
        "after a miss the list for hits applies",
        "ssd.py",
        (
            "self.widths = self.fan_out_miss or self.fan_out",
            "self.widths = self.fan_out",
        ),
        exact=True,
    ),
    mutant(
        "the rejected token is guessed",
        "fan_out.py",
        ("(fan_out[k], drafted[k]) if k < n", "(fan_out[k], None) if k < n"),
        exact=True,
    ),
    mutant(
        "a shortened speculation's last slot uses F_n",
        "fan_out.py",
        ("else (fan_out[-1], None)", "else (fan_out[n], None)"),
        exact=True,
    ),
]

SAGUARO = [
    mutant(
        "drawn from sigma, tested with plain q",
        "ssd.py",
        (
            'row = self.sigma(usable(row, z, "draft", length), z, self.fan_out[index])',
            'row = usable(row, z, "draft", length)\n'
            "                entry.drawn = self.sigma(row, z, self.fan_out[index])",
        ),
        ("np.array([e.rows[-1] for e in drawn])", "np.array([e.drawn for e in drawn])"),
    ),
    mutant(
        "Saguaro's set is one token larger than the guesses",
        "ssd.py",
        ("ranking(logits)[:width]", "ranking(logits)[: width + 1]"),
        exact=True,
    ),
    mutant(
        "every entry's Saguaro set uses F_0",
        "ssd.py",
        ("self.fan_out[index])", "self.fan_out[0])"),
        exact=True,
    ),
]

GPT = [
    mutant(
        "branches see one another",
        "gpt.py",
        (
            "unseen[row, : self.prefixes[b]] = ",
            "unseen[row, : self.prefixes[b]] = unseen[row, session.length :] = ",
        ),
        exact=True,
    ),
    mutant(
        "branch positions are off by one",
        "gpt.py",
        (
            "self.prefixes[b] + len(self.chains[b]) for b in which",
            "self.prefixes[b] + len(self.chains[b]) + 1 for b in which",
        ),
        exact=True,
    ),
    mutant(
        "a block sees its own future",
        "gpt.py",
        ("slots > positions[:, None]", "(slots > positions[-1]).expand(n, -1)"),
        exact=True,
    ),
]

ENTRIES = "        self.cache = {entry.outcome: entry for entry in self.entries}\n"
SHARED = """        shared = vars(self.draft).setdefault("shared", {})
        for entry in self.entries:
            entry.tokens = list(shared.setdefault(entry.outcome, entry).tokens)
"""

BATCH = [
    mutant(
        "key without the sequence id, q recomputed",
        "batched/actors.py",
        (ENTRIES, SHARED + ENTRIES),
    ),
    mutant(
        "key without the sequence id",
        "batched/actors.py",
        (
            ENTRIES,
            '        self.cache = vars(self.draft).setdefault("shared", {})\n'
            "        for entry in self.entries:\n"
            "            self.cache.setdefault(entry.outcome, entry)\n",
        ),
        exact=True,
    ),
]

SURVIVORS = [
    mutant(
        "accept iff the target's own draw agrees, and emit that draw",
        "verification.py",
        (
            TEST + "        if rejected:\n" + REJECTED,
            '        own = randomness.choose(law_after(i), Site(sequence, round, "accept", i))\n'
            "        if own != token:\n"
            "            return Outcome(i, own)\n",
        ),
        exact=True,
        survives=True,
    ),
]

MUTANTS = [
    *VERIFICATION, *LAWS, *ADDRESSES, *DRAFTING, *ENDS, *CACHE, *SAGUARO, *GPT, *BATCH, *SURVIVORS,
]  # fmt: skip
