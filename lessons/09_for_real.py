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
# # 09 · Does it overlap?
#
# Lesson 05 promised that the draft works *while* the target verifies. In one program that is a
# promise only: one thread does one thing after the other. In this lesson two processes keep it, on
# two processor cores, and a stopwatch tells how much of the promise arrives.
#
# **You will learn** to let two processes talk by messages; to see on a measured time line that they
# overlap; to say what each lost millisecond went into; to predict a speed from measured steps; and
# what happens when one of the two processes dies.
#
# **Time** about 45 minutes (an estimate). **You need** lesson 05 (cache, hit, miss) and time lines
# (lesson 04).
#
# Three voices are kept apart: **The paper says**, **We derive**, **Open**.
#
# | symbol | meaning |
# |---|---|
# | $K$ | lookahead: drafted tokens a round |
# | $T_{SD}$ | time that SD drafts in a round, in verifications |
# | $k$ | drafts that were accepted in a round |
# | $q$ | the laws that the draft drew from, one row a token |
#
# Scope: real times on the machine that runs this. They differ from run to run and from machine to
# machine, so that nothing below asserts a time; what is asserted are tokens. With fewer than two
# free cores SSD cannot be faster, and the figures will say so.

# %%
import inspect
import subprocess
import sys
import warnings
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import style
import torch

import ssd_ref
from sim.clock import Limit
from sim.config import scenario_of
from ssd_ref import SeededRandomness
from ssd_ref.cli.costs import tables
from ssd_ref.engine import EMBEDDED, Engine
from ssd_ref.engine.arm import Seen
from ssd_ref.engine.causes import causes
from ssd_ref.engine.speculator import draft_text
from ssd_ref.engine.verifier import verify_text
from ssd_ref.pair.corpus import held_out_prompts
from ssd_ref.testing import check

style.use()
torch.set_num_threads(1)  # the second core is for the draft

# %% [markdown]
# ## 1. Processes and pipes, in ten lines
#
# A *process* is a running program with memory of its own; the operating system gives each a core
# while there is one free. Two processes share nothing, and so they talk: one puts a message into a
# pipe, the other takes it out. A *thread* would not do: Python's threads share one interpreter, and
# only one of them runs Python at a time.
#
# Here is the whole of it. A second process doubles what it is told, line by line, until the line is
# empty.

# %%
DOUBLER = """
while line := input():
    print(2 * int(line), flush=True)
"""


def my_ask(numbers):
    """Start the process, talk to it, end it."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", DOUBLER], **pipes) as process:
        answers = []
        for number in numbers:
            print(number, file=process.stdin, flush=True)  # send
            answers.append(int(process.stdout.readline()))  # receive: waits
        print(file=process.stdin, flush=True)
    return answers


print(my_ask([1, 2, 3]))
assert my_ask([1, 2, 3]) == [2, 4, 6]

# %% [markdown]
# Between *send* and *receive* the first process is free. That is where overlap comes from: *send, work
# on something else, then receive*. Who receives at once has gained nothing.
#
# ### Predict before you run
# The doubler needs 5 ms for an answer, and you have 3 ms of work that does not depend on it. How
# long do ten questions take (a) if you work after each answer, (b) if you work between sending and
# receiving?
#
# <details><summary>Answer</summary>
#
# (a) ten times 5 + 3 = 80 ms. (b) ten times max(5, 3) = 50 ms. SSD is (b), with the verification
# as the 5 and filling the cache as the 3.
#
# </details>
#
# ## 2. Algorithm 1, twice ten lines
#
# **The paper says** (Algorithm 1): the verifier receives a speculation, verifies it, sends the
# outcome; the speculator sends a speculation, prepares the next for guessed outcomes, and only then
# receives the outcome. The package has one loop for each, in `ssd_ref/engine/verifier.py` and
# `ssd_ref/engine/speculator.py`:

# %%
print(inspect.getsource(verify_text))
print(inspect.getsource(draft_text))

# %% [markdown]
# The two actors are those of lesson 05. Only the words `send` and `receive` are new: they put numbers
# into a buffer and the buffer into a socket. What crosses: tokens, outcomes, and the rows
# $q$ where the draft is not greedy. What never crosses: the keys and values of either model.
#
# ## 3. The same tokens
#
# The draft's process is started once and serves many texts.

# %%
pair = ssd_ref.load_pair()
prompts = held_out_prompts()[:4]
K = 4
SETTINGS = {"max_new_tokens": 64, "lookahead": K, "fan_out": (2, 2, 2, 2, 4)}

engine = Engine(pair.target, EMBEDDED)
engine.start()
same = 0
for number, prompt in enumerate(prompts):
    randomness = SeededRandomness(0, sequence=number)
    text = engine.decode(prompt, **SETTINGS, randomness=randomness)
    alone = ssd_ref.ssd(pair.target, pair.draft, prompt, **SETTINGS, randomness=randomness)
    same += text.tokens == alone.tokens
print(f"{same} of {len(prompts)} texts are the same as in one process")

# %% [markdown]
# **We derive**: why does timing not matter? The guesses are fixed before the outcome can be seen,
# and an entry that is served is always complete. So hit or miss is a function of the outcome and
# the guess set, and each token one of its address (seed, round, place). A clock occurs in neither.
# (In float32 a row that is computed together with other rows differs in its last bits, so that two
# texts *can* part where two tokens are nearly tied. In float64 the tests demand equality, under
# delays of all kinds.)
#
# ## 4. Does it overlap?
#
# Every process writes down when each of its steps began and ended. On one machine both read the
# same clock, and the notes can be laid side by side.


# %%
def blocks(spans, begin, rounds):
    """The two lanes of a measured run, in milliseconds, for `style.time_line`."""
    ends = [span.end for span in spans.verifier if span.kind == "verify"]
    role = {"verify": "target", "draft": "draft", "backup": "miss", "glue": "hit", "tree": "hit"}
    return [
        [
            (1e3 * (span.begin - begin), 1e3 * (span.end - span.begin), role[span.kind])
            for span in lane
            if span.kind in role and begin <= span.begin < ends[rounds - 1]
        ]
        for lane in spans
    ]


ROUNDS = 6
spans = engine.spans
start = max(s.end for s in (*spans.verifier, *spans.speculator) if s.kind == "prefill")
target, draft = blocks(spans, start, ROUNDS)
figure, ax = plt.subplots(figsize=(9, 1.9))
style.time_line(ax, {"target": target, "draft": draft}, "ms")
ROLES = {"target": "verifies", "draft": "drafts round 1", "hit": "fills the cache",
         "miss": "drafts after a miss"}  # fmt: skip
style.legend(ax, ROLES)
plt.show()

# %% [markdown]
# *Figure: measured, two lanes over time, six rounds. Above, blocks of verification with gaps
# between. Below, filling the cache under the verifications; after a miss the backup drafts in a gap.*
#
# The axis begins when both models have read the prompt. The draft, which is smaller, is done with that
# first, and drafts round 1 and fills its first cache meanwhile: to the left of 0, as far as it got.
#
# Count for yourself: how much of the time are both lanes busy?


# %%
def my_overlap(a, b):
    """Time in which blocks (begin, length, role) of both lanes are busy."""
    return sum(max(0.0, min(x + n, y + m) - max(x, y)) for x, n, _ in a for y, m, _ in b)


both = my_overlap(target, draft)
whole = max(begin + length for begin, length, _ in target)
print(f"both busy in {both:.1f} of {whole:.1f} ms, or {both / whole:.0%}")
assert my_overlap([(0, 4, "")], [(3, 2, ""), (5, 1, "")]) == 1

# %% [markdown]
# ## 5. What ate the limit
#
# If every round were a hit, prepared in time and handed over in no time, the target would verify
# without a pause. **We derive**: that is the limit, and against SD it is worth $1 + T_{SD}$ at the
# same $K$, if drafting takes no longer than verifying ($T_{SD} \le 1$). Each pause has a cause:
#
# - **miss**: the backup drafts while the target waits,
# - **overflow**: the cache was not full when the outcome came,
# - **hand-shake**: the rest - the messages, waking up, looking up the answer.
#
# ### L09.1 (medium, 15 min) · Name the cause
# Write `my_pause(pause, backup, filling)`: how the milliseconds of a pause `(begin, end)` divide into
# `(miss, overflow, handshake)`, given the blocks `(begin, end)` of the backup's and of the filling's
# work, which do not overlap each other.
#
# <details><summary>Hint</summary>A block counts as far as it lies inside the pause.</details>


# %%
def my_pause(pause, backup, filling): ...


check("L09.1", my_pause)


# %% jupyter={"source_hidden": true} tags=["solution"]
# Solution of L09.1


def my_pause(pause, backup, filling):
    begin, end = pause

    def inside(spans):
        return sum(max(0, min(e, end) - max(b, begin)) for b, e in spans)

    miss, overflow = inside(backup), inside(filling)
    return miss, overflow, end - begin - miss - overflow


assert check("L09.1", my_pause)

# %%
verifications = [span for span in spans.verifier if span.kind == "verify"]
kinds = {
    kind: [(s.begin, s.end) for s in spans.speculator if s.kind in kind]
    for kind in (("backup",), ("glue", "tree"))
}
pauses = [(one.end, other.begin) for one, other in pairwise(verifications)]
split = np.sum([my_pause(pause, *kinds.values()) for pause in pauses], axis=0)
found = causes(spans)
assert np.allclose(split, (found.misses, found.overflow, found.handshake))
for name, seconds in found._asdict().items():
    print(f"{name:<10}{1e3 * seconds:7.1f} ms {seconds / found.total:6.1%}")

# %% [markdown]
# The package does the same sum for every text (`ssd_ref/engine/causes.py`), and
# `ssd-ref bench --processes` prints the shares over many.
#
# ### Predict before you run
# You double the number of guesses at every $k$. Which of the three causes shrinks, which grows?
#
# <details><summary>Answer</summary>
#
# Misses shrink: more outcomes are prepared. Overflow grows: a tree step of more rows takes longer.
# Where the sum is least is found by measuring, `ssd-ref bench --processes --sweep`.
#
# </details>
#
# ## 6. Measured and simulated, side by side
#
# The simulator of lesson 04 needs the time of each step. They are measured *while the other process
# runs*, since two busy cores share caches and memory: a step alone is faster. From the runs above (nearly
# every verification has $K + 1 = 5$ rows: how its time divides into a base and a price a row is badly
# known, their sum well):

# %%
seen = []
for number, prompt in enumerate(prompts):
    text = engine.decode(prompt, **SETTINGS, randomness=SeededRandomness(0, sequence=number))
    seen.append(Seen(1.0, causes(engine.spans), text.rounds, engine.spans))
costs = tables(
    seen, K, SETTINGS["fan_out"], sd_lookahead=K, sd_draft_ms=1.0, ar_ms=6.0, abort=False
)  # the two times in the call are for SD and AR, which are not simulated here
for name in ("target", "glue", "tree", "backup"):
    if name in costs:
        print(f"{name:<7} {costs[name]['base_ms']:.2f} ms + {costs[name]['row_ms']:.3f} ms a row")
print(f"hand-shake {costs['times']['handshake_ms']:.2f} ms a round")

# %%
last = seen[-1]
begin = max(s.end for s in (*last.spans.verifier, *last.spans.speculator) if s.kind == "prefill")
measured = blocks(last.spans, begin, ROUNDS)
scenario = scenario_of(costs)
report = scenario.run("ssd", Limit(rounds=ROUNDS), seed=0, keep_log=True)
names = {"verify": "target", "draft": "draft", "glue": "hit", "tree": "hit", "backup": "miss"}
simulated = [
    [
        (x.begin_ns / 1e6, (x.end_ns - x.begin_ns) / 1e6, names[x.kind])
        for x in report.log
        if x.lane == lane and x.kind in names
    ]
    for lane in ("target", "draft")
]
lanes = {
    "measured: target": measured[0], "draft": measured[1],
    "simulated: target": simulated[0], "draft ": simulated[1],
}  # fmt: skip
figure, ax = plt.subplots(figsize=(9, 3.2))
style.time_line(ax, lanes, "ms")
style.legend(ax, ROLES)
plt.show()

# %% [markdown]
# *Figure: four lanes over one time axis. The two above were measured, the two below simulated with
# the measured steps: the same blocks, in another order of hits and misses, since the simulator
# draws its own, and starts when both models have read the prompt (so its round 1 is drafted from 0).*
#
# To predict a speed and not a picture, the simulator replays recorded rounds. That is a command:
#
#     ssd-ref calibrate
#
# It times steps and records rounds on one half of the prompts, predicts AR, SD and SSD, and measures
# them on the other half; both columns are printed.
#
# ## 7. And when the other process dies?
#
# Somebody pulls a cable in the middle of a text. Here: the draft's process is killed.

# %%
number = 1
randomness = SeededRandomness(0, sequence=number)
expected = engine.decode(prompts[number], **SETTINGS, randomness=randomness)


def kill_it(tokens, record):
    """Called after each round."""
    if record.round == 5:
        engine.worker.process.kill()


with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    text = engine.decode(
        prompts[number],
        **SETTINGS,
        randomness=SeededRandomness(0, sequence=number),
        on_round=kill_it,
    )
print(caught[0].message)
print(f"{len(text.tokens)} tokens; the same text: {text.tokens == expected.tokens}")
assert len(caught) == 1 and len(text.tokens) == 64

# %% [markdown]
# The verifier finished by drafting itself. Is that still exact? **We derive** a trap: suppose that a
# speculation is lost *because of what is in it* - a long one takes longer, and runs into the time
# limit. To go on without a draft in just these rounds is to choose speculations by their content,
# and the law is no longer the target's (`tests/engine/test_engine_law.py` enumerates it). What saves
# us is that a draw is a function of its address: drafted again, the lost speculation comes out the
# same, so that nothing depends on its loss.
#
# ### L09.2 (medium, 10 min) · How much is there to gain?
# SSD can hide drafting, and nothing else. Write `my_limit(draft_ms, lookahead, verify_ms)`: the
# largest factor that SSD can be faster than SD at the same $K$. (Mind a slow draft: it makes at least
# $K$ steps for each verification in SSD, too.)
#
# <details><summary>Hint</summary>SD's round is drafting, then verifying. If
# both go on at once, which of the two decides how long a round takes?</details>


# %%
def my_limit(draft_ms, lookahead, verify_ms): ...


check("L09.2", my_limit)


# %% jupyter={"source_hidden": true} tags=["solution"]
# Solution of L09.2


def my_limit(draft_ms, lookahead, verify_ms):
    drafting = lookahead * draft_ms
    return (drafting + verify_ms) / max(drafting, verify_ms)


assert check("L09.2", my_limit)
verify_ms = 1e3 * found.verifying / len(verifications)
steps = [s for run in seen for s in run.spans.speculator if s.kind == "draft"]
step_ms = 1e3 * float(np.mean([s.end - s.begin for s in steps]))
limit = my_limit(step_ms, K, verify_ms)
print(f"a draft step of {step_ms:.2f} ms, a verification of {verify_ms:.1f} ms: {limit:.2f}")

# %%
_ = engine.stop()

# %% [markdown]
# A draft that costs a tenth of the target leaves little to hide: the better SD is, the less there is
# left for SSD. A slow draft cannot be hidden in full: the factor is at most 2 (Corollary 8, lesson 05).
# For the published Llama pair $T_{SD}$ is about .8 (lesson 11 computes it).
#
# **What we learned.** On two cores two processes do overlap, and the tokens stay as they were. What is lost against
# the limit is misses, overflow and hand-shakes, each of which can be read off the time lines.
#
# ## 8. GPUs and two hosts
#
# The same two loops run over `torch.distributed`, each rank on a device or a host of its own:
#
#     torchrun --nproc-per-node 2 -m ssd_ref compare --processes
#     torchrun --nproc-per-node 2 -m ssd_ref compare --processes --device cuda:0 --draft-device cuda:1
#
# and on two hosts with `--nnodes 2 --nproc-per-node 1 --rdzv-backend c10d --rdzv-endpoint HOST:PORT`
# on both. Messages go from host memory to host memory, which costs little beside a forward; the
# clocks of two hosts differ, so that their time lines must not be laid side by side. **Open**: we had
# no two GPUs and no two hosts to try it on.
#
# ## 9. Check yourself
#
# **1.** Both processes are put on the same core. What happens to the text, and to the time?
#
# <details><summary>Answer</summary>The text is the same. The time is that of one process at best:
# while one computes the other waits for the core.</details>
#
# **2.** Why does the speculator fix its guesses before it looks for the outcome?
#
# <details><summary>Answer</summary>Otherwise hit or miss could depend on the outcome through the
# clock: an outcome that comes early would be guessed. The law would depend on timing.</details>
#
# **3.** SSD verifies in 90 % of its time. By how much could a perfect cache make it faster?
#
# <details><summary>Answer</summary>By 1/.9 = 1.11 at the same $K$: the limit is near, and only
# another pair, with a longer drafting to hide, would leave more to gain.</details>
#
# ## What comes next
#
# SSD buys speed with a second device. Whether it is worth its price is lesson 10.
