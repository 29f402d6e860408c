"""The rules that change a result, each on a run small enough to check by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sim_script import ScriptedCosts, ScriptedRounds

from sim.clock import Limit
from sim.recorder import Total
from sim.rounds import Rules
from sim.simulate import simulate

HIT, MISS = True, False


def run(method, hits, costs, rules=None, rounds=None):
    limit = Limit(rounds=rounds or len(hits))
    return simulate(method, ScriptedRounds(hits), costs, limit, rules, keep_log=True)


def begins(run):
    """When each verification begins."""
    return [begin for lane, kind, begin, *_ in run.log if (lane, kind) == ("target", "verify")]


def log(run, lane):
    return [tuple(x[1:4]) for x in run.log if x.lane == lane]


def test_a_small_run_of_ssd_has_exactly_this_log():
    """Verify 10, draft 2 a token, K=4, filling 8: round 1 cold, then hit, miss, hit: 56."""
    ssd = run("ssd", [HIT, MISS, HIT, HIT], ScriptedCosts())
    assert ssd.env.now == 18 + 10 + 18 + 10
    assert log(ssd, "target") == [
        ("idle", 0, 8), ("verify", 8, 18), ("verify", 18, 28), ("idle", 28, 36),
        ("verify", 36, 46), ("verify", 46, 56),
    ]  # fmt: skip
    assert log(ssd, "draft") == [
        ("draft", 0, 8),
        ("tree", 8, 10), ("tree", 10, 12), ("tree", 12, 14), ("tree", 14, 16), ("idle", 16, 18),
        ("tree", 18, 20), ("tree", 20, 22), ("tree", 22, 24), ("tree", 24, 26), ("idle", 26, 28),
        ("backup", 28, 36),
        ("tree", 36, 38), ("tree", 38, 40), ("tree", 40, 42), ("tree", 42, 44), ("idle", 44, 46),
        ("tree", 46, 48), ("tree", 48, 50), ("tree", 50, 52), ("tree", 52, 54), ("idle", 54, 56),
    ]  # fmt: skip
    assert log(ssd, "path") == [
        ("cold start", 0, 8), ("verification", 8, 18), ("verification", 18, 28),
        ("miss", 28, 36), ("verification", 36, 46), ("verification", 46, 56),
    ]  # fmt: skip
    assert ssd.totals()["path"] == {
        "cold start": Total(8, 0, 1), "miss": Total(8, 0, 1), "verification": Total(40, 0, 4),
    }  # fmt: skip


def test_the_same_rounds_in_sd_take_72():
    sd = run("sd", [HIT] * 4, ScriptedCosts())
    assert log(sd, "target") == [
        ("draft", 0, 8), ("verify", 8, 18), ("draft", 18, 26), ("verify", 26, 36),
        ("draft", 36, 44), ("verify", 44, 54), ("draft", 54, 62), ("verify", 62, 72),
    ]  # fmt: skip


def test_filling_and_verification_overlap_max_not_sum():
    assert begins(run("ssd", [HIT, HIT], ScriptedCosts(fill=(7, 7)))) == [8, 8 + 14]


@pytest.mark.parametrize(("abort", "expected"), [("instant", 18), ("step", 22), ("never", 22)])
def test_a_miss_need_not_wait_for_an_abandoned_filling(abort, expected):
    """Verify 10, filling 14 in kernels of 7, backup 8: the kernel that runs at 10 ends at 14."""
    ssd = run("ssd", [MISS, HIT], ScriptedCosts(fill=(7, 7)), Rules(abort))
    assert begins(ssd) == [8, 8 + expected]


@pytest.mark.parametrize("fill", [(10,), (5, 5), (5, 5, 0), (0, 10, 0, 0)])
@pytest.mark.parametrize("abort", ["step", "instant"])
@pytest.mark.parametrize(("there", "back", "hand"), [(0, 0, 0), (3, 2, 1)])
def test_a_cache_finished_exactly_when_the_outcome_arrives_is_ready(fill, abort, there, back, hand):
    costs = ScriptedCosts(10 - there - back - hand, fill, there=there, back=back, hand=hand)
    ssd = run("ssd", [HIT, HIT], costs, Rules(abort, "fallback"))
    assert begins(ssd) == [8 + there, 8 + 10 + there]
    assert ssd.aborted_rows == 0


def test_a_verification_that_ends_exactly_at_the_horizon_has_ended():
    for until, rounds in [(17, 0), (18, 1), (27, 1), (28, 2), (29, 2)]:
        ssd = simulate("ssd", ScriptedRounds([HIT] * 5), ScriptedCosts(), Limit(until_ns=until))
        assert (ssd.env.now, ssd.rounds, ssd.tokens) == (until, rounds, rounds)
        lengths = [sum(kind.ns for kind in lane.values()) for lane in ssd.totals().values()]
        assert lengths == [until] * 4


def test_a_rejection_still_yields_a_token():
    """77 tokens at one token a round are 77 rounds, not 77 / acceptance."""
    workload = ScriptedRounds([HIT] * 99, drafted=1)
    sd = simulate("sd", workload, ScriptedCosts(10, draft=2), Limit(tokens=77))
    assert (sd.rounds, sd.tokens, sd.env.now) == (77, 77, 77 * 12)


# Surprises: what one would think monotone and is not.


def round_time(hits, costs, rules):
    first, second = begins(run("ssd", hits, costs, rules))
    return second - first


def test_a_faster_verifier_can_lose_where_a_late_hit_is_a_miss():
    rules, half = Rules("instant", "fallback"), 2  # times in halves, P = 9.5
    slow = ScriptedCosts(10 * half, (19,), 8 * half)
    fast = ScriptedCosts(9 * half, (19,), 8 * half)
    assert round_time([HIT, HIT], slow, rules) == 10 * half
    assert round_time([HIT, HIT], fast, rules) == 17 * half


def test_faster_steps_can_lose_where_kernels_stop_only_at_their_ends():
    assert round_time([MISS, HIT], ScriptedCosts(10, (5,) * 4, 2), Rules("step")) == 12
    assert round_time([MISS, HIT], ScriptedCosts(10, (4,) * 4, 2), Rules("step")) == 14


def test_a_hit_that_waits_can_cost_more_than_a_miss():
    costs = ScriptedCosts(10, (20,), 2)
    assert round_time([HIT, HIT], costs, Rules("instant")) == 20
    assert round_time([MISS, HIT], costs, Rules("instant")) == 12


# What is monotone, and why: with `never`, or `instant` and waiting, a round is maxima and sums.

times = st.integers(0, 12)
NAMES = ["verify", "draft", "served", "hand", "there", "back"]


@given(
    st.lists(st.booleans(), min_size=1, max_size=6),
    st.fixed_dictionaries({name: times for name in NAMES}),
    st.lists(times, min_size=1, max_size=4),
    st.sampled_from([Rules("never"), Rules("instant"), Rules("never", "wait", True)]),
    st.sampled_from([*NAMES, "fill"]),
    st.integers(1, 5),
)
def test_slower_work_never_makes_a_run_shorter(hits, numbers, fill, rules, name, more):
    costs = ScriptedCosts(**numbers, fill=fill)
    before = run("ssd", hits, costs, rules).env.now
    if name == "fill":
        costs.fill = [fill[0] + more, *fill[1:]]
    else:
        setattr(costs, name, numbers[name] + more)
    assert run("ssd", hits, costs, rules).env.now >= before


@given(
    st.lists(st.booleans(), min_size=1, max_size=6),
    st.fixed_dictionaries({"verify": times, "draft": times}),
    st.sampled_from([Rules("never"), Rules("instant")]),
    st.data(),
)
def test_more_hits_never_make_a_run_longer_while_filling_hides(hits, numbers, rules, data):
    """A hit takes max(V, P); a miss max(V, P) + T_b, or V + T_b where the filling is aborted: that
    is no less while P <= V + T_b (and less beyond: the surprise above)."""
    filling = data.draw(st.integers(0, numbers["verify"] + numbers["draft"]))
    costs = ScriptedCosts(**numbers, fill=(filling,))
    k = data.draw(st.integers(0, len(hits) - 1))
    more = [*hits[:k], True, *hits[k + 1 :]]
    assert run("ssd", more, costs, rules).env.now <= run("ssd", hits, costs, rules).env.now


@given(
    st.lists(st.booleans(), min_size=1, max_size=8),
    st.integers(1, 12),
    st.integers(0, 12),
    st.data(),
)
def test_ssd_with_its_own_draft_is_never_slower_than_sd(hits, verify, draft, data):
    """Cor. 8, path by path: T_p <= T_SD = T_b, no link or service, the draft can abort."""
    filling = data.draw(st.integers(0, draft))
    costs = ScriptedCosts(verify, (filling,), draft)
    assert run("ssd", hits, costs, Rules("instant")).env.now <= run("sd", hits, costs).env.now


@pytest.mark.parametrize(("abort", "ssd"), [("never", 10 + 14 + 8), ("instant", 10 + 10 + 8)])
def test_without_abort_ssd_can_be_slower_than_sd(abort, ssd):
    """Why Cor. 8 needs the abort: a miss waits for 14 of filling, SD only drafts for 8."""
    costs = ScriptedCosts(10, (14,), 8)
    assert run("ssd", [MISS, HIT], costs, Rules(abort)).env.now == ssd + 8
    assert run("sd", [MISS, HIT], costs).env.now == 36


@given(st.lists(st.booleans(), min_size=1, max_size=6), st.integers(1, 9))
def test_all_times_times_c_scale_the_log(hits, c):
    small = ScriptedCosts(7, (3, 2, 4), 5, 1, 2, 1, 1, (4, 6))
    large = ScriptedCosts(7 * c, (3 * c, 2 * c, 4 * c), 5 * c, c, 2 * c, c, c, (4 * c, 6 * c))
    for rules in (Rules("step", "fallback"), Rules("never"), Rules("instant")):
        expected = [(x.lane, x.kind, x.begin_ns * c, x.end_ns * c)
                    for x in run("ssd", hits, small, rules).log]  # fmt: skip
        assert [tuple(x[:4]) for x in run("ssd", hits, large, rules).log] == expected


def test_rows_of_an_abandoned_cache_are_counted_apart():
    costs = ScriptedCosts(10, (4,) * 4, 2, rows={"tree": 3, "verify": 5})
    ssd = run("ssd", [MISS, HIT], costs, Rules("step"))
    assert ssd.aborted_rows == 3 * 3  # three kernels, the third ends after the outcome
    assert ssd.totals()["draft"]["tree"] == Total(12 + 10, 3 * 3 + 3 * 3, 6)
    assert ssd.totals()["target"]["verify"] == Total(20, 10, 2)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Rules("sometimes"), "abort: expected one of never, step, instant, got 'somet"),
        (lambda: Rules("never", "fallback"), "late_hit: expected 'wait' with abort 'never'"),
        (lambda: Limit(), "expected one of rounds, tokens, until_ns, got {}"),
        (lambda: Limit(rounds=1, tokens=1), "got {'rounds': 1, 'tokens': 1}"),
        (lambda: Limit(rounds=0), "rounds: expected an integer >= 1, got 0"),
        (lambda: Limit(until_ns=1.5), "until_ns: expected an integer >= 1, got 1.5"),
        (lambda: run("warp", [HIT], ScriptedCosts()), "method: expected one of ar, sd, ssd"),
    ],
)
def test_refusals(make, message):
    with pytest.raises(ValueError) as error:
        make()
    assert message in str(error.value)
