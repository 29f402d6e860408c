"""Settings of every test: one thread, and properties without a deadline that fail reproducibly."""

import pytest
import torch
from hypothesis import settings

import profiles

torch.set_num_threads(1)
settings.load_profile(profiles.PROFILE)


def pytest_sessionfinish(session):
    """A worker process hands its counts to the one that prints them."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["sizes"] = [[*size, n] for size, n in profiles.SIZES.items()]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error):
    for *size, n in getattr(node, "workeroutput", {}).get("sizes", []):
        profiles.SIZES[tuple(size)] += n


def pytest_terminal_summary(terminalreporter):
    """The sizes (V, K, N) that the enumerated properties covered."""
    if profiles.SIZES:
        total = sum(profiles.SIZES.values())
        terminalreporter.write_line(f"enumerated {total} examples, profile {profiles.PROFILE}:")
        terminalreporter.write_line(
            "  ".join(f"{','.join(map(str, s))}:{n}" for s, n in sorted(profiles.SIZES.items()))
        )
