"""`python -m ssd_ref.batched.bench`: does batching pay on this machine?

Tokens per second by batch size, on the embedded pair. All texts stay in the batch for the whole
time; the first round, which reads the prompts, is not counted. One process does in turn what two
devices do at once, so SSD cannot be fast here: the column `overlapped` *computes* its round from
the measured phases, as what was waited for and then the longer of verification and preparation.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, TypeVar

import torch

from ssd_ref.batched.lockstep import LockStep
from ssd_ref.batched.requests import Request, Settings
from ssd_ref.batched.roster import Row
from ssd_ref.pair import load_pair
from ssd_ref.pair.corpus import held_out_prompts
from ssd_ref.pair.loading import Pair
from ssd_ref.randomness import SeededRandomness
from ssd_ref.rounds import Outcome

T = TypeVar("T")
PROMPT = 64  # bytes
PHASES = ("waited", "prepared", "verified", "rest")


class TimedLockStep(LockStep):
    """A batch that keeps the seconds of the phases of each round."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.seconds: list[dict[str, float]] = []

    def step(self) -> None:
        self.seconds.append(dict.fromkeys(PHASES, 0.0))
        begin = time.perf_counter()
        super().step()
        now = self.seconds[-1]
        now["rest"] = time.perf_counter() - begin - sum(now.values())

    def timed(self, phase: str, call: Callable[[], T]) -> T:
        begin = time.perf_counter()
        result = call()
        self.seconds[-1][phase] += time.perf_counter() - begin
        return result

    def draft_in_time(self) -> int:
        return self.timed("waited", super().draft_in_time)

    def prepare(self) -> int:
        return self.timed("prepared", super().prepare)

    def verify(self) -> dict[Row, Outcome]:
        return self.timed("verified", super().verify)


@dataclass(frozen=True)
class Run:
    """One batch, timed: totals over its rounds, the first left out."""

    method: str
    batch: int
    rounds: int
    tokens: int  # of all texts
    seconds: dict[str, float]  # by phase
    overlapped: float  # seconds, if preparation and verification ran at the same time
    hits: int  # rounds of single texts that were served from the cache
    all_hit: int  # rounds of the batch in which all were

    def figures(self) -> dict[str, float]:
        """Tokens per second, tokens of a text's round, milliseconds of a round, hit rates."""
        total = sum(self.seconds.values())
        figures = {
            "tokens_per_s": self.tokens / total,
            "tokens_per_s_overlapped": self.tokens / self.overlapped,
            "tokens_a_round": self.tokens / self.rounds / self.batch,
            "round_ms": 1000 * total / self.rounds,
        }
        figures |= {f"{name}_ms": 1000 * s / self.rounds for name, s in self.seconds.items()}
        if self.method == "ssd":
            figures["hit"] = self.hits / self.rounds / self.batch
            figures["all_hit"] = self.all_hit / self.rounds
        return figures


def timed_run(pair: Pair, settings: Settings, prompts: Sequence[list[int]], rounds: int) -> Run:
    """`rounds` rounds of a batch of these prompts, after a first one."""
    b, longest = len(prompts), pair.target.context_limit - PROMPT
    batch = TimedLockStep(
        pair.target, pair.draft, settings, lambda sequence: SeededRandomness(0, sequence)
    )
    for sequence, prompt in enumerate(prompts):
        batch.join(Request(prompt, sequence, longest))
    for _ in range(rounds + 1):
        batch.step()
    if len(batch.rows) < b:
        raise ValueError(f"rounds: a text ended within {rounds}; ask for fewer")
    seconds, log = batch.seconds[1:], batch.rounds[1:]
    served = [by for record in log for by in record.served_by]
    return Run(
        settings.method, b, rounds,
        tokens=sum(r.emitted for row in batch.rows for r in row.transcript.rounds[1:]),
        seconds={name: sum(s[name] for s in seconds) for name in PHASES},
        overlapped=sum(
            s["waited"] + max(s["prepared"], s["verified"]) + s["rest"] for s in seconds
        ),
        hits=served.count("cache"),
        all_hit=sum(set(record.served_by) == {"cache"} for record in log),
    )  # fmt: skip


def measure(
    temperature: float, lookahead: int, fan_out: list[int], batches: list[int], rounds: int, n: int
) -> list[dict[str, Any]]:
    """Every method and batch size in turn, n times over with other prompts; medians, and range."""
    pair = load_pair()
    methods = [
        Settings(method="ar", temperature=temperature),
        Settings(method="sd", temperature=temperature, lookahead=lookahead),
        Settings(method="ssd", temperature=temperature, lookahead=lookahead, fan_out=fan_out),
    ]
    prompts = held_out_prompts(max(batches) * n, PROMPT)
    found: dict[tuple[str, int], list[dict[str, float]]] = {}
    for i in range(n):
        for settings in methods:
            for b in batches:
                run = timed_run(pair, settings, prompts[i * b : (i + 1) * b], rounds)
                found.setdefault((settings.method, b), []).append(run.figures())
    return [summary(method, b, runs) for (method, b), runs in found.items()]


def summary(method: str, batch: int, runs: list[dict[str, float]]) -> dict[str, Any]:
    medians = {name: median(run[name] for run in runs) for name in runs[0]}
    speeds = [run["tokens_per_s"] for run in runs]
    more = {"n": len(runs), "least": min(speeds), "most": max(speeds)}
    return {"method": method, "batch": batch, **medians, **more}


def table(results: list[dict[str, Any]]) -> str:
    """The results for people."""
    lines = [
        "method  b  tokens/s [range of n]   /b=1  tokens   round = waited + prepared + verified"
        " + rest (ms)  hit  all hit  tokens/s overlapped (computed)"
    ]
    alone = {r["method"]: r["tokens_per_s"] for r in results if r["batch"] == 1}
    for r in results:
        times = " ".join(f"{r[f'{name}_ms']:7.2f}" for name in PHASES)
        ratio = r["tokens_per_s"] / alone[r["method"]] if r["method"] in alone else float("nan")
        hits = f"{r['hit']:4.2f} {r['all_hit']:6.2f}" if "hit" in r else " " * 11
        lines.append(
            f"{r['method']:5} {r['batch']:3} {r['tokens_per_s']:8.1f}"
            f" [{r['least']:.0f}, {r['most']:.0f}] n={r['n']} {ratio:5.2f}"
            f" {r['tokens_a_round']:6.2f} {r['round_ms']:7.2f} = {times}  {hits}"
            f" {r['tokens_per_s_overlapped']:8.1f}"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m ssd_ref.batched.bench", description=__doc__)
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--rounds", type=int, default=20, help="timed rounds of each run")
    parser.add_argument("--n", type=int, default=5, help="runs, each with other prompts")
    parser.add_argument("--temperature", type=float, default=1.0)
    parser.add_argument("--lookahead", type=int, default=4)
    parser.add_argument("--fan-out", type=int, nargs="+", default=[2, 2, 2, 2, 4])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    o = parser.parse_args()
    torch.set_num_threads(o.threads)
    results = measure(o.temperature, o.lookahead, o.fan_out, o.batches, o.rounds, o.n)
    print(json.dumps(results, indent=1) if o.json else table(results))


if __name__ == "__main__":
    main()
