"""Saguaro: the paper's three parts as policies for :func:`ssd_ref.ssd` (Sec. 4).

Outcome prediction (allocation, lists, features, calibration, believed), Saguaro sampling
(sampling) and the fallback (backups, threshold). Each gives one of `ssd`'s arguments: `fan_out` and
`fan_out_miss`, `predict`, `saguaro_c`, `backup`.
"""

from ssd_ref.saguaro.allocation import allocate, expected_miss, power_law
from ssd_ref.saguaro.backups import PromptLookup
from ssd_ref.saguaro.believed import Believed
from ssd_ref.saguaro.calibration import Calibration, Observation, fit
from ssd_ref.saguaro.features import Features, Position, features
from ssd_ref.saguaro.lists import all_accepted_only, geometric, measured, uniform
from ssd_ref.saguaro.sampling import best_c, effect
from ssd_ref.saguaro.threshold import BackupFigures, Threshold

__all__ = [
    "BackupFigures",
    "Believed",
    "Calibration",
    "Features",
    "Observation",
    "Position",
    "PromptLookup",
    "Threshold",
    "all_accepted_only",
    "allocate",
    "best_c",
    "effect",
    "expected_miss",
    "features",
    "fit",
    "geometric",
    "measured",
    "power_law",
    "uniform",
]
