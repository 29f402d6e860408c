"""The joint law of a batch of two texts is the product of their target laws: enumerated."""

from itertools import product

import numpy as np
import pytest
from batch_helpers import seeded

from helpers import random_gpt, random_table
from ssd_ref import TableModel, exact_law
from ssd_ref.batched import Numbered, Request, decode
from ssd_ref.exact_law import ReplayError
from ssd_ref.saguaro import (
    BackupFigures,
    Believed,
    Calibration,
    PromptLookup,
    Threshold,
    all_accepted_only,
    geometric,
    uniform,
)
from ssd_ref.testing import compare_laws, target_law
from ssd_ref.testing.trunk import trunk_first

pytestmark = pytest.mark.slow  # left out of the everyday run


def joint(target, draft, requests, *, predict=None, marginalise=None, **settings):
    """The law of both texts, written one behind the other with the token V between them."""
    V = target.vocabulary

    def both(randomness):
        own = settings
        if predict is not None:
            randomness, after = trunk_first(randomness, predict)
            own = settings | {"predict": after}
        decoded = decode(
            target, draft, requests, randomness=lambda s: Numbered(randomness, s), **own
        )
        one, other = (decoded[request.sequence].tokens for request in requests)
        return [*one, V, *other]

    return exact_law(both, vocabulary=V + 1, marginalise=marginalise)


def independent(target, requests, settings):
    """The same by the oracle: each text has the target's law, whatever the other is."""
    law = {
        key: settings[key] for key in ("temperature", "top_k", "top_p", "eos") if key in settings
    }
    one, other = (
        target_law(
            target, r.prompt, max_new_tokens=r.max_new_tokens,
            **law | ({} if r.temperature is None else {"temperature": r.temperature}),
        )
        for r in requests
    )  # fmt: skip
    return {(*a, target.vocabulary, *b): one[a] * other[b] for a, b in product(one, other)}


def by_size(b):
    """A policy like Thm 17's: the draft while one text waits, a blind guess for two."""
    return "draft" if b < 2 else "uniform"


def last_but_one(logits, speculation):
    """A predictor that looks at rows behind untested drafts: one guess, at its surest place."""
    tops = [row.max() for row in logits]
    k = int(np.argmax(tops))
    order = [
        t for t in np.argsort(-logits[k]) if k == len(speculation) or t != speculation.tokens[k]
    ]
    return [(k, int(order[0]))]


SSD = {"method": "ssd", "lookahead": 1, "fan_out": [1, 1]}
VARIANTS = {
    "ar": {"method": "ar", "temperature": 0.7},
    "sd": {"method": "sd", "lookahead": 2, "eos": 1},
    "ssd": SSD,
    "ssd with end": {**SSD, "eos": 0, "fan_out_miss": [2, 0]},
    "ssd, uniform": {**SSD, "backup": "uniform"},
    "ssd, sigma": {**SSD, "saguaro_c": 0.3, "draft_temperature": 0.6},
    "ssd, misses": {**SSD, "fan_out": [0, 0], "top_p": 0.87},
    "ssd, by size": {**SSD, "fan_out": [0, 1], "backup_for": by_size},
    "ssd, look-up": {**SSD, "fan_out": [0, 1], "backup": PromptLookup(2, longest=1)},
    "ssd, predicted": {**SSD, "predict": last_but_one},
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(
    ("lengths", "zeros"),
    [
        ((2, 2), False),
        pytest.param((3, 2), False, marks=pytest.mark.slow),
        pytest.param((3, 3), True, marks=pytest.mark.slow),
    ],
)
def test_two_texts_have_the_product_of_their_laws(variant, lengths, zeros):
    rng = np.random.default_rng(sum(lengths))
    target, draft = (TableModel(random_table(rng, 2, 2, zeros)) for _ in range(2))
    requests = [Request([0], 4, lengths[0]), Request([1, 1], 2, lengths[1])]
    settings = dict(VARIANTS[variant])
    lazily = settings["method"] != "ar"  # untested drafts are summed over: they are told apart
    got = joint(target, draft, requests, **settings, marginalise=lazily)
    assert compare_laws(got, independent(target, requests, settings))


POLICIES = {
    "uniform": {"fan_out": uniform(2, 1)},
    "geometric": {"fan_out": geometric(0.8, 1.0, 2, 1, 0.5), "fan_out_miss": (1, 0)},
    "all accepted only": {"fan_out": all_accepted_only(1, 1)},
    "believed": {"fan_out": (1, 1), "predict": Believed(1, Calibration())},
}
BACKUPS = {
    "draft": lambda vocabulary: {"backup": "draft"},
    "uniform": lambda vocabulary: {"backup": "uniform"},
    "look-up": lambda vocabulary: {"backup": PromptLookup(vocabulary, longest=1)},
    "by size": lambda vocabulary: {"backup_for": by_size},
}


@pytest.mark.parametrize("c", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("backup", BACKUPS)
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("vocabulary", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_every_policy_backup_and_weight(vocabulary, policy, backup, c):
    rng = np.random.default_rng([vocabulary, *f"{policy}{backup}{c}".encode()])
    target, draft = (TableModel(random_table(rng, vocabulary, 1)) for _ in range(2))
    requests = [Request([0], 3, 2), Request([1], 1, vocabulary - 1)]
    settings = {
        "method": "ssd", "lookahead": 1, "saguaro_c": c, **POLICIES[policy],
        **BACKUPS[backup](vocabulary),
    }  # fmt: skip
    got = joint(target, draft, requests, **settings)
    assert compare_laws(got, independent(target, requests, settings))


@pytest.mark.parametrize("method", ["sd", "ssd"])
def test_three_tokens_and_a_temperature_of_its_own(method):
    rng = np.random.default_rng(7)
    target, draft = (TableModel(random_table(rng, 3, 1)) for _ in range(2))
    requests = [Request([0], 0, 2), Request([2], 1, 2, temperature=0.0)]
    settings = {"method": method, "lookahead": 1}
    if method == "ssd":
        settings |= {"fan_out": [1, 2], "saguaro_c": 0.4}
    got = joint(target, draft, requests, **settings)
    assert compare_laws(got, independent(target, requests, settings))


def test_the_law_of_gpts():
    """The forward of both, cache and branches included."""
    target, draft = random_gpt(2, 16, seed=1), random_gpt(2, 16, seed=2)
    requests = [Request([0, 1], 0, 2), Request([1], 1, 1)]
    got = joint(target, draft, requests, **SSD)
    assert compare_laws(got, independent(target, requests, SSD), tolerance=1e-9)


def test_the_law_when_one_joins_while_the_other_is_under_way():
    rng = np.random.default_rng(5)
    target, draft = (TableModel(random_table(rng, 2, 1)) for _ in range(2))
    first, second = Request([0], 0, 3), Request([1], 1, 1)

    def both(randomness):
        decoded = decode(
            target, draft, [first], joins={2: [second]}, **SSD | {"backup_for": by_size},
            randomness=lambda s: Numbered(randomness, s),
        )  # fmt: skip
        return [*decoded[0].tokens, 2, *decoded[1].tokens]

    got = exact_law(both, vocabulary=3)
    assert compare_laws(got, independent(target, [first, second], SSD))


def test_the_text_depends_on_the_batch_under_the_threshold_policy_and_its_law_does_not():
    """The threshold is one of measured figures: here it lies between 1 and 2 texts."""
    policy = Threshold(BackupFigures(0.5, 2, 2, 0.5), BackupFigures(0.5, 1.6, 1.4, 0.0))
    assert [policy.backup_for(b) for b in (1, 2, 3)] == ["draft", "uniform", "uniform"]
    rng = np.random.default_rng(11)
    target, draft = (TableModel(random_table(rng, 2, 1)) for _ in range(2))
    settings = {**SSD, "fan_out": [0, 0], "backup_for": policy.backup_for}
    requests = [Request([0], 0, 3), Request([1], 1, 2)]
    got = joint(target, draft, requests, **settings)
    assert compare_laws(got, independent(target, requests, settings))

    def tokens(requests):
        return decode(target, draft, requests, randomness=seeded, **settings)[0].tokens

    longer = [[Request([0], 0, 40)], [Request([0], 0, 40), Request([1], 1, 40)]]
    assert tokens(longer[0]) != tokens(longer[1])


def test_nothing_is_left_out_by_marginalising():
    """Every draw of every cache entry branched."""
    rng = np.random.default_rng(3)
    target, draft = (TableModel(random_table(rng, 2, 2)) for _ in range(2))
    requests = [Request([0], 0, 2), Request([1], 1, 2)]
    settings = {**SSD, "fan_out": [1, 0], "backup_for": by_size}
    got = joint(target, draft, requests, **settings, marginalise=False)
    assert compare_laws(got, independent(target, requests, settings))


def test_a_shared_stream_of_draws_would_show():
    """The oracle can fail: two texts that draw at the same sites are refused."""
    table = TableModel([0.5, 0.5])

    def both(randomness):
        same = {"randomness": lambda s: Same(randomness, s)}
        decoded = decode(table, table, [Request([0], s, 1) for s in (0, 1)], method="ar", **same)
        return [*decoded[0].tokens, *decoded[1].tokens]

    class Same(Numbered):
        def choose(self, law, site):
            return super().choose(law, site._replace(sequence=0))

    with pytest.raises(ReplayError, match="drawn twice"):
        exact_law(both)
