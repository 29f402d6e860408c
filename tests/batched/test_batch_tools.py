"""The two commands: what the timed batch counts, and what a near-tie is."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from helpers import random_gpt
from ssd_ref import ScriptedRandomness, Site
from ssd_ref.batched import Settings
from ssd_ref.batched.agreement import Noted, agreement, first_divergence, greedy_gap
from ssd_ref.batched.bench import PHASES, summary, table, timed_run


def drawn(u, *laws):
    """A source that has drawn from these laws, at sites of their own."""
    source = Noted(ScriptedRandomness(lambda site: u))
    for index, law in enumerate(laws):
        source.choose(law, Site(0, 1, "accept", index))
    return source


def test_a_first_divergence_is_as_near_a_tie_as_the_laws_differ():
    one = drawn(0.5, [0.7, 0.3], [0.5 + 1e-7, 0.5 - 1e-7], [0.1, 0.9])
    other = drawn(0.5, [0.7, 0.3], [0.5 - 1e-7, 0.5 + 1e-7], [0.9, 0.1])
    assert first_divergence(one, other) == pytest.approx(2e-7)
    assert first_divergence(one, one) is None


def test_only_drafts_that_are_tested_count():
    """Entries of a cache share addresses; the one that is used is the one that is committed."""
    source = Noted(ScriptedRandomness(lambda site: 0.4))
    sites = [Site(0, 2, "draft", 0, branch) for branch in ((0, 0), (0, 1))]
    source.choose_rows(np.array([[0.3, 0.7], [0.6, 0.4]]), sites)
    assert not source.counted
    source.commit(sites[1])
    assert source.counted == {sites[1].address: ((0.6, 0.4), 0)}


def test_where_greedy_texts_part_the_target_says_how_near():
    model = random_gpt(5, seed=1)
    row = model.start([0]).extend([1])[0]
    assert greedy_gap(model, [0], [1, 2, 3], [1, 4, 3]) == pytest.approx(abs(row[2] - row[4]))


@pytest.mark.parametrize("method", ["ar", "sd", "ssd"])
def test_a_timed_run_counts_what_the_batch_did(method):
    pair = SimpleNamespace(target=random_gpt(7, 90, seed=1), draft=random_gpt(7, 90, seed=1))
    more = {"ar": {}, "sd": {"lookahead": 2}, "ssd": {"lookahead": 2, "fan_out": [0, 0, 7]}}[method]
    run = timed_run(pair, Settings(method=method, **more), [[1, 2], [3]], rounds=3)
    assert (run.rounds, run.batch) == (3, 2)
    assert run.tokens == 3 * 2 * (1 if method == "ar" else 3)  # draft = target: all accepted
    assert (run.hits, run.all_hit) == ((6, 3) if method == "ssd" else (0, 0))
    assert set(run.seconds) == set(PHASES) and min(run.seconds.values()) >= 0
    assert run.overlapped <= sum(run.seconds.values())
    result = summary(method, 2, [run.figures()] * 2)
    assert result["least"] == result["most"] == result["tokens_per_s"]
    assert table([result]).splitlines()[1].startswith(method)
    with pytest.raises(ValueError, match="a text ended within 40"):
        timed_run(pair, Settings(method=method, **more), [[1]], rounds=40)


@pytest.mark.slow
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_the_embedded_pair_in_a_batch(temperature):
    """Double precision: the same texts. Single: those that diverge do so at a near-tie."""
    assert agreement(8, 4, 32, temperature, torch.float64).gaps == []
    assert all(gap < 1e-3 for gap in agreement(8, 4, 32, temperature).gaps)
