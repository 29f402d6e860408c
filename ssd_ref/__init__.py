"""Autoregressive, speculative and Speculative Speculative decoding: to read, test and time."""

from ssd_ref.autoregressive import autoregressive
from ssd_ref.exact_law import exact_law
from ssd_ref.laws import Law, LogitsError
from ssd_ref.models import ContextModel, Model, TableModel
from ssd_ref.pair import load_pair
from ssd_ref.randomness import Randomness, ScriptedRandomness, SeededRandomness, Site
from ssd_ref.rounds import Generation, Outcome, RoundRecord, Speculation
from ssd_ref.speculative import speculative
from ssd_ref.ssd import ssd

__version__ = "0.1.0"

__all__ = [
    "ContextModel",
    "Generation",
    "Law",
    "LogitsError",
    "Model",
    "Outcome",
    "Randomness",
    "RoundRecord",
    "ScriptedRandomness",
    "SeededRandomness",
    "Site",
    "Speculation",
    "TableModel",
    "autoregressive",
    "exact_law",
    "load_pair",
    "speculative",
    "ssd",
]
