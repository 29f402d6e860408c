"""Path by path: whole logs equal a max-plus recursion, exactly, for random integer times."""

from __future__ import annotations

from itertools import accumulate, pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from sim_script import ScriptedCosts, ScriptedRounds

from sim.clock import Limit
from sim.rounds import Rules
from sim.simulate import simulate

RULES = [
    Rules(abort, late, occupies)
    for abort, late in [
        ("never", "wait"), ("step", "wait"), ("step", "fallback"),
        ("instant", "wait"), ("instant", "fallback"),
    ]
    for occupies in (False, True)
]  # fmt: skip


def max_plus(c, hits, rules):
    """The oracle: instants of each round of SSD by maxima and sums, without any clock."""
    sent = c.prefill[1] + c.draft[0]
    received = max(sent + c.there[0], c.prefill[0])
    rounds = []
    for t, hit in enumerate(hits):
        outcome = received + c.verify[t] + c.hand[t] + c.back[t]
        begun = sent + rules.sending_occupies_draft * c.there[t]
        bounds = list(accumulate(c.fill[t], initial=begun))
        stopped = max(outcome, bounds[-1])
        if rules.abort != "never" and not (hit and rules.late_hit == "wait"):
            stopped = outcome
            if rules.abort == "step" and outcome < bounds[-1]:
                stopped = min(bound for bound in bounds if bound >= outcome)
        full = stopped >= bounds[-1]
        rounds.append((sent, received, outcome, bounds, stopped, full))
        served = stopped + c.served[t]
        if t + 1 < len(hits):
            sent = served + (0 if hit and full else c.draft[t + 1])
            received = sent + c.there[t + 1]
    return rounds, rounds[-1][1] + c.verify[-1]


def spans(kind, *bounds):
    return [(kind, a, b) for a, b in pairwise(bounds)]


def ssd_log(c, hits, rules):
    """All intervals of all lanes, from the oracle's instants."""
    rounds, end = max_plus(c, hits, rules)
    target, draft, link, path = [("prefill", 0, c.prefill[0])], [], [], []
    path += [("prefill", 0, c.prefill[0]), ("cold start", c.prefill[0], rounds[0][1])]
    draft += [("prefill", 0, c.prefill[1]), ("draft", c.prefill[1], rounds[0][0])]
    for t, (sent, received, outcome, bounds, stopped, _) in enumerate(rounds):
        verified, told = received + c.verify[t], received + c.verify[t] + c.hand[t]
        served = stopped + c.served[t]
        following = rounds[t + 1] if t + 1 < len(rounds) else (served, served)
        target += [("verify", received, verified), ("handshake", verified, told)]
        link += [("speculation", sent, received if t else sent + c.there[0])]
        link += [("outcome", told, outcome)]
        draft += spans("send", sent, bounds[0])
        draft += spans("tree", *[min(bound, max(stopped, sent)) for bound in bounds])
        draft += [("service", stopped, served), ("backup", served, following[0])]
        path += [("verification", received, verified), ("handshake", verified, told)]
        path += [("link", told, outcome), ("overflow", outcome, stopped)]
        path += [("service", stopped, served), ("miss", served, following[0])]
        path += [("link", *following[:2])]
    lanes = {"target": target, "draft": draft, "link": link, "path": path}
    return {
        name: [(k, a, min(b, end)) for k, a, b in lane if a < min(b, end)]
        for name, lane in lanes.items()
    }, end


def log_of(run):
    lanes = {name: [] for name in run.lanes}
    for lane, kind, begin, end, _ in run.log:
        if kind != "idle":
            lanes[lane].append((kind, begin, end))
    return lanes


@st.composite
def scripts(draw, linked):
    """Up to six rounds of small times, so that ties and zeros are common."""
    n = draw(st.integers(1, 6))

    def times(most):
        return draw(st.lists(st.integers(0, most), min_size=n, max_size=n))

    zeros = [0] * n
    costs = ScriptedCosts(
        verify=times(12),
        fill=draw(st.lists(st.lists(st.integers(0, 5), max_size=5), min_size=n, max_size=n)),
        draft=times(6),
        served=times(2),
        hand=times(2),
        there=times(3) if linked else zeros,
        back=times(3) if linked else zeros,
        prefill=(draw(st.integers(0, 9)), draw(st.integers(0, 9))),
    )
    costs.per_round = lambda: True  # an empty fill of every round is a list of lists too
    return costs, draw(st.lists(st.booleans(), min_size=n, max_size=n))


@settings(max_examples=600)
@given(scripts(linked=True) | scripts(linked=False), st.sampled_from(RULES))
def test_ssd_equals_the_max_plus_recursion(script, rules):
    costs, hits = script
    limit = Limit(rounds=len(hits))
    run = simulate("ssd", ScriptedRounds(hits), costs, limit, rules, keep_log=True)
    expected, end = ssd_log(costs, hits, rules)
    assert run.env.now == end
    assert log_of(run) == expected


@given(scripts(linked=False))
def test_sd_and_ar_equal_running_sums(script):
    c, hits = script
    n, limit = len(hits), Limit(rounds=len(hits))
    run = simulate("sd", ScriptedRounds(hits), c, limit, keep_log=True)
    now, target, path = sum(c.prefill), [("prefill", 0, sum(c.prefill))], []
    for t in range(n):
        drafted, verified = now + c.draft[t], now + c.draft[t] + c.verify[t]
        target += [("draft", now, drafted), ("verify", drafted, verified)]
        path += [("drafting", now, drafted), ("verification", drafted, verified)]
        now = verified
    lanes = log_of(run)
    assert lanes["target"] == [x for x in target if x[1] < x[2]]
    assert lanes["path"] == [x for x in target[:1] + path if x[1] < x[2]]
    assert lanes["draft"] == lanes["link"] == []

    run = simulate("ar", ScriptedRounds(hits), c, limit, keep_log=True)
    bounds = list(accumulate(c.verify, initial=c.prefill[0]))
    steps = [x for x in spans("verify", *bounds) if x[1] < x[2]]
    assert log_of(run)["target"] == [x for x in [("prefill", 0, bounds[0])] if x[2]] + steps


@given(scripts(linked=True), st.sampled_from(RULES), st.integers(1, 60))
def test_a_horizon_clips_the_same_log(script, rules, horizon):
    costs, hits = script
    whole = simulate("ssd", ScriptedRounds(hits), costs, Limit(rounds=len(hits)), rules, True)
    horizon = min(horizon, int(whole.env.now))
    if horizon == 0:
        return
    cut = simulate("ssd", ScriptedRounds([*hits, True]), more(costs), Limit(until_ns=horizon),
                   rules, True)  # fmt: skip
    expected = [
        (lane, kind, begin, min(end, horizon)) for lane, kind, begin, end, _ in whole.log
        if begin < horizon
    ]  # fmt: skip
    assert sorted(x[:4] for x in cut.log) == sorted(expected)
    assert cut.env.now == horizon
    for lane in cut.lanes:
        bounds = [x[2:4] for x in cut.log if x.lane == lane]
        assert [0, *(end for _, end in bounds)] == [*(begin for begin, _ in bounds), horizon]


def more(costs):
    """The same script with one more round, of long work, that the horizon will not reach."""
    longer = {name: [*getattr(costs, name), 1000]
              for name in ("verify", "draft", "served", "hand", "there", "back")}  # fmt: skip
    costs = ScriptedCosts(**longer, fill=[*costs.fill, [1000]], prefill=costs.prefill)
    costs.per_round = lambda: True
    return costs
