"""Parameters from a file: each table changes a part, and nonsense is refused with the reason."""

from __future__ import annotations

from dataclasses import fields

import pytest

from sim.config import KEYS, load, scenario_of, set_key
from sim.costs import Linear, Link, Roofline, Times
from sim.laws import Acceptance, Context, Curve, Rates, Text
from sim.presets import llama, toy
from sim.report import Machines
from sim.rounds import Rules

FILE = """
preset = "toy"
[text]
acceptance = [0.9, 0.8, 0.7]
backup_acceptance = 0.3
after_hit = 0.9
after_miss = 0.6
stay = 0.9
[hard]
acceptance = 0.4
prefactor = 0.8
exponent = 0.5
stay = 0.7
[method]
lookahead = 3
sd_lookahead = 2
fan_out = [3, 2, 1, 4]
fan_out_miss = 2
backup = "instant"
batch = 2
sd_extra_step = false
[rules]
abort = "step"
late_hit = "fallback"
[target]
chip = "h100"
parameters_billions = 70
devices = 4
[draft]
base_ms = 1.5
row_ms = 0.01
[tree]
base_ms = 1.7
[times]
service_ms = 0.5
jitter = 0.1
[link]
latency_us = 20.0
gb_per_s = 50.0
greedy = false
[machines]
target_weight = 4
"""


def test_a_file_says_everything(tmp_path):
    path = tmp_path / "scenario.toml"
    path.write_text(FILE)
    s = scenario_of(load(path))
    easy = Context(Acceptance((0.9, 0.8, 0.7)), Rates(0.9, 0.6), Acceptance((0.3,), True), 0.9)
    assert s.text == Text((easy, Context(Acceptance((0.4,), True), Curve(0.8, 0.5), None, 0.7)))
    assert s.times == Times(
        Roofline("h100", 70, 4), Linear(1.5, 0.01), tree=Linear(1.7), service_ms=0.5, jitter=0.1
    )
    assert (s.lookahead, s.sd_lookahead, s.batch, s.backup) == (3, 2, 2, "instant")
    assert (s.fan_out, s.fan_out_miss, s.sd_extra_step) == ((3, 2, 1, 4), (2, 2, 2, 2), False)
    assert s.rules == Rules("step", "fallback")
    assert s.link == Link(20.0, 50.0, greedy=False)
    assert s.machines == Machines(4, 1, 10.0, 1.0)


def test_nothing_given_is_the_toy_and_a_preset_is_itself():
    assert scenario_of({}) == toy()
    assert scenario_of({"preset": "llama-70b-1b", "temperature": 0.7, "batch": 2}) == llama(0.7, 2)


def test_a_uniform_fan_out_follows_the_lookahead():
    assert scenario_of({"method": {"lookahead": 6}}).fan_out == (2,) * 7
    assert scenario_of({"method": {"lookahead": 1, "fan_out": 5}}).fan_out == (5, 5)


def test_every_field_has_a_key_with_a_meaning():
    parts = {"rules": Rules, "link": Link, "machines": Machines}
    for table, kind in parts.items():
        assert set(KEYS[table]) == {field.name for field in fields(kind)}
    plain = {field.name for field in fields(Times) if field.type in ("float", float)}
    assert set(KEYS["times"]) == plain
    linear, roofline = ({field.name for field in fields(k)} for k in (Linear, Roofline))
    assert set(KEYS["target"]) == linear | roofline
    assert all(meaning for table in KEYS.values() for meaning in table.values())


def test_keys_from_the_command_line():
    data: dict[str, object] = {}
    for text in ("preset=toy", "rules.abort=step", "method.fan_out=[1,2]", "link.greedy=false",
                 "method.lookahead=1"):  # fmt: skip
        set_key(data, text)
    assert data == {
        "preset": "toy", "rules": {"abort": "step"}, "link": {"greedy": False},
        "method": {"fan_out": [1, 2], "lookahead": 1},
    }  # fmt: skip
    assert scenario_of(data).fan_out == (1, 2)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"metod": {}}, "parameters: unknown key 'metod'; did you mean 'method'?"),
        ({"method": {"lookahed": 3}}, "method: unknown key 'lookahed'; did you mean 'lookahead'?"),
        ({"times": {"service": 3}}, "did you mean 'service_ms'?"),
        ({"method": 3}, "method: expected a table of keys, got 3"),
        ({"text": {"tokens_per_round": 4}}, "text.tokens_per_round: is derived from acceptance"),
        ({"text": {"E_hit": 4}}, "text.E_hit: is derived from acceptance and hits and cannot be"),
        ({"text": {"after_hit": 0.9}}, "hits: expected after_miss beside after_hit, got none"),
        (
            {"text": {"after_hit": 0.9, "after_miss": 0.9, "prefactor": 0.5}},
            "hits: expected a curve or rates",
        ),
        ({"method": {"lookahead": -1}}, "lookahead: expected an integer >= 0, got -1"),
        ({"method": {"fan_out": "many"}}, "fan_out: expected a number or a list of 5, got 'many'"),
        ({"method": {"batch": 0}}, "batch: expected an integer >= 1, got 0"),
        ({"text": {"acceptance": 1.5}}, "expected a probability in [0, 1], got 1.5"),
        ({"text": {"stay": 0.5}}, "stay: expected 1 with a single context, got 0.5"),
        ({"hard": {"acceptance": 0.3}}, "hard: expected text.stay below 1 (it is never reached"),
        ({"method": {"fast_from": 0}}, "fast_from: expected an integer >= 1, got 0"),
        ({"text": {"fast_acceptance": 2}}, "expected a probability in [0, 1], got 2"),
        ({"serve": {"token": 3}}, "serve: unknown key 'token'; did you mean 'tokens'?"),
        ({"times": {"jitter": float("nan")}}, "jitter: expected a finite number >= 0.0, got nan"),
        ({"target": {"chip": "h100", "base_ms": 3}}, "chip: expected no base_ms beside it"),
        ({"rules": {"sending_occupies_draft": "no"}}, "expected true or false, got 'no'"),
        ({"link": {"greedy": 0}}, "greedy: expected true or false, got 0"),
        ({"method": {"sd_extra_step": 1}}, "sd_extra_step: expected true or false, got 1"),
        ({"preset": "gpt"}, "preset: expected one of llama-70b-1b, qwen-32b-0.6b, toy, got 'gpt'"),
        (
            {"preset": "llama-70b-1b", "method": {"lookahead": 4}},
            "method.lookahead: the hit rates of this scenario were measured at K = 7 and fan-out",
        ),
        (
            {"preset": "llama-70b-1b", "method": {"fan_out": 4}},
            "method.fan_out: the hit rates of this scenario were measured at K = 7",
        ),
        (
            {"text": {"acceptance": [0.9, 0.8]}},
            "lookahead: expected at most 2, the positions for which acceptance is stated, got 4",
        ),
    ],
)
def test_refusals(data, message):
    with pytest.raises(ValueError) as error:
        scenario_of(data).workload("ssd", 0)
    assert message in str(error.value)


def test_k_0_is_a_valid_scenario_for_ar_and_sd_only():
    s = scenario_of({"method": {"lookahead": 0}})
    assert (s.lookahead, s.fan_out) == (0, (2,))


def test_a_curve_lets_a_measured_preset_change_its_fan_out():
    curve = {"prefactor": 0.5, "exponent": 0.7}
    data = {"preset": "llama-70b-1b", "method": {"fan_out": 4}, "text": curve}
    assert scenario_of(data).text.contexts[0].hits == Curve(0.5, 0.7)


@pytest.mark.parametrize("text", ["lookahead", "=3", "x.y=3"])
def test_bad_assignments(text):
    with pytest.raises(ValueError, match="--set"):
        set_key({}, text)


def test_a_file_that_is_not_toml(tmp_path):
    (tmp_path / "bad.toml").write_text("[method\n")
    with pytest.raises(ValueError, match=r"bad\.toml: not TOML: .* line 1"):
        load(tmp_path / "bad.toml")
