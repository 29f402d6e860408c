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
# # 11 · Do we see what the paper saw?
#
# The paper on SSD has seven figures. Its models do not fit on our machine, and its curves are not published as
# numbers. But a figure makes statements - this rises, that crosses - and a statement can be looked for in a toy.
# Here is a toy version of each figure, and beside it one sentence on what agrees and one on what does not.
#
# **You will learn** to read a figure as a list of statements; to tell what a toy can confirm from what it cannot;
# to put published numbers beside a calibrated simulator without fooling yourself.
#
# **Time** about 60 minutes (an estimate). **You need** lessons 05 to 08, and 10 for the last figure.
#
# Three voices are kept apart: **The paper says**, **We derive**, **Open**.
#
# | symbol | meaning |
# |---|---|
# | $K$, $F$, $B$ | lookahead; guesses at a place (fan-out); guesses of a round (budget) |
# | $h$ | hit rate |
# | $C$ | weight of the guessed tokens in the draft's law (Saguaro) |
# | $b$, $b^*$ | batch; the critical batch |
# | $r$, $c$ | exponent and prefactor of the law of misses, $c F^{-r}$ |
#
# Scope: the embedded pair (3 million parameters, bytes, Python documentation), a simulator, and published figures
# of two large pairs. What the axes of the paper's Figures 4, 6 and 7 are, we know only second-hand.

# %%
from pydoc_data.topics import topics

import matplotlib.pyplot as plt
import numpy as np
import style
import torch

import ssd_ref
from sim import published
from sim.clock import Limit
from sim.frontier import fallback, frontier
from sim.presets import llama, qwen
from sim.theory import ssd_speed
from ssd_ref import SeededRandomness
from ssd_ref.laws import Law, saguaro
from ssd_ref.pair.corpus import HELD_OUT
from ssd_ref.saguaro import effect
from ssd_ref.ssd import Speculator
from ssd_ref.study.committed import load
from ssd_ref.testing import check
from ssd_ref.transcript import open_transcript
from ssd_ref.verification import Verifier

style.use()
torch.set_num_threads(1)  # for models this small, more threads only get in each other's way

# %% [markdown]
# ## 1. Time lines, and three bars (Figure 1)
#
# > **The paper says**: in SD draft and target take turns; in SSD the draft works beside the target, and decoding
# > is up to 2 times as fast as SD and up to 5 times as fast as AR (first version; the third says 30 % over the
# > strongest SD).
#
# A simulator calibrated on a published log of the Llama pair (70B on four H100, 1B on a fifth) draws both:

# %%
pair_70b = llama()
figure, axes = plt.subplots(2, 1, figsize=(9.5, 3.2), sharex=True)
kinds = {"verify": "target", "draft": "draft", "upkeep": "draft", "backup": "draft",
         "glue": "hit", "tree": "hit"}  # fmt: skip
for ax, method in zip(axes, ("sd", "ssd"), strict=True):
    log = pair_70b.run(method, Limit(rounds=5), keep_log=True).log
    lanes = {"target": [], "draft": []}
    for i in log:
        if i.kind in kinds:
            lane = "target" if i.kind == "verify" else "draft"
            lanes[lane].append((i.begin_ns / 1e6, (i.end_ns - i.begin_ns) / 1e6, kinds[i.kind]))
    style.time_line(ax, lanes, "ms")
    if method == "sd":
        drafting, verifying = (sum(ms for _, ms, _ in lanes[name]) for name in ("draft", "target"))
    ax.set_title(f"{method.upper()}: five rounds", loc="left")
axes[0].set_xlabel("")
style.legend(axes[0], {"target": "verifying", "draft": "drafting", "hit": "filling the cache"})
plt.show()
print(f"SD drafts for {drafting / verifying:.2f} of the time in which it verifies")
assert round(drafting / verifying, 1) == 0.8

# %% [markdown]
# *Figure: time lines of five rounds of SD and of SSD on the calibrated pair. In SD drafting and verifying
# alternate. In SSD the draft fills its cache under each verification.*

# %%
simulated = {m: pair_70b.run(m, Limit(rounds=2000)).tokens_per_s for m in ("ar", "sd", "ssd")}
sources = {
    "paper's table": published.LLAMA_TABLE,
    "reproduction": {"ar": published.LLAMA_AR, "sd": published.LLAMA_SD,
                     "ssd": published.LLAMA_SSD.tokens_per_s},
    "simulated": {m: rate.value for m, rate in simulated.items()},
}  # fmt: skip
figure, ax = plt.subplots(figsize=(6.4, 2.8))
for x, (role, method) in enumerate((("target", "ar"), ("draft", "sd"), ("hit", "ssd"))):
    for j, rates in enumerate(sources.values()):
        ax.bar(x + 0.27 * (j - 1), rates[method], 0.25, **style.look(role))
        ax.text(
            x + 0.27 * (j - 1), rates[method] + 4, f"{rates[method]:.0f}", ha="center", fontsize=8
        )
ax.set(xticks=range(3), xticklabels=["AR", "SD", "SSD"], ylabel="tokens/s", ylim=(0, 330))
ax.set_title("left: paper's table; middle: reproduction; right: simulated")
plt.show()
for name, rates in sources.items():
    print(
        f"{name:14} SSD/SD {rates['ssd'] / rates['sd']:.2f}   SSD/AR {rates['ssd'] / rates['ar']:.2f}"
    )

# %% [markdown]
# *Figure: three bars each for AR, SD and SSD: the paper's table, a reproduction and the simulator. The order is
# AR, SD, SSD in all three.*
#
# **Agrees**: the order, and SSD over SD between 1.5 and 1.6. **Does not**: the factor over AR depends on which AR is
# meant; the paper's table has 54.7 tokens/s, its Figure 1 about 66, and the reproduction 66.7. "Up to 5 times"
# comes near only with the slowest of them.

# %%
assert all(1.5 < rates["ssd"] / rates["sd"] < 1.6 for rates in sources.values())
factors = [
    published.LLAMA_TABLE["ssd"] / ar
    for ar in (published.LLAMA_TABLE["ar"], published.LLAMA_FIGURE_AR)
]
print("the table's SSD over AR:", [round(f, 2) for f in factors])
assert [round(f, 1) for f in factors] == [4.7, 3.9]

# %% [markdown]
# ### L11.1 (easy, 10 min) · Tokens of a round from a histogram
# A log gives `frequencies[k]`: the share of rounds in which $k$ drafts were accepted. Write
# `my_mean_tokens(frequencies)`: the mean tokens of a round. What is it for the published log? (Replace `...` by
# your version and run the cell: `check` names the smallest case that is wrong. It has no time limit. The
# solution is in the folded cell below.)
#
# <details><summary>Hint</summary>A round with k accepted drafts emits k + 1 tokens.</details>


# %%
def my_mean_tokens(frequencies): ...


check("L11.1", my_mean_tokens)

# %% jupyter={"source_hidden": true} tags=["solution"]
# Solution of L11.1


def my_mean_tokens(frequencies):
    return sum((k + 1) * share for k, share in enumerate(frequencies))


assert check("L11.1", my_mean_tokens)

# %%
mean = my_mean_tokens(published.LLAMA_ACCEPTED)
print(f"from the histogram {mean:.2f}, in the log's own table {published.LLAMA_SSD.tokens_hit}")
assert abs(mean - published.LLAMA_SSD.tokens_hit) < 0.01

# %% [markdown]
# ## 2. A trunk with branches (Figure 2)
#
# > **The paper says**: the cache is the drafted chain $d_1..d_K$ (the trunk) with $F_k$ branches at each place, each
# > a guessed bonus token and the chain that would follow it.
#
# The picture of lesson 05, with another round of the embedded pair, in which no guess was right:

# %%
pair = ssd_ref.load_pair()
prompts = [pair.tokenizer.encode(topics[name])[200:264] for name in HELD_OUT[:8]]
LOOKAHEAD, FAN_OUT = 4, [3, 2, 2, 2, 3]


def one_round(prompt, seed):
    """The speculation of round 1, its cache before the verdict, and the verdict."""
    text = open_transcript(pair.target, prompt, max_new_tokens=64)
    law, randomness = Law(), SeededRandomness(seed)
    speculator = Speculator(
        pair.draft, text.prompt, text.limits, LOOKAHEAD, law, randomness, fan_out=FAN_OUT
    )
    speculation = speculator.first()
    speculator.prepare()
    cache = {outcome: tuple(entry.tokens) for outcome, entry in speculator.cache.items()}
    return speculation, cache, Verifier(pair.target, text, law, randomness).verify(speculation)


def misses_in_the_middle(cache, outcome):
    return outcome not in cache and 0 < outcome.accepted < LOOKAHEAD


tried = (one_round(prompt, seed) for seed in range(20) for prompt in prompts)
speculation, cache, outcome = next(found for found in tried if misses_in_the_middle(*found[1:]))


def byte_name(token):
    return "end" if token == pair.tokenizer.end else style.shown(token).replace(" ", "␣")


figure, ax = plt.subplots(figsize=(9.5, 4.6))
style.tree(ax, speculation.tokens, cache, outcome, byte_name)
style.legend(ax, {role: style.TREE[role] for role in ("accepted", "bonus", "miss")}, hatched=False)
plt.show()

# %% [markdown]
# *Figure: the tree of a round that missed: a trunk of four drafted bytes, some of them accepted, and twelve branches,
# all prepared in vain.*
#
# **Agrees**: the shape is a matter of definition. **Does not**: in the picture all branches look alike; most of the
# probability lies on few (lesson 06).
#
# ## 3. How misses fall with the fan-out (Figure 3)
#
# > **The paper says**: on two logarithmic axes the miss rate falls along a line (Definition 11: $F^{-r}$), at each
# > temperature, after the primary as after the backup.
#
# Large sweeps are not run here: the curves are a table of the package, made by the command that it names, and a
# test fails when it was made with other weights. One point is measured live beside it.

# %%
misses = load("misses")
print({name: misses.head[name] for name in ("command", "weights")})
assert misses.head["weights"] == pair.hash
figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.2), sharey=True)
lines = {0.0: "-", 0.35: "--", 0.7: "-.", 1.0: ":"}
for ax, after in zip(axes, ("hit", "miss"), strict=True):
    for temperature, line in lines.items():
        rows = misses.where(lookahead=4, temperature=temperature, after=after)
        F, miss = [r["fan_out"] for r in rows], np.array([r["miss"] for r in rows])
        ends = [np.maximum(miss - [r["miss_low"] for r in rows], 0),
                np.maximum([r["miss_high"] for r in rows] - miss, 0)]  # fmt: skip
        ax.errorbar(F, miss, ends, linestyle=line, marker="o", markersize=3, capsize=2,
                    color=style.COLOURS[after], label=f"temperature {temperature:g}")  # fmt: skip
    role = {"hit": "after a hit", "miss": "after a miss (own draft as backup)"}[after]
    ax.set(xscale="log", yscale="log", xlabel="guesses F at the place that came", title=role)
    ax.set_xticks([1, 2, 4, 8, 16], [1, 2, 4, 8, 16])
axes[0].set_ylabel("share of misses")
axes[0].legend(fontsize=8)
plt.show()

# %% [markdown]
# *Figure: misses against fan-out on two logarithmic axes, after a hit and after a miss, one line for each of four
# temperatures, with intervals. All lines fall; the higher the temperature, the higher the line (0 and .35 begin together). After a hit they
# are not quite straight: they bend downwards.*

# %%
laws = load("laws")
print("temperature     c     r  [95 % interval]  slope 1-2   slope 4-8      n")
for temperature in lines:
    (row,) = laws.where(lookahead=4, temperature=temperature, after="all")
    interval = f"[{row['exponent_low']:.2f}, {row['exponent_high']:.2f}]"
    print(
        f"{temperature:11} {row['prefactor']:5.2f} {row['exponent']:5.2f}     {interval}  ", end=""
    )
    print(f"{row['slope_1_2']:9.2f} {row['slope_4_8']:11.2f} {row['exponent_n']:6}")
fitted = [laws.where(lookahead=4, temperature=t, after="all")[0] for t in lines]
assert all(row["slope_4_8"] > row["slope_1_2"] for row in fitted)  # they bend downwards
firsts = [
    misses.where(lookahead=4, temperature=t, after="all", fan_out=1)[0]["miss"] for t in lines
]
assert min(firsts) > 0.24 and max(firsts) < 0.52  # misses of the first guess

live = [
    ssd_ref.ssd(
        pair.target, pair.draft, prompt, max_new_tokens=60, lookahead=4, fan_out=[0] * 5,
        eos=pair.tokenizer.end, randomness=SeededRandomness(11, sequence),
    )
    for sequence, prompt in enumerate(prompts)
]  # fmt: skip
ranks = np.array([r.rank for run in live for r in run.rounds if r.rank is not None])
measured = (ranks >= 2).mean()
half = 1.96 * np.sqrt(measured * (1 - measured) / len(ranks))
(row,) = misses.where(lookahead=4, temperature=1.0, after="all", fan_out=2)
print(f"live, temperature 1, two guesses: {measured:.2f} ± {half:.2f} missed (n = {len(ranks)} rounds); "
      f"in the table {row['miss']:.2f}")  # fmt: skip

# %% [markdown]
# **Agrees**: misses fall like a power of the fan-out, faster at low temperature. **Does not**: the law needs a
# prefactor $c$ (with $c = 1$ the first guess would never hit; here it hits in half to three quarters of the rounds),
# and the lines bend downwards: between 4 and 8 guesses they are steeper than between 1 and 2.
#
# > **Open.** Perhaps they bend because a byte has only 256 neighbours, so that the tail runs out. We did not test it.
#
# ## 4. Hit rate against temperature (Figure 4)
#
# > **The paper says**: the hit rate falls with the temperature; the geometric fan-out (Theorem 12) is better than the
# > uniform one, most of all at high temperature; SSD stays above SD.

# %%
STEP = 0.2  # a draft step in verifications (stated); glue and tree steps count as one
BUDGET = 10
policies = load("policies")
assert policies.head["weights"] == pair.hash
figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.2))
looks = {"uniform": ("draft", "--s"), "geometric": ("hit", "-o"), "believed": ("bonus", ":^")}
speeds = {}
for name, (role, line) in looks.items():
    rows = [
        policies.where(lookahead=4, temperature=t, policy=name, budget=BUDGET)[0] for t in lines
    ]
    hit = np.array([r["hit"] for r in rows])
    ends = [hit - [r["hit_low"] for r in rows], [r["hit_high"] for r in rows] - hit]
    axes[0].errorbar(
        list(lines), hit, ends, fmt=line, capsize=2, color=style.COLOURS[role], label=name
    )
    speeds[name] = [ssd_speed(r["hit"], r["tokens_hit"], r["tokens_miss"], (1 + 4) * STEP, 4 * STEP)
                    for r in rows]  # fmt: skip
    axes[1].plot(list(lines), speeds[name], line, color=style.COLOURS[role], label=f"SSD, {name}")
speeds["SD"] = [r["tokens"] / (1 + 4 * STEP) for r in rows]
axes[1].plot(list(lines), speeds["SD"], "-", color=style.COLOURS["target"], label="SD")
axes[0].set(
    xlabel="temperature", ylabel="hit rate", ylim=(0, 1), title=f"K = 4, {BUDGET} guesses a round"
)
axes[1].set(xlabel="temperature", ylabel="tokens per verification", ylim=(0, None),
            title=f"by Theorem 7, draft step {STEP}")  # fmt: skip
axes[0].legend(loc="lower left")
axes[1].legend(loc="lower left", fontsize=8)
plt.show()
for name, values in speeds.items():
    print(f"{name:10}", " ".join(f"{value:.2f}" for value in values))
assert all(a > b for a, b in zip(speeds["geometric"], speeds["SD"], strict=True))

# %% [markdown]
# *Figure: left, hit rate against temperature for three policies with ten guesses a round, with intervals; all fall,
# and the one that looks at the round (believed) lies above the two fixed lists. Right: speed by Theorem 7 from
# those rates; the three lines of SSD lie above that of SD at every temperature.*

# %%
small, large = [], []
for t in lines:
    point = {
        n: policies.where(lookahead=4, temperature=t, policy=n, budget=BUDGET)[0] for n in looks
    }
    small.append(point["geometric"]["hit"] - point["uniform"]["hit"])
    large.append(point["believed"]["hit"] - point["geometric"]["hit"])
    half = (point["uniform"]["hit_high"] - point["uniform"]["hit_low"]) / 2
    print(f"temperature {t:4}: geometric - uniform {small[-1]:+.3f}, believed - geometric", end="")
    print(f" {large[-1]:+.3f}; half an interval {half:.3f}")
assert max(map(abs, small)) < 0.02 < min(large)

# %% [markdown]
# **Agrees**: hit rates fall with the temperature, and SSD stays above SD. (Speeds are lower at temperature 0 than at
# .35: greedy text of a small model repeats itself, and is cut where it begins to; what is left is harder.)
# **Does not**: a geometric list is no better than a uniform one here, within the intervals. What helps is to look at
# the round (believed).
#
# > **Open.** Why the geometric list gains nothing on this pair we did not take apart; lesson 06 has the pieces.
#
# ## 5. The price of predictability (Figure 5)
#
# > **The paper says**: lowering the draft's law on the tokens that will be guessed (Definition 14, weight $C$) raises
# > the hit rate and lowers acceptance; bars show target, draft and residual.
#
# First the bars, on five tokens; the draft's two favourites are guessed.

# %%
p = np.array([0.35, 0.30, 0.15, 0.12, 0.08])
q = np.array([0.45, 0.25, 0.15, 0.10, 0.05])
guessed = np.array([0, 1])
figure, axes = plt.subplots(1, 2, figsize=(9.5, 2.6), sharey=True)
for ax, C in zip(axes, (1.0, 0.4), strict=True):
    sigma = saguaro(q, guessed, C)
    residual = np.maximum(p - sigma, 0)
    for shift, heights, role in (
        (-0.27, p, "target"),
        (0, sigma, "draft"),
        (0.27, residual, "bonus"),
    ):
        ax.bar(np.arange(5) + shift, heights, 0.25, **style.look(role))
    e = effect(p, q, guessed.tolist(), C)
    ax.set(xticks=range(5), xticklabels=["a*", "b*", "c", "d", "e"], ylim=(0, 0.5))
    ax.set_title(f"C = {C:g}: accepted {e.accepted:.2f},\nrejected into a guess {e.cached:.2f}, "
                 f"elsewhere {e.missed:.2f}", fontsize=9)  # fmt: skip
axes[0].set_ylabel("probability")
style.legend(axes[1], {"target": "target", "draft": "draft", "bonus": "residual, not normalised"})
plt.show()
kept, moved = effect(p, q, [0, 1], 1.0), effect(p, q, [0, 1], 0.4)
assert moved.cached > kept.cached and moved.accepted < kept.accepted

# %% [markdown]
# *Figure: bars of target, draft and residual over five tokens, two of them guessed (marked with a star), for C = 1 and
# C = .4. With the smaller weight the draft's bars of the guessed tokens are lower, and nearly all of the residual
# lies on them.*
#
# Then the trade on the embedded pair, from a table of the package:

# %%
trade = load("saguaro")
assert trade.head["weights"] == pair.hash
figure, ax = plt.subplots(figsize=(6, 3.2))
for temperature, line in ((0.7, "-o"), (1.0, "--s")):
    rows = sorted(trade.where(temperature=temperature, budget=10), key=lambda r: r["saguaro_c"])
    x, y = [r["acceptance"] for r in rows], [r["hit"] for r in rows]
    ax.plot(x, y, line, color=style.COLOURS["hit"], label=f"temperature {temperature:g}")
    for r in rows:
        beside = {0.5: (-16, -10), 0.85: (-22, -3)}.get(r["saguaro_c"], (5, 2))  # in points
        ax.annotate(f"{r['saguaro_c']:g}", (r["acceptance"], r["hit"]), beside,
                    textcoords="offset points", fontsize=8)  # fmt: skip
ax.set(xlabel="acceptance rate", ylabel="hit rate", title="number: C; K = 4, ten guesses a round")
ax.legend()
plt.show()
for temperature in (0.7, 1.0):
    least, most = (
        trade.where(temperature=temperature, budget=10, saguaro_c=C)[0] for C in (0.1, 1.0)
    )
    assert least["hit_low"] > most["hit_high"] and least["acceptance_high"] < most["acceptance_low"]
    for r in sorted(trade.where(temperature=temperature, budget=10), key=lambda r: r["saguaro_c"]):
        v = ssd_speed(r["hit"], r["tokens_hit"], r["tokens_miss"], (1 + 4) * STEP, 4 * STEP)
        print(f"temperature {temperature}, C = {r['saguaro_c']:<4g}: accepted {r['acceptance']:.3f}, "
              f"hit {r['hit']:.3f} [{r['hit_low']:.3f}, {r['hit_high']:.3f}], speed {v:.3f}")  # fmt: skip

# %% [markdown]
# *Figure: hit rate against acceptance rate for six values of C at two temperatures. From C = 1 down to C = .1 the
# points wander to more hits and less acceptance, not without steps back: each C is a run of its own.*
#
# **Agrees**: a small $C$ buys hits with acceptance, at both temperatures. **Does not**: at the stated draft step it does not
# pay here; the speeds near $C = 1$ differ less than the intervals allow to tell apart, and $C = .1$ is slower than
# $C = 1$ (lesson 07 looks for the optimum).
#
# ## 6. Batches and the fallback (Figure 6)
#
# > **The paper says** (Theorem 17): with a slow, accurate backup speed falls as the batch grows, since one miss stalls
# > all; a fast backup makes fewer tokens but never waits; they cross at $b^*$.
#
# ### Predict before you run
# Every text hits with .8; the slow backup takes .3 of a verification and yields 4 tokens, the fast one takes no time
# and yields 1. Does the crossing come at a batch of about 4, 16 or 64?
#
# <details><summary>Answer</summary>
#
# At 4: a batch of 4 hits as a whole in $.8^4 = .41$ of its rounds only. (Theorem 17 says 3.98.)
#
# </details>

# %%
curve = fallback(hit=0.8, tokens=4.0, tokens_fast=1.0, t_p=0.8, t_b=0.3)


def draw_fallback(hit=0.8, t_b=0.3):
    """Speed per row against batch with both backups; 4 and 1 tokens on a miss."""
    curve = fallback(hit=hit, tokens=4.0, tokens_fast=1.0, t_p=0.8, t_b=t_b)
    _, ax = plt.subplots(figsize=(6, 2.8))
    ax.plot(curve.batches, curve.neural, "-o", color=style.COLOURS["draft"], label="slow backup")
    ax.plot(curve.batches, curve.fast, "--s", color=style.COLOURS["hit"], label="fast backup")
    if 1 <= curve.critical <= 16:
        ax.axvline(curve.critical, color="black", linestyle=":", label=f"b* = {curve.critical:.2f}")
    ax.set(xlabel="batch", ylabel="tokens of a text per verification", title=f"hit rate {hit:g}")
    ax.legend()
    plt.show()


draw_fallback()
assert np.isclose(curve.critical, 3.98, atol=0.005) and round(0.8**4, 2) == 0.41

# %% [markdown]
# *Figure: speed of a text against batch size. With the slow backup it falls, with the fast one it is constant; the
# lines cross at a batch of about 4.*
#
# **Try it**: sliders for the hit rate and the slow backup's time, if you run this notebook.

# %%
style.sliders(draw_fallback, hit=(0.5, 0.99, 0.01, 0.8), t_b=(0.05, 1.0, 0.05, 0.3))

# %% [markdown]
# ### L11.2 (easy, 10 min) · Where two measured curves cross
# Measured curves have no formula. Write `my_crossing(batches, slow, fast)`: the first batch at which the fast backup is
# at least as fast as the slow one, or `None`.
#
# <details><summary>Hint</summary>
#
# Go through the batches in order; `next` with a default.
#
# </details>


# %%
def my_crossing(batches, slow, fast): ...


check("L11.2", my_crossing)

# %% jupyter={"source_hidden": true} tags=["solution"]
# Solution of L11.2


def my_crossing(batches, slow, fast):
    return next((b for b, s, f in zip(batches, slow, fast, strict=True) if f >= s), None)


assert check("L11.2", my_crossing)

# %%
print(
    "first batch at which the fast backup is as good:",
    my_crossing(curve.batches, curve.neural, curve.fast),
)
assert my_crossing(curve.batches, curve.neural, curve.fast) == 4

# %% [markdown]
# **Agrees**: the curves cross, at a small batch. **Does not**: the toy supposes that the hit rate after a fast backup is
# the same, and that texts miss independently; $b^*$ is very sensitive to both (lesson 08).
#
# ## 7. End to end, and the frontier (Figure 7)
#
# > **The paper says**: over four data sets SSD decodes 1.58 times as fast as SD for the Llama pair, 1.49 times for the
# > Qwen pair; and its throughput-latency frontier lies outside of SD's.
#
# ### Predict before you run
# For the Qwen pair the simulator was fitted to *one* round time of SSD, at $K = 7$. How far off will it be for SSD at
# $K = 4$: 1 %, 10 % or 20 %? And for SD, whose draft step nobody published?
#
# <details><summary>Answer</summary>
#
# 1 % for SSD, and more than 20 % too fast for SD: its draft step had to be guessed from another figure. A
# model is as good as the number that you did not have.
#
# </details>

# %%
rows = []
for name, make, log in (
    ("Llama", llama, {"ar": published.LLAMA_AR, "sd": published.LLAMA_SD,
                      "ssd": published.LLAMA_SSD.tokens_per_s}),
    ("Qwen", qwen, {"ar": published.QWEN_AR, "sd": published.QWEN_SD, "ssd": published.QWEN_SSD[4]}),
):  # fmt: skip
    for method, measured in log.items():
        value = make().run(method, Limit(rounds=3000)).tokens_per_s.value
        rows.append((name, method, measured, value))
        print(f"{name:6} {method:3}  reproduction {measured:6.1f}  simulated {value:6.1f}  "
              f"{value / measured - 1:+.1%}")  # fmt: skip

errors = {(name, method): value / measured - 1 for name, method, measured, value in rows}
assert abs(errors["Llama", "ssd"]) < 0.05 and abs(errors["Qwen", "ssd"]) < 0.02
assert 0.2 < errors["Qwen", "sd"] < 0.27
figure, ax = plt.subplots(figsize=(6.4, 2.8))
roles = {"ar": "target", "sd": "draft", "ssd": "hit"}
for x, (_, method, measured, value) in enumerate(rows):
    ax.bar(x - 0.2, measured, 0.38, **style.look(roles[method]))
    ax.bar(x + 0.2, value, 0.38, **style.look("idle"))
ax.set_xticks(range(len(rows)), [f"{name}\n{method.upper()}" for name, method, *_ in rows])
ax.set_ylabel("tokens/s")
style.legend(ax, {"target": "AR", "draft": "SD", "hit": "SSD", "idle": "simulated"})
plt.show()

# %% [markdown]
# *Figure: bars of AR, SD and SSD for both pairs, the reproduction's in colour, the simulator's in grey beside them.*

# %%
points = frontier(pair_70b, [1, 2, 4, 8], rounds=100, jobs=1)
figure, ax = plt.subplots(figsize=(6.4, 3.2))
marks = {"ar": ("target", "-o"), "sd": ("draft", "--s"), "ssd": ("hit", ":^")}
for method, (role, mark) in marks.items():
    own = [point for point in points if point.method == method]
    x, y = [point.per_user.value for point in own], [point.per_device for point in own]
    ax.plot(x, y, mark, color=style.COLOURS[role], label=method.upper())
    for point, a, b in zip(own, x, y, strict=True):
        ax.annotate(f" {point.batch}", (a, b), fontsize=8)
ax.set(xlabel="tokens/s of one user", ylabel="tokens/s of one device", yscale="log")
ax.set_yticks([20, 50, 100, 200, 400], [20, 50, 100, 200, 400])
ax.set_yticks([], minor=True)
ax.legend(title="number: batch")
plt.show()
fastest = {m: max(p.per_user.value for p in points if p.method == m) for m in marks}
print("fastest for one user:", {m: f"{rate:.0f}" for m, rate in fastest.items()})
at = {(p.method, p.batch): p for p in points}
gains = {}
for batch in (1, 2, 4, 8):
    sd, ssd = at["sd", batch], at["ssd", batch]
    gains[batch] = (ssd.per_user.value / sd.per_user.value, ssd.per_device / sd.per_device)
    print(f"batch {batch}: SSD/SD per user {gains[batch][0]:.2f}, per device {gains[batch][1]:.2f}")
assert all(user > device for user, device in gains.values()) and gains[8][0] > 1 > gains[8][1]
assert fastest["ssd"] > fastest["sd"] > fastest["ar"]

# %% [markdown]
# *Figure: tokens/s of a device (log scale) against tokens/s of a user for AR, SD and SSD at batches 1 to 8. SSD
# reaches speeds for one user that SD does not.*
#
# **Agrees**: SSD extends the frontier to speeds that SD cannot reach. **Does not**: at the same batch the gain
# per *device* is smaller than per user, since SSD uses one device more; at a batch of 8 it is a loss (lesson 10).
#
# > **Open.** SD at a batch above 1 is not published for these pairs: everything there is a prediction.
#
# **What we learned.** Each of the seven figures has a statement that is found again in a toy. Three were not: here the
# misses do not fall along straight lines, the geometric list gains nothing (a look at the round does), and a smaller
# $C$ does not pay. What a toy cannot confirm is a number.
#
# ## 8. Check yourself
#
# **1.** Why is "up to 5 times as fast as AR" and "on average 4.7 times" not a contradiction, and what else must be
# asked?
#
# <details><summary>Answer</summary>
#
# A maximum and a mean. Ask which AR: with the AR of the paper's own Figure 1 it is 3.9 times.
#
# </details>
#
# **2.** Our Figure 3 has other exponents than the paper's. Does that refute Definition 11?
#
# <details><summary>Answer</summary>
#
# No: the exponent is a property of a pair of models and of a text. What we see is that a prefactor is needed, and that
# the line bends; whether the small vocabulary bends it, we did not test.
#
# </details>
#
# **3.** A vendor shows Figure 6 with a crossing at a batch of 8 and sells a fast backup "for batches from 8". Which
# measurement do you ask for first?
#
# <details><summary>Answer</summary>
#
# Tokens per round and hit rate *after the fast backup*, at that batch, on real texts: the crossing moves far for a
# small change of either.
#
# </details>
#
# ## What comes next
#
# The assignments, or a pair of models of your own. All that the lessons used is in `ssd_ref` and `sim`.
