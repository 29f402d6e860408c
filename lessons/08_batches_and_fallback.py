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
# # 08 · What if one miss stalls everyone?
#
# So far there was one text. A server decodes many at once, because one forward for eight texts costs
# far less than eight forwards. They then go in *lock-step*: all are verified together, and all go on
# together. If the cache of one text misses, somebody has to draft for it, and the others wait. What
# does that do to SSD, and what should draft after a miss?
#
# **You will learn** to say how often a batch waits; to decode a batch and to see that every text is
# the one that it is alone; to derive the batch size from which a worse backup is the better one, and
# to say how far such a number can be trusted.
#
# **Time** about 75 minutes (an estimate). **You need** lesson 05 (hit, miss, backup, Theorem 7).
#
# Three voices are kept apart: **The paper says** ("Speculative Speculative Decoding", Kumar, Dao and
# May 2026, section 4.3), **We derive** (a cell beside it checks it), **Open**.
#
# | symbol | meaning |
# |---|---|
# | $b$, $b^*$ | batch size; the size from which the fast backup is better |
# | $h$ | hit rate of one text (the paper's $p_{hit}$) |
# | $T_p$, $T_b$ | time to fill the caches, of the backup; **unit: one verification** |
# | $E_{hit}$, $E_{miss}$ | mean tokens of a round that was served from the cache, by the backup |
# | $N$ | mean tokens of a round with a given backup: $h E_{hit} + (1-h) E_{miss}$ |
# | index $n$, $f$ | with the slow, neural backup; with the fast one ($T_n$, $T_f$ are their $T_b$) |
# | $\rho$ | $N_n / N_f$: how many times as many tokens with the slow backup |

# %%
from itertools import pairwise, product

import matplotlib.pyplot as plt
import numpy as np
import style
import torch

import ssd_ref
from sim.published import LLAMA_DRAFT_STEP_MS, LLAMA_SSD
from sim.theory import batch_speed, critical_batch, stationary_hit_rate
from ssd_ref import SeededRandomness, TableModel, exact_law
from ssd_ref.batched import Numbered, Request, decode
from ssd_ref.pair.corpus import held_out_prompts
from ssd_ref.saguaro import BackupFigures, Threshold
from ssd_ref.testing import check, target_law

style.use()
torch.set_num_threads(1)  # for models this small, more threads only get in each other's way

# %% [markdown]
# ## 1. Lock-step
#
# Four texts, and for each round whether it hits. In lock-step the round of the batch is as long as
# the longest of its texts' rounds: a miss anywhere costs everybody the backup's time.

# %%
FILL, BACKUP = 0.8, 0.8  # time to fill the caches, and of the backup, in verifications
HITS = np.array([[1, 1, 0, 1, 1], [1, 1, 1, 1, 1], [1, 0, 1, 1, 1], [1, 1, 1, 0, 1]])  # text, round


def my_lock_step(hits, fill, backup):
    """How long each round of the batch takes: the rows of `hits` are texts, the columns rounds."""
    return [max(1, fill) if column.all() else 1 + backup for column in hits.T]


times = my_lock_step(HITS, FILL, BACKUP)
one_by_one = [sum(my_lock_step(row[None], FILL, BACKUP)) for row in HITS]
print("rounds of the batch:", times, "together", round(sum(times), 1))
print("each text alone:    ", [round(t, 1) for t in one_by_one])
assert sum(times) > max(one_by_one)

# %% [markdown]
# The batch waits three times, although no text misses more than once: what is rare for one is common
# for many.
#
# ### Predict before you run
# One text hits in 90 % of its rounds. In how many of its rounds does a batch of 8 *not* wait?
#
# <details><summary>Answer</summary>
#
# All eight must hit: $.9^8 = .43$. In 57 % of its rounds the batch waits.
#
# </details>
#
# > **The paper says** (section 4.3): with hit rate $h$ a batch of $b$ does not wait with probability
# > $h^b$; a row's tokens per verification time (Corollary 16) are then
# >
# > $$\text{speed}(b) = \frac{h E_{hit} + (1-h) E_{miss}}{h^b \max(1, T_p) + (1 - h^b)(1 + T_b)} .$$

# %%
sizes = np.arange(1, 33)
figure, axes = plt.subplots(1, 2, figsize=(9.5, 3))
for h, line in ((0.95, "-"), (0.9, "--"), (0.75, ":")):
    axes[0].plot(sizes, h**sizes, line, color=style.COLOURS["hit"], label=f"hit rate {h}")
    speed = [batch_speed(h, 4, 3, 1, BACKUP, int(b)) for b in sizes]
    axes[1].plot(sizes, speed, line, color=style.COLOURS["target"], label=f"hit rate {h}")
axes[0].set(xlabel="batch size b", ylabel="share of rounds without waiting", ylim=(0, 1))
axes[1].set(xlabel="batch size b", ylabel="tokens per verification, a text")
axes[0].legend()
plt.show()
assert round(0.9**8, 2) == 0.43

# %% [markdown]
# *Figure: left, the share of rounds in which nobody waits falls with the batch size, for hit rates
# .95, .9 and .75; at .75 it is near 0 from 16 texts on. Right, the speed of a text falls with it,
# to the level at which every round waits.*
#
# **What we learned.** In a large batch nearly every round waits, whatever the hit rate: SSD is back
# at drafting in time, as SD does.
#
# ## 2. A batch is its texts
#
# The package's `ssd_ref.batched` decodes in lock-step. Each text has a *sequence number* of its own,
# by which its random draws are addressed; whoever its neighbours are, it is the text that it is
# alone. Four texts over tables, the last of which joins before round 3:

# %%
P = TableModel([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.3, 0.3, 0.4]])
Q = TableModel([[0.3, 0.3, 0.4], [0.2, 0.5, 0.3], [0.3, 0.4, 0.3]])
TABLE = {"method": "ssd", "lookahead": 2, "fan_out": [1, 1, 2]}


def source(sequence):
    return SeededRandomness(4, sequence)


requests = [Request([n % 3], n, 8 + 2 * n) for n in range(4)]
decoded = decode(P, Q, requests[:3], joins={3: requests[3:]}, randomness=source, **TABLE)
for request in requests:
    alone = ssd_ref.ssd(
        P, Q, request.prompt, max_new_tokens=request.max_new_tokens, lookahead=2,
        fan_out=[1, 1, 2], randomness=source(request.sequence),
    )  # fmt: skip
    text = decoded[request.sequence]
    assert (text.tokens, text.rounds) == (alone.tokens, alone.rounds)
    print(request.sequence, "".join("abc"[t] for t in text.tokens))
for r in decoded.rounds:
    print(f"round {r.round}: {dict(zip(r.sequences, r.served_by, strict=True))}, "
          f"waited for {r.waited} draft steps")  # fmt: skip

# %% [markdown]
# `waited` counts the forwards of the draft that had to be finished before the batch could be verified.
# One such forward serves all texts that need it. Text 3 comes in without a cache: its first round
# makes the others wait, as a miss would.
#
# And the law? The joint law of two texts must be the product of their laws. For tables the enumerator
# of lesson 03 tells, with one source of draws for both:


# %%
def my_both(randomness, **settings):
    """Two texts of two tokens, in one batch; written one behind the other."""
    two = [Request([0], 0, 2), Request([1], 1, 2)]
    result = decode(
        P, Q, two, randomness=lambda sequence: Numbered(randomness, sequence),
        **{"method": "ssd", "lookahead": 1, "fan_out": [1, 1], **settings},
    )  # fmt: skip
    return result[0].tokens + result[1].tokens


def my_product():
    """What it should be: each text by the target alone."""
    first, second = (target_law(P, [start], max_new_tokens=2) for start in (0, 1))
    return {a + b: first[a] * second[b] for a, b in product(first, second)}


def my_gap(law, other):
    return sum(abs(law.get(key, 0) - other.get(key, 0)) for key in law.keys() | other.keys()) / 2


law = exact_law(my_both)
print(f"{len(law)} pairs of texts; total variation to the product {my_gap(law, my_product()):.0e}")
assert my_gap(law, my_product()) < 1e-12

# %% [markdown]
# ## 3. Is it really $h^b$?
#
# The embedded pair, 24 texts of the held-out documentation at temperature 1, in batches of 8. In the
# picture a column is a round of the batch, and a row a text.

# %%
TEXTS, TOKENS, BATCH, LOOKAHEAD = 24, 48, 8, 4
FAN_OUT = [2, 2, 2, 2, 4]  # guesses at k = 0..4
BLIND = [12, 0, 0, 0, 0]  # after a blind guess nearly always k = 0
pair = ssd_ref.load_pair()
prompts = held_out_prompts(TEXTS)


def runs_of(**settings):
    """All texts, in batches of BATCH."""
    found = []
    for begin in range(0, TEXTS, BATCH):
        numbers = range(begin, begin + BATCH)
        found.append(decode(
            pair.target, pair.draft, [Request(prompts[n], n, TOKENS) for n in numbers],
            randomness=lambda sequence: SeededRandomness(0, sequence), method="ssd",
            lookahead=LOOKAHEAD, fan_out=FAN_OUT, **settings,
        ))  # fmt: skip
    return found


def later_rounds(runs):
    """The rounds of each text, the first left out: it has no cache."""
    return [run.texts[n].rounds[1:] for run in runs for n in sorted(run.texts)]


slow_runs = runs_of()
slow = later_rounds(slow_runs)

ROLE = {"first": "draft", "cache": "hit", "backup": "miss"}
shown = slow_runs[0]
figure, ax = plt.subplots(figsize=(9.5, 2.6))
for r in shown.rounds:
    for sequence, by in zip(r.sequences, r.served_by, strict=True):
        ax.bar(r.round, 0.8, bottom=sequence - 0.4, width=0.8, **style.look(ROLE[by]))
    if r.stalled:
        ax.text(r.round, BATCH - 0.1, "waits", ha="center", fontsize=7)
ax.set(xlabel="round of the batch", ylabel="text", yticks=range(BATCH))
style.legend(ax, {"draft": "first round", "hit": "hit", "miss": "miss"})
plt.show()
stalled = np.mean([r.stalled for r in shown.rounds[1:]])
one_text = np.mean([r.served_by == "backup" for rounds in slow[:BATCH] for r in rounds])
print(f"this batch waits in {stalled:.0%} of its rounds; a text of it misses in {one_text:.0%}")

# %% [markdown]
# *Figure: a grid of eight texts by the rounds of the batch. Green is a hit, vermilion a miss; over
# most columns stands "waits", since there is a miss in it. Texts that end early leave the batch, and
# towards the end columns are shorter.*
#
# With the draft as backup and no Saguaro a text does not depend on its neighbours. So one recording
# tells how often *any* group of these texts would have waited: we draw groups of $b$ texts and count.


# %%
def my_all_hit(texts, b, rng, groups=400):
    """Share of rounds in which b texts, drawn anew, all hit (while none of them has ended)."""
    all_hit = []
    for _ in range(groups):
        chosen = rng.choice(len(texts), size=b, replace=False)
        columns = zip(*(texts[i] for i in chosen), strict=False)
        all_hit += [all(r.served_by == "cache" for r in column) for column in columns]
    return np.mean(all_hit)


def interval_of(texts, statistic, rng, n=200):
    """95 % interval of a statistic, by drawing texts with replacement (texts, not rounds)."""
    draws = [statistic([texts[i] for i in rng.integers(len(texts), size=len(texts))])
             for _ in range(n)]  # fmt: skip
    return np.percentile(draws, [2.5, 97.5])


def share_of_hits(texts):
    return np.mean([r.served_by == "cache" for rounds in texts for r in rounds])


h = share_of_hits(slow)
low, high = interval_of(slow, share_of_hits, np.random.default_rng(0))
print(f"hit rate {h:.2f} [{low:.2f}, {high:.2f}] (n={len(slow)} texts, "
      f"{sum(map(len, slow))} rounds)")  # fmt: skip
counted = {b: my_all_hit(slow, b, np.random.default_rng(b)) for b in (1, 2, 4, 8)}
figure, ax = plt.subplots(figsize=(5.6, 3))
ax.plot(np.arange(1, 9), h ** np.arange(1, 9), color=style.COLOURS["target"], label="$h^b$")
ax.fill_between(np.arange(1, 9), low ** np.arange(1, 9), high ** np.arange(1, 9),
                color=style.COLOURS["accepted"], alpha=0.4, label="95 % interval of $h$")  # fmt: skip
ax.plot(list(counted), list(counted.values()), "o", color=style.COLOURS["hit"], label="counted")
ax.set(xlabel="batch size b", ylabel="share of rounds without waiting", ylim=(0, 1))
ax.set_title(f"n={len(slow)} texts, temperature 1", loc="left")
ax.legend()
plt.show()
for b, share in counted.items():
    print(f"b={b}: counted {share:.2f}, h^b {h**b:.2f}")

# %% [markdown]
# *Figure: h to the power of b as a falling curve, in a band for what is not known about h, and four
# counted points, for b = 1, 2, 4 and 8, near it.*
#
# The points follow the power law because the texts are *different*: whether one misses tells nothing
# about another. What if they are alike - the same task, the same hard passage in the same round?
#
# > **We derive.** If a round has a hit rate $H$ of its own that all texts share, the batch does not
# > wait with probability $\mathbb E[H^b]$, and by Jensen's inequality that is at least
# > $(\mathbb E H)^b$: misses that come together hurt less. That a text's misses cluster in *time*
# > changes nothing at all.

# %%
shared = np.array([0.95, 0.65])  # easy and hard rounds, equally many
for b in (2, 4, 8):
    print(f"b={b}: alike {np.mean(shared**b):.2f}, independent {np.mean(shared) ** b:.2f}")
    assert np.mean(shared**b) > np.mean(shared) ** b

# %% [markdown]
# ## 4. Two backups
#
# Who drafts after a miss? The draft, in time: good guesses, and everyone waits for them ($T_b$ is the
# time of $K$ draft steps). Or something that takes no time: a blind guess, or a look-up of what
# followed the last tokens earlier in the text. Then nobody waits, and the text that missed loses its
# round: most of the blind guess is rejected. In a large batch that is a good trade: one text loses a
# little, and all others save the wait.
#
# We decode the same prompts with the blind backup, and read off both sides of the trade.

# %%
fast_runs = runs_of(backup="uniform", fan_out_miss=BLIND)
fast = later_rounds(fast_runs)
T_N = 0.8  # the draft's K steps, in verifications: stated, not measured


def figures_of(texts, latency):
    """Hit rate, tokens of a round on a hit and on a miss, and the backup's latency."""
    return BackupFigures.of([r for rounds in texts for r in rounds], latency)


neural, blind = figures_of(slow, T_N), figures_of(fast, 0.0)
for name_of, f in (("draft", neural), ("blind", blind)):
    print(f"backup {name_of}: hit rate {f.hit:.2f}, tokens on a hit {f.tokens_hit:.2f}, "
          f"on a miss {f.tokens_miss:.2f}, of a round N = {f.tokens:.2f}")  # fmt: skip
waited = [sum(r.stalled for run in runs for r in run.rounds[1:]) for runs in (slow_runs, fast_runs)]
late = sum(r.waited for run in fast_runs for r in run.rounds[1:])
print(f"rounds that waited: {waited[0]} with the draft, {waited[1]} with the blind backup")
assert waited[0] > 0 and late == 0

# %% [markdown]
# > **We derive.** Both speeds have their own $N$ over their own time. With $T_p \le 1$ and a fast
# > backup that takes no time, a round of the fast one takes 1, and a round of the slow one
# > $1 + (1 - h_n^b)\, T_n$. The fast one is better as soon as
# >
# > $$N_f \ge \frac{N_n}{1 + (1 - h_n^b) T_n} \iff h_n^b \le 1 - \frac{\rho - 1}{T_n}
# > \iff b \ge b^* = \frac{\ln\bigl(1 - (\rho-1)/T_n\bigr)}{\ln h_n} .$$
# >
# > If $\rho \le 1$ the fast one always wins; if $\rho - 1 \ge T_n$ the slow one does, in any batch.
#
# > **The paper says** (Theorem 17): so use the slow, accurate backup below $b^*$, and the fast one
# > from there on.
#
# $b^*$ need not be whole: with $b^* = 2.99$ the policy changes at 3 texts. `critical_batch` computes
# the formula, and the check is to try all sizes. First with round numbers, where the fast backup
# gets 1 token of a missed round and both have the same hit rate:


# %%
def my_b_star(hit, tokens_hit, tokens_fast_miss, t_n):
    """The formula, for a slow backup whose rounds are as good as hits."""
    rho = tokens_hit / (hit * tokens_hit + (1 - hit) * tokens_fast_miss)
    return np.log(1 - (rho - 1) / t_n) / np.log(hit)


for hit, t_n, expected in ((0.9, 0.3, 2.99), (0.8, 0.3, 3.98), (0.7, 0.5, 2.44)):
    b_star = my_b_star(hit, 4, 1, t_n)
    by_trying = next(
        b for b in range(1, 99)
        if batch_speed(hit, 4, 1, 1, 0, b) >= batch_speed(hit, 4, 4, 1, t_n, b)
    )  # fmt: skip
    print(f"hit rate {hit}, T_n {t_n}: b* = {b_star:.2f}; by trying all sizes {by_trying}")
    assert round(b_star, 2) == expected and by_trying == np.ceil(b_star)
    assert np.isclose(b_star, critical_batch(hit, 4, hit * 4 + (1 - hit), t_n))

# %% [markdown]
# ### Predict before you run
# The drafter becomes slower: $T_n$ grows, all else is as before. Does $b^*$ rise or fall?
#
# <details><summary>Answer</summary>
#
# It falls. A slower backup makes each wait longer, so it is given up in smaller batches already.
#
# </details>
#
# Now the embedded pair, with the figures above:


# %%
def draw_backups(neural, blind, ax):
    """Speed of a text against batch size with both backups, and where they cross."""
    sizes = np.arange(1, 17)
    for f, role, label in ((neural, "draft", "draft in time"), (blind, "miss", "blind guess")):
        speed = [f.tokens / f.round_time(int(b), 1.0) for b in sizes]
        ax.plot(sizes, speed, "o-", ms=3, color=style.COLOURS[role], label=label)
    b_star = Threshold(neural, blind).critical_batch()
    if b_star is not None:
        ax.axvline(b_star, color="black", lw=0.8, ls=":")
    ax.set(xlabel="batch size b", ylabel="tokens per verification, a text")
    ax.set_title(f"fast from b = {b_star} on", loc="left")
    ax.legend(title="backup")


figure, axes = plt.subplots(1, 2, figsize=(9.5, 3))
draw_backups(neural, blind, axes[0])
draw_backups(BackupFigures(0.8, 4, 4, 0.3), BackupFigures(0.8, 4, 1, 0.0), axes[1])
plt.show()

# %% [markdown]
# *Figure: two panels, each with a falling curve of the draft as backup and a level line of the blind
# guess. Left the embedded pair: the level line is the higher one from the first text on. Right hit
# rate .8 and a backup that takes .3 of a verification: they cross at 4 texts. A dotted line marks
# the batch size from which the level line is the higher one.*
#
# **Try it**: if you run this notebook, the sliders below turn the numbers of the right panel.


# %%
def with_numbers(hit=0.8, t_n=0.3, tokens=4.0):
    """The right panel with other numbers: hit rate, the draft's time, tokens of a good round."""
    _, ax = plt.subplots(figsize=(5, 3))
    good = BackupFigures(hit, tokens, tokens, t_n)
    draw_backups(good, BackupFigures(hit, tokens, 1, 0.0), ax)
    plt.show()


style.sliders(
    with_numbers, hit=(0.5, 0.95, 0.05, 0.8), t_n=(0.1, 1.0, 0.1, 0.3), tokens=(1.5, 6.0, 0.5, 4.0)
)

# %% [markdown]
# The slow backup loses with every text that joins, the fast one does not. On the embedded pair the
# fast one wins even for a single text. Two reasons: the draft was said to be slow beside its target
# ($T_n = .8$); and after a blind guess all twelve guesses stand at $k = 0$, where the next outcome
# nearly always is, so that the round after a miss hits more often than after a draft. How fast would
# the draft have to be, to be worth waiting for at $b = 1$? Put $b^* = 1$ into the formula:

# %%
rho = neural.tokens / blind.tokens
least_t_n = (rho - 1) / (1 - neural.hit)
print(f"rho = {rho:.2f}: the draft is worth waiting for, alone, if T_n < {least_t_n:.2f}")
assert np.isclose(critical_batch(neural.hit, neural.tokens, blind.tokens, least_t_n), 1)
after = {}
for name_of, texts in (("draft", slow), ("blind", fast)):
    pairs = [(a, b) for rounds in texts for a, b in pairwise(rounds)]
    after[name_of] = np.mean([b.served_by == "cache" for a, b in pairs if a.served_by == "backup"])
    print(f"hit rate after a miss, backup {name_of}: {after[name_of]:.2f}")
assert after["blind"] > after["draft"] and sum(FAN_OUT) == sum(BLIND)

# %% [markdown]
# **What we learned.** Where $\rho - 1$ is small against $T_n$, waiting does not pay. How accurate is
# $b^*$?
#
# ## 5. How far to trust $b^*$
#
# Each of its ingredients is measured, or assumed. Turn each by 10 % and look:


# %%
def with_change(values, name, factor):
    """b* for (hit, tokens of the slow backup, of the fast one, T_n), one of them changed."""
    changed = {**values, name: values[name] * factor}
    changed["hit"] = min(changed["hit"], 0.999)
    return critical_batch(changed["hit"], changed["N_n"], changed["N_f"], changed["T_n"])


CASES = {
    "round numbers": {"hit": 0.8, "N_n": 4.0, "N_f": 0.8 * 4 + 0.2 * 1, "T_n": 0.3},
    "embedded pair": {"hit": neural.hit, "N_n": neural.tokens, "N_f": blind.tokens, "T_n": T_N},
}
MOST = 12.0  # bars end here
figure, axes = plt.subplots(1, 2, figsize=(9.5, 2.6))
for ax, (title, values) in zip(axes, CASES.items(), strict=True):
    middle = critical_batch(values["hit"], values["N_n"], values["N_f"], values["T_n"])
    for y, key in enumerate(values):
        ends = sorted(min(with_change(values, key, f), MOST) for f in (0.9, 1.1))
        ax.barh(y, ends[1] - ends[0], left=ends[0], **style.look("target"))
        more = " or more" if ends[1] == MOST else ""
        ax.text(ends[1] + 0.1, y, f"{ends[0]:.1f} to {ends[1]:.1f}{more}", va="center", fontsize=8)
        print(f"{title}, {key} by 10 %: b* from {ends[0]:.2f} to {ends[1]:.2f}{more}")
    ax.axvline(middle, color="black", lw=0.8)
    ax.set(yticks=range(len(values)), yticklabels=["h", "$N_n$", "$N_f$", "$T_n$"])
    ax.set(xlim=(0, MOST + 5), xlabel="b*", title=f"{title}: b* = {middle:.2f}")
plt.show()

# %% [markdown]
# *Figure: for each case four bars, how far the critical batch moves if the hit rate, the tokens of a round with the
# slow or the fast backup, or the slow one's latency is 10 % lower or higher. With the round numbers
# the bars of the two token counts reach from about 1 to beyond the axis. On the embedded pair all
# bars stay below 1.*
#
# What matters is $\rho - 1$, a small difference of two large numbers: with the round numbers 10 %
# in either turn "the fast one, always" into "the slow one, always". On the embedded pair the number
# is as unsteady, but the decision is not: all of it lies below one text. And how well do we know the
# numbers? Texts drawn anew, with replacement, each with both backups:

# %%
rng, stars = np.random.default_rng(1), []
for _ in range(300):
    chosen = rng.integers(TEXTS, size=TEXTS)
    n, f = (figures_of([texts[i] for i in chosen], 0.0) for texts in (slow, fast))
    stars.append(critical_batch(n.hit, n.tokens, f.tokens, T_N))
star = critical_batch(neural.hit, neural.tokens, blind.tokens, T_N)
low, high = np.percentile(stars, [2.5, 97.5])
wide = interval_of(slow, lambda texts: figures_of(texts, 0.0).tokens, np.random.default_rng(2))
print(f"N_n = {neural.tokens:.2f} [{wide[0]:.2f}, {wide[1]:.2f}]")
print(f"embedded pair: b* = {star:.2f}, 95 % interval [{low:.2f}, {high:.2f}] (n={TEXTS} texts)")
assert low <= star <= high

# %% [markdown]
# And with numbers that others published? A log of the Llama pair (70B with 1B, one text at a time)
# has the hit rate, the tokens and the times of the draft as backup. The hit rate after a *fast*
# backup is in none; we put in a low and a high one, and 1 token for a missed round.

# %%
llama, steps = LLAMA_SSD, 7
t_n = steps * LLAMA_DRAFT_STEP_MS / llama.verify_ms
tokens_n = llama.hit * llama.tokens_hit + (1 - llama.hit) * llama.tokens_miss
for after_fast in (0.6, 0.94):
    h_f = stationary_hit_rate(llama.hit, after_fast)
    tokens_f = h_f * llama.tokens_hit + (1 - h_f) * 1
    b_star = critical_batch(llama.hit, tokens_n, tokens_f, t_n)
    print(f"hit rate after a fast backup {after_fast}: in all {h_f:.2f}, b* = {b_star:.2f}")
    assert 0.6 < b_star < 1.3

# %% [markdown]
# > **Open.** About one text: the fast backup nearly always, as on our pair. The paper's figure shows
# > a crossing within the batch sizes that it tries. We cannot say which ingredient differs. And
# > the formula does not count that verification itself, and filling, take longer for more texts.
#
# ## 6. The policy at work
#
# In the package the policy is an argument: `backup_for`, a function of the number of texts that
# would wait. `Threshold` computes it from both backups' figures, by trying, not by the formula: so
# the fast one may have a hit rate and a latency of its own. Here on the tables, where the backup is
# blind while two or more texts wait:


# %%
def policy(b):
    return "draft" if b < 2 else "uniform"


law = exact_law(lambda randomness: my_both(randomness, fan_out=[0, 1], backup_for=policy))
assert my_gap(law, my_product()) < 1e-12

many = [Request([0], n, 24) for n in range(3)]
lists = {"method": "ssd", "lookahead": 2, "fan_out": [1, 0, 1], "randomness": source}
texts = {
    (size, name_of): decode(P, Q, many[:size], **lists, **settings)[0].tokens
    for size in (1, 3)
    for name_of, settings in (("draft", {}), ("policy", {"backup_for": policy}))
}
for key, tokens in texts.items():
    print(key, "".join("abc"[t] for t in tokens))
assert texts[1, "draft"] == texts[3, "draft"] == texts[1, "policy"] != texts[3, "policy"]

# %% [markdown]
# With the policy the *text* of sequence 0 depends on how many neighbours it has, since another
# backup draws other guesses. Its *law* does not: the enumerator finds the product again. The
# policy looks at the number of texts, never at an untested draft; that is what lesson 05's condition
# A3 asks for.
#
# ## 7. What a batch needs: memory
#
# Each text has a KV cache of its own. Before a verification $K+1$ positions must be free for each
# text, whatever will be accepted; to plan with the mean would fail when all go well at once.

# %%
needed, draft_needed = slow_runs[0].target_memory, slow_runs[0].draft_memory
print(f"target: {needed.bytes / 2**20:.1f} MiB allocated for {BATCH} texts, "
      f"{needed.positions} positions in use at most, {slow_runs[0].reserved} reserved")  # fmt: skip
print(f"draft:  {draft_needed.bytes / 2**20:.1f} MiB, {draft_needed.positions} positions, "
      "branches included")  # fmt: skip
assert needed.positions <= slow_runs[0].reserved

# %% [markdown]
# Does batching pay, then? One forward for many texts costs less than many forwards; how much less
# depends on the machine. `python -m ssd_ref.batched.bench` measures it on yours.
#
# ## 8. Exercises
#
# Replace `...` by your version and run the cell: `check` says whether it is right, and if not, names
# the smallest case that is wrong. The solution is in the folded cell below.
#
# ### L08.1 (easy, 5 min) · How large may the batch be?
# Write `my_largest_batch(hit, share)`: the largest batch in which at least the share `share` of the
# rounds does not wait (0 if there is none; both numbers lie between 0 and 1, ends excluded).
#
# <details><summary>Hint</summary>
#
# $h^b \ge s$; take logarithms, and mind the sign.
#
# </details>


# %%
def my_largest_batch(hit, share): ...


check("L08.1", my_largest_batch)

# %% jupyter={"source_hidden": true} tags=["solution"]
# Solution of L08.1


def my_largest_batch(hit, share):
    b = 0
    while hit ** (b + 1) >= share:
        b += 1
    return b


assert check("L08.1", my_largest_batch)

# %% [markdown]
# ### L08.2 (medium, 10 min) · The batch's clock
# A recording of a batch is a list of rounds, each a list of who served its texts, as in
# `BatchRound.served_by`. Write `my_clock(rounds, t_p, t_n)`: the time of the whole in verifications,
# if first rounds and misses are drafted in time `t_n` and preparing takes `t_p` (it is broken off
# when the batch has to wait).
#
# <details><summary>Hint</summary>
#
# Whether a round *begins* with drafting depends on its own `served_by`; whether the verification
# before it was overlapped to the end, on the next round's.
#
# </details>


# %%
def my_clock(rounds, t_p, t_n): ...


check("L08.2", my_clock)

# %% jupyter={"source_hidden": true} tags=["solution"]
# Solution of L08.2


def my_clock(rounds, t_p, t_n):
    total = 0.0
    for i, served_by in enumerate(rounds):
        waits = any(by != "cache" for by in served_by)
        total += 1 + t_n if waits else 1
        if not waits and i > 0:  # the caches of the round before had to be filled to the end
            total += max(1, t_p) - 1
    return total


assert check("L08.2", my_clock)
times = [my_clock([r.served_by for r in run.rounds], FILL, T_N) for run in slow_runs]
print("the three batches of section 3 take", [round(t, 1) for t in times], "verifications")

# %% [markdown]
# ### L08.3 (harder, 15 min) · A fast backup that is not free
# The look-up takes time $T_f < T_n$, and after it the hit rate is $h_f$ instead of $h_n$. Write
# `my_least_batch(slow, fast)`, with both as tuples $(h, N, T)$: the least $b$ up to 1,000 at which
# the fast one is at least as good, or `None`. There is no closed form.
#
# <details><summary>Hint</summary>
#
# Compare $N_f / (1 + (1-h_f^b) T_f)$ with the same for the slow one, for $b = 1, 2, ...$
#
# </details>


# %%
def my_least_batch(slow, fast): ...


check("L08.3", my_least_batch)

# %% jupyter={"source_hidden": true} tags=["solution"]
# Solution of L08.3


def my_least_batch(slow, fast):
    def speed(hit, tokens, latency, b):
        return tokens / (1 + (1 - hit**b) * latency)

    return next((b for b in range(1, 1001) if speed(*fast, b) >= speed(*slow, b)), None)


assert check("L08.3", my_least_batch)

# %% [markdown]
# ## 9. Check yourself
#
# **1.** The hit rate is .97. Somebody says that waiting can be neglected. When are they right?
#
# <details><summary>Answer</summary>
#
# In small batches. For 8 texts $.97^8 = .78$: one round in five waits; for 32 texts three in five.
#
# </details>
#
# **2.** Why may a text be cancelled in the middle of a batch without changing any other text?
#
# <details><summary>Answer</summary>
#
# Every draw is addressed by the sequence number of its text and its place in that text, and each
# text has its own cache, transcript and actors. Neighbours share forwards, and a forward computes
# each text's rows from that text alone. (In single precision a forward of other texts may differ
# in its last digits; a draw on the very border of two tokens can then fall on the other side.) Under
# a policy that looks at the batch size, the text may change; its law does not.
#
# </details>
#
# **3.** The measured $b^*$ is 3. You run batches of 4. Is the fast backup the right choice?
#
# <details><summary>Answer</summary>
#
# One cannot say yet: near $b^*$ both are equally good by definition, so the choice matters little
# there, and an error of a few per cent in the tokens of a round moves $b^*$ far. Measure both at the
# batch size that you run.
#
# </details>
#
# ## What comes next
#
# All times here were counted in verifications, and computed. Lesson 09 lets two processes run and
# looks at the clock.
