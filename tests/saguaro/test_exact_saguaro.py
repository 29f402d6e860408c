"""Every policy, backup and weight C has the target's law, enumerated against an oracle."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import profiles
from helpers import random_table
from ssd_ref import TableModel, exact_law, ssd
from ssd_ref.exact_law import ReplayError
from ssd_ref.laws import saguaro
from ssd_ref.saguaro import (
    Believed,
    Calibration,
    PromptLookup,
    Threshold,
    all_accepted_only,
    geometric,
    measured,
    uniform,
)
from ssd_ref.saguaro.threshold import BackupFigures
from ssd_ref.testing import compare_laws, target_law
from ssd_ref.testing.strategies import cases
from ssd_ref.testing.trunk import TrunkFirst, trunk_first

pytestmark = pytest.mark.slow  # left out of the everyday run

K, N = 2, 3
OUTCOMES = [(0, 0), (0, 1), (1, 0), (2, 2)]
LISTS = {
    "uniform": uniform(3, K),
    "geometric": geometric(0.6, 1.0, 3, K, 0.5),
    "measured": measured(OUTCOMES, 3, K),
    "all accepted only": all_accepted_only(3, K),
    "nothing": uniform(0, K),
}
CALIBRATIONS = {
    "the draft's word": Calibration(),
    "fitted": Calibration((0.6, 0.0, -0.5, -0.3, 0.2), (0.6, 1.1), (0.8, 0.7), width=2),
}
BACKUPS = {
    "draft": lambda vocabulary: "draft",
    "uniform": lambda vocabulary: "uniform",
    "look-up": lambda vocabulary: PromptLookup(vocabulary, longest=2),
}
CS = (0.0, 0.3, 1.0)
VOCABULARIES = (2, pytest.param(3, marks=pytest.mark.slow))


def random_case(vocabulary, *words):
    """Two random tables, with zeros now and then, and settings of the law; others for each case."""
    rng = np.random.default_rng([vocabulary, *"".join(map(str, words)).encode()])
    order, zeros = rng.integers(0, 3, size=2), rng.random(2) < 0.4
    target, draft = (
        TableModel(random_table(rng, vocabulary, *each)) for each in zip(order, zeros, strict=True)
    )
    law = {"temperature": float(rng.choice([1.0, 0.5, 2.0]))}
    if rng.random() < 0.3:
        law |= {"top_k": 2, "eos": int(rng.integers(vocabulary))}
    return target, draft, {"max_new_tokens": N, **law}, int(rng.integers(1, 4))


def law_of_ssd(
    target, draft, prompt=(0, 1), predict=None, trunk=True, marginalise=None, **settings
):
    """The output law; where a policy looks at the trunk, its drafts enter the tree first."""

    def decode(randomness):
        source, asked = randomness, predict
        if predict is not None and trunk:
            source, asked = trunk_first(randomness, predict)
        return ssd(target, draft, prompt, predict=asked, randomness=source, **settings).tokens

    return exact_law(decode, marginalise=marginalise)


@pytest.mark.parametrize("c", CS)
@pytest.mark.parametrize("backup", BACKUPS)
@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_lists_have_the_targets_law(vocabulary, name, backup, c):
    target, draft, law, _ = random_case(vocabulary, name, backup, c)
    found = law_of_ssd(
        target, draft, lookahead=K, fan_out=LISTS[name], fan_out_miss=LISTS["uniform"],
        saguaro_c=c, backup=BACKUPS[backup](vocabulary), **law,
    )  # fmt: skip
    comparison = compare_laws(found, target_law(target, (0, 1), **law))
    assert comparison.equal, comparison


@pytest.mark.parametrize("c", CS)
@pytest.mark.parametrize("backup", BACKUPS)
@pytest.mark.parametrize("calibration", CALIBRATIONS)
@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_believed_has_the_targets_law(vocabulary, calibration, backup, c):
    target, draft, law, budget = random_case(vocabulary, calibration, backup, c)
    found = law_of_ssd(
        target, draft, lookahead=K, fan_out=LISTS["uniform"], saguaro_c=c,
        backup=BACKUPS[backup](vocabulary), predict=Believed(budget, CALIBRATIONS[calibration]),
        **law,
    )  # fmt: skip
    comparison = compare_laws(found, target_law(target, (0, 1), **law))
    assert comparison.equal, comparison


@given(
    cases(most=profiles.MOST_LEAVES, vocabularies=(2, 3), lookaheads=(1, 2)),
    st.integers(0, 4), st.sampled_from(list(CALIBRATIONS)), st.sampled_from(list(BACKUPS)),
)  # fmt: skip
def test_believed_on_arbitrary_tables_and_settings(case, budget, calibration, backup):
    settings = case.ssd() | {"backup": BACKUPS[backup](case.target.vocabulary)}
    found = law_of_ssd(
        case.target, case.draft, case.prompt,
        predict=Believed(budget, CALIBRATIONS[calibration]), **settings,
    )  # fmt: skip
    comparison = compare_laws(found, target_law(case.target, case.prompt, **case.ar()))
    assert comparison.equal, comparison


@given(cases(most=profiles.MOST_LEAVES))
def test_prompt_lookup_on_arbitrary_tables_and_settings(case):
    """One index for all leaves: were it more than an index, the replay would differ."""
    settings = case.ssd() | {"backup": PromptLookup(case.target.vocabulary, longest=2)}
    found = law_of_ssd(case.target, case.draft, case.prompt, **settings)
    comparison = compare_laws(found, target_law(case.target, case.prompt, **case.ar()))
    assert comparison.equal, comparison


@pytest.mark.parametrize("batch", [1, 64])
def test_the_backup_that_a_threshold_chooses_has_the_targets_law(batch):
    policy = Threshold(
        BackupFigures(0.9, 4, 4, 0.3), BackupFigures(0.9, 4, 1, 0), fast_backup=PromptLookup(3)
    )
    target, draft, law, _ = random_case(3, batch)
    found = law_of_ssd(
        target, draft, lookahead=K, fan_out=(1, 0, 1), backup=policy.backup_for(batch), **law
    )
    assert compare_laws(found, target_law(target, (0, 1), **law))


# With the draft taken at its word and a budget of 1, after the prompt [1] and d_1 = 0 (.7): if
# d_2 = 0 the likeliest outcome is (0, 1), .3; if d_2 = 1 it is (1, 0), .7 x .6. So whether
# "d_1 was rejected" is a hit depends on d_2, which is then never tested.
LOOKS_AHEAD = {
    "target": TableModel([[0.5, 0.5], [0.4, 0.6]]),
    "draft": TableModel([[0.6, 0.4], [0.7, 0.3]]),
    "prompt": [1], "predict": Believed(1, Calibration()), "backup": "uniform",
    "max_new_tokens": 3, "lookahead": 2, "fan_out": [1, 1, 1],
}  # fmt: skip


def test_the_enumeration_sees_a_predictor_that_looks_at_untested_drafts():
    with pytest.raises(ReplayError, match=r"Site\(sequence=0, round=2, role='draft', index=0"):
        law_of_ssd(**LOOKS_AHEAD, trunk=False)


@pytest.mark.parametrize("marginalise", [None, False])
def test_with_its_trunk_in_the_tree_it_has_the_targets_law(marginalise):
    expected = target_law(LOOKS_AHEAD["target"], [1], max_new_tokens=3)
    found = law_of_ssd(**LOOKS_AHEAD, marginalise=marginalise)
    comparison = compare_laws(found, expected)
    assert comparison.equal, comparison


class DrawnFromSigma(TrunkFirst):
    """A fault: drafts are drawn from sigma and tested with q."""

    def choose(self, probabilities, site):
        if site.role == "draft":
            probabilities = saguaro(np.asarray(probabilities), np.array([0]), 0.3)
        return super().choose(probabilities, site)

    def choose_rows(self, rows, sites):
        return [self.choose(row, site) for row, site in zip(rows, sites, strict=True)]


def test_the_law_check_can_fail():
    target, draft, _, _ = random_case(3, "fault")

    def faulty(randomness):
        return ssd(
            target, draft, [0], max_new_tokens=2, lookahead=1, fan_out=[1, 1],
            backup=PromptLookup(3), randomness=DrawnFromSigma(randomness),
        ).tokens  # fmt: skip

    comparison = compare_laws(exact_law(faulty), target_law(target, [0], max_new_tokens=2))
    assert comparison.total_variation > 0.01
