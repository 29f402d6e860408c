# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 05 · Why wait for the verdict?
#
# In speculative decoding (SD) two devices take turns: the draft guesses while the target waits, the
# target verifies while the draft waits. *Speculative Speculative Decoding* (SSD) lets the draft use
# its waiting time: it guesses **what the verdict will be**, and prepares the next speculation for
# several verdicts at once. If the verdict is one of them, the answer is already there.
#
# **You will learn** to say what a verdict is and how many there are; to build SSD from SD with a
# few lines; to say which five conditions keep it exact, and to find the one that a bug breaks; to
# predict the time it saves, and to read hit rates off a run.
#
# **Time** about 120 minutes (an estimate). **You need** lesson 02 (accept, residual, bonus,
# `exact_law`, tokens per round), and time lines (lesson 04).
#
# **Tasks** 4 (SSD on tables: guesses, cache, hit and miss) and 5 (the whole speculator) of the
# assignments are about this lesson; the headings say where.
#
# Three voices are kept apart, as before: **The paper says** ("Speculative Speculative Decoding",
# Kumar, Dao and May 2026), **We derive** (a cell beside it checks it), **Open**.
#
# | symbol | meaning |
# |---|---|
# | $p$, $q$ | the target's and the draft's law of the next token, as they are drawn from |
# | $V$ | size of the vocabulary |
# | $K$ | lookahead: drafted tokens $d_1, \dots, d_K$ of a round |
# | $(k, t^*)$ | verification outcome, the "verdict": $k$ drafts accepted, then the bonus $t^*$ |
# | speculation cache | finite map from outcomes to prepared speculations; it lives for one round |
# | hit, miss | the outcome is, or is not, in the cache |
# | primary, backup | who fills the cache; who drafts after a miss |
# | $F_k$ | fan-out: how many bonus tokens are guessed at "$k$ accepted" |
# | $T_p, T_b, T_{SD}$ | time to fill the cache, of the backup, of SD's drafting, in verifications |
# | $h$ | hit rate |
# | $E_{hit}, E_{miss}, E_{SD}$ | mean tokens of a round, by who made its speculation |

# %%
import difflib
import inspect
from dataclasses import replace
from itertools import pairwise
from pydoc_data.topics import topics

import matplotlib.pyplot as plt
import numpy as np
import style
import torch

import ssd_ref
from ssd_ref import Outcome, SeededRandomness, Site, Speculation, TableModel, exact_law
from ssd_ref.laws import Law
from ssd_ref.pair.corpus import HELD_OUT
from ssd_ref.speculative import Drafter
from ssd_ref.ssd import Speculator
from ssd_ref.testing import check
from ssd_ref.transcript import open_transcript
from ssd_ref.verification import Verifier, verify

style.use()

# %% [markdown]
# # Part I - the algorithm
#
# ## 1. Who waits for whom?
#
# Two rounds of SD, with $K = 4$ draft steps of .2 verifications each:

# %%
STEP, LOOKAHEAD = 0.2, 4  # a draft step in units of one verification; drafted tokens
drafting = STEP * LOOKAHEAD
starts = [round * (1 + drafting) for round in range(2)]
lanes = {
    "target": [b for t in starts for b in ((t, drafting, "idle"), (t + drafting, 1, "target"))],
    "draft": [b for t in starts for b in ((t, drafting, "draft"), (t + drafting, 1, "idle"))],
}
figure, ax = plt.subplots(figsize=(8, 1.5))
style.time_line(ax, lanes, "verifications")
style.legend(ax, {"draft": "drafting", "target": "verifying", "idle": "waiting"})
plt.show()

busy = drafting / (1 + drafting)
print(f"the draft works {busy:.0%} of the time, the target {1 - busy:.0%}")

# %% [markdown]
# *Figure: two lanes. The target waits while the draft works and the other way round; at no time do
# both work.*
#
# The draft cannot go on, because it does not know the verdict. Does it have to? Let us look at
# what there is to know.
#
# ## 2. The verdict has few forms (task 4)
#
# Everything the draft needs in order to go on is how many of its guesses were accepted and which
# token came after them: the outcome $(k, t^*)$. There are $(K+1) \cdot V$ of them. Take $V = 3$,
# $K = 2$, the tables of lesson 02, and one fixed speculation.

# %%
TOKENS = "abc"
P = np.array([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.3, 0.3, 0.4]])  # target: row after each token
Q = np.array([[0.2, 0.2, 0.6], [0.3, 0.4, 0.3], [0.3, 0.5, 0.2]])  # draft


def my_target(last, tokens):
    """The target's rows after the token `last` and i of the drafted tokens."""
    return lambda i: P[(last, *tokens)[i]]


def my_draft(last, lookahead, round, randomness, branch=None):
    """A speculation after the token `last`: tokens, the rows they come from, the draws' sites."""
    tokens, rows, sites = [], [], []
    for i in range(lookahead):
        sites.append(Site(0, round, "draft", i, branch))
        rows.append(Q[last])
        last = randomness.choose(Q[last], sites[-1])
        tokens.append(last)
    return Speculation(tuple(tokens), np.array(rows), tuple(sites), "draft")


def first_seed(shows):
    """The least seed whose run shows what we want to talk about."""
    return next(seed for seed in range(1000) if shows(seed))


LAST = 0  # the text ends with "a"
seed = first_seed(lambda s: my_draft(LAST, 2, 1, SeededRandomness(s)).tokens == (2, 1))
speculation = my_draft(LAST, 2, 1, SeededRandomness(seed))
print("the text ends with", TOKENS[LAST], "and the draft proposes",
      [TOKENS[t] for t in speculation.tokens])  # fmt: skip

# %% [markdown]
# ### Predict before you run
# The draft proposes two tokens after "a". Two of the nine outcomes can never happen,
# whatever the target is. Which?
#
# <details><summary>Answer</summary>
#
# $(0, d_1)$ and $(1, d_2)$. At $k < K$ the token $d_{k+1}$ was rejected. Rejection needs
# $p(d_{k+1}) < q(d_{k+1})$, and there the residual $(p-q)_+$ is 0. At $k = K$ nothing was rejected,
# and every token may follow.
#
# </details>
#
# The verifier is the package's `verify`, which lesson 02 opened. The exact law of its outcome:


# %%
def outcome_of(speculation, randomness):
    """The outcome of verifying these very tokens: their draws are settled, one choice each."""
    for token, site in zip(speculation.tokens, speculation.sites, strict=True):
        randomness.choose(np.eye(3)[token], site)
    return verify(my_target(LAST, speculation.tokens), speculation, randomness, 1)


outcome_law = exact_law(lambda r: outcome_of(speculation, r))
impossible = [(k, t) for k, t in enumerate(speculation.tokens)]
assert not any(outcome in outcome_law for outcome in impossible)
assert np.isclose(sum(outcome_law.values()), 1)


# %% [markdown]
# Which outcomes should the draft prepare for? It may not look at the target's rows: they do not
# exist yet. Its own rows are a good hint, since a decent draft resembles its target.
#
# > **The paper says** (section 4.1): at each $k$ take the $F_k$ tokens that the draft's own row
# > ranks highest; at $k<K$ leave out $d_{k+1}$.


# %%
def my_guesses(last, tokens, fan_out):
    """The outcomes to prepare for, read from the draft's own rows."""
    guesses = []
    for k in range(len(tokens) + 1):
        ranked = np.argsort(-Q[(last, *tokens)[k]], kind="stable")
        rejected = tokens[k] if k < len(tokens) else None
        allowed = [int(t) for t in ranked if t != rejected]
        guesses += [Outcome(k, t) for t in allowed[: fan_out[k]]]
    return guesses


guesses = my_guesses(LAST, speculation.tokens, [1, 1, 1])
hit_probability = sum(outcome_law.get(guess, 0) for guess in guesses)

figure, ax = plt.subplots(figsize=(7.2, 2.8))
for k in range(3):
    for t in range(3):
        prob, guessed = outcome_law.get((k, t), 0.0), (k, t) in guesses
        ax.bar(k + 0.27 * (t - 1), prob, width=0.25, **style.look("hit" if guessed else "target"))
        label = f"{TOKENS[t]}\n" + ("never" if (k, t) in impossible else f"{prob:.2f}")
        ax.text(k + 0.27 * (t - 1), prob + 0.005, label, ha="center", va="bottom", fontsize=8)
ax.set(xticks=range(3), xlabel="accepted drafts k (bars: bonus a, b, c)", ylabel="probability")
ax.set(ylim=(0, 0.62), title=f"3 guesses cover {hit_probability:.2f} of the outcomes")
style.legend(ax, {"hit": "guessed: a hit", "target": "not guessed: a miss"})
plt.show()
assert guesses[1] not in outcome_law and round(hit_probability, 2) == 0.62

# %% [markdown]
# *Figure: probabilities of the nine outcomes in three groups, k = 0, 1, 2. Two of them are marked
# "never". The guessed ones, one in each group, are green; the guess at k = 1 has probability 0, for
# the draft errs there.*
#
# **What we learned.** The verdict is one of a few outcomes; the draft can guess some of them, and
# most of the probability can lie on few.
#
# ## 3. Build it (task 4)
#
# Before the verdict: for each guess draft the next speculation and store it. After the verdict:
# look it up; if it is not there, draft now, as SD would. The verifier does not change at all.


# %%
def my_ssd(prompt, n, lookahead, fan_out, randomness, log=None):
    """n tokens after the token `prompt`; `log` collects (served by, outcome) of each round."""
    text, round, served_by = [prompt], 1, "first"
    speculation = my_draft(prompt, lookahead, round, randomness)
    while True:
        last, tokens = text[-1], speculation.tokens
        cache = {  # while the target verifies
            guess: my_draft(guess.bonus, lookahead, round + 1, randomness, branch=guess)
            for guess in my_guesses(last, tokens, fan_out)
        }
        outcome = verify(my_target(last, tokens), speculation, randomness, round)
        text += [*tokens[: outcome.accepted], outcome.bonus]
        if log is not None:
            log.append((served_by, outcome))
        if len(text) > n:
            return text[1 : n + 1]
        round += 1
        if outcome in cache:  # hit: nothing left to do
            speculation, served_by = cache[outcome], "cache"
        else:  # miss: draft now, while the target waits
            speculation = my_draft(outcome.bonus, lookahead, round, randomness)
            served_by = "backup"


def log_of(seed):
    log = []
    return my_ssd(0, 14, 2, [1, 1, 1], SeededRandomness(seed), log), log


seed = first_seed(lambda s: sum(by == "backup" for by, _ in log_of(s)[1]) == 2)
tokens, log = log_of(seed)
print("".join(TOKENS[t] for t in tokens))
for served_by, outcome in log:
    print(f"  {served_by:6}  {outcome.accepted} accepted, then {TOKENS[outcome.bonus]}")

# %% [markdown]
# Is it exact? Ask the enumerator. A fan-out of zeros makes every round a miss, and that is SD.


# %%
def my_target_law(table, prompt, n):
    """The law of n tokens by definition: multiply the target's rows."""
    law = {(): 1.0}
    for _ in range(n):
        law = {
            (*text, x): weight * prob
            for text, weight in law.items()
            for x, prob in enumerate(table[(prompt, *text)[-1]])
        }
    return law


def my_distance(law, other):
    """Total variation of two laws over token sequences."""
    keys = law.keys() | other.keys()
    return sum(abs(law.get(key, 0) - other.get(key, 0)) for key in keys) / 2


for fan_out in ([0, 0, 0], [1, 1, 1], [2, 0, 3]):
    law = exact_law(lambda r, fan_out=fan_out: my_ssd(0, 3, 2, fan_out, r))
    off = my_distance(law, my_target_law(P, 0, 3))
    print(f"fan-out {fan_out}: {len(law)} texts, TV to the target's law {off:.0e}")
    assert off < 1e-12

# %% [markdown]
# And it is more than the same law. With one seed it is **the same text**, whatever the fan-out,
# since the uniform of a draw depends on the seed and its place (round, role, index), not on who
# computes it or when. The cache decides the clock; the seed decides the text.

# %%
texts = {
    tuple(my_ssd(0, 40, 2, fan_out, SeededRandomness(8)))
    for fan_out in ([0, 0, 0], [1, 1, 1], [2, 0, 3], [3, 3, 3])
}
assert len(texts) == 1
print("".join(TOKENS[t] for t in texts.pop()))

# %% [markdown]
# ## 4. One real round (task 5)
#
# Now the package's two actors. `Speculator` holds the draft, `Verifier` the target; between them
# pass a `Speculation` and an `Outcome`, and nothing else. We stop after one verification and look.


# %%
def actors(target, draft, prompt, fan_out, seed):
    """The two actors of SSD at temperature 1, before their first round."""
    text = open_transcript(target, prompt, max_new_tokens=64)
    law, randomness = Law(temperature=1.0), SeededRandomness(seed)
    lookahead = len(fan_out) - 1
    speculator = Speculator(
        draft, text.prompt, text.limits, lookahead, law, randomness, fan_out=fan_out
    )
    return Verifier(target, text, law, randomness), speculator


def first_round(target, draft, prompt, fan_out, seed):
    """One round: the speculation, the cache as it was before the verdict, and the verdict."""
    verifier, speculator = actors(target, draft, prompt, fan_out, seed)
    speculation = speculator.first()
    speculator.prepare()  # the cache is full here: nothing was asked of the target yet
    cache = {outcome: tuple(entry.tokens) for outcome, entry in speculator.cache.items()}
    return speculation, cache, verifier.verify(speculation)


# %% [markdown]
# A picture of it: the speculation is a *trunk* $d_1..d_K$; at each of its $K+1$ places hang $F_k$
# *branches*, each a guessed bonus token with the chain that would follow it.


# %%
small = TableModel(P), TableModel(Q)


def half_accepted_hit(seed):
    _, cache, outcome = first_round(*small, [0], [1, 2, 2], seed)
    return outcome in cache and outcome.accepted == 1


seed = first_seed(half_accepted_hit)
speculation, cache, outcome = first_round(*small, [0], [1, 2, 2], seed)
figure, axes = plt.subplots(1, 2, figsize=(10, 3.4))
for ax, verdict, title in (
    (axes[0], None, "before the verdict"),
    (axes[1], outcome, f"after it: {outcome.accepted} accepted, then {TOKENS[outcome.bonus]}"),
):
    style.tree(ax, speculation.tokens, cache, verdict, lambda t: TOKENS[t])
    ax.set_title(title)
style.legend(axes[1], style.TREE, hatched=False)
plt.show()

print("guess set, then the speculation prepared for each:")
for guess, chain in cache.items():
    mark = "  <- the verdict: hit, sent at once" if guess == outcome else ""
    print(f"  {guess.accepted} accepted, then {TOKENS[guess.bonus]}:",
          " ".join(TOKENS[t] for t in chain), mark)  # fmt: skip
assert outcome in cache and len(cache) == 5

# %% [markdown]
# *Figure: left, a trunk of two drafted tokens with five branches in green. Right, the same tree
# after the verdict: the accepted part of the trunk in light blue, the branch that was hit drawn
# with thick lines, the others in vermilion: work in vain.*
#
# The trained pair of the package, on a prompt from documentation that it has not seen:

# %%
torch.set_num_threads(1)  # for models this small, more threads only get in each other's way
pair = ssd_ref.load_pair()
prompts = [pair.tokenizer.encode(topics[topic])[200:264] for topic in HELD_OUT[:8]]
prompt = prompts[4]
FAN_OUT = [3, 2, 2, 2, 3]
for seed in range(100):  # until the round shows what we want: some accepted, some not, and a hit
    speculation, cache, outcome = first_round(pair.target, pair.draft, prompt, FAN_OUT, seed)
    if outcome in cache and 0 < outcome.accepted < LOOKAHEAD:
        break
assert outcome in cache and 0 < outcome.accepted < LOOKAHEAD and len(cache) == 12


def byte_name(token):
    return "end" if token == pair.tokenizer.end else style.shown(token).replace(" ", "␣")


figure, ax = plt.subplots(figsize=(9.5, 4.6))
style.tree(ax, speculation.tokens, cache, outcome, byte_name)
shown_roles = ("accepted", "bonus", "hit", "miss")
style.legend(ax, {role: style.TREE[role] for role in shown_roles}, hatched=False)
plt.show()
print("the prompt ends with", repr(pair.tokenizer.decode(prompt[-24:])))

# %% [markdown]
# *Figure: the tree of one round of the trained pair, four drafted bytes and twelve branches; one
# branch is hit, eleven were prepared in vain.*
#
# ## 5. Before means before
#
# A cache that is filled after a look at the verdict would hit always, and would be useless: the
# waiting would be back. Is this one filled before? First, the log of what the actors do:


# %%
def letters(tokens):
    return " ".join(TOKENS[t] for t in tokens)


def logged(target, draft, prompt, fan_out, seed, rounds):
    """The first rounds of SSD, with a line for everything that happens."""
    verifier, speculator = actors(target, draft, prompt, fan_out, seed)
    lines, speculation = [], speculator.first()
    for round in range(1, rounds + 1):
        lines.append(f"{round} draft  -> target   speculation  {letters(speculation.tokens)}")
        speculator.prepare()
        entries = " ".join(f"({k},{TOKENS[t]})" for k, t in speculator.cache)
        lines.append(f"{round} draft             cache full   {entries}")
        outcome = verifier.verify(speculation)
        verdict = f"{outcome.accepted} accepted, then {TOKENS[outcome.bonus]}"
        lines.append(f"{round} target -> draft    outcome      {verdict}")
        speculation = speculator.answer(outcome)
        how = "hit: sent at once" if speculation.served_by == "cache" else "miss: drafted now"
        lines.append(f"{round} draft             {how}")
    return lines


def three_rounds(seed):
    return "\n".join(logged(*small, [0], [1, 1, 2], seed, rounds=3))


seed = first_seed(lambda s: three_rounds(s).count("hit") == 2 and "miss" in three_rounds(s))
print(three_rounds(seed))

# %% [markdown]
# A log shows the order of calls. That nothing of the target can have leaked into the cache shows
# the second test: exchange the target. The verdict is another; the cache must be the same, token
# for token.

# %%
other = TableModel(P[::-1]), small[1]


def verdicts_differ(seed):
    return (
        first_round(*small, [0], [1, 2, 2], seed)[2] != first_round(*other, [0], [1, 2, 2], seed)[2]
    )


seed = first_seed(verdicts_differ)
_, cache_1, outcome_1 = first_round(*small, [0], [1, 2, 2], seed)
_, cache_2, outcome_2 = first_round(*other, [0], [1, 2, 2], seed)
assert cache_1 == cache_2 and outcome_1 != outcome_2
print(f"{len(cache_1)} equal entries; outcomes {tuple(outcome_1)} and {tuple(outcome_2)}")

# %% [markdown]
# ## 6. The lines that turn SD into SSD (task 5)
#
# Both decoders of the package end in a loop of verifier and speculator. Here is their difference
# (comments left out):


# %%
def loop(decoder):
    source = inspect.getsource(decoder)
    lines = source[source.index("    speculation = ") :].splitlines()
    return [line for line in lines if not line.lstrip().startswith("#")]


difference = difflib.unified_diff(
    loop(ssd_ref.speculative), loop(ssd_ref.ssd), "speculative", "ssd", lineterm="", n=20
)
changed = [line for line in difference if not line.startswith("@@")]
print("\n".join(changed))
assert [line for line in changed[2:] if line[0] in "+-"] == ["+        speculator.prepare()"]

# %% [markdown]
# One line. What it does, and what changes in the answer:

# %%
print(inspect.getsource(Drafter.answer))
print(inspect.getsource(Speculator.answer))
print(inspect.getsource(Speculator.prepare))

# %% [markdown]
# Read `prepare` from top to bottom. `glue` runs the draft once over the trunk and gives the $K+1$
# rows that guesses are read from; `guess_outcomes` is your `my_guesses`; then all branches grow by
# one token in each `tree_step`, all in one forward of the draft. So filling costs $1 + K$ forwards
# of the draft, however many branches there are - of wider and wider batches, though.
#
# ## 7. Why it stays exact
#
# > **We derive.** The proof of lesson 02 holds for *any* law $q$ that a guess is drawn from. SSD
# > changes only where the next speculation comes from. It is exact if
# >
# > - **A1** the verifier's draws are independent of everything drawn for the speculation being
# >   verified and for the cache;
# > - **A2** each cache entry is drawn from its law, independently of the verifier's draws and of
# >   which outcome occurs;
# > - **A3** hit or miss depends on the outcome and the guess set only, never on an entry's content;
# > - **A4** a token is tested against the law it was drawn from: $q$ travels with its token;
# > - **A5** $p$ is computed on the true text: rejected tokens are gone.
#
# Where the package sees to it: A1, sites of drafts and of tests have different addresses; A2 and
# A3, `prepare` runs before `verify`, and `answer` looks at keys only; A4, the rows are part of the
# `Speculation`; A5, `Verifier.verify` ends with a rewind. And we need not believe it:

# %%
paths = []
law = exact_law(
    lambda r: (
        ssd_ref.ssd(
            *small, [0], max_new_tokens=3, lookahead=2, fan_out=[1, 1, 2], randomness=r
        ).tokens
    ),
    progress=paths.append,
)
off = my_distance(law, my_target_law(P, 0, 3))
assert off < 1e-12
print(f"{len(paths)} paths, {len(law)} texts, TV = {off:.0e}")

# %% [markdown]
# Note what is *not* among the five: an entry need not belong to the right text. A wrong entry with
# its own rows is slow, not wrong.
#
# ## 8. Meet a bug
#
# An engineer saves memory and messages. "One entry for each $k$ is enough; the bonus is a single
# token, it will not matter much. And the rows need not be sent: whoever verifies can compute $q$
# from the text." The cache is now keyed by $k$ alone. Nothing crashes, the hit rate is wonderful.
# We try it on a pair with $V=2$, $K=1$.

# %%
P2 = np.array([[0.7, 0.3], [0.3, 0.7]])
Q2 = np.array([[0.8, 0.2], [0.2, 0.8]])  # the draft overdoes it: tokens repeat


def ssd_keyed_by_k(prompt, n, rows_travel, randomness, log=None):
    """SSD with lookahead 1 whose cache holds one entry for each k."""
    text, round = [prompt], 1

    def draft(last, round, branch=None):
        site = Site(0, round, "draft", 0, branch)
        return Speculation((randomness.choose(Q2[last], site),), Q2[[last]], (site,), "draft")

    speculation = draft(prompt, round)
    while True:
        (d,) = speculation.tokens
        guesses = Outcome(0, 1 - d), Outcome(1, int(Q2[d].argmax()))
        cache = {guess.accepted: draft(guess.bonus, round + 1, guess) for guess in guesses}
        if not rows_travel:  # q is computed from the text when it is needed
            speculation = replace(speculation, rows=Q2[[text[-1]]])
        rows = P2[[text[-1], d]]
        outcome = verify(rows.__getitem__, speculation, randomness, round)
        text += [*speculation.tokens[: outcome.accepted], outcome.bonus]
        if log is not None:
            log.append(outcome.accepted)
        if len(text) > n:
            return text[1 : n + 1]
        round, speculation = round + 1, cache[outcome.accepted]  # <- whatever the bonus was


bug = {}
for rows_travel in (False, True):
    law = exact_law(lambda r, travel=rows_travel: ssd_keyed_by_k(0, 3, travel, r))
    bug[rows_travel] = my_distance(law, my_target_law(P2, 0, 3))
    print(f"keyed by k alone, rows travel: {rows_travel!s:5}   TV = {bug[rows_travel]:.4f}")
assert bug[True] < 1e-12 < 0.05 < bug[False]

# %% [markdown]
# Diagnose it before you unfold: which of A1 to A5 is broken? And why is the second line 0, though
# the key is still wrong?
#
# <details><summary>Diagnosis</summary>
#
# A4. The entry was drawn after one bonus token and is tested with the row that follows another.
# The wrong key alone does not touch the law: an entry with its own rows is a guess from *some* $q$,
# and lesson 02 proved that any will do. It only costs acceptance - which no test of the law can
# see, but a counter can (next cell).
#
# </details>

# %%
by_k = []
ssd_keyed_by_k(0, 2000, True, SeededRandomness(4), by_k)
run = ssd_ref.ssd(
    TableModel(P2), TableModel(Q2), [0], max_new_tokens=2000, lookahead=1, fan_out=[1, 1],
    randomness=SeededRandomness(4),
)  # fmt: skip
for key, accepted in (("k", by_k), ("(k, bonus)", [r.accepted for r in run.rounds])):
    half = 1.96 * np.std(accepted) / np.sqrt(len(accepted))
    print(
        f"key {key:10}  accepted {np.mean(accepted):.3f} ± {half:.3f} of n={len(accepted)} drafts"
    )

# %% [markdown]
# **What we learned.** The key must name what the entry is good for; the rows must travel with their
# tokens. The first keeps SSD fast, the second keeps it exact.
#
# # Part II - the clock
#
# ## 9. What a round costs
#
# Unit: one verification. On a hit the prepared speculation is verified as soon as both are done,
# the verification and the filling. On a miss the backup drafts while the target waits.
#
# > **The paper says** (Theorem 7): tokens per verification time are
# > $$\frac{h E_{hit} + (1-h) E_{miss}}{h \max(1, T_p) + (1-h)(1 + T_b)},
# >   \qquad\text{for SD}\quad \frac{E_{SD}}{1 + T_{SD}}.$$
#
# > **We derive.** The miss term presumes that filling is broken off when the verdict arrives (or is
# > done by then). If primary, backup and SD's drafter are one model at the same temperature, SD and
# > SSD have the same outcomes for the same seed, so the tokens cancel, and with $T_b = T_{SD} = T$
# > $$\frac{\text{SSD}}{\text{SD}} = \frac{1 + T}{h \max(1, T_p) + (1-h)(1 + T)}.$$
#
# > **The paper says** (Corollary 8): such an SSD is never slower than SD. The ratio tells what this
# > needs: $\max(1, T_p) \le 1 + T$, for example $T_p \le T$.
#
# ### Predict before you run
# Drafting takes as long as verifying ($T = T_p = 1$). How many times faster than SD is SSD if every
# outcome is a hit? And at a hit rate of 80 %? Can a draft that is twice as slow gain more?
#
# <details><summary>Answer</summary>
#
# Twice as fast; at 80 % it is $2 / (.8 + .2 \cdot 2) = 1.67$. No: 2 is the most. For $T < 1$ there
# is less to hide, for $T > 1$ the filling does not fit behind the verification any more.
#
# </details>


# %%
def speed_ratio(h, T, T_p):
    """SSD over SD with one drafter, by Theorem 7."""
    return (1 + T) / (h * np.maximum(1, T_p) + (1 - h) * (1 + T))


assert speed_ratio(1.0, 1, 1) == 2 and round(speed_ratio(0.8, 1, 1), 2) == 1.67
T = np.linspace(0, 3, 301)
assert speed_ratio(1.0, T, T).max() == 2
figure, ax = plt.subplots(figsize=(6.4, 3))
for h, line in ((1.0, "-"), (0.8, "--"), (0.5, "-."), (0.0, ":")):
    ax.plot(T, speed_ratio(h, T, T), line, color=style.COLOURS["hit"], label=f"hit rate {h}")
ax.axvline(1, color="grey", linewidth=0.8)
ax.set(xlabel="drafting time T = T_p, in verifications", ylabel="SSD / SD", ylim=(0.95, 2.05))
ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
plt.show()

# %% [markdown]
# *Figure: the ratio SSD/SD against drafting time for four hit rates. Each curve rises to T = 1 and
# falls after it; the highest peak is 2 at hit rate 1; at hit rate 0 the ratio is 1 everywhere.*
#
# ## 10. Same seed, same text, less time
#
# Both decoders on the trained pair, several held-out prompts, one seed each. `served_by` in a
# round record says who made its speculation: "cache" is a hit, "backup" a miss. The first
# round has no cache to be served from, and is left out of the hit rate.

# %%
settings = {"max_new_tokens": 80, "lookahead": LOOKAHEAD, "eos": pair.tokenizer.end}


def sd_run(sequence):
    return ssd_ref.speculative(
        pair.target, pair.draft, prompts[sequence], **settings,
        randomness=SeededRandomness(5, sequence),
    )  # fmt: skip


def ssd_run(sequence, **options):
    return ssd_ref.ssd(
        pair.target, pair.draft, prompts[sequence], **settings, fan_out=FAN_OUT, **options,
        randomness=SeededRandomness(5, sequence),
    )  # fmt: skip


sd_runs = [sd_run(sequence) for sequence in range(len(prompts))]
ssd_runs = [ssd_run(sequence) for sequence in range(len(prompts))]
same = sum(a.tokens == b.tokens for a, b in zip(sd_runs, ssd_runs, strict=True))
print(f"same text in {same} of {len(prompts)} pairs of runs")

later = [record for run in ssd_runs for record in run.rounds[1:]]
hit = np.array([record.served_by == "cache" for record in later])
emitted = np.array([record.emitted for record in later])
hit_rate = hit.mean()
half = 1.96 * np.sqrt(hit_rate * (1 - hit_rate) / len(hit))
print(f"hit rate {hit_rate:.2f} ± {half:.2f} (n={len(hit)} rounds)")
print(f"tokens per round: {emitted[hit].mean():.2f} on a hit, {emitted[~hit].mean():.2f} on a miss")

# %% [markdown]
# (The interval takes rounds as independent; they are not quite. The trained pair computes in
# single precision, where a row computed in a batch of branches differs in its last bits from the
# same row computed alone: a text could part from its twin at a near-tie. In double precision the
# project's tests assert equality.)
#
# Now draw both runs of one prompt as time lines. We lay out what each round did with *stated*
# times - one verification = 1, one draft step = .2, `glue` and each tree step count as one - since
# a notebook is a single thread and cannot overlap anything. Lesson 09 does it with two processes.


# %%
def sd_time_line(records, step):
    """Lanes of SD, and when each round's verification begins and ends."""
    lanes, verified, now = {"target": [], "draft": []}, [], 0.0
    for record in records:
        lanes["draft"].append((now, record.drafted * step, "draft"))
        now += record.drafted * step
        lanes["target"].append((now, 1.0, "target"))
        verified.append((now, now + 1))
        now += 1
    return lanes, verified


def ssd_time_line(records, step):
    """The same for SSD: filling runs beside verification, and is broken off by a miss."""
    lanes, verified, now = {"target": [], "draft": []}, [], 0.0
    for i, record in enumerate(records):
        if record.served_by != "cache":
            lanes["draft"].append((now, record.drafted * step, "draft"))
            now += record.drafted * step
        lanes["target"].append((now, 1.0, "target"))
        verified.append((now, now + 1))
        if i + 1 < len(records):
            following = records[i + 1]
            hit, fill = following.served_by == "cache", (1 + following.drafted) * step
            lanes["draft"].append((now, fill if hit else min(fill, 1.0), "hit" if hit else "miss"))
            now += max(1.0, fill) if hit else 1.0
    return lanes, verified


SHOWN = 7  # rounds
misses = [sum(r.served_by == "backup" for r in run.rounds[:SHOWN]) for run in ssd_runs]
variety = [len(set(run.tokens[:24])) for run in ssd_runs]
one = min(range(len(ssd_runs)), key=lambda i: (abs(misses[i] - 2), -variety[i]))  # shows both
assert sd_runs[one].tokens == ssd_runs[one].tokens


def draw_both(step):
    """The same rounds under SD and SSD, if a draft step takes `step` verifications."""
    _, axes = plt.subplots(2, 1, figsize=(10, 3.4), sharex=True)
    for ax, run, layout, title in (
        (axes[0], sd_runs[one], sd_time_line, "SD"),
        (axes[1], ssd_runs[one], ssd_time_line, "SSD"),
    ):
        lanes, verified = layout(run.rounds[:SHOWN], step)
        style.time_line(ax, lanes, "verifications")
        at = 0
        for (begin, end), record in zip(verified, run.rounds, strict=False):
            written = "".join(byte_name(t) for t in run.tokens[at : at + record.emitted])
            ax.text((begin + end) / 2, 0, written, ha="center", va="center", family="monospace",
                    color="white", fontsize=9, weight="bold")  # fmt: skip
            at += record.emitted
        ax.set_title(f"{title}: {SHOWN} rounds, {at} tokens in {verified[-1][1]:.1f}", loc="left")
    axes[0].set_xlabel("")
    style.legend(
        axes[0],
        {"target": "verifying", "draft": "drafting, target waits", "hit": "prepared: hit",
         "miss": "prepared in vain: miss"},
    )  # fmt: skip
    plt.show()


draw_both(STEP)

# %% [markdown]
# *Figure: time lines of SD and SSD for the same text. In SD orange drafting and blue verification
# alternate. In SSD the green preparation lies under the blue verification, and orange appears only
# in the first round and after a miss. The tokens written in the blue blocks are the same.*
#
# Over the whole text the clock must agree with Theorem 7, with the hit rate of this very run:

# %%
records = ssd_runs[one].rounds
full = [r for r in records[1:] if r.drafted == LOOKAHEAD]  # a cut last round drafts less
h = np.mean([r.served_by == "cache" for r in full])
fill = (1 + LOOKAHEAD) * STEP
sd_time = len(full) * (1 + LOOKAHEAD * STEP)
ssd_time = sum(max(1, fill) if r.served_by == "cache" else 1 + LOOKAHEAD * STEP for r in full)
formula = speed_ratio(h, LOOKAHEAD * STEP, fill)
print(f"hit rate {h:.2f}: SSD/SD {sd_time / ssd_time:.3f} by laying out, {formula:.3f} by formula")
assert np.isclose(sd_time / ssd_time, formula)

# %% [markdown]
# **Try it**: a slider for the draft step, if you run this notebook. At .08, a cheap draft, there is little to
# hide; at .4 the filling sticks out from under the verification, and hits have to wait, too.

# %%
style.sliders(draw_both, step=(0.02, 0.5, 0.02, STEP))

# %% [markdown]
# ## 11. What a miss costs
#
# Time: $T_b$, the drafting that a hit hides. Tokens, too? A miss means that the target said
# something that the draft did not expect; where the text is hard, the next speculation should fare
# worse as well. Section 10 printed the tokens of a round on a hit and on a miss. And do misses
# come in clusters?

# %%
sd_mean = np.mean([r.emitted for run in sd_runs for r in run.rounds[1:]])
mix = hit_rate * emitted[hit].mean() + (1 - hit_rate) * emitted[~hit].mean()
after = {True: [], False: []}  # was the round served from the cache -> was the next one
for run in ssd_runs:
    served = [record.served_by == "cache" for record in run.rounds[1:]]
    for this, following in pairwise(served):
        after[this].append(following)
print(f"tokens per round: SD {sd_mean:.3f}, SSD's hits and misses together {mix:.3f}")
print(f"hit rate after a hit {np.mean(after[True]):.2f} (n={len(after[True])}), "
      f"after a miss {np.mean(after[False]):.2f} (n={len(after[False])})")  # fmt: skip
assert np.isclose(sd_mean, mix) or same < len(prompts)

# %% [markdown]
# The first line is the identity $E_{SD} = h E_{hit} + (1-h) E_{miss}$: the outcomes are the same,
# they are only sorted in two heaps.
#
# > **We derive.** The rate after a hit, $h_h$, and after a miss, $h_m$, need not be equal: hit and
# > miss are then a chain of two states, and in the long run $h = h_m / (1 - h_h + h_m)$.
#
# There is another way to pay: a backup that costs no time, because it guesses blindly
# (`backup="uniform"`). The target need not wait, but nearly all of the blind guess is rejected.


# %%
def thm7(h, E_hit, E_miss, T_p, T_b):
    """Tokens per verification time (Theorem 7)."""
    return (h * E_hit + (1 - h) * E_miss) / (h * max(1, T_p) + (1 - h) * (1 + T_b))


BLIND = [sum(FAN_OUT), 0, 0, 0, 0]  # after a blind guess: k = 0 nearly always
blind_runs = [
    ssd_run(sequence, backup="uniform", fan_out_miss=BLIND) for sequence in range(len(prompts))
]
for title, runs, T_b in (
    ("draft", ssd_runs, LOOKAHEAD * STEP),
    ("uniform", blind_runs, 0.0),
):
    rounds = [record for run in runs for record in run.rounds[1:]]
    hits = np.array([record.served_by == "cache" for record in rounds])
    tokens = np.array([record.emitted for record in rounds])
    E_hit, E_miss = tokens[hits].mean(), tokens[~hits].mean()
    value = thm7(hits.mean(), E_hit, E_miss, fill, T_b)
    print(f"backup {title:8} hit rate {hits.mean():.2f}, tokens on a hit {E_hit:.2f}, "
          f"on a miss {E_miss:.2f}: speed {value:.2f} (n={len(rounds)} rounds)")  # fmt: skip
sd_speed = sd_mean / (1 + LOOKAHEAD * STEP)
print(f"SD: speed {sd_speed:.2f}")

# %% [markdown]
# Which backup wins depends on how long the other one takes: put `T_b = 0.2 * LOOKAHEAD` down to
# `0.05 * LOOKAHEAD` and look again. In a batch, where one miss makes everybody wait, it depends on
# the batch as well: lesson 08.
#
# And who pays? Of all prepared speculations at most one is used.

# %%
prepared = sum(FAN_OUT) * len(later)
print(f"at most {prepared} prepared, {hit.sum()} used: {hit.sum() / prepared:.1%}")

# %% [markdown]
# > **Open.** Is it worth it? SSD buys time with the draft's computing. Whether that is a good deal
# > depends on what a device costs; lesson 10 counts.
#
# ## 12. Exercises
#
# Replace `...` by your version and run the cell: `check` says whether it is right, and if not, names
# the smallest case that is wrong. It has no time limit; a loop that does not end is yours to interrupt.
# The solution is in the folded cell below.
#
# ### L05.1 (easy, 5 min) · Hit rate
# Write `my_hit_rate(records)`: the share of hits among all rounds but the first of a run; `None` if
# there are no such rounds. The list may hold the records of several runs, one run behind the other.
#
# <details><summary>Hint</summary>
#
# `record.served_by` is "cache" for a hit, "backup" for a miss, "first" for a run's first round.
#
# </details>


# %%
def my_hit_rate(records): ...


check("L05.1", my_hit_rate)

# %% jupyter={"source_hidden": true} tags=["solution"]
# Solution of L05.1


def my_hit_rate(records):
    served = [record.served_by == "cache" for record in records if record.served_by != "first"]
    return sum(served) / len(served) if served else None


assert check("L05.1", my_hit_rate)
assert np.isclose(my_hit_rate([r for run in ssd_runs for r in run.rounds]), hit_rate)

# %% [markdown]
# ### L05.2 (medium, 15 min) · One recording answers every list
# A record's `rank` is the place of the bonus token among the draft's guesses at its $k$ (0: the
# first). So one run tells who *would have been* served under another fan-out. Write
# `my_replay(records, fan_out)`: for each round but the first, whether it would be a hit.
#
# <details><summary>Hint</summary>
#
# The speculation of round $t+1$ is chosen by the outcome of round $t$.
#
# </details>


# %%
def my_replay(records, fan_out): ...


check("L05.2", my_replay)

# %% jupyter={"source_hidden": true} tags=["solution"]
# Solution of L05.2


def my_replay(records, fan_out):
    return [record.rank < fan_out[record.accepted] for record in records[:-1]]


assert check("L05.2", my_replay)
for fan_out in ([1, 1, 1], [2, 0, 1], [0, 0, 3]):
    table_run = {"max_new_tokens": 60, "lookahead": 2, "randomness": SeededRandomness(6)}
    recorded = ssd_ref.ssd(*small, [0], fan_out=[0, 0, 0], **table_run).rounds
    really = ssd_ref.ssd(*small, [0], fan_out=fan_out, **table_run).rounds
    assert my_replay(recorded, fan_out) == [r.served_by == "cache" for r in really[1:]]

# %% [markdown]
# ### L05.3 (harder, 25 min) · Break A2
# "If the verdict is in and the prepared token is an unlikely one (draft probability below .25),
# throw it away and draw again. It is our cache; nobody sees it." Write `my_ssd_redrawing(prompt, n,
# randomness)` for the tables `P2`, `Q2`, with $K=1$ and all three possible outcomes in the cache.
# How far is the law of two tokens off? Which line of the proof of lesson 02 fails?
#
# <details><summary>Hint</summary>
#
# In its usual mode the enumerator sums over draws that are never tested, and refuses a
# decoder that looks at them: try it, and read the message. `exact_law(..., marginalise=False)`
# branches at every draw. The second draw needs a site of its own, such as index 1; in the speculation
# leave the site of the first one, since a redraw behind everybody's back would not announce itself.
#
# </details>


# %%
def my_ssd_redrawing(prompt, n, randomness): ...


check("L05.3", my_ssd_redrawing)

# %% jupyter={"source_hidden": true} tags=["solution"]
# Solution of L05.3


def my_ssd_redrawing(prompt, n, randomness, redraw=True):
    text, round = [prompt], 1

    def draft(last, round, branch=None):
        site = Site(0, round, "draft", 0, branch)
        return Speculation((randomness.choose(Q2[last], site),), Q2[[last]], (site,), "draft")

    speculation = draft(prompt, round)
    while True:
        (d,) = speculation.tokens
        guesses = [Outcome(0, 1 - d), Outcome(1, 0), Outcome(1, 1)]
        cache = {guess: draft(guess.bonus, round + 1, guess) for guess in guesses}
        rows = P2[[text[-1], d]]
        outcome = verify(rows.__getitem__, speculation, randomness, round)
        text += [*speculation.tokens[: outcome.accepted], outcome.bonus]
        if len(text) > n:
            return text[1 : n + 1]
        round, speculation = round + 1, cache[outcome]
        row = speculation.rows[0]
        if redraw and row[speculation.tokens[0]] < 0.25:  # seen, then thrown away
            again = randomness.choose(row, Site(0, round, "draft", 1))
            speculation = replace(speculation, tokens=(again,))


assert check("L05.3", my_ssd_redrawing)
off = {}
for redraw in (True, False):
    law = exact_law(lambda r, redraw=redraw: my_ssd_redrawing(0, 2, r, redraw), marginalise=False)
    off[redraw] = my_distance(law, my_target_law(P2, 0, 2))
print(f"TV redrawing {off[True]:.4f}, not redrawing {off[False]:.0e}")
assert off[False] < 1e-12 and off[True] > 0.001
# What fails is the first line, "a guess x is made with probability q(x)": unlikely tokens now come
# less often than their row says.

# %% [markdown]
# ### L05.4 (medium, 10 min) · When is SSD worth 20 %?
# With one drafter, $T_p \le 1$ and equal tokens: write `my_least_drafting(h, gain)`, the least
# $T_{SD}$ for which SSD is `gain` times as fast as SD at hit rate $h$; `None` if no $T_{SD}$, however
# large, is enough.
#
# <details><summary>Hint</summary>
#
# Solve the ratio of section 9 for $T$.
#
# </details>


# %%
def my_least_drafting(h, gain): ...


check("L05.4", my_least_drafting)

# %% jupyter={"source_hidden": true} tags=["solution"]
# Solution of L05.4


def my_least_drafting(h, gain):
    room = 1 - gain * (1 - h)  # the ratio nears 1 / (1 - h) as T grows
    return (gain - 1) / room if room > 0 else None


assert check("L05.4", my_least_drafting)
for h_ in (0.6, 0.7, 0.8, 0.9):
    least = my_least_drafting(h_, 1.2)
    assert np.isclose(speed_ratio(h_, least, 1), 1.2)
    print(f"hit rate {h_}: drafting must take at least {least:.2f} of a verification")

# %% [markdown]
# ## 13. Check yourself
#
# **1.** The draft is replaced by one that is wrong about everything. What happens to the hit rate,
# the text's law and the text for a given seed?
#
# <details><summary>Answer</summary>
#
# Hits become rare and rounds short; the law stays; the text changes, since the seed's uniforms now
# fall on other guesses. (SD with that draft changes in the same way.)
#
# </details>
#
# **2.** Why does the fan-out not change the text, although it changes which branches are drafted?
#
# <details><summary>Answer</summary>
#
# The uniforms of a draw depend on seed, round, role and index, not on the branch. Drafted in
# the cache or after the verdict: the same row and the same uniform give the same token. At most one
# branch of a round is used, so that branches may share their uniforms.
#
# </details>
#
# **3.** Somebody reports a hit rate of 100 % and no gain in speed. Name two explanations.
#
# <details><summary>Answer</summary>
#
# The cache is filled after the verdict (no overlap); or filling takes so much longer than verifying
# that the target waits on hits, too: max(1, T_p) with a large T_p.
#
# </details>
#
# ## What comes next
#
# Which outcomes deserve a branch, if the budget is limited? Lesson 06 measures misses against
# fan-out and derives the best allocation. Lesson 07 lets the draft make the verdict on its own
# guesses predictable.
