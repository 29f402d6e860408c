"""Drafts and targets that a process finds by name: laws that depend on the whole context."""

import random
import time
import zlib

import numpy as np

from ssd_ref import ContextModel
from ssd_ref.engine import Source

HERE = "engine_models"


class Hashed(ContextModel):
    """Logits that are a function of the context, as different as tables drawn anew for each."""

    def __init__(self, salt, vocabulary=5, spread=1.0, context_limit=None):
        super().__init__(vocabulary, context_limit)
        self.salt, self.spread = salt, spread

    def logits_after(self, context):
        common = np.random.default_rng(zlib.crc32(bytes(context))).normal(size=self.vocabulary)
        seed = zlib.crc32(bytes(context), self.salt)
        return common + self.spread * np.random.default_rng(seed).normal(size=self.vocabulary)


class Broken(Hashed):
    """Its logits are no law after `length` tokens."""

    length = 4

    def logits_after(self, context):
        logits = super().logits_after(context)
        return logits * np.nan if len(context) == self.length else logits


class Slow:
    """A model whose every forward takes `delay()` seconds longer."""

    def __init__(self, model, delay):
        self.model, self.delay = model, delay

    def __getattr__(self, name):
        return getattr(self.model, name)

    def start(self, tokens):
        return SlowSession(self.model.start(tokens), self.delay)


class SlowSession:
    def __init__(self, session, delay):
        self.session, self.delay = session, delay

    def __getattr__(self, name):
        return getattr(self.session, name)

    def extend(self, *what):
        time.sleep(self.delay())
        return self.session.extend(*what)

    def branch(self, lengths):
        return SlowSession(self.session.branch(lengths), self.delay)


def hashed(broken=False, **shape):
    """A draft."""
    return Broken(2, **shape) if broken else Hashed(2, **shape)


def slow(model, *delay_ms):
    """Every forward of the model takes a random time between two numbers of milliseconds."""
    clock = random.Random(0)
    return Slow(model, lambda: clock.uniform(*delay_ms) / 1e3)


def slow_draft(least, most):
    return slow(hashed(), least, most)


def gpt(seed=1):
    from helpers import random_gpt  # imports torch

    return random_gpt(seed=seed)


def source(function="hashed", **arguments):
    return Source(f"{HERE}:{function}", arguments)
