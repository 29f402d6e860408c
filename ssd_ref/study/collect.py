"""Recording many texts on all cores: what a store lacks is decoded, and kept as it comes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import joblib  # type: ignore[import-untyped]

from ssd_ref.fan_out import Predictor
from ssd_ref.models import Model
from ssd_ref.study.store import Store
from ssd_ref.study.texts import Key, Setting, Text, record


class Models(NamedTuple):
    target: Model
    draft: Model


Load = Callable[[], Models]  # a module's function, or a partial of one: sent to other processes
Prompts = Mapping[int, Sequence[int]]  # tokens by the prompt's number
Progress = Callable[[int, int], None]  # texts done, of how many
kept = lru_cache(maxsize=1)(lambda load: load())  # each process loads the models once


def collect(
    store: Store,
    keys: Iterable[Key],
    prompts: Prompts,
    load: Load,
    *,
    policies: Mapping[Setting, Predictor] | None = None,
    jobs: int = 1,
    progress: Progress = lambda done, of: None,
) -> list[Text]:
    """The texts of `keys`; those that `store` lacks are decoded on `jobs` processes and added.

    policies: who chooses the guesses under a setting, where it is not the setting's lists. A text
    depends on its key alone, so that the number of processes and an interruption change nothing.
    """
    keys = list(dict.fromkeys(keys))
    todo, policies = store.missing(keys), policies or {}
    progress(len(keys) - len(todo), len(keys))
    tasks = [(load, prompts[key.prompt], key, policies.get(key.setting)) for key in todo]
    for done, text in enumerate(spread(tasks, jobs), start=len(keys) - len(todo) + 1):
        store.add(text)
        progress(done, len(keys))
    return store.of(keys)


Task = tuple[Load, Sequence[int], Key, Predictor | None]


def spread(tasks: Sequence[Task], jobs: int) -> Iterator[Text]:
    """The texts as they are finished; in this process where one is enough."""
    if jobs == 1 or len(tasks) < 2:
        yield from (one(*task) for task in tasks)
    else:
        calls = (joblib.delayed(one)(*task) for task in tasks)
        yield from joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")(calls)


def one(load: Load, tokens: Sequence[int], key: Key, policy: Predictor | None) -> Text:
    models = kept(load)
    return record(models.target, models.draft, tokens, key, policy)


def embedded(dtype: str = "float64", device: str = "cpu") -> Models:
    """The embedded pair on one thread; in float64, where hits under another list are exact."""
    import torch

    from ssd_ref.pair import load_pair

    torch.set_num_threads(1)
    pair = load_pair(device, dtype=getattr(torch, dtype))
    return Models(pair.target, pair.draft)


def keys_of(settings: Iterable[Setting], prompts: Iterable[int], seeds: Iterable[int]) -> list[Key]:
    """Every prompt under every setting and seed."""
    numbers, all_seeds = list(prompts), list(seeds)
    return [Key(s, prompt, seed) for s in settings for seed in all_seeds for prompt in numbers]
