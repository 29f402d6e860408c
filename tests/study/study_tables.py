"""A small pair of tables for the tests of the study: a draft that resembles its target."""

from functools import cache

import numpy as np

from ssd_ref import TableModel
from ssd_ref.study.collect import Models
from ssd_ref.study.texts import Key, Setting, record

VOCABULARY = 9
PROMPTS = {number: [number % VOCABULARY, (3 * number) % VOCABULARY] for number in range(12)}


@cache
def tables() -> Models:
    rng = np.random.Generator(np.random.Philox(5))
    logits = rng.normal(size=(VOCABULARY,) * 3) * 1.8
    rows = [np.exp(logits), np.exp(logits + 0.7 * rng.normal(size=logits.shape))]
    target, draft = (TableModel(row / row.sum(axis=-1, keepdims=True)) for row in rows)
    return Models(target, draft)


def text(setting: Setting, prompt: int = 0, seed: int = 0, policy=None):
    return record(*tables(), PROMPTS[prompt], Key(setting, prompt, seed), policy)


@cache
def recorded(temperature: float, lookahead: int = 3, tokens: int = 40):
    """A text for each prompt, with lists that nobody would choose."""
    setting = Setting(lookahead, temperature, (1,) * (lookahead + 1), max_new_tokens=tokens)
    return [text(setting, prompt) for prompt in PROMPTS]
