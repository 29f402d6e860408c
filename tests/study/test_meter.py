"""The meter: what is logged for each decoder, and that the models' answers pass through it."""

import numpy as np
import pytest

from ssd_ref import SeededRandomness, TableModel, autoregressive, speculative, ssd
from ssd_ref.study.meter import Log, Meter

RNG = np.random.default_rng(5)
TARGET, DRAFT = (TableModel(RNG.dirichlet(np.ones(4), size=(4, 4))) for _ in range(2))


def ticking():
    """A clock whose k-th reading is k seconds."""
    readings = iter(range(1, 10**6))
    return lambda: float(next(readings))


def metered(decoder, prompt=(1, 2, 3), n=9, seed=1, **options):
    log = Log(ticking())
    models = [Meter(TARGET, "target", log), Meter(DRAFT, "draft", log)]
    if decoder is autoregressive:
        models.pop()
    generation = log.run(
        lambda: decoder(
            *models,
            prompt,
            max_new_tokens=n,
            randomness=SeededRandomness(seed),
            on_round=lambda tokens, record: log.outcome(),
            **options,
        )
    )
    return log, generation


def kinds(log):
    return [(f.kind, f.tokens) for f in log.forwards]


def test_ar_is_a_prefill_and_one_forward_a_token():
    log, generation = metered(autoregressive, n=3)
    assert kinds(log) == [("prefill", 2)] + 3 * [("verification", 1)]
    assert [(f.begin, f.end) for f in log.forwards] == [(2, 3), (4, 5), (7, 8), (10, 11)]
    assert log.outcomes == [6, 9, 12]
    assert (log.begin, log.end, log.seconds) == (1, 13, 12)
    assert log.count("target") == len(generation.tokens) == 3


def test_sd_drafts_then_verifies():
    log, generation = metered(speculative, n=20, lookahead=2)
    forwards = iter(kinds(log))
    assert [next(forwards), next(forwards)] == 2 * [("prefill", 2)]
    for record in generation.rounds:
        steps = [next(forwards) for _ in range(record.drafted)]
        assert {kind for kind, _ in steps} <= {"draft step"}
        assert next(forwards) == ("verification", record.drafted + 1)
    assert list(forwards) == []


@pytest.mark.parametrize("backup", ["draft", "uniform"])
@pytest.mark.parametrize("fan_out", [(2, 1, 1), (0, 0, 0)])
def test_each_round_of_ssd_has_one_glue_forward_and_its_tree_steps(fan_out, backup):
    log, generation = metered(ssd, n=24, lookahead=2, fan_out=fan_out, backup=backup)
    rounds = iter(generation.rounds)
    names = [f.kind for f in log.forwards[2:]]
    while names:
        end = names.index("verification")
        record, (mine, names) = next(rounds), (names[:end], names[end + 1 :])
        drafting = record.served_by == "first" or (record.served_by, backup) == ("backup", "draft")
        steps = ["draft step"] * record.drafted * drafting
        assert mine[: len(steps) + 1] == [*steps, "glue"]
        assert set(mine[len(steps) + 1 :]) <= {"tree step"}
    assert list(rounds) == []
    assert log.count("target") == len(generation.rounds)
    assert log.count("draft") == sum(f.device == "draft" for f in log.forwards[2:])


def test_a_text_that_outgrows_the_draft_has_no_glue_forward_there():
    short = TableModel(DRAFT.table, context_limit=6)
    log = Log(ticking())
    ssd(
        Meter(TARGET, "target", log),
        Meter(short, "draft", log),
        [1, 2, 3],
        max_new_tokens=9,
        lookahead=2,
        fan_out=(1, 1, 1),
        randomness=SeededRandomness(3),
    )
    last = max(i for i, f in enumerate(log.forwards) if f.device == "draft")
    assert {f.kind for f in log.forwards[last + 1 :]} == {"verification"}
    assert [f.kind for f in log.forwards].count("glue") < log.count("target")


def test_the_meter_changes_no_token():
    _, generation = metered(ssd, n=40, lookahead=3, fan_out=(2, 2, 2, 2))
    plain = ssd(
        TARGET,
        DRAFT,
        [1, 2, 3],
        max_new_tokens=40,
        lookahead=3,
        fan_out=(2, 2, 2, 2),
        randomness=SeededRandomness(1),
    )
    assert generation == plain


def test_sums_by_kind_are_the_log():
    log, _ = metered(ssd, n=12, lookahead=2, fan_out=(1, 1, 1))
    sums = log.kinds()
    assert sums["target prefill"] == {"forwards": 1, "tokens": 2, "seconds": 1}
    assert sum(s["forwards"] for s in sums.values()) == len(log.forwards)
    assert sum(s["tokens"] for s in sums.values()) == sum(f.tokens for f in log.forwards)


def test_an_empty_prefill_is_no_forward():
    log, _ = metered(autoregressive, prompt=[2], n=1)
    assert kinds(log) == [("verification", 1)]


def test_an_exception_leaves_the_log_up_to_it():
    log = Log(ticking())
    with pytest.raises(KeyboardInterrupt):
        log.run(lambda: (_ for _ in ()).throw(KeyboardInterrupt))
    assert log.seconds == 1


def test_an_unknown_device_name_is_refused():
    with pytest.raises(ValueError, match=r"expected one of \('target', 'draft'\), got 'cpu'"):
        Meter(TARGET, "cpu", Log())
