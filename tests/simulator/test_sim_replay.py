"""Recorded rounds: replayed exactly, and refused with the line where they are wrong."""

from __future__ import annotations

import json

import numpy as np
import pytest

import ssd_ref
from sim.costs import Linear, Times
from sim.laws import Acceptance, Curve, Text
from sim.replay import Replay, acceptance_of, read_rounds, replay
from sim.scenario import Scenario

TEXT = Text.simple(Acceptance((0.5,), iid=True), Curve(0.5, 1.0))


def line(round=1, served_by="first", drafted=2, accepted=1, bonus=5, emitted=2, rank=0):
    return {"round": round, "served_by": served_by, "drafted": drafted, "accepted": accepted,
            "bonus": bonus, "emitted": emitted, "rank": rank}  # fmt: skip


def write(path, lines):
    path.write_text("".join(json.dumps(x) + "\n" for x in lines))
    return path


def models(seed, vocabulary=5):
    rng = np.random.default_rng(seed)
    target = rng.dirichlet(np.ones(vocabulary), (vocabulary, vocabulary))
    noise = rng.dirichlet(np.ones(vocabulary), (vocabulary, vocabulary))
    return ssd_ref.TableModel(target), ssd_ref.TableModel(0.6 * target + 0.4 * noise)


def decode(seed, lookahead, fan_out, fan_out_miss=None, tokens=150):
    target, draft = models(seed // 10)
    return ssd_ref.ssd(
        target, draft, (0,), max_new_tokens=tokens, lookahead=lookahead, fan_out=fan_out,
        fan_out_miss=fan_out_miss, randomness=ssd_ref.SeededRandomness(seed),
    ).rounds  # fmt: skip


def scenario(lookahead, fan_out, fan_out_miss=None):
    """Verification 10, draft step 2, filling in time."""
    return Scenario(TEXT, Times(Linear(10.0), Linear(2.0)), lookahead, fan_out, fan_out_miss,
                    sd_extra_step=False)  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
def test_one_recording_answers_every_fan_out(tmp_path, seed):
    """Recorded with one list, replayed with others: the hits are those of decoding with them."""
    path = write(tmp_path / "r.jsonl", [r.to_json() for r in decode(seed, 3, (1, 1, 1, 1))])
    (text,) = read_rounds(path)
    for fan_out, fan_out_miss in [((2, 1, 0, 3), (1, 2, 2, 0)), ((4,) * 4, None), ((0,) * 4, None)]:
        expected = decode(seed, 3, fan_out, fan_out_miss)
        rounds = Replay(text, fan_out, fan_out_miss or fan_out)
        replayed = [rounds.next() for _ in text]
        assert [r.emitted for r in replayed] == [r.emitted for r in expected]
        assert [r.backups for r in replayed] == [int(r.served_by == "backup") for r in expected]


def test_a_replay_has_exactly_this_time(tmp_path):
    """Cold, hit, miss, then a shortened round: 4+10, 10, 4+10, 2+10; the next text starts cold."""
    lines = [
        line(1, rank=0), line(2, "cache", 2, 2, 3, 3, rank=2), line(3, "backup", 2, 0, 4, 1, 5),
        line(4, "backup", 1, 1, None, 1, None), line(1, drafted=1, accepted=0, emitted=1),
    ]  # fmt: skip
    texts = read_rounds(write(tmp_path / "r.jsonl", lines))
    assert [len(text) for text in texts] == [4, 1]
    result = replay(scenario(2, (1, 1, 2)), "ssd", texts)
    assert [r.makespan_ms for r in result.reports] == [14 + 10 + 14 + 12, 12]
    assert (result.tokens, result.makespan_ms) == (2 + 3 + 1 + 1 + 1, 62)
    assert result.tokens_per_s == pytest.approx(1e3 * 8 / 62)
    wider = replay(scenario(2, (1, 1, 3)), "ssd", texts)  # round 2's rank is 2: now a hit
    assert wider.reports[0].makespan_ms == 14 + 10 + 10 + 12
    sd = replay(scenario(2, (1, 1, 2)), "sd", texts)
    assert [r.makespan_ms for r in sd.reports] == [14 + 14 + 14 + 12, 12]
    ar = replay(scenario(2, (1, 1, 2)), "ar", texts)
    assert (ar.tokens, ar.makespan_ms) == (8, 80)


def test_a_law_from_recordings_predicts_lookaheads_never_recorded(tmp_path):
    """Recorded at K=5 on one half of the seeds, SD/AR on the other half at K=5, 3 and 2: 15 %."""
    mine, others = range(0, 5), range(5, 10)
    lines = [r.to_json() for seed in mine for r in decode(seed, 5, (2,) * 6, tokens=300)]
    law = acceptance_of(read_rounds(write(tmp_path / "r.jsonl", lines)))
    assert len(law.hazards) == 5
    for lookahead in (5, 3, 2):
        rounds = [r for seed in others for r in decode(seed, lookahead, (2,) * (lookahead + 1))]
        measured = np.mean([r.emitted for r in rounds]) / (1 + 0.2 * lookahead)
        predicted = law.tokens(lookahead) / (1 + 0.2 * lookahead)
        assert predicted == pytest.approx(measured, rel=0.15)


def test_hazards_count_only_tested_drafts(tmp_path):
    """Positions of shortened rounds and cut-off rounds are not failures."""
    lines = [
        line(1, accepted=2, emitted=3), line(2, accepted=0, emitted=1),
        line(3, drafted=1, accepted=1, emitted=2), line(4, accepted=0, bonus=None, emitted=0),
    ]  # fmt: skip
    law = acceptance_of(read_rounds(write(tmp_path / "r.jsonl", lines)))
    assert law.hazards == (2 / 3, 1.0)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "r.jsonl: expected at least one round, got none"),
        ([line(2)], "line 1: expected round 1, got 2"),
        ([line(), line(3)], "line 2: expected round 1 or 2, got 3"),
        ([line(), line(2, "cash")], "line 2: served_by: expected one of"),
        ([line(accepted=3, emitted=4)], "line 1: accepted: expected at most 2 drafted, got 3"),
        ([line(emitted=1)], "line 1: emitted: expected 2, got 1"),
        ([line(), line(2) | {"drafted": "two"}], "line 2: drafted: expected a whole number, got"),
        ([line(), [1]], "line 2: expected an object, got [1]"),
        ([{k: v for k, v in line().items() if k != "rank"}], "line 1: expected a field 'rank'"),
    ],
)
def test_recordings_that_are_refused(tmp_path, lines, message):
    with pytest.raises(ValueError) as error:
        read_rounds(write(tmp_path / "r.jsonl", lines))
    assert message in str(error.value)


def test_a_recording_cut_short(tmp_path):
    path = write(tmp_path / "r.jsonl", [line(), line(2)])
    path.write_text(path.read_text()[:-20])
    with pytest.raises(ValueError, match=r"r\.jsonl, line 2: "):
        read_rounds(path)


def test_a_recording_of_sd_has_no_rank_at_k(tmp_path):
    texts = read_rounds(write(tmp_path / "r.jsonl", [line(rank=None), line(2)]))
    with pytest.raises(ValueError, match=r"round 1: expected a rank, got none .*record SSD"):
        replay(scenario(2, (1, 1, 1)), "ssd", texts)


def test_a_list_too_short_for_the_recording(tmp_path):
    texts = read_rounds(write(tmp_path / "r.jsonl", [line()]))
    with pytest.raises(ValueError, match="expected 3 entries for the recorded lookahead, got 2"):
        replay(scenario(1, (1, 1)), "ssd", texts)


def test_the_all_accepted_place_of_a_shortened_round_uses_the_last_entry(tmp_path):
    lines = [line(drafted=1, accepted=1, rank=1), line(2, "cache")]
    (text,) = read_rounds(write(tmp_path / "r.jsonl", lines))
    for fan_out, misses in [((1, 1, 2), 0), ((1, 2, 1), 1)]:
        assert Replay(text, fan_out, fan_out).next().misses == misses
