"""The law of the engine's actors, enumerated: outcomes that come early, speculations that get lost.

The actors are those of the two processes; messages are left out, and the moment at which an outcome
is seen, or a speculation lost, is chosen by the test.
"""

from dataclasses import dataclass

import numpy as np
import pytest

from helpers import random_table, transcript
from ssd_ref import Law, TableModel, exact_law
from ssd_ref.engine.events import Recorder
from ssd_ref.engine.job import Job
from ssd_ref.engine.link import Fault
from ssd_ref.engine.speculator import speculator_of
from ssd_ref.engine.takeover import Guarded, NoDraft, own_draft
from ssd_ref.engine.verifier import verify_text
from ssd_ref.testing import compare_laws, target_law
from ssd_ref.verification import Verifier

rng = np.random.default_rng(5)
TARGET, DRAFT = (TableModel(random_table(rng, 2, 1)) for _ in range(2))
N = 3


class Direct:
    """The speculator in the verifier's own thread. It sees an outcome after `polls` questions, and
    a speculation is lost if `lost(round, speculation)`.
    """

    def __init__(self, speculator, polls, lost):
        self.speculator, self.polls, self.lost, self.outcome = speculator, polls, lost, None
        speculator.early = self.early

    def early(self):
        self.asked += 1
        return self.outcome if self.asked > self.polls else None

    def send(self, outcome):
        self.outcome = outcome

    def receive(self):
        if self.outcome is None:
            return None, self.delivered(self.speculator.first())
        self.asked = 0
        self.speculator.prepare()
        rank = self.speculator.rank(self.outcome)
        if self.speculator.ends(self.outcome):
            return rank, None
        return rank, self.delivered(self.speculator.answer(self.outcome))

    def delivered(self, speculation):
        if self.lost(self.speculator.round, speculation):
            raise Fault("lost")
        return speculation


class Addressed:
    """A draw anew at the same site gives the same token, as it does from a seeded source."""

    sequence = 0

    def __init__(self, source):
        self.source, self.known = source, {}

    def choose(self, probabilities, site):
        if site not in self.known:
            self.known[site] = self.source.choose(probabilities, site)
        return self.known[site]

    def choose_rows(self, rows, sites):
        return [self.choose(row, site) for row, site in zip(rows, sites, strict=True)]

    def commit(self, site):
        self.source.commit(site)


@dataclass(frozen=True)
class EnumeratedJob(Job):
    """A job whose draws come from the enumeration."""

    source: object = None

    @property
    def randomness(self):
        return self.source


def never(round, speculation):
    return False


def decode(source, polls=0, lost=never, takeover="draft", backup="draft", c=1.0, lists=(1, 1, 1)):
    text, source = transcript([0], N), Addressed(source)
    job = EnumeratedJob(
        (0,), text.limits, len(lists) - 1, Law(), lists, (2, *lists[1:]), c, backup, 0, 0, True,
        source,
    )  # fmt: skip

    def replace(fault, speculation, outcome):
        if takeover == "ar":
            return NoDraft(text, TARGET.vocabulary)
        return own_draft(job, DRAFT, text, speculation, outcome)

    direct = Direct(speculator_of(job, DRAFT), polls, lost)
    verifier = Verifier(TARGET, text, Law(), source)
    verify_text(verifier, Guarded(direct, replace), Recorder())
    return text.tokens


def check(**how):
    marginalise = how.pop("marginalise", None)
    found = exact_law(lambda r: decode(r, **how), marginalise=marginalise)
    return compare_laws(found, target_law(TARGET, [0], max_new_tokens=N))


@pytest.mark.parametrize("backup", ["draft", "uniform"])
@pytest.mark.parametrize("polls", [0, 1, 2, 99])
def test_the_law_is_the_target_s_whenever_the_outcome_comes(polls, backup):
    assert check(polls=polls, backup=backup)
    assert check(polls=polls, backup=backup, c=0.3, lists=(2, 0, 1))


@pytest.mark.parametrize("takeover", ["draft", "ar"])
@pytest.mark.parametrize("round", [1, 2, 3])
def test_the_law_is_the_target_s_when_a_round_is_lost(round, takeover):
    how = {"lost": lambda at, _: at == round, "takeover": takeover, "lists": (1, 0, 1)}
    for backup in ("draft", "uniform"):
        assert check(**how, backup=backup)
        assert check(**how, backup=backup, c=0.3)


def lost_if_zero(round, speculation):
    """Whether it is lost depends on what is in it."""
    return round == 2 and speculation.tokens[:1] == (0,)


@pytest.mark.parametrize("backup", ["draft", "uniform"])
@pytest.mark.parametrize("lists", [(0, 0), (1, 0), (1, 1)])
def test_drafting_again_is_exact_though_the_loss_depends_on_what_is_lost(backup, lists):
    assert check(lost=lost_if_zero, backup=backup, lists=lists, marginalise=False)


def test_going_without_drafts_is_not():
    assert not check(lost=lost_if_zero, takeover="ar", lists=(0, 0), marginalise=False)
