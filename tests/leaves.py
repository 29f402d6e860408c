"""What exact enumeration costs: `python -m tests.leaves` prints leaves and CPU seconds by size.

SSD on random tables of order 2 with full support, two guesses at each k: no law of these sizes has
more leaves. Each leaf is two runs of the decoder (two defaults for the untested draws). CPU time of
one process, the least of REPEATS: other work on the machine only adds to it.
"""

import sys
import time

import numpy as np

from ssd_ref import TableModel, exact_law, ssd

SIZES = [(2, 3, 4), (2, 3, 5), (3, 2, 3), (3, 2, 4), (3, 2, 5), (4, 3, 3), (4, 3, 4)]
LARGEST = (4, 3, 5)  # minutes; with --all
REPEATS = 3


def tables(vocabulary, seed=0):
    generator = np.random.default_rng(seed)
    weights = generator.random((2, vocabulary, vocabulary, vocabulary)) + 0.05
    return [TableModel(table) for table in weights / weights.sum(-1, keepdims=True)]


def enumerate_once(vocabulary, lookahead, length):
    """(leaves, CPU seconds) of one law."""
    target, draft = tables(vocabulary)
    leaves = []

    def decode(randomness):
        return ssd(
            target, draft, [0], max_new_tokens=length, lookahead=lookahead,
            fan_out=[2] * (lookahead + 1), randomness=randomness,
        ).tokens  # fmt: skip

    begin = time.process_time()
    exact_law(decode, progress=leaves.append)
    return len(leaves), time.process_time() - begin


def main(sizes):
    print("  V  K  N   leaves   CPU s   us a leaf")
    for size in sizes:
        results = [enumerate_once(*size) for _ in range(REPEATS if size != LARGEST else 1)]
        leaves, seconds = min(results)
        V, K, N = size
        print(f"{V:3}{K:3}{N:3}{leaves:9,}{seconds:8.2f}{seconds / leaves * 1e6:12.0f}", flush=True)


if __name__ == "__main__":
    main([*SIZES, LARGEST] if "--all" in sys.argv[1:] else SIZES)
