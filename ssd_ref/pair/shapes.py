"""`python -m ssd_ref.pair.shapes`: which shapes of target and draft make decoding fast.

Step times are measured (they do not depend on the weights), acceptance and hit rates are assumed,
and the speed of SD and SSD follows from Theorem 7 of the paper, each at its own best lookahead.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import torch

from ssd_ref.gpt import GPTConfig, GPTSession, TinyGPT
from ssd_ref.pair.corpus import VOCABULARY
from ssd_ref.pair.loading import by_column, read_card, write_card

Shape = tuple[int, int, int]  # layers, heads, width
TARGETS: tuple[Shape, ...] = ((16, 4, 128), (20, 4, 128), (12, 4, 160), (6, 6, 192))
DRAFTS: tuple[Shape, ...] = (
    (1, 4, 128),
    (2, 2, 64),
    (2, 3, 96),
    (2, 4, 128),
    (2, 4, 160),
    (3, 3, 96),
    (4, 2, 64),
)
READ = 200  # tokens in the cache while a step is timed
BRANCHES = 9  # of a tree step
LAPS = 25
LOOKAHEADS = range(1, 9)
# Acceptance a and hit rate h that a small draft may reach at temperature 0 and 1.
RATES = {"T=0": (0.75, 0.85), "T=1": (0.68, 0.7)}
SD_OTHER_MS, SSD_OTHER_MS = 0.4, 0.6  # a round's work besides forwards; SSD's includes two messages


@dataclass(frozen=True)
class StepTimes:
    """Milliseconds of a forward: block_ms[n-1] over n tokens, tree_ms one step of all branches."""

    block_ms: tuple[float, ...]
    tree_ms: float


def steps(shape: Shape) -> list[Callable[[], object]]:
    """Forwards over 1 to 9 tokens, then a tree step, by the session that the decoders use."""
    layers, heads, width = shape
    model = TinyGPT(GPTConfig(VOCABULARY, 512, layers, heads, width)).eval()
    by_column(model)

    def block(session: GPTSession, n: int) -> None:
        session.rewind(READ)
        session.extend([1] * n)

    def tree(session: GPTSession) -> None:
        session.branch([READ] * BRANCHES).extend(range(BRANCHES), [1] * BRANCHES)

    session, branched = model.start([0] * READ), model.start([0] * READ)
    return [*(partial(block, session, n) for n in range(1, 10)), partial(tree, branched)]


def measure(shapes: Sequence[Shape], laps: int = LAPS) -> dict[Shape, StepTimes]:
    """Times of models with random weights: the least of `laps`, in which all shapes take turns.

    Each step is run three times in a row, as drafting runs it: the first finds cold caches.
    """
    calls = {shape: steps(shape) for shape in shapes}
    best = {shape: [float("inf")] * len(each) for shape, each in calls.items()}
    for _ in range(laps):
        for shape, each in calls.items():
            for i, call in enumerate(each):
                best[shape][i] = min(best[shape][i], *(timed_ms(call) for _ in range(3)))
    return {shape: StepTimes(tuple(ms[:-1]), ms[-1]) for shape, ms in best.items()}


def timed_ms(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return 1e3 * (time.perf_counter() - began)


def tokens_a_round(a: float, lookahead: int) -> float:
    """Mean tokens of a round whose drafts are accepted independently with probability a < 1."""
    return float((1 - a ** (lookahead + 1)) / (1 - a))


def sd_rate(target: StepTimes, draft: StepTimes, a: float, lookahead: int) -> float:
    """Tokens a millisecond of speculative decoding."""
    round_ms = lookahead * draft.block_ms[0] + target.block_ms[lookahead] + SD_OTHER_MS
    return tokens_a_round(a, lookahead) / round_ms


def ssd_rate(target: StepTimes, draft: StepTimes, a: float, h: float, lookahead: int) -> float:
    """Tokens a millisecond of SSD with just-in-time backup: a miss drafts while the target waits.

    The cache costs a glue forward over lookahead+1 tokens and lookahead tree steps.
    """
    verify, glue = target.block_ms[lookahead], draft.block_ms[lookahead]
    fill = glue + lookahead * draft.tree_ms
    hit, miss = max(verify, fill), max(verify, fill) + lookahead * draft.block_ms[0]
    return tokens_a_round(a, lookahead) / (h * hit + (1 - h) * miss + SSD_OTHER_MS)


def predict(target: StepTimes, draft: StepTimes) -> dict[str, float]:
    """Step cost and predicted ratios of a pair of shapes."""
    row = {
        "draft_step": draft.block_ms[0] / target.block_ms[0],
        "target_5_tokens": target.block_ms[4] / target.block_ms[0],
    }
    for label, (a, h) in RATES.items():
        sd = {k: sd_rate(target, draft, a, k) for k in LOOKAHEADS}
        ssd = {k: ssd_rate(target, draft, a, h, k) for k in LOOKAHEADS}
        row[f"SD/AR {label}"] = max(sd.values()) * target.block_ms[0]
        row[f"SSD/SD {label}"] = max(ssd.values()) / max(sd.values())
        row[f"K of SD {label}"] = max(sd, key=sd.__getitem__)
        row[f"K of SSD {label}"] = max(ssd, key=ssd.__getitem__)
    return {name: round(value, 3) for name, value in row.items()}


def name(shape: Shape) -> str:
    return f"{shape[0]} x {shape[2]}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m ssd_ref.pair.shapes", description=__doc__)
    parser.add_argument("--write", action="store_true", help="into the model card")
    options = parser.parse_args()
    torch.set_num_threads(1)
    times = measure((*TARGETS, *DRAFTS))
    rows = [
        {"target": name(t), "draft": name(d), **predict(times[t], times[d])}
        for t in TARGETS
        for d in (DRAFTS if t == TARGETS[0] else ((2, 4, 128),))
    ]
    step_ms = {name(s): [round(ms, 3) for ms in m.block_ms] for s, m in times.items()}
    for row in rows:
        print(row)
    print(step_ms)
    if options.write:
        card = read_card()
        earlier = card.get("shapes", {})
        card["shapes"] = {**earlier, "predicted": rows, "block_ms": step_ms}
        write_card(card)


if __name__ == "__main__":
    main()
