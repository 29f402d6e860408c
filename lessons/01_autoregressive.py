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
# # 01 · Why is one token at a time slow?
#
# A language model turns a text into a law of the next token. To write, draw a token from the law,
# append it, and ask again: *autoregressive decoding* (AR). It is the yardstick of this course: every
# other decoder must write texts of exactly the same law. In this lesson you build all of it, small:
# the law, a transformer of three tokens, and its cache. Then you look at where the time goes, and find
# that a step which computes **one** token costs nearly as much as a step which computes five.
#
# **You will learn** to turn logits into the law that is drawn from; to write attention with and without
# a KV cache, in blocks and with rollback; to catch a bug in a cache by the law of the text; to say from
# two numbers of a data sheet whether a decode step is bound by memory.
#
# **Time** about 75 minutes (an estimate). **You need** the self-test of lesson 00, and matrix products.
#
# **Task** 1 (laws, autoregressive decoding, block forward and rewind) of the assignments is about this
# lesson; the headings say where.
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
# | $V$ | size of the vocabulary; tokens are $0, \dots, V-1$ |
# | $z$ | logits: one real number for each token |
# | $p$ | the law of the next token, *as it is drawn from* |
# | temperature | always written as a word; top-k and top-p: truncations |
# | $n$ | tokens that one forward computes (its *rows*) |
# | $N$ | parameters of a model |

# %%
import inspect
import time
from itertools import product
from pydoc_data.topics import topics

import matplotlib.pyplot as plt
import numpy as np
import style
import torch

import ssd_ref
from sim import published
from sim.costs import CHIPS, Roofline
from ssd_ref import SeededRandomness, Site, TableModel, exact_law
from ssd_ref.gpt import Block, GPTSession, cached
from ssd_ref.laws import Law
from ssd_ref.pair.corpus import HELD_OUT
from ssd_ref.testing import check, compare_laws, target_law

style.use()
torch.set_num_threads(1)  # for models this small, more threads only get in each other's way

# %% [markdown]
# ## 1. One token after another (task 1)
#
# The simplest model is a table: the law of the next token given the last one. Three tokens a, b, c.

# %%
TOKENS = "abc"
P = np.array([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.3, 0.3, 0.4]])  # row: the last token


def my_autoregressive(law_after, prompt, n, randomness):
    """n tokens after `prompt`; `law_after(text)` is the law of the token that follows `text`."""
    text = list(prompt)
    for round in range(1, n + 1):
        site = Site(0, round, "bonus", 0)
        text.append(randomness.choose(law_after(text), site))
    return text[len(prompt) :]


def table_law(text):
    return P[text[-1]]


print("".join(TOKENS[t] for t in my_autoregressive(table_law, [0], 40, SeededRandomness(1))))

# %% [markdown]
# Every decision is `randomness.choose(law, site)`. The *site* is a name for the decision; why we do not
# simply call a random generator you see now. What is the law of the texts that this function writes?
# Do not sample: pass in a `randomness` that tries every choice in turn, and multiplies the
# probabilities. `exact_law` does so (lesson 03 builds it).


# %%
def my_target_law(law_after, prompt, n):
    """By definition: the probability of a text is the product of its tokens' probabilities."""
    law = {}
    for text in product(range(3), repeat=n):
        so_far, weight = list(prompt), 1.0
        for token in text:
            weight *= law_after(so_far)[token]
            so_far.append(token)
        law[text] = weight
    return law


law = exact_law(lambda randomness: my_autoregressive(table_law, [0], 3, randomness))
print(compare_laws(law, my_target_law(table_law, [0], 3)))
assert compare_laws(law, my_target_law(table_law, [0], 3)) and len(law) == 27

# %% [markdown]
# 27 texts, each with the right probability, to the last bits of a floating-point number. This is the
# instrument with which every decoder of this course is tested.
#
# ## 2. From logits to a law (task 1)
#
# A network does not give probabilities but *logits* $z$, any real numbers. The law is made of them:
#
# $$p(x) = \frac{e^{z_x / \text{temperature}}}{\sum_y e^{z_y / \text{temperature}}}
# \qquad\text{for each token } x.$$
#
# A temperature below 1 sharpens, one above 1 flattens. At 0 we mean the limit: the likeliest token
# for certain, and among equals the first.
#
# ### Predict before you run
# Logits 2, 1 and 0. At temperature 1 the first token is $e \approx 2.7$ times as likely as the second.
# How many times is it at temperature .5, and at 2?
#
# <details><summary>Answer</summary>
#
# $e^{1/.5} = e^2 \approx 7.4$ times, and $e^{1/2} \approx 1.6$ times. The ratio of two probabilities is
# raised to the power 1/temperature.
#
# </details>
#
# ### L01.1 (easy, 10 min) · The law of a row
# Write `my_law(logits, temperature)`: the law, as a list or array. A temperature of 0 is allowed, so are
# logits of $-\infty$ (probability 0) and very large ones. (`check` tries your function on small cases
# and names the first that is wrong. It has no time limit; a loop that does not end is yours to
# interrupt. The solution is in the folded cell below it; from there on the lesson uses it.)
#
# <details><summary>Hint</summary>
#
# Subtract the largest logit before you take exponentials: it cancels, and nothing can overflow.
#
# </details>


# %%
def my_law(logits, temperature): ...


check("L01.1", my_law)

# %% jupyter={"source_hidden": true} tags=["solution"]
# Solution of L01.1


def my_law(logits, temperature=1.0):
    z = np.asarray(logits, dtype=float)
    if temperature == 0:
        return np.eye(len(z))[z.argmax()]
    weights = np.exp((z - z.max()) / temperature)
    return weights / weights.sum()


assert check("L01.1", my_law)

# %%
ratios = {T: my_law([2.0, 1.0, 0.0], T)[:2] for T in (0.5, 1, 2)}
print("; ".join(f"temperature {T}: {a / b:.1f} times" for T, (a, b) in ratios.items()))
assert np.allclose([a / b for a, b in ratios.values()], np.exp([2, 1, 0.5]))

# %% [markdown]
# Two truncations are common. **top-k** keeps the likeliest tokens, as many as it says. **top-p** keeps the
# likeliest tokens until their sum crosses the number it says, such as .8; the one that crosses is kept. What
# is left is normalised. (Each has a letter in its name that means something else elsewhere: hence the words.)


# %%
def my_truncated(p, top_k=None, top_p=None):
    """The law p with only its likeliest tokens; among equals the lower index comes first."""
    order = np.argsort(-p, kind="stable")
    kept = p[order]
    if top_k is not None:
        kept[top_k:] = 0
        kept /= kept.sum()
    if top_p is not None:
        before = kept.cumsum() - kept  # the sum of what comes before each token
        kept[before >= top_p] = 0
        kept /= kept.sum()
    return kept[np.argsort(order)]


def draw_laws(temperature=1.0, top_k=5, top_p=1.0):
    """The law of five tokens before and after the truncations."""
    logits = np.array([2.0, 1.5, 0.5, 0.0, -1.0])
    plain = my_law(logits, temperature)
    _, ax = plt.subplots(figsize=(6, 2.4))
    ax.bar(np.arange(5) - 0.2, plain, 0.38, **style.look("idle"))
    ax.bar(np.arange(5) + 0.2, my_truncated(plain, top_k, top_p), 0.38, **style.look("target"))
    ax.set(
        xticks=range(5), xticklabels=logits, xlabel="logit", ylabel="probability", ylim=(0, 1.02)
    )
    ax.set_title(f"temperature {temperature:g}, top-k {top_k:g}, top-p {top_p:g}")
    style.legend(ax, {"idle": "softmax", "target": "drawn from"})
    plt.show()


draw_laws(temperature=1.0, top_k=4, top_p=0.8)
assert np.count_nonzero(my_truncated(my_law([2.0, 1.5, 0.5, 0.0, -1.0]), 4, 0.8)) == 2

# %% [markdown]
# *Figure: bars for five tokens with logits 2, 1.5, .5, 0 and -1. Grey: the softmax. Blue: the law that is
# drawn from with top-k 4 and top-p .8; only the first two tokens are left, and they are higher.*
#
# **Try it**: below are sliders, if you run this notebook. When does the order of the two truncations
# matter?

# %%
style.sliders(
    draw_laws, temperature=(0, 3, 0.1, 1.0), top_k=(1, 5, 1, 5), top_p=(0.05, 1, 0.05, 0.8)
)

# %% [markdown]
# The package has one place where logits become the law that is drawn from, `Law`. All decoders use it,
# for the target and for the draft. Yours and the package's, on random rows:

# %%
generator = np.random.default_rng(1)
for temperature, top_k, top_p in [(1, None, None), (0.5, 3, None), (2, None, 0.7), (0.8, 4, 0.6)]:
    for z in generator.normal(size=(50, 6)):
        ours = my_truncated(my_law(z, temperature), top_k, top_p)
        assert np.allclose(ours, Law(temperature, top_k, top_p).rows(z[None])[0], atol=1e-12)
print(inspect.getsource(Law.rows))

# %% [markdown]
# **What we learned.** A decoder draws from a *law*, not from a network. Whoever compares two decoders
# must compare them at the same law: temperature and truncation are part of it.
#
# ## 3. A transformer of three tokens
#
# Where do the logits come from? Each token of the text becomes a vector $x_i$: what it is, plus where it
# stands. Then every position looks back at the others. It has a *query* $q_i$; each position has a
# *key* $k_j$ that says what is to be found there, and a *value* $v_j$, which is what one gets:
#
# $$y_i = \sum_{j \le i} w_{ij}\, v_j, \qquad
# w_{i\cdot} = \mathrm{softmax}_j\big(q_i \cdot k_j / \sqrt{d}\big).$$
#
# The sum runs over $j \le i$: a token must not see those that come after it (*causal mask*). That is
# what makes a row of logits at position $i$ mean "what follows after $i$", for all $i$ at once.

# %%
WIDTH = 4  # d
weights = np.random.default_rng(7)
EMBEDDING = weights.normal(size=(3, WIDTH))  # of a, b, c; used again to read the result
POSITION = weights.normal(size=(8, WIDTH))
W_q, W_k, W_v, W_out, W_up, W_down = weights.normal(size=(6, WIDTH, WIDTH))


def my_attention(q, k, v, unseen):
    """Queries (n, d) read values (m, d) where their keys match; `unseen` (n, m) is masked."""
    scores = q @ k.T / np.sqrt(WIDTH)
    scores[np.asarray(unseen)] = -np.inf
    return np.array([my_law(row) for row in scores]) @ v


def my_rest(x, read):
    """What follows attention: add it, think (two layers), add that; logits (n, V)."""
    x = x + read @ W_out
    x = x + np.maximum(x @ W_up, 0) @ W_down
    return x @ EMBEDDING.T


def my_logits(tokens):
    """Logits (n, 3) after each of the tokens, computed from scratch."""
    n = len(tokens)
    x = EMBEDDING[list(tokens)] + POSITION[:n]
    unseen = np.triu(np.ones((n, n), dtype=bool), 1)  # above the diagonal: the future
    return my_rest(x, my_attention(x @ W_q, x @ W_k, x @ W_v, unseen))


text = [0, 2, 1, 1, 0]
assert np.allclose(my_logits(text)[:3], my_logits(text[:3]))  # the future is not seen
print(np.round(my_logits(text), 2))

# %%
x = EMBEDDING[text] + POSITION[: len(text)]
scores = x @ W_q @ (x @ W_k).T / np.sqrt(WIDTH)
scores[np.triu(np.ones((5, 5), dtype=bool), 1)] = -np.inf
attention = np.array([my_law(row) for row in scores])
figure, ax = plt.subplots(figsize=(3.6, 3))
ax.imshow(attention, cmap="Blues", vmin=0, vmax=1)
for i in range(5):
    for j in range(i + 1):
        dark = "white" if attention[i, j] > 0.6 else "black"
        ax.text(j, i, f"{attention[i, j]:.2f}", ha="center", va="center", fontsize=8, color=dark)
names = [TOKENS[t] for t in text]
ax.set(xticks=range(5), xticklabels=names, yticks=range(5), yticklabels=names)
ax.set(xlabel="looked at", ylabel="looks")
plt.show()

# %% [markdown]
# *Figure: a triangle of attention weights, five by five. Row i holds the weights with which token i
# looks at itself and at the tokens before it; each row sums to 1; above the diagonal there is nothing.*
#
# ## 4. The cache: do not compute the past again (task 1)
#
# To write the sixth token one needs the last row only. But `my_logits` computes all rows again, for
# every new token. What does the new token need of the past? Look at the equation: the keys and the
# values of the earlier positions, nothing else, and these do not change when the text grows, since
# they do not see the future. So keep them: the **KV cache**.
#
# A session that has read `length` tokens is extended by a block of $n$ more. Token $i$ of the block stands
# at position `length` + $i$ and sees all positions up to its own.
#
# ### L01.2 (medium, 10 min) · The mask of a block
# Write `my_unseen(length, n)`: an array (or list of lists) of $n$ rows and `length` + $n$ columns, `True`
# where token $i$ of the block must *not* look.
#
# <details><summary>Hint</summary>
#
# For `length` = 0 it is the triangle of section 3. For $n=1$ nothing is masked.
#
# </details>


# %%
def my_unseen(length, n): ...


check("L01.2", my_unseen)

# %% jupyter={"source_hidden": true} tags=["solution"]
# Solution of L01.2


def my_unseen(length, n):
    own = np.arange(length, length + n)[:, None]  # position of each token of the block
    return np.arange(length + n) > own


assert check("L01.2", my_unseen)


# %%
class MySession:
    """A text being read: keys and values of all its positions."""

    def __init__(self):
        self.keys = self.values = np.zeros((0, WIDTH))

    def extend(self, tokens):
        """Read a block of tokens; logits (n, 3) after each of them."""
        length, n = len(self.keys), len(tokens)
        x = EMBEDDING[list(tokens)] + POSITION[length : length + n]
        self.keys = np.concatenate([self.keys, x @ W_k])
        self.values = np.concatenate([self.values, x @ W_v])
        read = my_attention(x @ W_q, self.keys, self.values, my_unseen(length, n))
        return my_rest(x, read)

    def rewind(self, length):
        """Forget all from position `length` on."""
        self.keys, self.values = self.keys[:length], self.values[:length]


session = MySession()
blocks = [session.extend(block) for block in ([0, 2], [1], [1, 0])]
assert np.allclose(np.concatenate(blocks), my_logits(text), atol=1e-12)
session.rewind(2)
assert np.allclose(session.extend([2, 2]), my_logits([0, 2, 2, 2])[2:], atol=1e-12)
print("blocks of 2, 1 and 2 tokens give the rows of one forward; after a rewind, too")

# %% [markdown]
# Three things to keep in mind, for all that follows:
#
# - A **block** of $n$ tokens gives $n$ rows in one forward: the law after *every* one of them.
# - A **rewind** costs nothing: keys and values of a prefix are those of the text.
# - After a text of $m$ tokens has been written with a cache, $m$ rows were computed; without one it is
#   $1 + 2 + \dots + m = m(m+1)/2$.

# %%
lengths = np.arange(1, 513)
figure, ax = plt.subplots(figsize=(5.6, 2.6))
ax.loglog(lengths, lengths * (lengths + 1) / 2, "--", color=style.COLOURS["miss"], label="without")
ax.loglog(lengths, lengths, color=style.COLOURS["target"], label="with a cache")
ax.set(xlabel="tokens of the text", ylabel="rows computed")
ax.legend()
plt.show()
print(f"at 512 tokens: {512 * 513 // 2} rows against 512")
assert 512 * 513 // 2 // 512 == 256

# %% [markdown]
# *Figure: rows computed against the length of the text, on two logarithmic axes. With a cache a line of
# slope 1, without one a line of slope 2, which is 256 times higher at 512 tokens.*
#
# ## 5. Meet a bug
#
# The same decoder, with a session. A colleague tidies `extend` up: "a block has $n$ tokens, so it takes
# the first $n$ positions". All shapes are right, nothing crashes, the text looks like before.


# %%
def my_cached_autoregressive(Session, prompt, n, randomness):
    """n tokens after `prompt`, one new row for each."""
    session, text = Session(), list(prompt)
    session.extend(prompt[:-1])
    for round in range(1, n + 1):
        law = my_law(session.extend([text[-1]])[0])
        text.append(randomness.choose(law, Site(0, round, "bonus", 0)))
    return text[len(prompt) :]


class MySessionWithABug(MySession):
    def extend(self, tokens):
        length, n = len(self.keys), len(tokens)
        x = EMBEDDING[list(tokens)] + POSITION[:n]  # <- whatever was read before
        self.keys = np.concatenate([self.keys, x @ W_k])
        self.values = np.concatenate([self.values, x @ W_v])
        read = my_attention(x @ W_q, self.keys, self.values, my_unseen(length, n))
        return my_rest(x, read)


# %% [markdown]
# ### Predict before you run
# We decode three tokens after a prompt of *one* token, and compare the exact law with the right one. At
# which position does the law go wrong first: the first new token, the second, or the third?
#
# <details><summary>Answer</summary>
#
# The second. The prompt's only token stands at position 0, where the bug puts it, too. The token after it
# is read as the second of the text, and gets position 0 again.
#
# </details>

# %%
truth = my_target_law(lambda text: my_law(my_logits(text)[-1]), [0], 3)
for Session in (MySession, MySessionWithABug):
    law = exact_law(lambda r, S=Session: my_cached_autoregressive(S, [0], 3, r))
    print(f"{Session.__name__}: {compare_laws(law, truth)}\n")
departure = compare_laws(law, truth).departure
assert departure.position == 2 and departure.prefix == (0,)

# %% [markdown]
# The law names the place: after the text (a, a) the next token is wrong. A reader of the text would not have
# noticed. In lesson 03 you meet a gallery of such bugs.
#
# ## 6. Open the package (task 1)
#
# `TinyGPT` is what you built, grown up: several heads and layers, positions as rotations of queries and
# keys, layer norms. First one layer; compare with `my_rest` and `my_attention`:

# %%
print(inspect.getsource(Block.forward))
print(inspect.getsource(cached))

# %% [markdown]
# The cache is allocated once. New keys and values are written behind the old ones, and a rewind only
# moves a length. Here is what a session does with a block, and your mask in it:

# %%
print(inspect.getsource(GPTSession.extend))
print(inspect.getsource(GPTSession.rewind))

# %% [markdown]
# And the loop. It draws each token "where a speculative round draws its bonus": lesson 02 says why.

# %%
source = inspect.getsource(ssd_ref.autoregressive)
print(source[source.index("    session = ") :])

# %% [markdown]
# **Does it emit the target's law?** On the table of section 1 we can ask for the exact answer; on a trained
# network we compare one block with single steps, which must agree up to rounding:

# %%
law = exact_law(
    lambda r: ssd_ref.autoregressive(TableModel(P), [0], max_new_tokens=3, randomness=r).tokens
)
assert compare_laws(law, target_law(TableModel(P), [0], max_new_tokens=3))

pair = ssd_ref.load_pair()
prompt = pair.tokenizer.encode(topics[HELD_OUT[0]])[200:264]
block = pair.target.start(prompt[:32]).extend(prompt[32:40])
steps = pair.target.start(prompt[:32])
single = np.concatenate([steps.extend([token]) for token in prompt[32:40]])
print(f"largest difference of a logit, block against steps: {np.abs(block - single).max():.0e}")
assert np.abs(block - single).max() < 1e-3  # single precision, logits of size 10

run = ssd_ref.autoregressive(
    pair.target, prompt, max_new_tokens=80, temperature=0.7, eos=pair.tokenizer.end,
    randomness=SeededRandomness(3),
)  # fmt: skip
print(repr(pair.tokenizer.decode(prompt[-24:])), "->", repr(pair.tokenizer.decode(run.tokens)))
print(f"{len(run.tokens)} tokens, {len(run.rounds)} forwards of the target")
assert len(run.rounds) == len(run.tokens)

# %% [markdown]
# One forward for each token, one after the other: the next one cannot begin before the last has been drawn.
# That is the problem.
#
# ## 7. What bounds a step: the roofline
#
# A forward of $n$ rows through a model of $N$ parameters must
#
# - **read** the parameters once: $N \times$ bytes, at the memory's bandwidth;
# - **compute** about $2Nn$ operations, at the processor's peak rate.
#
# Both go on at the same time, so the step takes (at least) the longer of the two. This picture is called
# the *roofline*. It leaves out the KV cache, communication and overheads.
#
# ### L01.3 (easy, 10 min) · Milliseconds of a step
# Write `my_step_ms(n, parameters, bytes_each, bandwidth, peak)`: the milliseconds of a step by this rule.
# `bandwidth` is in bytes a second, `peak` in operations a second.
#
# <details><summary>Hint</summary>
#
# `max` of two times, and 1,000 milliseconds are a second.
#
# </details>


# %%
def my_step_ms(n, parameters, bytes_each, bandwidth, peak): ...


check("L01.3", my_step_ms)

# %% jupyter={"source_hidden": true} tags=["solution"]
# Solution of L01.3


def my_step_ms(n, parameters, bytes_each, bandwidth, peak):
    reading = parameters * bytes_each / bandwidth
    computing = 2 * parameters * n / peak
    return 1e3 * max(reading, computing)


assert check("L01.3", my_step_ms)

# %% [markdown]
# ### Predict before you run
# A model of 70.6 billion parameters (2 bytes each) on four accelerators, each with 3,350 GB/s of bandwidth
# and 989 teraflops. A step of one row takes some 10 ms by the roofline. How long does one of 8 rows take:
# 80 ms, 20 ms or 10 ms? From how many rows on is it computing that counts?
#
# <details><summary>Answer</summary>
#
# The same 10 ms, to the last digit: reading takes 10.5 ms, and computing 8 rows .3 ms. The two are equal at
# $n = \text{bytes} \cdot \text{peak} / (2 \cdot \text{bandwidth}) \approx 295$ rows.
#
# </details>

# %%
h100 = CHIPS["h100"]
billions, devices = published.LLAMA_BILLIONS[0], 4
model = {"parameters": billions * 1e9, "bytes_each": 2}
machine = {
    "bandwidth": devices * h100.bandwidth_gb_s * 1e9,
    "peak": devices * h100.peak_tflops * 1e12,
}
ridge = 2 * machine["peak"] / (2 * machine["bandwidth"])
print(f"1 row {my_step_ms(1, **model, **machine):.1f} ms, 8 rows "
      f"{my_step_ms(8, **model, **machine):.1f} ms, ridge at {ridge:.0f} rows")  # fmt: skip
assert my_step_ms(1, **model, **machine) == my_step_ms(8, **model, **machine)
assert (round(my_step_ms(1, **model, **machine), 1), round(ridge)) == (10.5, 295)
assert round(1e3 * 2 * billions * 1e9 * 8 / machine["peak"], 1) == 0.3

rows = np.unique(np.logspace(0, 3.5, 60).astype(int))
best = Roofline("h100", billions, devices, bandwidth_efficiency=1, compute_efficiency=1, rule="max")
assert np.allclose(
    [best.ms(int(n)) for n in rows], [my_step_ms(n, **model, **machine) for n in rows]
)
figure, ax = plt.subplots(figsize=(6.4, 3))
ax.loglog(rows, [best.ms(int(n)) for n in rows], color=style.COLOURS["target"], label="roofline")
log = [
    (1, published.LLAMA_AR_MS),
    (7, published.LLAMA_SD_VERIFY_MS),
    (8, published.LLAMA_SSD.verify_ms),
]
log += [(8 * b, entry.verify_ms) for b, entry in published.LLAMA_BATCHES.items() if b > 1]
ax.plot(*zip(*log, strict=True), "o", color=style.COLOURS["draft"], markeredgecolor="black",
        label="published log")  # fmt: skip
ax.axvline(ridge, color="black", linestyle=":", linewidth=1)
ax.text(ridge * 1.15, 40, "computing counts", fontsize=8)
ax.text(ridge * 0.9, 40, "reading counts", fontsize=8, ha="right")
ax.set(xlabel="rows n of a forward", ylabel="ms", ylim=(8, 200))
ax.legend(loc="upper left")
plt.show()

# %% [markdown]
# *Figure: milliseconds of a forward against its rows, two logarithmic axes. The roofline is flat at 10.5 ms up
# to 295 rows, then rises. The points of a published log lie at 15 to 16 ms from 1 to 32 rows, above the
# line and nearly flat, too.*
#
# > **The published log says** (a reproduction on four H100): a step of one token takes 15 ms, a forward of
# > 8 tokens 15.03 ms.
#
# It is flat as the roofline says, and higher, since no kernel reaches the data sheet, and the devices have to
# talk to each other. So while one token is written, the arithmetic stands idle nearly all the time:

# %%
used = published.LLAMA_AR_MS / 1e3 * machine["peak"]
print(f"of the operations that fit into 15 ms, one token uses {2 * billions * 1e9 / used:.2%}")
assert 2 * billions * 1e9 / used < 0.005
assert published.LLAMA_SSD.verify_ms / published.LLAMA_AR_MS < 1.01

# %% [markdown]
# ## 8. Measure it here
#
# Does this hold for the small pair, on *your* processor? There the parameters fit into a cache, and reading
# them is not what takes the time; sending some hundred small operations from Python to the processor is.
# That cost, too, is paid once for each forward. We measure forwards of 1 to 9 rows, in turns (so that a
# disturbance hits all alike), and show medians with the middle half of the laps.


# %%
LAPS = 40
session = pair.target.start(prompt)
samples = {n: [] for n in range(1, 10)}
for _ in range(LAPS):
    for n, laps in samples.items():
        begin = time.perf_counter()
        session.extend(prompt[:n])
        laps.append(1e3 * (time.perf_counter() - begin))
        session.rewind(len(prompt))

ms = {n: np.percentile(laps[3:], [25, 50, 75]) for n, laps in samples.items()}
print("rows     ms  middle half of the laps  of one row  rows for the price of one")
for n in (1, 2, 5, 9):
    low, middle, high = ms[n]
    ratio = middle / ms[1][1]
    print(
        f"{n:4} {middle:6.2f}       {low:6.2f} to {high:6.2f}       {ratio:5.2f}   {n / ratio:7.1f}"
    )

# %%
figure, ax = plt.subplots(figsize=(5.6, 2.8))
x, (low, middle, high) = np.array(list(ms)), np.array(list(ms.values())).T
ax.errorbar(x, middle, [middle - low, high - middle], fmt="o", capsize=3,
            color=style.COLOURS["target"], label="measured")  # fmt: skip
ax.plot(x, middle[0] * x, ":", color=style.COLOURS["miss"], label="n single steps")
ax.set(
    xlabel="rows n of a forward", ylabel="ms", ylim=(0, middle[0] * 6), title=f"n = {LAPS - 3} laps"
)
ax.legend(loc="upper left")
plt.show()

# %% [markdown]
# *Figure: measured milliseconds of a forward of the embedded target against its rows, 1 to 9, with bars for
# the middle half of the laps. The points rise much more slowly than the dotted line of n single steps.*
#
# The figures are those of the machine that built this notebook, and of whatever else it was doing; on yours
# they differ. What should not differ is the shape.
#
# **What we learned.** A step costs a fixed price for touching the whole model, and little for each further row.
# AR pays the fixed price for every token. A *block* pays it once and gets the law after each of its tokens.
# But a block needs to know its tokens, and the second is not known before the first is drawn. If somebody
# could **guess** the next few tokens, the target could check them all at the price of one step.
#
# ## 9. Check yourself
#
# **1.** Why can the cache keep the keys and values of the past, although the text goes on growing?
#
# <details><summary>Answer</summary>
#
# Because of the causal mask: what stands at a position is computed from that position and earlier ones, so it
# does not change when tokens are added behind it.
#
# </details>
#
# **2.** A friend sets the temperature to 0 and sees the same text with a buggy and with a right decoder. Does
# that show that the decoder is right?
#
# <details><summary>Answer</summary>
#
# No. At temperature 0 only the largest logit counts; a law may be wrong in every entry and still have its
# largest one in the right place. Compare laws at a positive temperature.
#
# </details>
#
# **3.** Your GPU has twice the arithmetic and the same bandwidth as the old one. How much faster does AR become
# at batch 1?
#
# <details><summary>Answer</summary>
#
# Not at all, as far as the roofline goes: one row is bound by reading. More rows now fit under the roof, so
# guesses become cheaper to check.
#
# </details>
#
# ## What comes next
#
# Lesson 02: a small model guesses, the target checks all guesses in one forward - and the text still has
# exactly the target's law.
