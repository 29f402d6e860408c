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
# # 02 · How can a guess be exact?
#
# A large model (the *target*) writes well and slowly. A small one (the *draft*) writes fast and
# not so well. Speculative decoding lets the draft guess a few tokens, lets the target look at all
# of them in one go, and ends up with text **from exactly the target's law**. Not nearly: exactly.
# This lesson shows why, and lets you try to break it.
#
# **You will learn** to build the accept-and-repair rule, to prove it in two lines and check it
# without sampling; to predict how many tokens a round yields; to say when more guesses stop paying.
#
# **Time** about 90 minutes (an estimate). **You need** lesson 01: laws and draws, and a forward
# over $K+1$ tokens that costs little more than over one.
#
# **Tasks** 2 (one round: accept, residual, bonus) and 3 (the whole loop) of the assignments are about
# this lesson; the headings say where.
#
# Three voices speak in this course, and we keep them apart:
#
# > **The paper says** - a statement of a publication, named.
#
# > **We derive** - our own reasoning; a cell beside it checks it.
#
# > **Open** - we do not know, or did not measure.
#
# | symbol | meaning |
# |---|---|
# | $p$, $q$ | the target's and the draft's law of the next token, *as they are drawn from* |
# | temperature | always written as a word; it is already contained in $p$ and $q$ |
# | $V$ | number of tokens in the vocabulary |
# | $K$ | lookahead: how many tokens the draft guesses in a round |
# | $d_1, \dots, d_K$ | the guessed (drafted) tokens of a round |
# | $k$ | how many of them are accepted, $0 \le k \le K$ |
# | $t^*$ | the bonus token: the one that the target adds after the accepted ones |
# | $\alpha$ | acceptance rate: the probability that one drafted token passes its test |
# | $c$ | time of one draft step, in units of one target step |
#
# A round emits $d_1, \dots, d_k, t^*$: always at least one token, at most $K+1$.

# %%
import inspect
from pydoc_data.topics import topics

import matplotlib.pyplot as plt
import numpy as np
import style
import torch

import ssd_ref
from ssd_ref import SeededRandomness, Site, TableModel, exact_law
from ssd_ref.pair.corpus import HELD_OUT
from ssd_ref.testing import check
from ssd_ref.verification import acceptance, verify

style.use()

# %% [markdown]
# ## 1. One token: keep it or repair it (task 2)
#
# Take a vocabulary of three tokens, and a draft that is badly wrong about the last one.

# %%
TOKENS = ["a", "b", "c"]
p = np.array([0.5, 0.3, 0.2])  # the target
q = np.array([0.2, 0.2, 0.6])  # the draft

# %% [markdown]
# The draft draws $d \sim q$. Two cases:
#
# - $q(d) > p(d)$: the draft proposes $d$ too often. Keep it only with probability $p(d)/q(d)$.
# - $q(d) \le p(d)$: the draft proposes $d$ too rarely. Always keep it; some of it is still missing.
#
# So $d$ is kept with probability $\min(1, p(d)/q(d))$. When it is not kept, we fill up what is
# missing: a token from the **residual**, the law proportional to $(p-q)_+ = \max(p-q, 0)$.
#
# Every random decision below is `randomness.choose(law, site)`, where a `Site` is a name for the
# decision: sequence, round, role, index. Why we do not simply call a random generator becomes clear
# in section 3.


# %%
def my_residual(p, q):
    """What the draft proposes too rarely, as a law."""
    missing = np.maximum(p - q, 0)
    return missing / missing.sum()


def my_token(p, q, randomness):
    """One token of law p, by way of a guess from q."""
    d = randomness.choose(q, Site(0, 1, "draft", 0))
    a = min(1.0, p[d] / q[d])
    if randomness.choose((a, 1 - a), Site(0, 1, "accept", 0)) == 0:  # 0: keep it
        return [d]
    return [randomness.choose(my_residual(p, q), Site(0, 1, "bonus", 0))]


my_token(p, q, SeededRandomness(7))

# %% [markdown]
# ### Predict before you run
# The draft says "c" in 60 % of the cases where the target would say it in 20 %. What share of
# all guesses is kept: 20 %, 40 %, 60 % or 80 %?
#
# <details><summary>Answer</summary>
#
# 60 %. "a" and "b" are always kept (.2 + .2); "c" is kept one time in three (.2 of its .6).
# Each token is kept with probability $\min(p, q)$, and $\sum_x \min(p,q) = .6$.
#
# </details>

# %%
kept = np.minimum(p, q)
alpha = kept.sum()
assert np.isclose(alpha, 0.6)
print("kept, token by token:", kept, "  alpha =", round(alpha, 3))

# %%
figure, axes = plt.subplots(1, 4, figsize=(9.5, 2.6), sharey=True)
panels = {
    "target p": (p, "target"),
    "draft q": (q, "draft"),
    "kept: min(p, q)": (kept, "accepted"),
    "residual": (my_residual(p, q), "bonus"),
}
for ax, (title, (heights, role)) in zip(axes, panels.items(), strict=True):
    ax.bar(TOKENS, heights, width=0.7, **style.look(role))
    paper = {"facecolor": "white", "linewidth": 0, "pad": 1}
    ax.bar_label(ax.containers[0], fmt="%.2f", fontsize=8, padding=2, bbox=paper)
    ax.set_title(f"{title}  (sum {heights.sum():.1f})")
axes[2].bar(TOKENS, q - kept, bottom=kept, width=0.7, **style.look("miss"))
axes[0].set(ylabel="probability", ylim=(0, 0.85))
style.legend(axes[2], {"miss": "guessed, not kept"}, loc="upper left", bbox_to_anchor=(0, 1))
plt.show()
assert np.allclose(my_residual(p, q), [0.75, 0.25, 0]) and np.isclose(q[2] - kept[2], 0.4)

# %% [markdown]
# *Figure: bars over the tokens a, b, c. Target: .5, .3, .2. Draft: .2, .2, .6. Kept: .2, .2, .2,
# with the remaining .4 of the draft's "c" marked as not kept. Residual: .75, .25, 0 - it has no
# mass where the draft proposed too much.*
#
# ## 2. The proof, in two lines
#
# > **We derive** (the rule itself is due to Leviathan et al. 2023 and Chen et al. 2023).
# > A guess is kept with probability
# > $\alpha = \sum_x q(x)\min(1, p(x)/q(x)) = \sum_x \min(p,q)$, and
# > $\sum_x (p-q)_+ = \sum_x \big(p - \min(p,q)\big) = 1-\alpha$. Hence
# >
# > $$P(\text{emit } x) = \underbrace{\min(p,q)(x)}_{\text{guessed and kept}} +
# >   \underbrace{(1-\alpha)}_{\text{not kept}} \cdot \frac{(p-q)_+(x)}{1-\alpha}
# >   = \min(p,q)(x) + (p-q)_+(x) = p(x).$$
#
# The missing mass and the probability of a rejection are *the same number*; that is the whole
# trick. It also says what $\alpha$ is: with the total variation distance
# $\mathrm{TV}(p,q) = \frac12\sum_x|p-q| = \sum_x (p-q)_+$ we have $\alpha = 1 - \mathrm{TV}(p,q)$.
# Nothing here asks $q$ to be good. A bad draft is slow, not wrong.

# %%
generator = np.random.default_rng(2)
for _ in range(1000):
    p_, q_ = generator.dirichlet(np.ones(5), size=2)
    a_ = np.minimum(p_, q_).sum()
    assert np.isclose(a_, 1 - np.abs(p_ - q_).sum() / 2)
    assert np.allclose(np.minimum(p_, q_) + (1 - a_) * my_residual(p_, q_), p_)

figure, ax = plt.subplots(figsize=(5.2, 2.6))
ax.bar(TOKENS, kept, width=0.6, **style.look("accepted"))
ax.bar(TOKENS, (1 - alpha) * my_residual(p, q), bottom=kept, width=0.6, **style.look("bonus"))
ax.hlines(p, np.arange(3) - 0.4, np.arange(3) + 0.4, color=style.COLOURS["target"], linewidth=3)
ax.set(ylabel="probability", ylim=(0, 0.6), title="kept + repaired = p (blue line)")
style.legend(ax, {"accepted": "kept guess", "bonus": "drawn from the residual"})
plt.show()

# %% [markdown]
# *Figure: for each token the kept mass and the repaired mass stacked; each stack ends at the blue
# line of the target.*
#
# ## 3. Check it without sampling
#
# A proof is about the formula; a bug is in the code. Can we check the *code* exactly? Yes:
# `my_token` meets three decisions at most, each with a law that we are shown. So run it once for
# every path through its decisions, weigh each path by the product of its probabilities, and add up
# what comes out. `exact_law` does this: it passes in a `randomness` that replays a path and keeps
# a list of the choices not tried yet. This is why decisions go through an argument.

# %%
paths = []
law = exact_law(lambda randomness: my_token(p, q, randomness), progress=paths.append)
assert all(np.isclose(law[(x,)], p[x]) for x in range(3))
print(f"{len(paths)} paths;", {TOKENS[x]: round(prob, 6) for (x,), prob in sorted(law.items())})

# %% [markdown]
# No sample, no tolerance for luck: equal up to the last bits of a floating-point number.
#
# **Try it** with laws of your own. Zeros are allowed; only two equal laws are not (why?).

# %%
your_p, your_q = np.array([0.5, 0.0, 0.5]), np.array([0.0, 0.9, 0.1])
law = exact_law(lambda randomness: my_token(your_p, your_q, randomness))
print({TOKENS[x]: round(prob, 6) for (x,), prob in sorted(law.items())})

# %% [markdown]
# ## 4. Meet a bug
#
# A friend finds the residual odd. "We rejected the guess, so we ask the target: draw from `p`."
# It looks innocent, and the text it produces looks fine. Which tokens will come out too often?


# %%
def my_token_with_a_bug(p, q, randomness):
    d = randomness.choose(q, Site(0, 1, "draft", 0))
    a = min(1.0, p[d] / q[d])
    if randomness.choose((a, 1 - a), Site(0, 1, "accept", 0)) == 0:
        return [d]
    return [randomness.choose(p, Site(0, 1, "bonus", 0))]  # <- p instead of the residual


def my_distance(law, other):
    """Total variation of two laws over token sequences."""
    keys = law.keys() | other.keys()
    return sum(abs(law.get(key, 0) - other.get(key, 0)) for key in keys) / 2


fair, biased = np.array([0.5, 0.5]), np.array([0.8, 0.2])
wrong = exact_law(lambda randomness: my_token_with_a_bug(fair, biased, randomness))
off = my_distance(wrong, {(0,): 0.5, (1,): 0.5})
assert np.isclose(wrong[(0,)], 0.65) and np.isclose(off, 0.15)
print(f"a fair coin, drafted with .8: heads come out with {wrong[(0,)]:.3f}; TV = {off:.3f}")

# %% [markdown]
# Those that the draft favours. They were kept as often as they should be, and then some more of
# them come in by the repair: $x$ with $q(x) \ge p(x)$ comes out with $p(x) + (1-\alpha)\,p(x)$.
# On a fair coin guessed with .8, heads come out with .65 instead of .5. The other tokens pay for it
# together, though not each of them. On the three tokens from above:

# %%
wrong = exact_law(lambda randomness: my_token_with_a_bug(p, q, randomness))
figure, ax = plt.subplots(figsize=(5.6, 2.6))
places = np.arange(3)
ax.bar(places - 0.27, p, width=0.25, **style.look("target"))
ax.bar(places, [wrong[(x,)] for x in range(3)], width=0.25, **style.look("miss"))
ax.bar(places + 0.27, q, width=0.25, **style.look("draft"))
ax.set(xticks=places, xticklabels=TOKENS, ylabel="probability")
style.legend(ax, {"target": "target p", "miss": "law with the bug", "draft": "draft q"})
plt.show()
assert np.isclose(wrong[(2,)], 1.4 * p[2]) and wrong[(0,)] < p[0] and wrong[(1,)] > p[1]

# %% [markdown]
# *Figure: the three laws side by side. With the bug "c", the draft's favourite, comes out 1.4 times
# as often as it should; "a" pays for it, and "b" gains a little, too.*
#
# **What we learned.** The repair must come from exactly the mass that the test left out.
#
# ## 5. A round: several guesses, one look (task 2)
#
# A target forward over $K+1$ tokens costs about as much as over one (lesson 01), and gives the
# target's law after *every* prefix. So let the draft guess $d_1, \dots, d_K$, and apply the rule to
# one after another. At the first rejection, repair and stop: what was guessed after a rejected
# token continued another text. If all are kept, the last row gives one more token for free.
#
# Now the laws depend on the text: `P[last]` and `Q[last]` are the rows after the token `last`.

# %%
P = np.array([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.3, 0.3, 0.4]])
Q = np.array([[0.2, 0.2, 0.6], [0.3, 0.4, 0.3], [0.3, 0.5, 0.2]])


def my_draft(last, lookahead, round, randomness):
    """Guess one token after another; keep the row that each was drawn from."""
    tokens, rows = [], []
    for i in range(lookahead):
        rows.append(Q[last])
        last = randomness.choose(Q[last], Site(0, round, "draft", i))
        tokens.append(last)
    return tokens, rows


def my_verify(last, tokens, rows, round, randomness):
    """The tokens that this round emits: accepted guesses, and one of the target's own."""
    for i, (d, q) in enumerate(zip(tokens, rows, strict=True)):
        p = P[last]
        a = min(1.0, p[d] / q[d])
        if randomness.choose((a, 1 - a), Site(0, round, "accept", i)) == 1:  # 1: reject it
            return [*tokens[:i], randomness.choose(my_residual(p, q), Site(0, round, "bonus", 0))]
        last = d
    return [*tokens, randomness.choose(P[last], Site(0, round, "bonus", 0))]


def my_speculative(prompt, n, lookahead, randomness):
    """n tokens after the token `prompt`, in rounds of draft and verification."""
    text, round = [prompt], 1
    while len(text) <= n:
        tokens, rows = my_draft(text[-1], lookahead, round, randomness)
        text += my_verify(text[-1], tokens, rows, round, randomness)
        round += 1
    return text[1 : n + 1]


my_speculative(0, 10, 2, SeededRandomness(1))


# %% [markdown]
# The exact law of three tokens, from your decoder and from the definition (multiply the target's
# rows):


# %%
def my_target_law(prompt, n):
    law = {(): 1.0}
    for _ in range(n):
        law = {
            (*text, x): weight * P[(prompt, *text)[-1]][x]
            for text, weight in law.items()
            for x in range(3)
        }
    return law


paths = []
law = exact_law(lambda r: my_speculative(0, 3, 2, r), progress=paths.append)
assert my_distance(law, my_target_law(0, 3)) < 1e-12
print(f"{len(paths)} paths, {len(law)} texts, TV = {my_distance(law, my_target_law(0, 3)):.0e}")

# %% [markdown]
# **Try it**: plant a bug of your own - draw the free token from `Q[last]`, test with
# `min(1, q/p)`, keep going after a rejection - and see which of them the law finds.
#
# ## 6. How many tokens does a round yield?
#
# > **We derive.** Suppose each test passes with the same probability $\alpha$, whatever happened
# > before. A round emits more than $j$ tokens exactly if its first $j$ guesses pass: probability
# > $\alpha^j$. The mean of a counting number is the sum of these tails:
# >
# > $$E(K) = \sum_{j=0}^{K} \alpha^j = \frac{1-\alpha^{K+1}}{1-\alpha}.$$
#
# Does a run agree? With laws that do not depend on the text the supposition holds, so we take `p`
# and `q` of section 1 ($\alpha = .6$) and the decoder of the package. It returns a record of each
# round. The last rounds may be cut short by the length of the text, so we leave them out.


# %%
def expected_tokens(alpha, lookahead):
    return (1 - alpha ** (lookahead + 1)) / (1 - alpha)


def counted_tokens(records, lookahead):
    """Mean, half of its 95 % interval, and n, over the rounds that drafted in full."""
    full = [r for r in records if r.drafted == lookahead and r.bonus is not None]
    emitted = np.array([r.emitted for r in full])
    return emitted.mean(), 1.96 * emitted.std(ddof=1) / np.sqrt(len(emitted)), len(emitted)


lookaheads = np.arange(1, 8)
counted = []
for K in lookaheads:
    run = ssd_ref.speculative(
        TableModel(p), TableModel(q), [0], max_new_tokens=2000, lookahead=int(K),
        randomness=SeededRandomness(20, sequence=int(K)),
    )  # fmt: skip
    counted.append(counted_tokens(run.rounds, K))
    mean, half, n = counted[-1]
    print(f"K={K}: counted {mean:.3f} ± {half:.3f} (n={n} rounds), {expected_tokens(0.6, K):.3f}")
    assert abs(mean - expected_tokens(0.6, K)) < 2 * half
inside = [
    abs(mean - expected_tokens(0.6, K)) < half
    for K, (mean, half, _) in zip(lookaheads, counted, strict=True)
]
print(f"{sum(inside)} of {len(inside)} intervals contain the formula's value")

# %%
figure, ax = plt.subplots(figsize=(5.6, 2.8))
formula = expected_tokens(0.6, lookaheads)
ax.plot(lookaheads, formula, color=style.COLOURS["target"], label="formula")
ax.errorbar(
    lookaheads, [m for m, _, _ in counted], [h for _, h, _ in counted],
    fmt="o", color=style.COLOURS["draft"], markeredgecolor="black", capsize=3,
    label="counted, 95 % interval",
)  # fmt: skip
ax.axhline(1 / (1 - 0.6), color="black", linestyle=":", label="limit 1/(1-α)")
ax.set(xlabel="lookahead K", ylabel="tokens per round", ylim=(1, 2.7), title="α = 0.6")
ax.legend(loc="lower right")
plt.show()
assert np.isclose(formula[0], 1.6) and np.isclose(1 / (1 - 0.6), 2.5)

# %% [markdown]
# *Figure: tokens per round rise with the lookahead from 1.6 at K=1 and flatten below the limit of
# 2.5; the counted points lie about the curve.*
#
# A 95 % interval misses the truth once in twenty times; with seven of them, a miss is no alarm.
# This is what is unpleasant about sampling, and why the law itself was checked by enumeration.
#
# ### Predict before you run
# A log of a run with $K=4$ says: 59 % of the drafted tokens were accepted. Is $\alpha$ about .59?
# Larger? Smaller?
#
# <details><summary>Answer</summary>
#
# Larger: about .8. After the first rejection the rest of the round is not even tested, and yet it
# was drafted. With $\alpha=.8$ a round accepts $E(4)-1 = 2.36$ of its 4 guesses, which is 59 %.
# Whoever puts .59 into the formula predicts 2.27 tokens a round instead of 3.36.
#
# </details>

# %%
share = (expected_tokens(0.8, 4) - 1) / 4
print(f"accepted/drafted at alpha .8: {share:.3f}")
print(f"tokens per round: {expected_tokens(0.8, 4):.2f}, not {expected_tokens(share, 4):.2f}")
assert (round(share, 2), round(4 * share, 2)) == (0.59, 2.36)
assert round(expected_tokens(0.8, 4), 2) == 3.36 and round(expected_tokens(share, 4), 2) == 2.27

# %% [markdown]
# ## 7. Why more guesses stop paying
#
# Drafting is not free. Let a draft step take the time $c$, with one verification as the unit (and
# let a verification cost one autoregressive step). A round takes $1 + cK$, so against
# autoregressive decoding the speed is
#
# $$\text{speed}(K) = \frac{E(K)}{1 + cK}.$$
#
# > **We derive.** The guess number $K+1$ adds $\alpha^{K+1}$ tokens and always $c$ of time. It pays
# > while $\alpha^{K+1}/E(K) > c/(1+cK)$. The left side falls geometrically; so there is a best $K$.


# %%
def speed(alpha, lookahead, c):
    return expected_tokens(alpha, lookahead) / (1 + c * lookahead)


def draw_speeds(c):
    """Speed against lookahead if a draft step takes c verifications; the best lookaheads."""
    lookaheads, best = np.arange(0, 17), {}
    _, ax = plt.subplots(figsize=(6.4, 3))
    for rate, line in ((0.9, "-"), (0.75, "--"), (0.6, "-.")):
        speeds = speed(rate, lookaheads, c)
        best[rate] = int(speeds.argmax())
        ax.plot(lookaheads, speeds, line, color=style.COLOURS["draft"], label=f"α = {rate}")
        ax.plot(best[rate], speeds.max(), "*", color="black", markersize=11)
    ax.axhline(1, color=style.COLOURS["target"], label="autoregressive")
    ax.set(xlabel="lookahead K", ylabel="speed (autoregressive = 1)", title=f"c = {c:.2f}")
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    plt.show()
    return best


best = draw_speeds(c=0.1)
print("best lookahead:", best)
assert best == {0.9: 10, 0.75: 5, 0.6: 3}
assert round(speed(0.6, 16, 0.1), 2) == 0.96

# %% [markdown]
# *Figure: speed against lookahead for three acceptance rates. Each curve rises, has a peak (star)
# at K = 10, 5 and 3, and then falls; at α = .6 sixteen guesses are slower than none (.96).*
#
# **Try it**: a slider for $c$, if you run this notebook. From which $c$ on is it best not to guess at all?

# %%
style.sliders(draw_speeds, c=(0.0, 1.0, 0.05, 0.1))

# %% [markdown]
# Where does the time of a round go? Into drafting, while the target waits, and into verifying,
# while the draft waits. Keep this in mind: lesson 05 begins there.
#
# ## 8. Open the package (task 3)
#
# You have built it; now read the version that is meant to be used. First the rule.

# %%
print(inspect.getsource(acceptance))
print(inspect.getsource(verify))

# %% [markdown]
# Compare it with `my_verify`, line by line:
#
# - **`speculation`** instead of tokens and rows. The rows travel with the tokens in one immutable
#   record, so a token cannot be tested against another law than its own.
# - **`law_after(i)`** instead of `P[last]`: the target's row after $d_1..d_i$, taken from one forward
#   over the whole block.
# - **`randomness.commit(site)`** tells the enumerator "this draw matters from here on". All other
#   draws are summed over without a branch, and the tree stays small.
# - **`acceptance`** gives the chance to be kept and the residual together. If no entry of $p-q$ is
#   positive, the two rows are equal up to rounding: there is nothing to repair, and your
#   `my_residual` would divide by 0.
# - It returns an **`Outcome(k, t*)`**: how many were accepted and what came after them. That is all
#   the draft needs to be told.
#
# And the loop. The two *actors* take turns: while one works, the other waits.

# %%
source = inspect.getsource(ssd_ref.speculative)
print(source[source.index("    verifier = ") :])

# %% [markdown]
# **Does the package's decoder emit the target's law?** The same question, the same tool. It needs
# fewer paths than yours, thanks to `commit`: guesses after a rejected token never branch.

# %%
models = TableModel(P), TableModel(Q)
paths = []
law = exact_law(
    lambda r: ssd_ref.speculative(*models, [0], max_new_tokens=3, lookahead=2, randomness=r).tokens,
    progress=paths.append,
)
assert my_distance(law, my_target_law(0, 3)) < 1e-12
print(f"{len(paths)} paths, TV = {my_distance(law, my_target_law(0, 3)):.0e}")

# %% [markdown]
# ## 9. On a trained pair
#
# The package ships two small transformers that read bytes and know Python's documentation. The
# prompts are topics of it that neither has seen in training. (The text is small talk of a tiny
# model; what counts here is who wrote which byte.)

# %%
LOOKAHEAD = 4
torch.set_num_threads(1)  # for models this small, more threads only get in each other's way
pair = ssd_ref.load_pair()
prompts = [pair.tokenizer.encode(topics[name])[200:264] for name in HELD_OUT[:8]]


def sd_text(prompt, sequence):
    return ssd_ref.speculative(
        pair.target, pair.draft, prompt, max_new_tokens=96, lookahead=LOOKAHEAD,
        eos=pair.tokenizer.end, randomness=SeededRandomness(5, sequence),
    )  # fmt: skip


runs = [sd_text(prompt, sequence) for sequence, prompt in enumerate(prompts)]
records = [record for run in runs for record in run.rounds]
accepted, drafted = sum(r.accepted for r in records), sum(r.drafted for r in records)
mean, half, n = counted_tokens(records, LOOKAHEAD)
print(f"accepted {accepted} of {drafted} drafted tokens: {accepted / drafted:.2f}")
print(f"tokens per round {mean:.2f} ± {half:.2f} (n={n} full rounds of {len(runs)} texts)")


# %%
def provenance(run):
    """For each token of a run: was it an accepted guess or a bonus?"""
    roles = []
    for record in run.rounds:
        roles += ["accepted"] * record.accepted + ["bonus"] * (record.bonus is not None)
    return roles


run = max(runs, key=lambda run: len(run.tokens))
assert len(provenance(run)) == len(run.tokens)
figure, ax = plt.subplots(figsize=(9.5, 0.9))
style.painted_text(ax, zip(run.tokens, provenance(run), strict=True))
style.legend(ax, {"accepted": "accepted guess", "bonus": "bonus"}, bbox_to_anchor=(0, 0), ncols=2)
plt.show()

# %% [markdown]
# *Figure: a decoded text, byte by byte. Accepted guesses on light blue; each bonus of the target on
# purple, in bold and underlined.*
#
# Now test the formula where its supposition need not hold. Of the tests that were *made*, some
# share passed; put it in as $\alpha$, and compare the predicted shares of rounds with $k$ accepted
# guesses with the counted ones.

# %%
full = [r for r in records if r.drafted == LOOKAHEAD and r.bonus is not None]
tests = sum(min(r.accepted + 1, LOOKAHEAD) for r in full)
estimate = sum(r.accepted for r in full) / tests
counts = np.bincount([r.accepted for r in full], minlength=LOOKAHEAD + 1)
shares = counts / len(full)
halves = 1.96 * np.sqrt(shares * (1 - shares) / len(full))
iid = [estimate**k * (1 - estimate) for k in range(LOOKAHEAD)] + [estimate**LOOKAHEAD]
predicted = expected_tokens(estimate, LOOKAHEAD)
print(f"passed {estimate:.3f} of {tests} tests")
assert accepted / drafted < estimate
print(f"tokens per round: predicted {predicted:.2f}, counted {mean:.2f} ± {half:.2f}")

figure, ax = plt.subplots(figsize=(6.4, 2.8))
k = np.arange(LOOKAHEAD + 1)
ax.bar(k - 0.2, shares, width=0.38, yerr=halves, capsize=3, **style.look("accepted"))
ax.bar(k + 0.2, iid, width=0.38, **style.look("idle"))
ax.set(xlabel="accepted guesses k", ylabel="share of rounds", title=f"n = {len(full)} rounds")
style.legend(ax, {"accepted": "counted, 95 % interval", "idle": "if tests were alike"})
plt.show()

# %% [markdown]
# *Figure: shares of rounds with 0 to 4 accepted guesses, counted and predicted from one acceptance
# rate. Where the two disagree by more than the interval, the tests are not alike.*
#
# Look also at the first numbers: accepted/drafted is well below the share of passed tests. That is
# the trap of section 6, in the wild.
#
# > **The paper says** (Leviathan et al. 2023) the formula of section 6 for tests that are alike,
# > and names this as a simplification. In a published log of SSD (target of 70 billion parameters,
# > K = 7, rounds served from the cache) the chance to pass the next test *rises* with the number
# > already passed:

# %%
published = np.array([0.130, 0.094, 0.070, 0.058, 0.048, 0.041, 0.035, 0.523])  # k = 0..7
reached = 1 - np.concatenate(([0], published.cumsum()[:-1]))  # passed k tests
passes = 1 - published[:-1] / reached[:-1]
print("chance to pass the next test:", passes.round(2))
assert (np.diff(passes) > 0).all()

# %% [markdown]
# > **Open.** How much of this is due to the text (easy stretches) and how much to the draft we did
# > not measure.
#
# **Is it the target's text?** At temperature 0 all laws are one-hot: the text must be the
# autoregressive one, token for token (as long as no two logits are nearly equal, since a block is
# computed in another order than single steps).

# %%
greedy = {"max_new_tokens": 64, "temperature": 0.0, "randomness": SeededRandomness(5)}
alone = ssd_ref.autoregressive(pair.target, prompts[0], **greedy)
both = ssd_ref.speculative(pair.target, pair.draft, prompts[0], lookahead=LOOKAHEAD, **greedy)
print("same text:", alone.tokens == both.tokens)
print(f"{len(both.tokens)} tokens in {len(both.rounds)} rounds instead of {len(alone.rounds)}")

# %% [markdown]
# ## 10. Exercises
#
# Replace `...` by your version and run the cell: `check` says whether it is right, and if not, names
# the smallest case that is wrong. It has no time limit; a loop that does not end is yours to interrupt.
# The solution is in the folded cell below.
#
# ### L02.1 (easy, 5 min) · Two faces of one number
# Write `my_alpha(p, q)` without `min`, from the total variation distance. Then find a draft for
# `p = [.5, .3, .2]` whose guesses are *never* kept - or say why there is none.
#
# <details><summary>Hint</summary>What must hold where $q > 0$?</details>


# %%
def my_alpha(p, q): ...


check("L02.1", my_alpha)

# %% jupyter={"source_hidden": true} tags=["solution"]
# Solution of L02.1


def my_alpha(p, q):
    return 1 - np.abs(np.asarray(p) - q).sum() / 2


assert check("L02.1", my_alpha)
# Never kept needs min(p, q) = 0 everywhere, so p = 0 wherever q > 0; this p is positive everywhere.
assert all(my_alpha(p, q_) > 0 for q_ in generator.dirichlet(np.ones(3), size=1000))

# %% [markdown]
# ### L02.2 (easy, 10 min) · Temperature 0
# At temperature 0 both laws are one-hot. Write `my_greedy_verify(best, tokens)`: `best[i]` is the
# target's likeliest token after $d_1..d_i$, for $i = 0..K$; return the emitted tokens. No
# randomness is left. Why does the residual need no care?
#
# <details><summary>Hint</summary>With one-hot rows the probability of acceptance is 0 or 1.</details>


# %%
def my_greedy_verify(best, tokens): ...


check("L02.2", my_greedy_verify)

# %% jupyter={"source_hidden": true} tags=["solution"]
# Solution of L02.2


def my_greedy_verify(best, tokens):
    k = 0
    while k < len(tokens) and tokens[k] == best[k]:
        k += 1
    return [*tokens[:k], best[k]]  # after a rejection the residual is one-hot at best[k], too


assert check("L02.2", my_greedy_verify)

# %% [markdown]
# ### L02.3 (medium, 10 min) · The best lookahead
# Write `my_best_lookahead(alpha, c)`, using the inequality of section 7 and not a search over a
# fixed range. When is it 0?
#
# <details><summary>Hint</summary>Go up while the next guess pays.</details>


# %%
def my_best_lookahead(alpha, c): ...


check("L02.3", my_best_lookahead)

# %% jupyter={"source_hidden": true} tags=["solution"]
# Solution of L02.3


def my_best_lookahead(alpha, c):
    K = 0
    while alpha ** (K + 1) / expected_tokens(alpha, K) > c / (1 + c * K):
        K += 1
    return K  # 0 exactly if alpha <= c: then even the first guess costs more than it brings


assert check("L02.3", my_best_lookahead)
for alpha_ in (0.3, 0.6, 0.75, 0.9):
    for c_ in (0.02, 0.1, 0.31, 0.8):
        searched = speed(alpha_, np.arange(100), c_).argmax()
        assert my_best_lookahead(alpha_, c_) == searched
        assert (my_best_lookahead(alpha_, c_) == 0) == (alpha_ <= c_)

# %% [markdown]
# ### L02.4 (harder, 20 min) · Another exact rule
# Somebody proposes: let the target draw its own token $y \sim p$, and call the guess accepted if
# $d = y$; emit $y$ in any case. Is it exact? Write `my_other_token(p, q, randomness)`, let
# `exact_law` decide, and compute its acceptance rate. Why does nobody use it?
#
# Return two numbers, the token and whether the guess was right (1 or 0); then the law holds both.
#
# <details><summary>Hint</summary>Two draws, at the sites of a draft and of a bonus.</details>


# %%
def my_other_token(p, q, randomness): ...


check("L02.4", my_other_token)

# %% jupyter={"source_hidden": true} tags=["solution"]
# Solution of L02.4


def my_other_token(p, q, randomness):
    d = randomness.choose(q, Site(0, 1, "draft", 0))
    y = randomness.choose(p, Site(0, 1, "bonus", 0))
    return [y, int(d == y)]  # the token, and whether the guess was right


assert check("L02.4", my_other_token)
law = exact_law(lambda r: my_other_token(p, q, r))
emitted = [law.get((x, 0), 0) + law.get((x, 1), 0) for x in range(3)]
rate = sum(law.get((x, 1), 0) for x in range(3))
assert np.allclose(emitted, p)  # exact, trivially: the emitted token never depends on the guess
assert np.isclose(rate, (p * q).sum()) and rate < alpha  # but it accepts less often
print(f"acceptance: sum p q = {rate:.2f}, sum min(p, q) = {alpha:.2f}")

# %% [markdown]
# ## 11. Check yourself
#
# **1.** The draft is replaced by one that guesses uniformly at random. What happens to the text's
# law, and what to the speed?
#
# <details><summary>Answer</summary>
#
# The law stays p: the proof holds for every q. The speed falls, since α = Σ min(p, 1/V) is small.
#
# </details>
#
# **2.** You draw guesses at temperature .7 but pass the temperature-1 rows to the verifier. Which
# line of the proof breaks?
#
# <details><summary>Answer</summary>
#
# The first: "a guess x is made with probability q(x)". The q of the test must be the law that the
# guess was drawn from. That is why rows travel with tokens.
#
# </details>
#
# **3.** Why may the token after a rejected guess not be tested as well?
#
# <details><summary>Answer</summary>
#
# It was drafted as a continuation of a text that now does not exist, and the target's row at its
# place was computed after the rejected token. The round must stop there.
#
# </details>
#
# ## What comes next
#
# Lesson 03 makes `exact_law` its subject: what must be true for it to see a bug, and a gallery of
# bugs that were found in real code. Lesson 05 takes up the waiting: the draft idles while the
# target verifies. What could it prepare?
