"""Independent calls on all cores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import joblib  # type: ignore[import-untyped]

T = TypeVar("T")


def spread(
    call: Callable[..., T], arguments: Iterable[tuple[Any, ...]], jobs: int, in_order: bool = True
) -> Iterator[T]:
    """`call(*a)` for each a: in order, or each result as soon as it is there.

    The back end is joblib's: `with joblib.parallel_config(backend="dask")` around the caller sends
    the calls to a cluster.
    """
    if jobs == 0:
        raise ValueError("jobs: expected a number of processes, or -1 for all cores, got 0")
    tasks = (joblib.delayed(call)(*a) for a in arguments)
    form = "generator" if in_order else "generator_unordered"
    results: Iterator[T] = joblib.Parallel(n_jobs=jobs, return_as=form)(tasks)
    return results
