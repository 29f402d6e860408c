"""Many texts in lock-step: one forward of each model serves all of them."""

from ssd_ref.batched.lockstep import LockStep, decode
from ssd_ref.batched.report import BatchRound, Decoded, Memory
from ssd_ref.batched.requests import Request, Settings
from ssd_ref.batched.sources import Numbered

__all__ = [
    "BatchRound",
    "Decoded",
    "LockStep",
    "Memory",
    "Numbered",
    "Request",
    "Settings",
    "decode",
]
