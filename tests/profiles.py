"""How hard the properties are tried: dev (every day), ci, thorough.

Choose with the environment variable SSD_REF_PROFILE. Every profile is derandomised: a failure is
the same failure tomorrow.
"""

import os
from collections import Counter

from hypothesis import HealthCheck, settings

PROFILE = os.environ.get("SSD_REF_PROFILE", "dev")
EXAMPLES, MOST_LEAVES = {"dev": (40, 250), "ci": (250, 10_000), "thorough": (2000, 100_000)}[
    PROFILE
]

settings.register_profile(
    PROFILE,
    deadline=None,
    derandomize=True,
    print_blob=True,
    max_examples=EXAMPLES,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

SIZES: Counter[tuple[int, int, int]] = Counter()  # (V, K, N) -> examples


def covered(case) -> None:
    SIZES[case.size] += 1
