"""A grid of policies, budgets, temperatures, C and lookaheads: a row of figures for each point.

Calibration and evaluation texts are recorded once for each lookahead and temperature. With C = 1
every policy is replayed on them. With C < 1 the guesses decide the text, and each point is decoded;
its lists and beliefs are still those fitted on the texts with C = 1, which depend on no list.
All texts go through one store, so that an interrupted sweep goes on where it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from ssd_ref.fan_out import Predictor
from ssd_ref.models import check_count, is_real
from ssd_ref.study.collect import Load, Progress, Prompts, collect, kept, keys_of
from ssd_ref.study.figures import (
    Chances,
    chances,
    draft_tokens,
    guesses_a_round,
    share_cut,
)
from ssd_ref.study.policies import BELIEVED, NAMES, Calibrated
from ssd_ref.study.replay import Belief, Lists, Policy, Replayed, as_decoded, replay_all
from ssd_ref.study.store import Store
from ssd_ref.study.texts import Setting, Text


@dataclass(frozen=True)
class Grid:
    """The axes, and what all points share. Raises ValueError for a value out of range."""

    policies: tuple[str, ...] = NAMES
    budgets: tuple[int, ...] = (10,)
    temperatures: tuple[float, ...] = (0.0, 0.7, 1.0)
    saguaro_cs: tuple[float, ...] = (1.0,)
    lookaheads: tuple[int, ...] = (4,)
    seeds: tuple[int, ...] = (0,)
    max_new_tokens: int = 192

    def __post_init__(self) -> None:
        for name, values in vars(self).items():
            if isinstance(values, tuple) and not values:
                raise ValueError(f"{name}: expected at least one value, got none")
        for policy in self.policies:
            if policy not in NAMES:
                raise ValueError(f"policies: expected some of {', '.join(NAMES)}, got {policy!r}")
        for budget in self.budgets:
            check_count("budgets", budget)
        for c in self.saguaro_cs:
            if not (is_real(c) and 0 <= c <= 1):
                raise ValueError(f"saguaro_cs: expected numbers in [0, 1], got {c!r}")
        self.recordings()  # refuses lookaheads and temperatures that no text could have

    def recordings(self) -> list[Setting]:
        """A setting for each lookahead and temperature, whose texts answer all C = 1 points."""
        return [
            recording(lookahead, temperature, self.max_new_tokens)
            for lookahead, temperature in product(self.lookaheads, self.temperatures)
        ]


def recording(lookahead: int, temperature: float, max_new_tokens: int) -> Setting:
    """A text that can be replayed: the lists, which do not matter to it, are the usual ones."""
    return Setting(lookahead, temperature, (2,) * lookahead + (4,), max_new_tokens=max_new_tokens)


@dataclass
class Sweep:
    """A sweep at work. prompts: those to calibrate on, and those to be evaluated."""

    grid: Grid
    store: Store
    calibration: Prompts
    evaluation: Prompts
    load: Load
    jobs: int = 1
    progress: Progress = lambda done, of: None
    calibrated: dict[Setting, Calibrated] = field(default_factory=dict)

    def rows(self) -> Iterator[dict[str, Any]]:
        """A row for each point, in the order of the grid, as they are ready."""
        if not self.calibrated:
            self.record()
        grid = self.grid
        for setting in grid.recordings():
            for c, budget, name in product(grid.saguaro_cs, grid.budgets, grid.policies):
                yield self.row(setting, name, budget, c)

    def record(self) -> None:
        """All recordings at once, so that all processes have work."""
        settings, seeds = self.grid.recordings(), self.grid.seeds
        prompts = {**self.calibration, **self.evaluation}
        self.collect(settings, prompts)
        for setting in settings:
            keys = keys_of([setting], self.calibration, seeds)
            vocabulary = kept(self.load).draft.vocabulary
            self.calibrated[setting] = Calibrated(self.store.of(keys), vocabulary)

    def collect(
        self, settings: Sequence[Setting], prompts: Prompts,
        policies: dict[Setting, Predictor] | None = None,
    ) -> list[Text]:  # fmt: skip
        keys = keys_of(settings, prompts, self.grid.seeds)
        return collect(
            self.store, keys, prompts, self.load,
            policies=policies, jobs=self.jobs, progress=self.progress,
        )  # fmt: skip

    def row(self, setting: Setting, name: str, budget: int, c: float) -> dict[str, Any]:
        """One point: replayed where C = 1, decoded elsewhere."""
        policy = self.calibrated[setting].policy(name, budget)
        if c == 1:
            texts = self.store.of(keys_of([setting], self.evaluation, self.grid.seeds))
            rounds = replay_all(texts, policy)
        else:
            texts, rounds = self.decoded(setting, policy, budget, c)
        lists = policy if isinstance(policy, Lists) else Lists(())
        return {
            "lookahead": setting.lookahead,
            "temperature": setting.temperature,
            "saguaro_c": c,
            "policy": name,
            "budget": budget,
            "fan_out": lists.fan_out,
            "fan_out_miss": lists.fan_out_miss or lists.fan_out,
            "source": "replayed" if c == 1 else "decoded",
            "greedy_share_cut": share_cut(texts),
        } | columns(chances(rounds), guesses_a_round(rounds))

    def decoded(
        self, setting: Setting, policy: Policy, budget: int, c: float
    ) -> tuple[list[Text], list[Replayed]]:
        """The point's own texts. Under a belief sigma's set is that of the uniform list."""
        policies: dict[Setting, Predictor] = {}
        lists = self.calibrated[setting].uniform(budget)
        if isinstance(policy, Lists):
            lists = policy
        own = replace(setting, fan_out=lists.fan_out, fan_out_miss=lists.fan_out_miss, saguaro_c=c)
        if isinstance(policy, Belief):
            own = replace(own, policy=f"{BELIEVED} {budget} {policy.digest}")
            policies[own] = policy.believed
        texts = self.collect([own], self.evaluation, policies)
        return texts, [as_decoded(text) for text in texts]


def columns(c: Chances, guesses: float) -> dict[str, Any]:
    """The figures of a point."""
    hit = c.hit_rate()
    assert hit.value is not None
    return {
        "prompts": c.resampling.prompts,
        "hit": hit,
        "hit_after_hit": c.hit_rate(None, False),
        "hit_after_miss": c.hit_rate(None, True),
        "acceptance": c.acceptance_iid(),
        "tokens": c.tokens(),
        "tokens_hit": c.tokens(True),
        "tokens_miss": c.tokens(False),
        "guesses": guesses,
        "draft_tokens": draft_tokens(c.lookahead, guesses, hit.value),
    }
