"""The sweep: every point of the grid, replayed where C = 1 and decoded elsewhere, in one CSV."""

import pytest
from study_tables import PROMPTS, VOCABULARY, tables

from ssd_ref.study.figures import chances
from ssd_ref.study.policies import NAMES, Calibrated
from ssd_ref.study.replay import as_decoded, replay_all
from ssd_ref.study.store import Store
from ssd_ref.study.sweep import Grid, Sweep
from ssd_ref.study.tables import read_table, write_table

CALIBRATION = {n: PROMPTS[n] for n in range(6)}
EVALUATION = {n: PROMPTS[n] for n in range(6, 12)}
GRID = Grid(
    policies=("uniform", "measured", "believed"), budgets=(4,), temperatures=(1.0,),
    saguaro_cs=(0.5, 1.0), lookaheads=(2, 3), max_new_tokens=70,
)  # fmt: skip


def sweep(grid=GRID, path=None, progress=lambda done, of: None):
    return Sweep(grid, Store(path, {}), CALIBRATION, EVALUATION, tables, progress=progress)


@pytest.fixture(scope="module")
def swept():
    it = sweep()
    return it, list(it.rows())


def test_one_row_for_each_point_in_the_order_of_the_grid(swept):
    _, rows = swept
    points = [(r["lookahead"], r["saguaro_c"], r["budget"], r["policy"]) for r in rows]
    assert points == [(k, c, 4, p) for k in (2, 3) for c in (0.5, 1.0) for p in GRID.policies]
    assert {(r["saguaro_c"], r["source"]) for r in rows} == {(0.5, "decoded"), (1.0, "replayed")}


def test_a_point_is_what_its_texts_say(swept):
    it, rows = swept
    setting = it.grid.recordings()[1]
    texts = [t for t in it.store.texts.values() if t.key.setting == setting]
    calibrated = Calibrated([t for t in texts if t.key.prompt < 6], VOCABULARY)
    for row in rows:
        if (row["lookahead"], row["saguaro_c"]) == (3, 1.0):
            policy = calibrated.policy(row["policy"], row["budget"])
            c = chances(replay_all([t for t in texts if t.key.prompt >= 6], policy))
            assert row["hit"] == c.hit_rate() and row["tokens_miss"] == c.tokens(False)
            assert row["guesses"] <= row["budget"]


def test_a_decoded_point_is_made_of_texts_with_its_c_and_lists(swept):
    it, rows = swept
    row = next(r for r in rows if r["saguaro_c"] == 0.5 and r["policy"] == "measured")
    own = [
        t for t in it.store.texts.values()
        if (t.key.setting.saguaro_c, t.key.setting.fan_out) == (0.5, tuple(row["fan_out"]))
        and t.key.setting.policy == "lists" and t.key.setting.lookahead == 2
        and t.key.setting.fan_out_miss == tuple(row["fan_out_miss"])
    ]  # fmt: skip
    assert len(own) == len(EVALUATION)
    assert row["hit"] == chances([as_decoded(t) for t in own]).hit_rate()


def test_what_is_fitted_sees_no_evaluated_prompt(swept):
    it, _ = swept
    for calibrated in it.calibrated.values():
        assert {text.key.prompt for text in calibrated.texts} == set(CALIBRATION)


def test_an_interrupted_sweep_goes_on_and_ends_with_the_same_rows(tmp_path, swept):
    path, seen = tmp_path / "texts.jsonl", []

    def stop(done, of):
        seen.append((done, of))
        if len(seen) == 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(sweep(path=path, progress=stop).rows())
    steps = []
    again = sweep(path=path, progress=lambda *at: steps.append(at))
    assert list(again.rows()) == swept[1]
    assert steps[0][0] == 19  # of 24 recordings: the rerun found them
    steps.clear()
    assert list(sweep(path=path, progress=lambda *at: steps.append(at)).rows()) == swept[1]
    assert all(done == of for done, of in steps)


def test_every_policy_has_a_name_that_the_grid_takes():
    assert Grid(policies=NAMES).policies == NAMES


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"policies": ("oracle",)}, "policies: expected some of .*, got 'oracle'"),
        ({"policies": ()}, "policies: expected at least one value, got none"),
        ({"budgets": (-1,)}, "budgets: expected"),
        ({"saguaro_cs": (1.5,)}, r"saguaro_cs: expected numbers in \[0, 1\], got 1.5"),
        ({"lookaheads": (0,)}, "lookahead: expected"),
        ({"temperatures": (-1.0,)}, "temperature: expected"),
        ({"temperatures": (float("nan"),)}, "temperature: expected"),
    ],
)
def test_a_grid_refuses_what_no_point_could_be(change, message):
    with pytest.raises(ValueError, match=message):
        Grid(**change)


def test_calibration_texts_are_of_one_setting(swept):
    it, _ = swept
    with pytest.raises(ValueError, match="expected texts of one setting, got 2"):
        Calibrated([c.texts[0] for c in it.calibrated.values()], VOCABULARY)


def test_a_table_is_read_back_as_it_was_written(tmp_path, swept):
    path = tmp_path / "table.csv"
    _, rows = swept
    write_table(path, {"command": "x y: z", "weights": "abc"}, rows)
    table = read_table(path)
    assert table.head == {"command": "x y: z", "weights": "abc"}
    assert len(table.rows) == len(rows)
    back = table.where(lookahead=2, saguaro_c=1.0, budget=4, policy="measured")
    row = next(r for r in rows if (r["lookahead"], r["saguaro_c"], r["budget"]) == (2, 1.0, 4)
               and r["policy"] == "measured")  # fmt: skip
    assert len(back) == 1
    assert back[0]["hit"] == pytest.approx(row["hit"].value, abs=1e-4)
    assert back[0]["hit_n"] == row["hit"].n and back[0]["hit_low"] is None  # 6 prompts: too few
    assert back[0]["fan_out"] == " ".join(map(str, row["fan_out"]))
    with pytest.raises(ValueError, match="expected rows, got none"):
        write_table(path, {}, [])
    assert read_table(path).head  # the old table is still there
