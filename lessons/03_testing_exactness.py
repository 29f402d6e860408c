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
# # 03 · How do we know?
#
# Lesson 02 proved a formula. But nobody runs a formula: a decoder is code, with caches, cuts and
# off-by-ones, and a decoder that is wrong by 2 % writes text that reads perfectly well. So: how do
# we *know* that the code emits the target's law? In this lesson we compute the law of the code
# itself, to the last digit; then we break the code in many ways and look at which test notices.
#
# **You will learn** to enumerate a decoder by hand and by machine; to say when draws may be left
# out of the tree, and what happens if they may not; to let Hypothesis search for the smallest
# counter-example; to compute what a sampling test can and cannot see; to diagnose a wrong law.
#
# **Time** about 120 minutes (an estimate). **You need** lesson 02: accept, residual, bonus, and
# that every random decision is `randomness.choose(law, site)`.
#
# **Task** 8 (write the tests) of the assignments is about this lesson; the headings say where.
#
# Three voices, as before: **The paper says** (a publication, named), **We derive** (a cell beside
# it checks it), **Open** (not known, or not measured).
#
# | symbol | meaning |
# |---|---|
# | $p$, $q$ | the target's and the draft's law of the next token, as they are drawn from |
# | $V$, $K$, $N$ | size of the vocabulary; lookahead; number of new tokens |
# | $d_1, \dots, d_K$ | the drafted tokens of a round |
# | $(k, t^*)$ | outcome of a verification: $k$ drafts accepted, then the bonus token $t^*$ |
# | TV | total variation of two laws, $\frac12\sum_x \lvert a(x)-b(x) \rvert$ |
# | $n$ | number of sampled texts |
#
# ## 1. Three things that people call "lossless"
#
# 1. **The law of the algorithm.** The text is a random variable; its law *is* the target's. This
#    is a statement about probabilities, and at temperature > 0 the only one that means something.
# 2. **Equal up to the arithmetic of the kernels.** A block of $K+1$ tokens through a network gives
#    rows that differ in their last bits from $K+1$ single steps. The algorithm is exact *for the
#    rows it was given*.
# 3. **Equal tokens at temperature 0.** Both decoders write the same text. Easy to test, hence what
#    most projects test.
#
# Each is worth having; none implies the next. The second in numbers, on a small random GPT:

# %%
import math
import time
from contextlib import ExitStack
from dataclasses import replace
from statistics import NormalDist
from typing import NamedTuple
from unittest.mock import patch

import matplotlib.pyplot as plt
import numpy as np
import style
import torch
from hypothesis import HealthCheck, Phase, given, settings

import ssd_ref
from ssd_ref import (
    Outcome,
    ScriptedRandomness,
    SeededRandomness,
    Site,
    TableModel,
    exact_law,
    verification,
)
from ssd_ref import randomness as randomness_module
from ssd_ref.exact_law import ReplayError, TooManyLeaves
from ssd_ref.gpt import GPTConfig, TinyGPT
from ssd_ref.laws import Law
from ssd_ref.ssd import Speculator
from ssd_ref.testing import check, compare_laws, target_law
from ssd_ref.testing.strategies import cases, most_leaves
from ssd_ref.transcript import Limits
from ssd_ref.verification import acceptance, verify

style.use()
torch.set_num_threads(1)


def block_against_steps(dtype):
    """Largest difference between the rows of one block of 8 tokens and of 8 single steps."""
    torch.manual_seed(0)
    gpt = TinyGPT(GPTConfig(5, 24, layers=2, heads=2, width=16)).to(dtype).eval()
    tokens = [0, 1, 2, 3, 4, 3, 2, 1]
    steps = gpt.start([])
    single = np.concatenate([steps.extend([token]) for token in tokens])
    return np.abs(gpt.start([]).extend(tokens) - single).max()


gaps = {name: block_against_steps(getattr(torch, name)) for name in ("float32", "float64")}
print("block against steps:", {name: f"{gap:.0e}" for name, gap in gaps.items()})
assert gaps["float32"] < 1e-5 and gaps["float64"] < 1e-13

# %% [markdown]
# Harmless, unless two tokens are nearly tied. This lesson is about the first meaning. We take the
# arithmetic out of the way - models are small tables in float64 - and keep the *decoders* real: the
# code that is tested here is the code of the package.
#
# ## 2. By hand
#
# Two tokens, $K=1$, $N=1$, after the prompt 0. The tables (rows: the last token):

# %%
P = np.array([[0.2, 0.8], [0.6, 0.4]])  # target: P[last] is the law of the next token
Q = np.array([[0.8, 0.2], [0.2, 0.8]])  # draft: nearly the opposite
target, draft = TableModel(P), TableModel(Q)

# %% [markdown]
# After 0 we have $p = (.2, .8)$ and $q = (.8, .2)$. Follow one round with a pencil:
#
# - the draft says 0 (.8); kept with $.2/.8 = .25$. If kept: text **0**, and the bonus is drawn from
#   `P[0]` - 0 (.2) or 1 (.8) - though it will be cut off, since one token was asked for. If not
#   kept (.75): the residual $(p-q)_+ = (0, .6)$ has one token only: text **1**;
# - the draft says 1 (.2); $p > q$, so it is always kept: text **1**, then a bonus from `P[1]`.
#
# | draft | test | bonus | text | probability |
# |---|---|---|---|---|
# | 0 (.8) | kept (.25) | 0 (.2) | 0 | .8 · .25 · .2 = .04 |
# | 0 (.8) | kept (.25) | 1 (.8) | 0 | .8 · .25 · .8 = .16 |
# | 0 (.8) | rejected (.75) | 1 (1) | 1 | .8 · .75 = .60 |
# | 1 (.2) | kept (1) | 0 (.6) | 1 | .2 · .6 = .12 |
# | 1 (.2) | kept (1) | 1 (.4) | 1 | .2 · .4 = .08 |
#
# Five leaves. Text 0 has .04 + .16 = .2, text 1 has .8: the target's row. That was a test - of
# the algorithm, with you as the computer. Now let the computer be the computer.
#
# ## 3. Build an enumerator
#
# Run the decoder with a randomness that *replays* given choices and then always takes the first
# possible one. Afterwards we know every decision that the run met, and the law of each; every
# choice not taken there is a run still to be made.


# %%
class Step(NamedTuple):
    """One decision of a run: where, from which law, and what was chosen."""

    site: Site
    law: tuple[float, ...]
    choice: int


class Leaf(NamedTuple):
    path: list[Step]
    text: tuple[int, ...]
    weight: float
    unused: int  # draws of the run that never entered the tree (section 4)


class MyReplay:
    """Takes the forced choices, elsewhere the first possible one, and keeps the path."""

    sequence = 0

    def __init__(self, forced, lazy):
        self.forced, self.lazy = forced, lazy
        self.path, self.waiting = [], {}

    def choose(self, law, site):
        law = tuple(float(x) for x in law)
        first = next(x for x, probability in enumerate(law) if probability > 0)
        step = Step(site, law, self.forced.get(site, first))
        if self.lazy and site.role == "draft":
            self.waiting[site] = step  # drawn, but not yet in the tree
        else:
            self.path.append(step)
        return step.choice

    def choose_rows(self, rows, sites):
        return [self.choose(row, site) for row, site in zip(rows, sites, strict=True)]

    def commit(self, site):
        if self.lazy:
            self.path.append(self.waiting.pop(site))


def my_leaves(decode, lazy=True):
    """Every leaf of the decision tree of `decode(randomness) -> tokens`."""
    leaves, todo = [], [[]]
    while todo:
        forced = todo.pop()
        replay = MyReplay({step.site: step.choice for step in forced}, lazy)
        text, path = tuple(decode(replay)), replay.path
        weight = math.prod(step.law[step.choice] for step in path)
        leaves.append(Leaf(path, text, weight, len(replay.waiting)))
        for i in range(len(forced), len(path)):
            for x, probability in enumerate(path[i].law):
                if probability > 0 and x != path[i].choice:
                    todo.append([*path[:i], path[i]._replace(choice=x)])
    return sorted(leaves, key=lambda leaf: [step.choice for step in leaf.path])


def my_law(leaves):
    law = {}
    for leaf in leaves:
        law[leaf.text] = law.get(leaf.text, 0.0) + leaf.weight
    return law


def sd_of(n, lookahead=1, models=(target, draft)):
    """A decoder to enumerate: the package's SD, all but the randomness filled in."""
    keywords = {"max_new_tokens": n, "lookahead": lookahead}
    return lambda r: ssd_ref.speculative(*models, [0], randomness=r, **keywords).tokens


by_hand = [((0,), 0.04), ((0,), 0.16), ((1,), 0.60), ((1,), 0.12), ((1,), 0.08)]
five = my_leaves(sd_of(1))
for leaf, (text, weight) in zip(five, by_hand, strict=True):
    assert leaf.text == text and np.isclose(leaf.weight, weight)
print("by machine:", {text: round(weight, 12) for text, weight in my_law(five).items()})

# %% [markdown]
# Line by line the table from above. Here is the tree, drawn from the paths that were kept:

# %%
ROLES = {"draft": ("draft", "d"), "accept": ("accepted", "?"), "bonus": ("bonus", "t*")}
NAMES = {"accept": ("keep", "reject")}


def label(step):
    choice = NAMES.get(step.site.role, "01")[step.choice]
    return f"{choice} ({step.law[step.choice]:.3g})"


def draw_subtree(ax, leaves, depth, last):
    """Draw the subtree of `leaves`, which agree on `depth` decisions; its height in the figure."""
    if depth == len(leaves[0].path):
        (leaf,), y = leaves, next(last)
        ax.text(depth + 0.1, y, f"{' '.join(map(str, leaf.text))}", va="center", weight="bold")
        ax.text(depth + 0.5, y, f"{leaf.weight:.4g}", va="center")
        if leaf.unused:
            ax.text(depth + 1.1, y, "○ " * leaf.unused, va="center", color=style.COLOURS["miss"])
        return y
    step = leaves[0].path[depth]
    groups = {}
    for leaf in leaves:
        groups.setdefault(leaf.path[depth].choice, []).append(leaf)
    heights = {x: draw_subtree(ax, group, depth + 1, last) for x, group in groups.items()}
    y = sum(heights.values()) / len(heights)
    for x, below in heights.items():
        ax.plot([depth, depth + 0.3, depth + 1], [y, below, below], color="black", lw=0.8, zorder=0)
        ax.text(depth + 0.31, below - 0.08, label(step._replace(choice=x)), fontsize=7.5)
    role, letter = ROLES[step.site.role]
    ax.plot(depth, y, "o", markersize=15, color=style.COLOURS[role], markeredgecolor="black")
    ax.text(depth, y, letter, ha="center", va="center", fontsize=9)
    return y


def draw_tree(leaves, title):
    steps = max(len(leaf.path) for leaf in leaves)
    unused = any(leaf.unused for leaf in leaves)
    _, ax = plt.subplots(figsize=(9.5, 0.42 * len(leaves) + 0.9))
    draw_subtree(ax, leaves, 0, iter(range(len(leaves))))
    ax.set(xlim=(-0.3, steps + 1 + 0.4 * unused), ylim=(len(leaves) - 0.4, -0.8), title=title)
    ax.axis("off")
    roles = {"draft": "d: a drafted token", "accepted": "?: its test", "bonus": "t*: the bonus"}
    style.legend(ax, roles, hatched=False, loc="upper center", bbox_to_anchor=(0.5, 0), ncols=3)
    plt.show()


draw_tree(five, "SD, V = 2, K = 1, N = 1: text and probability of each leaf")

# %% [markdown]
# *Figure: a tree that opens to the right. First the drafted token, then its test, then the bonus;
# at the five leaves the texts 0, 0, 1, 1, 1 with probabilities .04, .16, .6, .12, .08.*
#
# Your enumerator has about thirty lines. The package's is `exact_law`; it does the same and checks
# more. Equal, number for number:

# %%
seen = []
law = exact_law(sd_of(1), progress=seen.append)
assert law == my_law(five) and seen[-1] == len(five) == 5
print("exact_law:", {text: round(weight, 12) for text, weight in sorted(law.items())})

# %% [markdown]
# ## 4. Draws that do not matter
#
# Now $N=2$, and SSD: while the target verifies, the draft prepares speculations for outcomes that
# it guesses (lesson 05 is about it; here it is only a decoder that *draws much more than it uses*).
#
# ### Predict before you run
# For $N=2$ the SD tree has 9 leaves: 4 that accept (and are done), and 5 below the rejection. SSD
# also drafts a token for each prepared outcome, in each round that goes on. How many leaves has the
# SSD tree: 9, 13, or 18?
#
# <details><summary>Answer</summary>
#
# 9, the same tree. A drafted token enters the tree when the verifier *tests* it, not when it
# is drawn. Prepared tokens that nobody tests never branch. (Branching at each draw there are 13.)
#
# </details>


# %%
def ssd_of(n, lookahead=1, fan_out=(1, 2), models=(target, draft), **more):
    keywords = {"max_new_tokens": n, "lookahead": lookahead, "fan_out": fan_out, **more}
    return lambda r: ssd_ref.ssd(*models, [0], randomness=r, **keywords).tokens


lazy, eager = my_leaves(ssd_of(2)), my_leaves(ssd_of(2), lazy=False)
print(f"SD {len(my_leaves(sd_of(2)))} leaves, SSD {len(lazy)}, branching at each draw {len(eager)}")
assert len(my_leaves(sd_of(2))) == len(lazy) == 9 and len(eager) == 13
expected = {(a, b): P[0, a] * P[a, b] for a in (0, 1) for b in (0, 1)}
for leaves in (lazy, eager):
    assert compare_laws(my_law(leaves), expected).equal
draw_tree(lazy, "SSD, V = 2, K = 1, N = 2;  ○ = a draw that this run made and nobody tested")

# %% [markdown]
# *Figure: the tree of two rounds. Below the rejected 0 a second round begins with the prepared
# token; a ring at a leaf marks each draw that was made in that run and never tested.*
#
# The rule has a name, **lazy commitment**: the verifier calls `randomness.commit(site)` just before
# it tests a token, and only then does the draw count as a decision. How much does it save?

# %%
BOUND = 2000
print("  V,K,N   leaves at most   SD    SSD   SSD branching at each draw")
generator = np.random.default_rng(3)


def count(decode, **keywords):
    """Leaves of the tree, or a note that there are more than BOUND."""
    seen = []
    try:
        exact_law(decode, max_leaves=BOUND, progress=seen.append, **keywords)
    except TooManyLeaves:
        return f"> {BOUND}"
    return str(len(seen))


def random_pair(V, order=2, generator=generator):
    """Target and draft with full support: the law of the next token given the last `order`."""
    shape = (V,) * order
    return [TableModel(generator.dirichlet(np.ones(V), size=shape)) for _ in range(2)]


for V, K, N in [(2, 1, 1), (2, 1, 2), (2, 1, 3), (2, 2, 2), (2, 2, 3), (3, 1, 2), (3, 2, 3)]:
    pair = random_pair(V)
    ones = [1] * (K + 1)
    trees = [sd_of(N, K, pair), ssd_of(N, K, ones, pair)]
    counts = [count(tree) for tree in trees] + [count(trees[1], marginalise=False)]
    print(f"  {V},{K},{N} {most_leaves(V, K, N):14d} {counts[0]:>7} {counts[1]:>6} {counts[2]:>10}")
    assert int(counts[0]) <= most_leaves(V, K, N) and int(counts[1]) <= most_leaves(V, K, N)
largest = [most_leaves(4, 3, N) for N in range(1, 6)]
print("  V=4, K=3, N=1..5, at most:", largest)
assert largest == [20, 160, 1280, 9216, 72704]

# %% [markdown]
# That is why exact tests of speculative decoders are possible at all: small sizes have hundreds of
# leaves, not millions, and a leaf takes a fraction of a millisecond.
#
# ## 5. Why draws may be left out - and when not
#
# > **We derive.** Let $x$ be the committed choices of a run and $y$ the others. If neither the text
# > nor the law of any committed choice depends on $y$, then
# > $P(\text{text}) = \sum_{x \to \text{text}} w(x) \sum_y w(y \mid x)
# > = \sum_{x \to \text{text}} w(x) \cdot 1$.
#
# For SSD that premise is one of the five conditions of exactness: whether a round is a hit or a
# miss may depend on the *outcome* and on the *set of guesses*, never on what a prepared speculation
# says (condition A3; lesson 05 has all five). Suppose somebody breaks it:


# %%
plain_answer = Speculator.answer


def answer_peeking(self, outcome):
    """ "An unlikely token? It would be rejected anyway. Rather draw a fresh one." """
    entry = self.cache.get(outcome)
    if entry and entry.tokens and entry.rows[0][entry.tokens[0]] < 0.5:
        del self.cache[outcome]
    return plain_answer(self, outcome)


with patch.object(Speculator, "answer", answer_peeking):
    try:
        exact_law(ssd_of(2))
        message = ""
    except ReplayError as error:
        message = str(error)
    peeking = exact_law(ssd_of(2), marginalise=False)
print(message)
print(compare_laws(peeking, expected))
assert "branch" in message and "was a decision of this path" in message
assert round(compare_laws(peeking, expected).total_variation, 4) == 0.048

# %% [markdown]
# The law *is* wrong. But note who said so first: the enumerator, before any law was compared. It
# followed a path on which one site had been decided, and that site did not come again - because the
# decoder had looked at a draw that was not yet part of the path. The message names both sites.
# `marginalise=False` branches at every draw; it is slower, and needs no premise.
#
# How does `exact_law` notice such things? It does not trust the premise; it tests it, three ways:
#
# - a forced decision must be met again, with the same law;
# - each leaf with open draws is run twice: open draws take their first possible token, then their
#   last, and the text must be the same;
# - no run may draw at one site twice, or commit two draws at one address (section 9).
#
# **Is that enough?** Not quite. Two defaults out of $V$ are a sample. With $V=3$ a decoder may react
# to the middle token only:

# %%
plain_verify = verify


def verify_with_a_superstition(target, speculation, randomness, round):
    """After a rejection, let the text go on with 0 if the next draft - untested - was a 1."""
    outcome = plain_verify(target, speculation, randomness, round)
    if outcome.accepted == 0 and speculation.tokens[1:] == (1,):
        return Outcome(0, 0)
    return outcome


three = [TableModel(generator.dirichlet(np.ones(3), size=3)) for _ in range(2)]
truth = target_law(three[0], [0], max_new_tokens=2)
with patch.object(verification, "verify", verify_with_a_superstition):
    fast = compare_laws(exact_law(sd_of(2, 2, three)), truth)
    slow = compare_laws(exact_law(sd_of(2, 2, three), marginalise=False), truth)
print("with lazy commitment:  ", fast)
print("branching at each draw:", str(slow).splitlines()[0])
assert fast.equal and not slow.equal

# %% [markdown]
# So: small cases in both modes, large ones lazily. This decoder is plainly wrong, lazy enumeration
# calls it equal, and the slow mode finds it. Know the limits of your instrument.
#
# **What we learned.** A law can be computed from the code; draws that nobody tests cost nothing; and
# that they do not matter is itself a statement to be tested.
#
# ## 6. The other side of the comparison
#
# A law is right or wrong *against something*. `target_law` multiplies the target's rows out, token
# by token, in plain Python. It shares no code with the decoders, and that is its point. Suppose the
# function that all decoders use to truncate has a bug:

# %%
plain_rows = Law.rows


def rows_with_one_token_too_many(self, logits):
    return plain_rows(self if self.top_k is None else replace(self, top_k=self.top_k + 1), logits)


top2 = {"max_new_tokens": 2, "top_k": 2}
with patch.object(Law, "rows", rows_with_one_token_too_many):
    law_sd = exact_law(
        lambda r: ssd_ref.speculative(*three, [0], lookahead=1, randomness=r, **top2).tokens
    )
    law_ar = exact_law(lambda r: ssd_ref.autoregressive(three[0], [0], randomness=r, **top2).tokens)
print("SD against AR:        ", compare_laws(law_sd, law_ar))
print("SD against the oracle:", compare_laws(law_sd, target_law(three[0], [0], **top2)))
assert compare_laws(law_sd, law_ar).equal
assert not compare_laws(law_sd, target_law(three[0], [0], **top2)).equal

# %% [markdown]
# "SD agrees with AR" is the test that one finds in the wild. Both were wrong alike, and it passed.
#
# Read what `compare_laws` says. *Total variation* is the size of the damage. *First departure* is
# the place to start looking: the shortest text after which the next token has a wrong law. A fault
# at position 1 sits in the test or the repair; at position 2, in the bonus or in what a round leaves
# behind; later, in something that accumulates.
#
# ## 7. Which tables? Let a machine search (task 8)
#
# The pair `P`, `Q` was chosen by hand, and a bug may be invisible on it. **Hypothesis** draws
# inputs, runs a property on each, and when one fails *shrinks* it to the smallest failure it can
# find. `ssd_ref.testing.strategies.cases` draws what a decoder can be asked: tables that look back
# 0, 1 or 2 tokens, with zeros and ties; $V$, $K$, $N$; temperatures, truncation, end token,
# fan-outs, the backup. Sizes are drawn together, so that no tree exceeds `most` leaves.

# %%
searching = settings(
    max_examples=80, derandomize=True, database=None, deadline=None, report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck), phases=[Phase.generate, Phase.shrink],
)  # fmt: skip
tried = []


@searching
@given(cases(plain=True, most=60))
def law_is_the_targets(case):
    tried.append(case)
    law = exact_law(
        lambda r: (
            ssd_ref.ssd(case.target, case.draft, case.prompt, randomness=r, **case.ssd()).tokens
        )
    )
    comparison = compare_laws(law, target_law(case.target, case.prompt, **case.ar()))
    assert comparison.equal, comparison


law_is_the_targets()
print(f"{len(tried)} cases, {len({case.size for case in tried})} sizes (V, K, N): no failure")

# %% [markdown]
# Ten lines, and they say what "exact" means. Now plant a bug: after $K$ accepted tokens the bonus is
# drawn from the target's row *before* the last of them - an off-by-one.


# %%
def verify_bonus_from_the_row_before(target, speculation, randomness, round):
    last = max(len(speculation) - 1, 0)
    return plain_verify(lambda i: target(min(i, last)), speculation, randomness, round)


tried.clear()
# A wrong decoder may emit a token of probability 0, whose log-probability is -inf: no warning.
with (
    np.errstate(divide="ignore"),
    patch.object(verification, "verify", verify_bonus_from_the_row_before),
):
    try:
        law_is_the_targets()
        found = ""
    except AssertionError as error:
        found = str(error)
smallest = tried[-1]  # Hypothesis ends with the smallest failure
print(smallest, "\n")
print(found)
V, K, N = smallest.size
assert K >= 1 and N >= 2 and smallest.target.order >= 1 and "first departure" in found

# %% [markdown]
# A case to check with a pencil: a few tokens, rows of simple fractions, and nothing that is not
# needed. What *is* needed can be read off it: $K \ge 1$ and $N \ge 2$ (else there is no bonus behind a
# draft, or it is cut off), and a target that looks back at least one token - if all its rows are
# equal, the wrong row is the right one.
#
# ## 8. What sampling cannot see
#
# Why not just generate many texts and count? Because the size of the test is set by the size of the
# fault. Take a fault that was reported from a real project: the draft is drawn in half precision,
# the ratio computed in single. Logits 20.08 and 20 both round to 20: drawn from (.5, .5), tested as
# if from (.52, .48). The target has (.52, .48), too.

# %%
half, single = np.array([0.5, 0.5]), np.array([0.52, 0.48])
plain_acceptance = acceptance


def acceptance_in_single_precision(p, q, token):
    return plain_acceptance(p, single, token)  # q is what was drawn from, (.5, .5)


rounded = sd_of(1, models=(TableModel(single), TableModel(half)))
with patch.object(verification, "acceptance", acceptance_in_single_precision):
    begin = time.process_time()
    comparison = compare_laws(exact_law(rounded), {(0,): 0.52, (1,): 0.48})
    exact_ms = 1000 * (time.process_time() - begin)
    begin = time.process_time()
    for seed in range(500):
        rounded(SeededRandomness(seed))
    sample_ms = 1000 * (time.process_time() - begin) / 500
print(comparison)
assert round(comparison.total_variation, 12) == 0.02

# %% [markdown]
# > **We derive.** Count how often an event happens in $n$ texts. It has probability $p_0$ if all is
# > well, and $p_0 + \mathrm{TV}$ if not; no event differs by more than TV, so this is the
# > *best* case: somebody told us where to look. To raise a false alarm with probability at most
# > $\varepsilon$, and to find the fault with probability at least $\pi$, one needs about
# >
# > $$n = \left(\frac{z_{1-\varepsilon/2}\sqrt{p_0(1-p_0)} + z_\pi\sqrt{p_1(1-p_1)}}
# >   {\mathrm{TV}}\right)^2, \qquad p_1 = p_0 + \mathrm{TV},$$
# >
# > with $z$ the quantiles of the normal law.
#
# The false-alarm budget must be small: a suite has hundreds of tests, runs many times a day, and
# a test that cries wolf is soon switched off. We take $\varepsilon = 10^{-6}$ and $\pi = .99$.


# %%
def samples_needed(p0, tv, alarm=1e-6, power=0.99):
    z, p1 = NormalDist().inv_cdf, p0 + tv
    spread = z(1 - alarm / 2) * math.sqrt(p0 * (1 - p0)) + z(power) * math.sqrt(p1 * (1 - p1))
    return math.ceil((spread / tv) ** 2)


def binomial(n, p):
    """The exact law (n+1,) of the number of events among n."""
    log_factorial = np.concatenate([[0.0], np.log(np.arange(1, n + 1)).cumsum()])
    k = np.arange(n + 1)
    ways = log_factorial[n] - log_factorial - log_factorial[::-1]
    return np.exp(ways + k * math.log(p) + (n - k) * math.log1p(-p))


def alarm_limits(n, p0, alarm=1e-6):
    """Counts c, d: the alarm goes off at a count <= c or >= d."""
    below = binomial(n, p0).cumsum()
    c = int((below <= alarm / 2).sum()) - 1
    above = binomial(n, p0)[::-1].cumsum()[::-1]  # P(count >= k)
    return c, int((above > alarm / 2).sum())


n_needed = samples_needed(0.48, 0.02)  # of token 1, which comes out with .5
c, d = alarm_limits(n_needed, 0.48)
reality = binomial(n_needed, 0.50)
power = reality[: c + 1].sum() + reality[d:].sum()
print(f"texts needed: {n_needed:,}; power by the exact binomial law: {power:.4f}")
print(
    f"exact: {exact_ms:.1f} ms for the law; sampled: {n_needed * sample_ms / 1000:.1f} s of texts"
)
assert round(n_needed, -2) == 32500 and abs(power - 0.99) < 0.002

# %% [markdown]
# Some 32,500 texts to see 2 %, against five leaves. And it grows with the square:

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.2), width_ratios=(1.25, 1))
for n, line in ((1000, ":"), (n_needed, "-")):
    for p0, role in ((0.48, "target"), (0.50, "miss")):
        share = np.arange(n + 1) / n
        density = binomial(n, p0) * n
        left.plot(share, density / density.max(), line, color=style.COLOURS[role], lw=1.5)
    low, high = (limit / n for limit in alarm_limits(n, 0.48))
    left.axvline(high, color="black", lw=0.8, linestyle=line)
left.set(
    xlim=(0.42, 0.57), xlabel="share of token 1 among n texts", ylabel="density (peak = 1)",
    title=f"dotted: n = 1,000; solid: n = {n_needed:,}; black: alarm", yticks=[0, 1],
)  # fmt: skip
left.legend(
    handles=[
        plt.Line2D([], [], color=style.COLOURS["target"], label="right"),
        plt.Line2D([], [], color=style.COLOURS["miss"], label="faulty"),
    ],
    loc="upper left",
)
faults = np.logspace(-3, np.log10(0.3), 50)
right.loglog(faults, [samples_needed(0.48, tv) for tv in faults], color="black")
for tv in (0.3, 0.02, 0.001):
    n = samples_needed(0.48, tv)
    right.plot(tv, n, "o", color=style.COLOURS["miss"], markeredgecolor="black")
    right.annotate(f"{tv:g}: {n:,}", (tv, n), (6, 4), textcoords="offset points", fontsize=8)
right.set(xlim=(7e-4, 3), xlabel="total variation of the fault", ylabel="texts needed")
plt.show()

# %% [markdown]
# *Figure, left: the share of token 1 that one would count, for the right and for the faulty decoder.
# With 1,000 texts (dotted) the two bells overlap, and the alarm line lies beyond both; with the
# number computed above (solid) they stand apart. Right: texts needed against the size of the fault,
# on two logarithmic axes, a line of slope -2.*
#
# That was the best case. Two more things are worse:

# %%
texts = target_law(three[0], [0], max_new_tokens=3)
weights = np.array(list(texts.values()))
counted = generator.multinomial(1000, weights / weights.sum(), size=300) / 1000
apparent = np.abs(counted - weights).sum(axis=1) / 2
print(f"a CORRECT decoder, {len(texts)} texts, n = 1,000: mean measured TV {apparent.mean():.3f}")
meet = math.ceil(math.log(0.01) / math.log1p(-1e-4))
print(f"to meet a context of probability 1e-4 even once (with .99): {meet:,} texts")
assert len(texts) == 27 and apparent.mean() > 0.04 and meet == 46050

# %% [markdown]
# - A total variation computed from counts is never near 0: even a correct decoder shows more than .04
#   here, twice the fault that we were after. Compare to what a correct decoder would show, not to 0.
# - A fault in a rare context has first to be met. To the enumerator, a rare leaf is a leaf.
#
# Sampling stays necessary where nothing can be enumerated: real models, real random sources. There,
# say what it can see: state the fault, and the probability of finding it.
#
# ## 9. A gallery of bugs
#
# Each of these was found in real code, by people who knew what they were doing. Each is a *mutant*:
# the package's own decoder with one function replaced by a wrong one. Try to say, before you read
# the diagnosis, at which position the law goes wrong first.


# %%
class Bug(NamedTuple):
    """A name, and what to replace: (owner, attribute, replacement)."""

    name: str
    edits: list[tuple[object, str, object]]

    def planted(self):
        stack = ExitStack()
        stack.enter_context(np.errstate(divide="ignore"))
        for edit in self.edits:
            stack.enter_context(patch.object(*edit))
        return stack


def diagnose(bug, decode, truth):
    """Enumerate a decoder with the bug in it, and print what is wrong."""
    with bug.planted():
        comparison = compare_laws(exact_law(decode), truth)
    print(f"{bug.name.upper()}\n{comparison}\n")
    position = comparison.departure.position if comparison.departure else None
    return round(comparison.total_variation, 4), position


def pair_of(p, q):
    return TableModel(p), TableModel(q)


fair = pair_of([0.5, 0.5], [0.8, 0.2])  # a fair coin, guessed with .8

# %% [markdown]
# **"The draft is good, skip the test."** Then the text is the draft's. **"Rejected: so ask the
# target."** You met this one in lesson 02: the favoured token comes in twice.

# %%
accept_always = Bug(
    "accept always",
    [(verification, "acceptance", lambda p, q, token: (1.0, plain_acceptance(p, q, token)[1]))],
)
residual_p = Bug(
    "residual := p",
    [(verification, "acceptance", lambda p, q, token: (plain_acceptance(p, q, token)[0], p))],
)
truth = target_law(fair[0], [0], max_new_tokens=1)
assert diagnose(accept_always, sd_of(1, models=fair), truth) == (0.3, 1)
assert diagnose(residual_p, sd_of(1, models=fair), truth) == (0.15, 1)

# %% [markdown]
# **Drawn sharp, tested flat.** The draft samples at temperature .5, and the verifier gets rows
# at temperature 1. (The rounding of section 8 is the same bug, small.)


# %%
def acceptance_at_temperature_1(p, q, token):
    flat = np.sqrt(q) / np.sqrt(q).sum()  # undoes the draft's temperature of .5
    return plain_acceptance(p, flat, token)


two_laws = Bug("two laws", [(verification, "acceptance", acceptance_at_temperature_1)])
pair = pair_of([0.4, 0.6], [0.7, 0.3])


def sharp(r):
    return ssd_ref.speculative(
        *pair, [0], max_new_tokens=1, lookahead=1, draft_temperature=0.5, randomness=r
    ).tokens


assert diagnose(two_laws, sharp, target_law(pair[0], [0], max_new_tokens=1)) == (0.0828, 1)

# %% [markdown]
# **The bonus from the row before.** Position 2, as Hypothesis said. Right below it **accepted := number
# of ones in the mask**: all tests of a block are made at once, and somebody adds the mask up, so
# that [rejected, kept] counts as one accepted token. Position 1 again - yet it takes $K=2$ to see it.


# %%
def verify_sum_of_the_mask(target, speculation, randomness, round):
    first, kept, sequence = None, 0, randomness.sequence
    for i, site in enumerate(speculation.sites):
        randomness.commit(site)
        a, residual = acceptance(target(i), speculation.rows[i], speculation.tokens[i])
        if randomness.choose((a, 1 - a), Site(sequence, round, "accept", i)) == 0:
            kept += 1
        elif first is None:
            first = residual
    row = target(kept) if first is None else first
    return Outcome(kept, randomness.choose(row, Site(sequence, round, "bonus", 0)))


row_before = Bug("bonus from row K-1", [(verification, "verify", verify_bonus_from_the_row_before)])
mask_sum = Bug("sum of the mask", [(verification, "verify", verify_sum_of_the_mask)])
memory = pair_of([[0.5, 0.5], [0.9, 0.1]], [[0.5, 0.5], [0.9, 0.1]])
truth = target_law(memory[0], [0], max_new_tokens=2)
assert diagnose(row_before, sd_of(2, models=memory), truth) == (0.2, 2)
truth = target_law(fair[0], [0], max_new_tokens=2)
assert diagnose(mask_sum, sd_of(2, 2, models=fair), truth) == (0.21, 1)
with mask_sum.planted():
    assert compare_laws(exact_law(sd_of(2, 1, models=fair)), truth).equal  # K = 1 cannot see it

# %% [markdown]
# **The end token, looked for in the wrong place.** The whole block is appended; then its *last* token is
# compared with the end token. A text ends in the middle of a block and goes on. It was reported
# from at least three large projects, as "sometimes it does not stop".


# %%
def cut_by_the_last_token(self, length, tokens):
    kept = list(tokens[: self.room(length)])
    if kept and kept[-1] == self.end_token:
        return kept, "eos"
    return kept, "length" if self.room(length + len(kept)) == 0 else None


late_end = Bug("end token at the block's end only", [(Limits, "cut", cut_by_the_last_token)])
coin = pair_of([0.5, 0.5], [0.5, 0.5])


def ending(r):
    return ssd_ref.speculative(
        *coin, [0], max_new_tokens=2, lookahead=1, eos=1, randomness=r
    ).tokens


truth = target_law(coin[0], [0], max_new_tokens=2, eos=1)
assert diagnose(late_end, ending, truth) == (0.5, 2)

# %% [markdown]
# The diagnosis is as good as a debugger: after the text (1) the next thing should be "end", always;
# got: a coin flip.
#
# **After a cache miss, any filler will do.** SSD needs *something* to verify after a miss.
#
# > **The paper says** that a fast backup may draft after a miss. Its **released code** (as we read
# > it, and as its issue tracker says) then fills the block with arbitrary tokens, keeps one if it is
# > the target's most probable token, and else draws from $p$. At temperature 0 that is right.


# %%
def verify_filler_by_argmax(target, speculation, randomness, round):
    if speculation.served_by != "backup":
        return plain_verify(target, speculation, randomness, round)
    bonus, n = Site(randomness.sequence, round, "bonus", 0), len(speculation)
    for i, site in enumerate(speculation.sites):
        randomness.commit(site)
        if speculation.tokens[i] != target(i).argmax():
            return Outcome(i, randomness.choose(target(i), bonus))
    return Outcome(n, randomness.choose(target(n), bonus))


filler = Bug("filler tested by argmax", [(verification, "verify", verify_filler_by_argmax)])
pair = pair_of([0.6, 0.4], [0.3, 0.7])
always_miss = ssd_of(2, fan_out=(0, 0), backup="uniform", models=pair)
truth = target_law(pair[0], [0], max_new_tokens=2)
assert diagnose(filler, always_miss, truth) == (0.06, 2)

# %% [markdown]
# **The wrong entry.** The cache's key is the outcome $(k, t^*)$. Forget $k$: any entry for this
# bonus token is served, though it was drafted after another text.
#
# ### Predict before you run
# In our package, the rows $q$ travel with the tokens that were drawn from them. The key forgets $k$.
# How wrong is the law of the text?
#
# <details><summary>Answer</summary>
#
# Not at all: TV 0. Lesson 02 proved that *any* $q$ is exact, as long as the tested row is the
# one drawn from, and the entry is used once. The wrong entry is only slow: more is rejected. The
# law becomes wrong when somebody "saves memory" and recomputes the rows from the real context.
#
# </details>


# %%
def answer_by_bonus_only(self, outcome):
    near = [entry for o, entry in self.cache.items() if o.bonus == outcome.bonus]
    if near:
        self.cache[outcome] = near[-1]
    return plain_answer(self, outcome)


def answer_with_recomputed_rows(self, outcome):
    speculation = answer_by_bonus_only(self, outcome)
    if speculation.served_by == "cache" and speculation.tokens:
        rows = [self.draft_row(list(speculation.tokens[:i])) for i in range(len(speculation))]
        self.speculation = replace(speculation, rows=np.array(rows))
    return self.speculation


no_k = Bug("key without k", [(Speculator, "answer", answer_by_bonus_only)])
no_k_recomputed = Bug(
    "key without k, q recomputed", [(Speculator, "answer", answer_with_recomputed_rows)]
)
two_back = [[[0.2, 0.8], [0.2, 0.8]], [[0.8, 0.2], [0.8, 0.2]]]  # looks at the last token but one
pair = pair_of([0.5, 0.5], two_back)
truth = target_law(pair[0], [0], max_new_tokens=3)
wrong_entry = ssd_of(3, fan_out=(2, 2), models=pair)
assert diagnose(no_k, wrong_entry, truth) == (0, None)
assert diagnose(no_k_recomputed, wrong_entry, truth) == (0.1125, 2)

# %% [markdown]
# Exact, and a bug nevertheless. The law is blind to what is only slow; a **counter** is not. With draft
# = target every drafted token must be accepted:


# %%
def acceptance_counted(bug=None, n=150):
    """Accepted and drafted tokens when the draft is the target, which looks back two tokens."""
    twin = random_pair(3, generator=np.random.default_rng(8))[0]
    with bug.planted() if bug else ExitStack():
        rounds = ssd_ref.ssd(
            twin, twin, [0], max_new_tokens=n, lookahead=2, fan_out=[2, 2, 2],
            randomness=SeededRandomness(1),
        ).rounds  # fmt: skip
    return sum(r.accepted for r in rounds), sum(r.drafted for r in rounds)


print("accepted, drafted:", acceptance_counted(), " without k:", acceptance_counted(no_k))
assert len(set(acceptance_counted())) == 1
accepted, drafted = acceptance_counted(no_k)
assert accepted < drafted

# %% [markdown]
# **One uniform for two decisions.** A random source gives the draft's draw and its test the same
# number $u$. To the decoder nothing has changed; it asks for two decisions at two sites.


# %%
def one_uniform_for_both(role, index):
    """Where in a round's block of uniforms a draw finds its own."""
    return 0 if role == "bonus" else 1 + index  # "draft" and "accept" alike


shared = Bug("one uniform for both", [(randomness_module, "place", one_uniform_for_both)])
pair = pair_of([0.25, 0.75], [0.5, 0.5])
truth = target_law(pair[0], [0], max_new_tokens=1)
assert diagnose(shared, sd_of(1, models=pair), truth) == (0, None)

# %% [markdown]
# Exact? The enumerator *replaces* the random source: it sees the decoder, and there is nothing wrong
# with the decoder. Enumeration is blind to the source, on principle. What catches it:

# %%
# 1. Arithmetic: different decisions of a round must have different places.
DRAWS = [(role, i) for role in ("draft", "accept") for i in range(4)] + [("bonus", 0)]
assert len({randomness_module.place(*draw) for draw in DRAWS}) == len(DRAWS)
print("distinct places with the bug:", len({one_uniform_for_both(*draw) for draw in DRAWS}), "of 9")

# 2. A script: give both decisions every u of a fine grid in turn, and count.
grid = (np.arange(1000) + 0.5) / 1000
first = [sd_of(1, models=pair)(ScriptedRandomness(lambda site, u=u: u))[0] for u in grid]
share = first.count(0) / len(grid)
print(f"token 0 comes out with {share:.2f} instead of .25")
assert share == 0.5

# 3. Sampling with the real source: TV .25 is large enough to be seen.
with shared.planted():
    seeded = [sd_of(1, models=pair)(SeededRandomness(seed))[0] for seed in range(300)]
print(f"{seeded.count(0)} zeros in 300 seeded texts; alarm from", alarm_limits(300, 0.25)[1])
assert seeded.count(0) >= alarm_limits(300, 0.25)[1] and samples_needed(0.25, 0.25) < 300

# %% [markdown]
# The decoder can make the same mistake itself, by asking at the same *site* twice. That the enumerator
# does see:


# %%
def verify_bonus_at_the_tests_site(target, speculation, randomness, round):
    """The bonus is drawn at the address of the first test."""

    class Source:
        sequence, commit = randomness.sequence, randomness.commit

        def choose(self, law, site):
            site = site._replace(role="accept") if site.role == "bonus" else site
            return randomness.choose(law, site)

    return plain_verify(target, speculation, Source(), round)


same_site = Bug(
    "bonus at the test's site", [(verification, "verify", verify_bonus_at_the_tests_site)]
)
with same_site.planted():
    try:
        exact_law(sd_of(1))
        message = ""
    except ReplayError as error:
        message = str(error)
print(message)
assert "drawn twice" in message

# %% [markdown]
# **A false alarm.** "Let the target draw its own token; keep the draft if it is the same; emit the
# target's token in any case." It was reported as biased, more than once. Is it?


# %%
def verify_by_matching(target, speculation, randomness, round):
    sequence = randomness.sequence
    for i, (token, site) in enumerate(zip(speculation.tokens, speculation.sites, strict=True)):
        randomness.commit(site)
        own = randomness.choose(target(i), Site(sequence, round, "accept", i))
        if own != token:
            return Outcome(i, own)
    n = len(speculation)
    return Outcome(n, randomness.choose(target(n), Site(sequence, round, "bonus", 0)))


matching = Bug("token matching", [(verification, "verify", verify_by_matching)])
pair = pair_of([0.6, 0.4], [0.5, 0.5])
truth = target_law(pair[0], [0], max_new_tokens=3)
assert diagnose(matching, sd_of(3, 2, models=pair), truth) == (0, None)
p, q = np.array([0.6, 0.4]), np.array([0.5, 0.5])
print(f"kept: {(p * q).sum():.1f} instead of {np.minimum(p, q).sum():.1f} of the guesses")
assert np.isclose((p * q).sum(), 0.5) and np.isclose(np.minimum(p, q).sum(), 0.9)

# %% [markdown]
# Exact: every emitted token *is* a draw of the target. It is slow (.5 of the guesses kept instead of
# .9), and that is all. A good test finds faults, and acquits the innocent.
#
# ## 10. Which test sees which bug? (task 8)
#
# Five tests that one meets in practice, and the exact law, against the bugs. Each is run now, on SSD,
# except that "the rest" stands for what enumeration cannot replace: counters and addresses.


# %%
SETTINGS = {"lookahead": 2, "fan_out": [1, 0, 1]}
pairs = {order: random_pair(2, order, np.random.default_rng(4)) for order in (0, 2)}


def laws_differ(models, n=3, temperature=1.0):
    """Whether the exact law of SSD departs from the target's, without and with an end token."""
    for eos in (None, 1):
        keywords = {"max_new_tokens": n, "temperature": temperature, "eos": eos}
        law = exact_law(
            lambda r, keywords=keywords: (
                ssd_ref.ssd(
                    *models, [0], draft_temperature=1.0, randomness=r, **keywords, **SETTINGS
                ).tokens
            ),
            marginalise=False,
        )
        if not compare_laws(law, target_law(models[0], [0], **keywords)).equal:
            return True
    return False


def differs_at_0():
    many = [random_pair(2, 2, np.random.default_rng(seed)) for seed in range(4)]
    return any(laws_differ(models, temperature=0.0) for models in many)


def thousand_texts():
    """For each text its exact binomial tail; 1e-6 for all of them together."""
    law = target_law(pairs[2][0], [0], max_new_tokens=3)
    texts = [
        tuple(
            ssd_ref.ssd(
                *pairs[2], [0], max_new_tokens=3, randomness=SeededRandomness(seed), **SETTINGS
            ).tokens
        )
        for seed in range(1000)
    ]
    if not set(texts) <= law.keys():
        return True
    limits = {text: alarm_limits(1000, p, 1e-6 / len(law)) for text, p in law.items()}
    return any(not c < texts.count(text) < d for text, (c, d) in limits.items())


def counters_and_addresses():
    distinct = len({randomness_module.place(*draw) for draw in DRAWS}) == len(DRAWS)
    return not distinct or len(set(acceptance_counted())) > 1


TESTS = {
    "same tokens at\ntemperature 0": differs_at_0,
    "draft = target": lambda: laws_differ([pairs[2][0]] * 2),
    "one token\n(N = 1)": lambda: laws_differ(pairs[2], 1),
    "tables that\nlook 0 back": lambda: laws_differ(pairs[0]),
    "1,000 texts": thousand_texts,
    "exact law,\n2 back, N = 3": lambda: laws_differ(pairs[2]),
    "the rest": counters_and_addresses,
}
healthy = Bug("(no bug)", [])
BUGS = [
    healthy, matching, accept_always, residual_p, two_laws, row_before, mask_sum, late_end, filler,
    no_k_recomputed, no_k, shared,
]  # fmt: skip
sees = {}
for bug in BUGS:
    with bug.planted():
        sees[bug.name] = [test() for test in TESTS.values()]

figure, ax = plt.subplots(figsize=(9.5, 4.6))
for y, row in enumerate(sees.values()):
    for x, found in enumerate(row):
        role = "hit" if found else "idle"
        ax.add_patch(plt.Rectangle((x, y), 0.96, 0.92, **{**style.look(role), "hatch": ""}))
        ax.text(x + 0.48, y + 0.47, "alarm" if found else "-", ha="center", va="center", fontsize=9)
ax.set(xlim=(0, len(TESTS)), ylim=(len(sees), 0))
ax.set_yticks(np.arange(len(sees)) + 0.46, sees)
ax.set_xticks(np.arange(len(TESTS)) + 0.48, TESTS, fontsize=8.5)
ax.xaxis.tick_top()
ax.tick_params(length=0)
ax.spines[:].set_visible(False)
plt.show()
for name, row in sees.items():
    print(f"{name:34} {''.join('x' if found else '-' for found in row)}")

# %% [markdown]
# *Figure: a grid, one row a bug, one column a test, "alarm" where the test notices. No test raises an
# alarm for the decoder without a bug; no column has an alarm for every bug. (The laws are run without
# and with an end token; the 1,000 texts without one.)*
#
# Read it by columns. Equal tokens at temperature 0 - the usual test - is blind to `residual := p`,
# since a one-hot row leaves nothing to get wrong. A draft equal to the target hides the test and the
# repair, as nothing is ever rejected. $N=1$ hides all that comes after the first token, and tables
# that do not look back hide every wrong row. The law, in turn, sees nothing of the random source and
# nothing of what is only slow. So: the exact law on small random tables, **and** counters, **and**
# tests of the source.

# %%
column = {test.replace("\n", " "): i for i, test in enumerate(TESTS)}
exact, rest = column["exact law, 2 back, N = 3"], column["the rest"]
law_bugs = [bug.name for bug in BUGS if bug not in (healthy, matching, no_k, shared)]
assert not any(sees[healthy.name])
assert not any(sees[matching.name][:rest])  # acquitted by every test of the text
assert all(sees[name][exact] for name in law_bugs)
assert all(sees[bug.name][rest] and not sees[bug.name][exact] for bug in (no_k, shared))
assert not sees[residual_p.name][column["same tokens at temperature 0"]]
assert not sees[row_before.name][column["one token (N = 1)"]]
assert not sees[row_before.name][column["tables that look 0 back"]]

# %% [markdown]
# **What we learned.** A test is only as good as the fault it would have found. Keep the faults, and run
# the tests against them: `python -m tests.mutants` does so with the package's own mutants.
#
# > **Open.** An enumeration is a proof for one size and one pair of tables. That small sizes suffice
# > is experience - every bug of this gallery shows at $V, K \le 2$ and $N \le 3$ - and no theorem.
#
# ## 11. Exercises
#
# Replace `...` by your version and run the cell: `check` says whether it is right, and if not, names
# the smallest case that is wrong. It has no time limit; a loop that does not end is yours to interrupt.
# The solution is in the folded cell below.
#
# ### L03.1 (easy, 10 min) · A hiding place
# `residual := p` is wrong. And yet there are $p \ne q$ with rejections for which a text of one token still
# has exactly the law $p$. Find such a pair with $V=3$, and let `exact_law` confirm it.
#
# <details><summary>Hint</summary>
#
# When is the true residual equal to $p$? Think of a draft that wastes mass where $p = 0$.
#
# </details>

# %%
hidden_p, hidden_q = None, None
check("L03.1", (hidden_p, hidden_q))

# %% jupyter={"source_hidden": true} tags=["solution"]
# Solution of L03.1

hidden_p, hidden_q = [0.5, 0.5, 0.0], [0.25, 0.25, 0.5]  # q = p/2 where p > 0: p - q is p/2, too
assert check("L03.1", (hidden_p, hidden_q))
hiding = pair_of(hidden_p, hidden_q)
with residual_p.planted():
    law = exact_law(sd_of(1, models=hiding))
assert compare_laws(law, target_law(hiding[0], [0], max_new_tokens=1)).equal
assert hidden_p != hidden_q and np.minimum(hidden_p, hidden_q).sum() < 1

# %% [markdown]
# ### L03.2 (medium, 15 min) · Your own property
# Write a property `all_accepted(case)`: if the draft *is* the target, `ssd_ref.ssd` accepts every
# drafted token. Use `case.target` twice, `case.ssd()` for the keywords, and switch off what makes the
# draft's law another one. (`check` puts correct decoders and a wrong one to your property.) Then let
# Hypothesis search with it, as in section 7, while `no_k` is planted: is it found?
#
# <details><summary>Hint</summary>
#
# `saguaro_c=1`, `backup="draft"`, `draft_temperature=None`; text longer than the cases' N.
#
# </details>


# %%
def all_accepted(case): ...


check("L03.2", all_accepted)

# %% jupyter={"source_hidden": true} tags=["solution"]
# Solution of L03.2


def all_accepted(case):
    same = {"max_new_tokens": 20, "saguaro_c": 1, "backup": "draft", "draft_temperature": None}
    rounds = ssd_ref.ssd(
        case.target, case.target, case.prompt, randomness=SeededRandomness(0),
        **{**case.ssd(), **same},
    ).rounds  # fmt: skip
    assert all(r.accepted == r.drafted for r in rounds if r.bonus is not None)


assert check("L03.2", all_accepted)
search = searching(given(cases(plain=True, most=60))(all_accepted))
search()
with no_k.planted():
    try:
        search()
        print("not found: no pair among these looks back two tokens at the right place")
    except AssertionError:
        print("found")

# %% [markdown]
# ### L03.3 (medium, 10 min) · Diagnose
# The cell below holds a decoder with a bug. Do not read it; find out from `compare_laws` at which
# position it goes wrong first, and after which text. What would you suspect? The answer is a pair.
#
# <details><summary>Hint</summary>
#
# The tables are `P` and `Q` of section 2; enumerate three tokens.
#
# </details>


# %% jupyter={"source_hidden": true}
def mystery(r):
    text = ssd_ref.autoregressive(target, [0], max_new_tokens=2, randomness=r).tokens
    return [*text, r.choose(P[text[0]], Site(0, 3, "bonus", 0))]


# %%
position, text_before = None, None
check("L03.3", (position, text_before))

# %% jupyter={"source_hidden": true} tags=["solution"]
# Solution of L03.3

verdict = compare_laws(exact_law(mystery), target_law(target, [0], max_new_tokens=3))
print(verdict)
assert check("L03.3", (verdict.departure.position, verdict.departure.prefix))
assert np.allclose(list(verdict.departure.got.values()), P[0])
# After (0, 1) the third token has the row of 0 instead of that of 1: a stale context. After (0, 0)
# and (1, 1) nothing is wrong, since there both last tokens are equal.

# %% [markdown]
# ### L03.4 (harder, 15 min) · The smallest witness
# Write `my_smallest(bug)`: the first $(V, K, N)$, in the order of `SIZES`, at which `bug` changes the
# law of SD for some of five random pairs. Predict the answer for `row_before` and `mask_sum`.
#
# <details><summary>Hint</summary>
#
# `random_pair(V, generator=...)` and `Bug.planted()`.
#
# </details>

# %%
SIZES = [(2, 1, 1), (3, 1, 1), (2, 1, 2), (2, 2, 2), (2, 1, 3), (3, 2, 2)]


def my_smallest(bug): ...


four = [accept_always, row_before, mask_sum, matching]
check("L03.4", {bug.name: my_smallest(bug) for bug in four})

# %% jupyter={"source_hidden": true} tags=["solution"]
# Solution of L03.4


def my_smallest(bug):
    for V, K, N in SIZES:
        for seed in range(5):
            models = random_pair(V, generator=np.random.default_rng(seed))
            with bug.planted():
                law = exact_law(sd_of(N, K, models))
            if not compare_laws(law, target_law(models[0], [0], max_new_tokens=N)).equal:
                return V, K, N
    return None


found = {bug.name: my_smallest(bug) for bug in four}
assert check("L03.4", found)
print(found)  # at N = 1 the bonus is cut off; a hole in the mask takes two drafts

# %% [markdown]
# ## 12. Check yourself
#
# **1.** Your decoder's law is exact for every table you try, but its hit rate has fallen to half.
# Where do you look?
#
# <details><summary>Answer</summary>
#
# At what cannot change the law: keys, guesses, the draft's context, which list applies. A counter with
# draft = target and a full fan-out narrows it down.
#
# </details>
#
# **2.** Why may a draw that nobody tests be left out of the tree, and what would make this wrong?
#
# <details><summary>Answer</summary>
#
# If neither the text nor the law of a later decision depends on it, summing over it gives a factor of 1.
# It becomes wrong when something reacts to the draw: a cache that keeps only likely entries, a
# verifier that looks ahead.
#
# </details>
#
# **3.** A colleague sampled 1,000 texts, found no significant difference, and concludes that the decoder
# is exact. What do you answer?
#
# <details><summary>Answer</summary>
#
# "Which fault would you have found, and with what probability?" With 1,000 texts a fault of 2 % goes
# unseen nearly always. Absence of an alarm says something only together with the power of the test.
#
# </details>

# %%
limits = alarm_limits(1000, 0.48)
chance = binomial(1000, 0.50)[limits[1] :].sum() + binomial(1000, 0.50)[: limits[0] + 1].sum()
print(f"chance to see a fault of .02 with 1,000 texts: {chance:.4f}")
assert chance < 0.01

# %% [markdown]
# ## What comes next
#
# Lesson 04 leaves the text and turns to the clock: where do the milliseconds of a round go? Lesson 05
# builds SSD, and uses `exact_law` as you do now: as an instrument that is always on the desk.
