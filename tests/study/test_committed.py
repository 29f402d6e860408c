"""The committed tables belong to the weights that ship, and say what is claimed of them."""

import pytest

from ssd_ref.pair.loading import pair_hash, read_card
from ssd_ref.study.committed import C_GRID, COMMAND, DATA, GRIDS, TABLES, load, sums
from ssd_ref.study.policies import NAMES
from ssd_ref.study.replay import Replayed

STALE = f"made with other weights: run `{COMMAND}`"


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_of_the_weights_that_ship(name):
    table = load(name)
    assert table.head["weights"] == pair_hash(read_card()), STALE
    assert table.head["command"] == COMMAND and table.head["what"]
    assert (DATA / f"{name}.csv").stat().st_size < 400_000


def test_every_file_there_is_a_table_that_the_command_makes():
    assert {path.name for path in DATA.iterdir()} == {f"{name}.csv" for name in TABLES}


def test_the_policies_cover_the_grids():
    rows = load("policies").rows
    expected = {
        (k, t, c, b, p)
        for g in GRIDS
        for k in g.lookaheads for t in g.temperatures for c in g.saguaro_cs
        for b in g.budgets for p in NAMES
    }  # fmt: skip
    names = ("lookahead", "temperature", "saguaro_c", "budget", "policy")
    assert {tuple(row[n] for n in names) for row in rows} == expected
    assert len(rows) == len(expected)


def test_believed_beats_geometric_at_every_temperature_budget_and_lookahead():
    table = load("policies")
    for row in table.rows:
        if row["policy"] == "believed":
            same = {n: row[n] for n in ("lookahead", "temperature", "saguaro_c", "budget")}
            (geometric,) = table.where(policy="geometric", **same)
            assert row["hit"] > geometric["hit"], same


def test_more_guesses_never_hit_less_and_no_policy_beats_certainty():
    for row in load("policies").rows:
        assert 0 <= row["hit_low"] <= row["hit"] <= row["hit_high"] <= 1
        assert row["guesses"] <= row["budget"] and row["prompts"] >= 30
    table = load("misses")
    for k, t, after in {(r["lookahead"], r["temperature"], r["after"]) for r in table.rows}:
        misses = [r["miss"] for r in table.where(lookahead=k, temperature=t, after=after)]
        assert misses == sorted(misses, reverse=True)


def test_the_table_by_prompt_adds_up_to_the_table_of_c():
    by_prompt = load("saguaro_prompts")
    for row in load("saguaro").rows:
        point = {n: row[n] for n in ("lookahead", "temperature", "budget", "saguaro_c")}
        parts = by_prompt.where(**point)
        total = {n: sum(part[n] for part in parts) for n in ("rounds", "hits", "tokens")}
        assert len(parts) == row["prompts"] and total["rounds"] == row["hit_n"]
        assert total["hits"] / total["rounds"] == pytest.approx(row["hit"], abs=1e-4)
        assert total["tokens"] / total["rounds"] == pytest.approx(row["tokens"], abs=1e-4)
    assert {row["saguaro_c"] for row in load("saguaro").rows} == set(C_GRID.saguaro_cs)


def test_recorded_rounds_are_whole_texts_from_their_first_round():
    rows = load("rounds").rows
    for before, this in zip([None, *rows], rows, strict=False):
        follows = before is not None and this["round"] == before["round"] + 1
        assert follows or this["round"] == 1
        assert 0 <= this["accepted"] <= 4 and this["rank"] >= 0


def test_sums_of_a_text():
    from ssd_ref import RoundRecord

    rounds = tuple(
        RoundRecord(i, by, 2, k, 7, k + 1, 0)
        for i, (by, k) in enumerate([("first", 2), ("cache", 0), ("backup", 1)], start=1)
    )
    assert sums(Replayed(5, rounds, (1, 1, 1), 3)) == {
        "prompt": 5, "rounds": 2, "hits": 1, "tokens": 3, "tested": 3, "accepted": 2
    }  # fmt: skip
