"""Recorded rounds: replayed exactly, and refused with the line where they are wrong."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

import ssd_ref
from sim.costs import Linear, Times
from sim.laws import Acceptance, Curve, Text
from sim.replay import Replay, acceptance_of, read_recording, read_rounds, replay
from sim.scenario import Scenario
from sim.workloads import Drawn, Shortened
from ssd_ref.study.recording import write_rounds

TEXT = Text.simple(Acceptance((0.5,), iid=True), Curve(0.5, 1.0))


def line(round=1, served_by="first", drafted=2, accepted=1, bonus=5, emitted=2, rank=0):
    return {"round": round, "served_by": served_by, "drafted": drafted, "accepted": accepted,
            "bonus": bonus, "emitted": emitted, "rank": rank}  # fmt: skip


def header(**settings):
    return {"header": {"settings": settings}}


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
    assert result.tokens_per_s.value == pytest.approx(1e3 * 8 / 62)
    assert result.hit_rate.value == 1 / 3
    assert (result.hit_rate.rounds, result.hit_rate.half_width) == (3, None)
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
        ([], "r.jsonl: expected at least one round of SSD or SD, got none"),
        ([line(1, "target") | {"method": "ar"}], "expected at least one round of SSD or SD"),
        ([line() | {"method": "sdd"}], "line 1: method: expected one of ar, sd, ssd, got 'sdd'"),
        ([{"header": 3}], "line 1: header: expected an object with settings, got 3"),
        ([header(saguaro_c=0.5)], "line 1: saguaro_c: expected 1 (with others the text depends"),
        ([header(backup="uniform")], "line 1: backup: expected 'draft' (with others the text"),
        (
            [header(lookahead=2), line(), header(lookahead=3)],
            "line 3: lookahead: expected 2 as in the first header, got 3",
        ),
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


def test_the_decoders_own_file_is_read(tmp_path):
    """Header, then AR's, SD's and SSD's rounds of one text; two files, one behind the other."""
    target, draft = models(0)
    for seed in (0, 1):
        more = {"max_new_tokens": 60, "randomness": ssd_ref.SeededRandomness(seed)}
        runs = {
            "ar": ssd_ref.autoregressive(target, (0,), **more),
            "sd": ssd_ref.speculative(target, draft, (0,), lookahead=3, **more),
            "ssd": ssd_ref.ssd(target, draft, (0,), lookahead=3, fan_out=(2,) * 4, **more),
        }
        rounds = {method: run.rounds for method, run in runs.items()}
        write_rounds(tmp_path / f"{seed}.jsonl", header(lookahead=3)["header"], rounds)
    path = tmp_path / "both.jsonl"
    path.write_text((tmp_path / "0.jsonl").read_text() + (tmp_path / "1.jsonl").read_text())
    recording = read_recording(path)
    assert recording.settings == {"lookahead": 3}
    assert [len(text) for text in recording.texts] == [
        len(read_rounds(tmp_path / f"{seed}.jsonl")[0]) for seed in (0, 1)
    ]
    assert [record._asdict() for record in recording.texts[1]] == [
        record.to_json() for record in runs["ssd"].rounds
    ]
    sd_only = [{"method": "sd"} | record.to_json() for record in runs["sd"].rounds]
    assert len(read_rounds(write(tmp_path / "sd.jsonl", sd_only))[0]) == len(sd_only)


def test_intervals_come_from_how_much_texts_differ(tmp_path):
    """Six texts of 2 rounds; AR takes as long for each token, so that its rate is certain."""
    lines = []
    for bonus in range(6):
        lines += [line(1, accepted=bonus % 3, emitted=bonus % 3 + 1, rank=bonus % 2), line(2)]
    texts = read_rounds(write(tmp_path / "r.jsonl", lines))
    ssd, ar = (replay(scenario(2, (1, 1, 1)), m, texts) for m in ("ssd", "ar"))
    times = [14 + 10 * 1 if bonus % 2 == 0 else 14 + 14 for bonus in range(6)]
    tokens = [bonus % 3 + 1 + 2 for bonus in range(6)]
    value = 1e3 * sum(tokens) / sum(times)
    assert ssd.tokens_per_s.value == pytest.approx(value)
    share = np.array(tokens) / sum(tokens) - np.array(times) / sum(times)
    half = value * 2.5706 * np.sqrt(np.sum(share**2) * 6 / 5)
    assert ssd.tokens_per_s.half_width == pytest.approx(half)
    assert (ar.tokens_per_s.value, ar.tokens_per_s.half_width) == (100, pytest.approx(0))
    assert ssd.over(ar).half_width == pytest.approx(half / 100)
    assert (ssd.hit_rate.value, ssd.hit_rate.rounds) == (0.5, 6)


def test_a_law_reaches_behind_the_recorded_positions_by_a_stated_rule(tmp_path):
    """Tested 4, 3, 2 and accepted 3, 2, 1 times: behind them (1 + 2) / (2 + 3)."""
    lines = [line(n, drafted=3, accepted=k, emitted=k + 1) for n, k in enumerate((0, 1, 2, 3), 1)]
    texts = read_rounds(write(tmp_path / "r.jsonl", lines))
    assert acceptance_of(texts).hazards == (3 / 4, 2 / 3, 1 / 2)
    assert acceptance_of(texts, 2).hazards == (3 / 4, 2 / 3)
    assert acceptance_of(texts, 5).hazards == (3 / 4, 2 / 3, 1 / 2, 3 / 5, 3 / 5)
    with pytest.raises(ValueError, match="expected at least one tested draft, got none"):
        acceptance_of([[]])


def test_texts_end_as_the_decoders_end_them():
    """Acceptance 1, K = 3, texts of 6 tokens: rounds of 4, then 2 drafts of which no bonus."""
    text = Text.simple(Acceptance((1.0,), iid=True), Curve(0.5, 1.0))
    rounds = Shortened(Drawn(text, 3, 0), 6)
    got = [rounds.next() for _ in range(4)]
    assert [(r.drafted, r.accepted, r.emitted) for r in got] == [(3, 3, 4), (2, 2, 2)] * 2
    with pytest.raises(ValueError, match="texts: expected one sequence without a cache, got 2"):
        Shortened(Drawn(text, 3, 0, rows=2), 6)


@pytest.mark.parametrize("lookahead", [1, 4])
def test_shortened_rounds_are_those_of_the_decoder(lookahead):
    """Draft and target alike in every context: the same law of rounds, as frequencies."""
    p, q = np.array([0.6, 0.4]), np.array([0.3, 0.7])
    target, draft = ssd_ref.TableModel(p), ssd_ref.TableModel(q)
    mine = Counter()
    for seed in range(400):
        run = ssd_ref.speculative(target, draft, (0,), max_new_tokens=5, lookahead=lookahead,
                                  randomness=ssd_ref.SeededRandomness(seed))  # fmt: skip
        mine.update((r.drafted, r.emitted) for r in run.rounds)
    text = Text.simple(Acceptance((0.7,), iid=True), Curve(0.5, 1.0))
    rounds, theirs = Shortened(Drawn(text, lookahead, 0), 5), Counter()
    for _ in range(mine.total()):
        r = rounds.next()
        theirs[r.drafted, r.emitted] += 1
    assert set(mine) == set(theirs)
    for shape, count in mine.items():
        other = theirs[shape]
        assert abs(count - other) < 5 * (count + other) ** 0.5, shape


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"batch": 4}, "batch: expected 1 (recorded texts are replayed one by one), got 4"),
        ({"backup": "instant"}, "backup: expected 'draft' (who drafted the recorded rounds), got"),
        ({"fast_from": 1}, "backup: expected 'draft' .* got fast_from = 1"),
    ],
)
def test_what_contradicts_a_recording_is_refused(tmp_path, changes, message):
    texts = read_rounds(write(tmp_path / "r.jsonl", [line()]))
    with pytest.raises(ValueError) as error:
        replay(scenario(2, (1, 1, 1)).with_(**changes), "ar", texts)
    assert all(part in str(error.value) for part in message.split(".*"))


def test_a_list_too_short_for_the_recording(tmp_path):
    texts = read_rounds(write(tmp_path / "r.jsonl", [line()]))
    with pytest.raises(ValueError, match="expected 3 entries for the recorded lookahead, got 2"):
        replay(scenario(1, (1, 1)), "ssd", texts)


def test_the_all_accepted_place_of_a_shortened_round_uses_the_last_entry(tmp_path):
    lines = [line(drafted=1, accepted=1, rank=1), line(2, "cache")]
    (text,) = read_rounds(write(tmp_path / "r.jsonl", lines))
    for fan_out, misses in [((1, 1, 2), 0), ((1, 2, 1), 1)]:
        assert Replay(text, fan_out, fan_out).next().misses == misses
