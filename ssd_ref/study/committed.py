"""The committed tables: figures of the embedded pair that lessons and documents plot.

    python -m ssd_ref.study.committed

makes all of them anew. It records texts in a folder of its own (--work), which can be interrupted
and goes on where it was. From nothing it decodes 1070 texts, about half an hour of processor time
(added up from parts that ran on a busy machine) for --jobs processes to share; from finished texts
the tables take 20 seconds. Each table's head names the command and the weights' hash; a test fails
when the hash is not that of the weights.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from ssd_ref.study.collect import embedded, keys_of
from ssd_ref.study.figures import AFTER, COVERAGE, Chances, chances
from ssd_ref.study.policies import NAMES
from ssd_ref.study.prompts import held_out
from ssd_ref.study.replay import Policy, Replayed, as_decoded, hits, replay_all
from ssd_ref.study.store import Store
from ssd_ref.study.sweep import Grid, Sweep
from ssd_ref.study.tables import Table, read_table, write_table
from ssd_ref.study.texts import Setting, Text

DATA = Path(__file__).parent / "data"
COMMAND = "python -m ssd_ref.study.committed"
TEMPERATURES = (0.0, 0.35, 0.7, 1.0)
GRIDS = (
    Grid(budgets=(5, 10, 20, 30), temperatures=TEMPERATURES, lookaheads=(4,)),
    Grid(budgets=(5, 10, 20, 30), temperatures=(0.0, 0.7, 1.0), lookaheads=(2, 6)),
)
BY_K_BUDGET = 10
C_GRID = Grid(
    policies=("uniform",), budgets=(10,), temperatures=(0.7, 1.0),
    saguaro_cs=(0.1, 0.3, 0.5, 0.7, 0.85, 1.0),
)  # fmt: skip
ROUNDS_OF = (0.0, 0.7, 1.0)  # temperatures whose single rounds are committed, for K = 4


def load(name: str, folder: Path = DATA) -> Table:
    """A committed table, such as "policies"."""
    return read_table(folder / f"{name}.csv")


Rows = Iterator[dict[str, Any]]


@dataclass
class Study:
    """Everything the tables are made of."""

    sweeps: list[Sweep]  # of GRIDS
    c_sweep: Sweep

    def texts(self) -> Iterator[tuple[Sweep, Setting, list[Text]]]:
        """The evaluation texts of every recording."""
        for sweep in self.sweeps:
            for setting in sweep.grid.recordings():
                keys = keys_of([setting], sweep.evaluation, sweep.grid.seeds)
                yield sweep, setting, sweep.store.of(keys)

    def policies(self) -> Rows:
        """Hit rates of every policy at equal budget, replayed."""
        for sweep in self.sweeps:
            yield from sweep.rows()

    def by_k(self) -> Rows:
        """The same by k, at one budget."""
        for sweep, setting, texts in self.texts():
            for name in NAMES:
                policy = sweep.calibrated[setting].policy(name, BY_K_BUDGET)
                c = chances(replay_all(texts, policy))
                for k in range(setting.lookahead + 1):
                    yield at(setting) | {
                        "policy": name,
                        "budget": BY_K_BUDGET,
                        "k": k,
                        "share": c.ended_at(k),
                        "hit": c.hit_rate(k),
                    }

    def reference(self) -> Iterator[tuple[Setting, Chances]]:
        """Chances under the recordings' own lists, which decide what comes after a hit."""
        for _, setting, texts in self.texts():
            yield setting, chances([as_decoded(text) for text in texts])

    def misses(self) -> Rows:
        """Miss rate against fan-out, after a hit and after a miss."""
        for setting, c in self.reference():
            for (after, miss), fan_out in product(AFTER.items(), COVERAGE):
                yield at(setting) | {
                    "after": after,
                    "fan_out": fan_out,
                    "miss": c.misses(fan_out, miss),
                }

    def laws(self) -> Rows:
        """The power law fitted to them, and the local exponents."""
        for setting, c in self.reference():
            for after, miss in AFTER.items():
                law = c.power_law(miss)
                yield at(setting) | {
                    "after": after,
                    "prefactor": law.prefactor,
                    "exponent": law.exponent,
                    **{f"slope_{f}_{g}": slope for (f, g), slope in law.slopes.items()},
                }

    def acceptance(self) -> Rows:
        """Chance of acceptance by position."""
        for setting, c in self.reference():
            for i in range(setting.lookahead):
                yield at(setting) | {"position": i + 1, "acceptance": c.acceptance(i)}

    def rounds(self) -> Rows:
        """The rounds that count, one by one: what a reader may replay under lists of their own."""
        for sweep, setting, texts in self.texts():
            if setting.lookahead == 4 and setting.temperature in ROUNDS_OF:
                believed = sweep.calibrated[setting].policy("believed", BY_K_BUDGET)
                for text in texts:
                    yield from rounds_of(text, believed)

    def saguaro(self) -> Rows:
        """Acceptance and hit rate as C moves, decoded."""
        yield from self.c_sweep.rows()

    def saguaro_prompts(self) -> Rows:
        """The same by prompt, as sums: enough for any formula of speed, with its interval."""
        sweep = self.c_sweep
        for setting in sweep.grid.recordings():
            for budget, c in product(sweep.grid.budgets, sweep.grid.saguaro_cs):
                for rounds in self.of_c(setting, budget, c):
                    yield at(setting) | {"budget": budget, "saguaro_c": c} | sums(rounds)

    def of_c(self, setting: Setting, budget: int, c: float) -> list[Replayed]:
        """The rounds of the uniform list of a budget at one C."""
        sweep = self.c_sweep
        lists = sweep.calibrated[setting].uniform(budget)
        if c < 1:
            return sweep.decoded(setting, lists, budget, c)[1]
        keys = keys_of([setting], sweep.evaluation, sweep.grid.seeds)
        return replay_all(sweep.store.of(keys), lists)


TABLES = (
    "policies", "by_k", "misses", "laws", "acceptance", "rounds", "saguaro", "saguaro_prompts",
)  # fmt: skip


def rounds_of(text: Text, believed: Policy) -> Rows:
    """A text's rounds that count; believed_10: whether the believed policy has the outcome."""
    for record, features in list(zip(text.rounds, text.features, strict=True))[: text.full]:
        yield {
            "temperature": text.key.setting.temperature,
            "prompt": text.key.prompt,
            "round": record.round,
            "accepted": record.accepted,
            "bonus": record.bonus,
            "rank": record.rank,
            f"believed_{BY_K_BUDGET}": int(hits(record, believed.widths(features))),
        }


def at(setting: Setting) -> dict[str, Any]:
    return {"lookahead": setting.lookahead, "temperature": setting.temperature}


def sums(text: Replayed) -> dict[str, int]:
    """A text's counts over its chances: rounds, hits, tokens; drafts tested and accepted."""
    c = chances([text])
    return {
        "prompt": text.prompt,
        "rounds": len(c),
        "hits": int(c.hit.sum()),
        "tokens": int(c.emitted.sum()),
        "tested": int(np.minimum(c.accepted + 1, c.lookahead).sum()),
        "accepted": int(c.accepted.sum()),
    }


def study(work: Path, jobs: int) -> Study:
    """The sweeps over one store in the folder `work`."""
    prompts = held_out()
    weights = pair_hash()
    store = Store(work / "texts.jsonl", {"weights": weights, "dtype": "float64"})
    sweeps = [
        Sweep(grid, store, prompts["calibration"], prompts["evaluation"], embedded, jobs, show)
        for grid in (*GRIDS, C_GRID)
    ]
    return Study(sweeps[:-1], sweeps[-1])


def pair_hash() -> str:
    """The hash of the shipped weights, as their card says; a test checks files against the card."""
    from ssd_ref.pair.loading import pair_hash, read_card

    return pair_hash(read_card())


def show(done: int, of: int) -> None:
    print(f"\r{done} of {of} texts ", end="", file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument(
        "--work", type=Path, default=Path("build/study"), help="recordings; default: %(default)s"
    )
    parser.add_argument("--out", type=Path, default=DATA, help="where the tables go")
    parser.add_argument("--jobs", type=int, default=-1, help="processes; default: all cores")
    options = parser.parse_args(arguments)
    options.work.mkdir(parents=True, exist_ok=True)
    options.out.mkdir(parents=True, exist_ok=True)
    made = study(options.work, options.jobs)
    head = {"command": COMMAND, "weights": pair_hash()}
    for name in TABLES:
        rows = list(getattr(made, name)())
        description = (getattr(Study, name).__doc__ or "").splitlines()[0]
        write_table(options.out / f"{name}.csv", {"what": description, **head}, rows)
        print(f"\r{name}: {len(rows)} rows", file=sys.stderr)


if __name__ == "__main__":
    main()
