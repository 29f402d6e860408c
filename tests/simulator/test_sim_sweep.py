"""Sweeps: tidy, resumable, and spread without a change of numbers."""

from __future__ import annotations

import doctest

import joblib
import pytest

import sim.sweep
from sim.clock import Limit
from sim.frontier import (
    EXPONENT,
    Point,
    assumptions,
    best,
    candidates,
    fallback,
    frontier,
    sd_at_least,
    sd_at_ssd_speed,
)
from sim.intervals import Rate
from sim.presets import llama, toy
from sim.sweep import axes_of, point, sweep

AXES = {"method.lookahead": ["1", "3"], "method.fan_out": ["1", "4"]}


def run(path, **more):
    settings = {"rounds": 200, "seed": 3, "jobs": 1} | more
    return sweep({"preset": "toy"}, AXES, path, **settings)


def test_example_in_the_docstring():
    assert doctest.testmod(sim.sweep).attempted == 1
    assert doctest.testmod(sim.sweep).failed == 0


def test_a_sweep_is_the_grid_and_its_file(tmp_path):
    path = tmp_path / "s.csv"
    rows = run(path)
    assert [(r["method.lookahead"], r["method.fan_out"], r["method"]) for r in rows] == [
        (k, f, m) for k in "13" for f in "14" for m in ("ar", "sd", "ssd")
    ]
    assert rows[:3] == point({"preset": "toy"}, {"method.lookahead": "1", "method.fan_out": "1"},
                             200, 3)  # fmt: skip
    lines = path.read_text().splitlines()
    assert len(lines) == 1 + 12
    assert lines[0].startswith("method.lookahead,method.fan_out,rounds,seed,method,tokens_per_s,")


def test_an_interrupted_sweep_goes_on_and_loses_nothing(tmp_path, monkeypatch):
    whole, path = run(tmp_path / "whole.csv"), tmp_path / "s.csv"

    class Stop(Exception):
        pass

    def stop(done, of):
        if done == 2:
            raise Stop

    with pytest.raises(Stop):
        run(path, progress=stop)
    assert len(path.read_text().splitlines()) == 1 + 6
    path.write_text(path.read_text() + "3,1,200,3,ar,1")  # and a line was cut in its middle
    computed = []
    monkeypatch.setattr(sim.sweep, "point", lambda *a: computed.append(a[1]) or point(*a))
    assert run(path) == whole
    assert computed == [{"method.lookahead": "3", "method.fan_out": f} for f in "14"]
    assert path.read_text() == (tmp_path / "whole.csv").read_text()
    assert run(path) == whole
    assert len(computed) == 2


def test_other_rounds_or_seeds_are_other_points(tmp_path):
    path = tmp_path / "s.csv"
    first = run(path)
    assert run(path, seed=4) != first
    assert run(path) == first
    assert len(path.read_text().splitlines()) == 1 + 24


def test_a_file_of_another_sweep_is_refused(tmp_path):
    (tmp_path / "s.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"s\.csv: expected the columns .* got \['a', 'b'\]"):
        run(tmp_path / "s.csv")


@pytest.mark.parametrize("axis", ["method.lookahead", "method.fan_out"])
def test_sweeping_k_or_f_under_measured_rates_is_refused_before_anything_runs(tmp_path, axis):
    path = tmp_path / "s.csv"
    with pytest.raises(ValueError, match="say nothing about"):
        sweep({"preset": "llama-70b-1b"}, {axis: ["7", "2"]}, path, 200, jobs=1)
    assert not path.exists()


def test_axes_from_the_command_line():
    assert axes_of(["a.b=1,2", "c.d=[1,2];[3,4]"]) == {
        "a.b": ["1", "2"], "c.d": ["[1,2]", "[3,4]"],
    }  # fmt: skip
    with pytest.raises(ValueError, match=r"--over: expected table\.key=value,value"):
        axes_of(["method.lookahead"])


@pytest.mark.slow
def test_processes_and_a_dask_cluster_give_the_same_rows(tmp_path):
    import distributed

    one = run(tmp_path / "one.csv")
    assert run(tmp_path / "two.csv", jobs=2) == one
    with (
        distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        assert run(tmp_path / "dask.csv", jobs=-1) == one


def test_the_frontier_takes_each_method_at_its_best():
    points = frontier(toy(), [1, 4], rounds=200, jobs=1)
    assert [(p.method, p.batch) for p in points] == [
        (m, b) for m in ("ar", "sd", "ssd", "ssd instant") for b in (1, 4)
    ]
    for p in points:
        options = candidates(toy(), p.method)
        assert p.setting in options
        method = p.method.removesuffix(" instant")
        report = options[p.setting].with_(batch=p.batch).run(method, limit(200), 0)
        assert p.per_user.value == pytest.approx(report.tokens_per_s.value / p.batch)
        assert p.per_device == pytest.approx(report.tokens_per_s.value / report.device_weight)
        half = report.tokens_per_s.half_width / report.device_weight
        assert p.device_rate.half_width == pytest.approx(half)
    chosen = best(toy(), "sd", 1, 200, 0)
    rates = [
        s.run("sd", limit(100), 1).tokens_per_s.value for s in candidates(toy(), "sd").values()
    ]
    names = list(candidates(toy(), "sd"))
    assert chosen.setting == names[rates.index(max(rates))]


def limit(rounds):
    return Limit(rounds=rounds)


def test_measured_hit_rates_are_carried_to_other_k_and_f_by_a_stated_assumption():
    """Qwen's own: a miss of .26 at F = 3 and .16 at F = 6 gives the exponent, .70."""
    assert list(candidates(llama(), "sd")) == [f"K={k}" for k in range(1, 8)]
    options = candidates(llama(), "ssd")
    assert list(options) == [f"K={k} F={f}" for k in range(1, 8) for f in (1, 2, 3, 4)]
    assert pytest.approx(0.70, abs=0.005) == EXPONENT
    as_measured = options["K=7 F=3"].derived()
    assert vars(as_measured) == pytest.approx(vars(llama().with_(sd_text=None).derived()))
    assert options["K=2 F=3"].derived().hit == pytest.approx(0.88)
    assert options["K=2 F=1"].derived().hit == pytest.approx(1 - 0.12 * 3**EXPONENT)
    said = " ".join(assumptions(llama()))
    assert "Assumed: the hit rate measured at K = 7 and F = 3 is the same at every K" in said
    assert "F^-0.70" in said
    assert "Assumed: the hit" not in " ".join(assumptions(toy()))


def test_an_instant_backup_puts_all_guesses_at_k_0():
    s = candidates(llama(), "ssd instant")["K=2 F=4"]
    assert (s.fan_out, s.fan_out_miss, s.backup) == ((4, 4, 4), (12, 0, 0), "instant")
    assert s.text.contexts[0].drafted_by(True).tokens(2) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"hit": 1.5}, "hit: expected a probability"),
        ({"tokens_fast": 0.0}, "tokens_fast: expected a finite number > 0, got 0.0"),
        ({"t_b": -1.0}, "t_b: expected a finite number"),
        ({"t_p": float("nan")}, "t_p: expected a finite number >= 0.0, got nan"),
    ],
)
def test_fallback_refuses(change, message):
    given = {"hit": 0.9, "tokens": 4.0, "tokens_fast": 1.0, "t_p": 1.0, "t_b": 0.3} | change
    with pytest.raises(ValueError, match=message):
        fallback(**given)


@pytest.mark.parametrize("axis", ["method.lookahead", "method.fan_out"])
def test_sweeping_k_or_f_under_rates_typed_in_is_refused_too(tmp_path, axis):
    base = {"text": {"after_hit": 0.9, "after_miss": 0.8}}
    with pytest.raises(ValueError, match=f"--over {axis}: the hit rates of this scenario hold at"):
        sweep(base, {axis: ["2", "3"]}, tmp_path / "s.csv", 200, jobs=1)
    assert not (tmp_path / "s.csv").exists()
    one_value = sweep(
        base, {axis: ["2"], "method.batch": ["1", "2"]}, tmp_path / "s.csv", 20, jobs=1
    )
    assert len(one_value) == 6


def test_sd_at_ssd_speed_is_read_off_straight_lines():
    def at(method, user, device):
        return Point(method, 1, "", Rate(user, None, 1), device)

    points = [at("sd", 10, 100), at("sd", 20, 60), at("ssd", 15, 70), at("ssd", 25, 50)]
    assert [value for _, value in sd_at_ssd_speed(points)] == [80, None]


def test_where_sd_was_not_run_at_batches_large_enough_a_bound_is_said():
    """SD is faster than SSD for a user at every batch: at their largest it has 100 of a device."""

    def at(method, user, device):
        return Point(method, 1, "", Rate(user, None, 1), device)

    points = [at("sd", 10, 100), at("sd", 20, 60), at("ssd", 9, 70), at("ssd", 12, 50)]
    assert [(p.per_device, least) for p, least in sd_at_least(points)] == [(70, 100)]


def test_the_fallback_curves_cross_at_b_star():
    result = fallback(0.9, 4.0, 1.0, 1.0, 0.3)
    assert result.critical == pytest.approx(2.99, abs=0.005)
    ahead = [n > f for n, f in zip(result.neural, result.fast, strict=True)]
    assert ahead == [True, True] + [False] * 14
