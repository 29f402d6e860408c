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
# # 00 · What will I be able to do?
#
# A language model writes one token at a time, and each token waits for the one before. This course is
# about two ways out. In **speculative decoding** (SD) a small model guesses a few tokens and the large one
# checks them all at once. In **Speculative Speculative Decoding** (SSD; Kumar, Dao and May 2026) the small
# one does not even wait for the result of the check: it guesses that, too. Both write text of *exactly*
# the law of the large model alone. At the end you can explain why, implement both, prove your
# implementation right to the last digit, and predict and measure what they gain.
#
# **You will learn** here what you are going to build, in which order, and whether you are ready for it.
#
# **Time** about 40 minutes (an estimate). **You need** nothing yet; the self-test in section 4 tells what
# the other lessons suppose.

# %%
from pydoc_data.topics import topics

import matplotlib.pyplot as plt
import style
import torch

import ssd_ref
from ssd_ref import SeededRandomness
from ssd_ref.pair.corpus import HELD_OUT
from ssd_ref.testing import check

style.use()
torch.set_num_threads(1)  # for models this small, more threads only get in each other's way

# %% [markdown]
# ## 1. One prompt, three decoders
#
# The package ships a *target* and a *draft*: two tiny transformers that read and write bytes and know the
# Python documentation, nothing else. We let them continue a prompt at temperature 0 (always the likeliest
# token), and paint each byte by who wrote it.
#
# ### Predict before you run
# AR asks the large model once for every byte. SD lets it check four guesses at a time and adds one byte
# of the large model's own. For 120 bytes: how many askings can it need at least, and how many at most?
#
# <details><summary>Answer</summary>
#
# At least 24, if every guess is right: 120 / 5. At most 120, if none is: even then each asking yields one
# byte. The titles of the picture tell how it went.
#
# </details>

# %%
pair = ssd_ref.load_pair()
prompt = pair.tokenizer.encode(topics[HELD_OUT[4]])[200:264]
LOOKAHEAD = 4  # how many tokens the draft guesses in a round
FAN_OUT = [2, 2, 2, 2, 4]  # SSD: next tokens to be prepared for after 0, 1, .., 4 accepted guesses
request = {
    "max_new_tokens": 120, "temperature": 0.0, "eos": pair.tokenizer.end,
    "randomness": SeededRandomness(0),
}  # fmt: skip
runs = {
    "AR": ssd_ref.autoregressive(pair.target, prompt, **request),
    "SD": ssd_ref.speculative(pair.target, pair.draft, prompt, lookahead=LOOKAHEAD, **request),
    "SSD": ssd_ref.ssd(
        pair.target, pair.draft, prompt, lookahead=LOOKAHEAD, fan_out=FAN_OUT, **request
    ),
}
print("the prompt ends with", repr(pair.tokenizer.decode(prompt[-40:])))


# %%
def authors(run):
    """For each token: written by the target, or accepted from the draft, prepared ahead or not."""
    roles = []
    for record in run.rounds:
        ahead = "hit" if record.served_by == "cache" else "accepted"
        own = "target" if record.served_by == "target" else "bonus"
        roles += [ahead] * record.accepted + [own] * (record.bonus is not None)
    return roles


figure, axes = plt.subplots(3, 1, figsize=(9.5, 2.6))
for ax, (title, run) in zip(axes, runs.items(), strict=True):
    style.painted_text(ax, zip(run.tokens, authors(run), strict=True))
    ax.set_title(f"{title}: {len(run.rounds)} forwards of the target", loc="left")
style.legend(
    axes[2],
    {"target": "the target's own", "accepted": "guess, accepted",
     "hit": "guess prepared ahead, accepted", "bonus": "bonus of the target"},
    hatched=False, loc="upper left", bbox_to_anchor=(0, 0), ncols=4,
)  # fmt: skip
plt.show()
assert len(runs["SD"].rounds) == len(runs["SSD"].rounds) < len(runs["AR"].rounds)

# %% [markdown]
# *Figure: one text three times, byte by byte. AR: all on blue, one forward of the target for each byte. SD: runs
# of accepted guesses on light blue, each ended by a bonus byte on purple, in bold and underlined. SSD: the
# same, but most guesses are on green: they lay ready when they were needed.*
#
# Read it in three steps:
#
# - **AR** asks the large model for every single byte.
# - **SD** asks it once a *round*: it accepts some guesses of the draft, and adds one byte of its own. The
#   target waits while the draft guesses.
# - **SSD** has the same rounds. But while the target checks, the draft guesses *what the check will say*, and
#   prepares the next guesses for several answers. Where one of them was right, nobody waits.
#
# ### Predict before you run
# At temperature 0, do the three texts differ? And how often does the target wait for the draft in AR?
#
# <details><summary>Answer</summary>
#
# They are the same: a guess is accepted only where it is what the target would have said. In AR it never
# waits, since there is no draft; it is slow all the same.
#
# </details>

# %%
same = all(run.tokens == runs["AR"].tokens for run in runs.values())
print("the same text three times:", same)
for title, run in runs.items():
    waits = sum(r.served_by not in ("target", "cache") for r in run.rounds)
    print(f"{title:3}: {len(run.tokens)} tokens, {len(run.rounds):3} forwards of the target, "
          f"which waited for the draft {waits} times")  # fmt: skip

# %% [markdown]
# (In single precision two logits that are nearly equal may change places between a block and single steps.
# Then two of the texts would part at that place; lesson 03 is about what "the same" means.)
#
# ## 2. The map of the course
#
# | lesson | question | you build | task |
# |---|---|---|---|
# | 01 autoregressive | Why is one token at a time slow? | laws, attention, a KV cache | 1 |
# | 02 speculative decoding | How can a guess be exact? | accept, residual, bonus; the loop | 2, 3 |
# | 03 testing exactness | How do we know? | an enumerator of every path | 8 |
# | 04 time lines | Where do the milliseconds go? | a simulation in ten lines | 7 |
# | 05 SSD | Why wait for the verdict? | guesses, cache, hit and miss | 4, 5 |
# | 06 outcome prediction | Which outcomes to prepare? | the best fan-out | 6, 9 |
# | 07 Saguaro sampling | Can the draft make itself predictable? | a law that invites hits | 5 |
# | 08 batches and fallback | What if one miss stalls everyone? | the critical batch | |
# | 09 for real | Does it overlap? | two processes on a clock | |
# | 10 cost | Fast per second - but per FLOP? | the bill | |
# | 11 figures of the paper | Do we see what the paper saw? | | |
#
# The tasks are those of the assignments. 01 to 03 come first; 04 and 05 need them; 06 to 10 can be read in
# any order after 05. [README.md](README.md) has the time that each takes, as an estimate.
#
# Every lesson goes the same way: a question, an equation, a few lines of code, a picture, what was learned.
# You build the core of 01, 02 and 05 yourself, for three tokens, meet a bug in it, and only then open the
# package. Answers and solutions are folded.
#
# ## 3. The map of the code
#
# One round, and which file of `ssd_ref/` does what in it:
#
# | step of a round | file |
# |---|---|
# | a context becomes rows of logits | `models.py` (tables), `gpt.py` (a transformer) |
# | logits become the law that is drawn from | `laws.py` |
# | a draw, at a named site | `randomness.py` |
# | the draft guesses; the guess travels with its laws | `speculative.py`, `rounds.py` |
# | the target accepts, corrects, adds a bonus | `verification.py` |
# | outcomes are guessed, the next guesses prepared | `fan_out.py`, `ssd.py` |
# | the text grows and ends | `transcript.py` |
# | what is the law of all this? | `exact_law.py`, `testing/` |
# | and the clock? | the package `sim/`, beside it |
#
# The first eight rows are the core: some thousand lines, and the order to read them in is in
# [ssd_ref/README.md](../ssd_ref/README.md).
#
# ## 4. Am I ready? A self-test
#
# Four questions. `check` says at once whether an answer is right; if not, it tells what it looks like, and
# where to read. Write your answer in place of `None`, or of `...`; the solutions are folded.
#
# ### L00.1 (easy, 5 min) · Conditional probability
# Of 100 days 30 were rainy; on 27 of these the street was wet. It was wet on 9 of the dry days, too. You see a
# wet street: what is the probability that it has rained?
#
# <details><summary>Hint</summary>
#
# Look only at the days on which the street was wet. How many are there, and how many of them were rainy?
#
# </details>

# %%
probability = None
check("L00.1", probability)

# %% jupyter={"source_hidden": true} tags=["solution"]
# Solution of L00.1

probability = 27 / (27 + 9)  # P(rain and wet) / P(wet)
assert check("L00.1", probability)

# %% [markdown]
# ### L00.2 (medium, 10 min) · Drawing from a law
# `u` is a number drawn evenly from [0, 1). Write `my_invert(p, u)`, which turns it into an index drawn from the
# law `p`: pile the probabilities up, and find the interval in which `u` lies. An index of probability 0
# must never come out, not even for `u = 0`.
#
# <details><summary>Hint</summary>
#
# The first index whose running sum is *larger* than `u`.
#
# </details>


# %%
def my_invert(p, u): ...


check("L00.2", my_invert)

# %% jupyter={"source_hidden": true} tags=["solution"]
# Solution of L00.2


def my_invert(p, u):
    total = 0.0
    for index, probability in enumerate(p):
        total += probability
        if u < total:
            return index
    return max(i for i, probability in enumerate(p) if probability > 0)  # the sum was rounded


assert check("L00.2", my_invert)

# %% [markdown]
# ### L00.3 (easy, 5 min) · Generators
# Lesson 04 writes simulations with them. What is in `log` at the end? Decide before you run it.
#
# ```python
# def worker(log):
#     log.append(1)
#     yield
#     log.append(2)
#     yield
#
# log = []
# process = worker(log)
# log.append(0)
# next(process)
# log.append(10)
# next(process)
# ```
#
# <details><summary>Hint</summary>
#
# A generator function does nothing when it is called; `next` runs it up to its next `yield`.
#
# </details>

# %%
log = None
check("L00.3", log)

# %% jupyter={"source_hidden": true} tags=["solution"]
# Solution of L00.3


def worker(log):
    log.append(1)
    yield
    log.append(2)
    yield


log = []
process = worker(log)  # nothing runs yet
log.append(0)
next(process)  # up to the first yield
log.append(10)
next(process)
assert check("L00.3", log)

# %% [markdown]
# ### L00.4 (easy, 5 min) · Shapes
# Queries `q` have the shape (2, 4, 5, 3): batch, heads, tokens, width. Keys `k` have (2, 4, 7, 3). What is the
# shape of the scores `q @ k.transpose(-1, -2)`, in which each query meets each key?
#
# <details><summary>Hint</summary>
#
# `@` multiplies the last two axes as matrices; the axes before them stay.
#
# </details>

# %%
shape = None
check("L00.4", shape)

# %% jupyter={"source_hidden": true} tags=["solution"]
# Solution of L00.4

shape = (torch.zeros(2, 4, 5, 3) @ torch.zeros(2, 4, 7, 3).transpose(-1, -2)).shape
assert check("L00.4", tuple(shape))

# %% [markdown]
# Three or four right? Go on. Fewer? An afternoon with the pages that `check` named will do.
#
# ## 5. Letters
#
# Letters collide in this field: T is a temperature, a latency or a round; p a law or a hit rate. This is how the
# course writes them; each lesson repeats what it uses.
#
# | in formulas | in code | meaning |
# |---|---|---|
# | $p$, $q$ | rows | the target's and the draft's law of the next token, *as they are drawn from* |
# | - | `temperature` | always a word; top-k and top-p likewise: they are part of $p$ and $q$ |
# | $V$ | `vocabulary` | number of tokens |
# | $K$ | `lookahead` | tokens that the draft guesses in a round |
# | $d_1, \dots, d_K$ | `speculation.tokens` | the guessed (drafted) tokens |
# | $(k, t^*)$ | `Outcome(accepted, bonus)` | verification outcome: $k$ drafts accepted, then the bonus token |
# | $\alpha$, $a$ | | acceptance rate: chance that a drafted token passes its test |
# | $E$ | `emitted` | mean tokens of a round; $E_{hit}$, $E_{miss}$, $E_{SD}$ by who made its speculation |
# | $F_k$, $B$ | `fan_out[k]` | guesses at "k accepted"; the budget, $\sum_k F_k \le B$ |
# | $h$ | | hit rate (the paper: $p_{hit}$) |
# | $r$, $c$ | | exponent and prefactor of the law of misses, $1-h(F) = c F^{-r}$ |
# | $C$ | `saguaro_c` | weight of the guessed tokens in the draft's law |
# | $T_p$, $T_b$, $T_{SD}$ | | time to fill the cache, of the backup, of SD's drafting; unit: one verification |
# | $b$, $b^*$ | | batch size; the critical batch size |
#
# ## 6. Check yourself
#
# **1.** In the picture of section 1, why does SD need fewer forwards of the target than AR?
#
# <details><summary>Answer</summary>
#
# One forward checks several guesses at once; each round writes the accepted ones and one more.
#
# </details>
#
# **2.** SD and SSD needed equally many forwards of the target. What is it then that SSD saves?
#
# <details><summary>Answer</summary>
#
# Waiting. In SD the target idles while the draft guesses; in SSD the guesses lie ready, if the outcome was
# foreseen.
#
# </details>
#
# **3.** Why is "the same text at temperature 0" not yet a proof that the decoders have the same law?
#
# <details><summary>Answer</summary>
#
# At temperature 0 only the likeliest token counts. A law can be wrong everywhere else. Lessons 02 and 03 compare
# whole laws.
#
# </details>
#
# ## What comes next
#
# Lesson 01 builds the yardstick, AR, from a table with three tokens to a transformer with a cache, and finds out
# why it is slow.
