"""What must hold besides the law, each property with the conditions under which it is true."""

import math
import sys
from dataclasses import asdict
from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ssd_ref import SeededRandomness, autoregressive, speculative, ssd
from ssd_ref.laws import ranking
from ssd_ref.ssd import Speculator
from ssd_ref.testing.strategies import cases
from ssd_ref.verification import Verifier

SEEDS = st.integers(0, 2**32)
SSD_MODULE = sys.modules["ssd_ref.ssd"]  # `ssd_ref.ssd` is the function
LONG = 12  # sampled texts may be longer than enumerated ones


def run_ar(case, seed, **change):
    keywords = {**case.ar(), "max_new_tokens": LONG, **change}
    return autoregressive(case.target, case.prompt, randomness=SeededRandomness(seed), **keywords)


def run_sd(case, seed, **change):
    keywords = {**case.sd(), "max_new_tokens": LONG, **change}
    return speculative(
        case.target, case.draft, case.prompt, randomness=SeededRandomness(seed), **keywords
    )


def run_ssd(case, seed, randomness=None, **change):
    keywords = {**case.ssd(), "max_new_tokens": LONG, **change}
    source = randomness or SeededRandomness(seed)
    return ssd(case.target, case.draft, case.prompt, randomness=source, **keywords)


OWN_DRAFT = {"saguaro_c": 1.0, "backup": "draft"}


@given(cases(), SEEDS)
def test_counters_add_up(case, seed):
    for text in (run_ar(case, seed), run_sd(case, seed), run_ssd(case, seed)):
        assert sum(r.emitted for r in text.rounds) == len(text.tokens) == len(text.logprobs)
        assert [r.round for r in text.rounds] == list(range(1, len(text.rounds) + 1))
        for r in text.rounds:
            assert 0 <= r.accepted <= r.drafted <= case.lookahead
            assert r.emitted == r.accepted + (r.bonus is not None)
            assert r.rank is None or (r.bonus is not None and 0 <= r.rank < case.target.vocabulary)
        assert all(r.bonus is not None for r in text.rounds[:-1])
        assert all(math.isfinite(x) and x <= 1e-12 for x in text.logprobs)


@given(cases(), SEEDS)
def test_the_text_for_n_is_a_prefix_of_the_text_for_n_plus_3(case, seed):
    for run in (run_ar, run_sd, run_ssd):
        for N in range(4):
            short = run(case, seed, max_new_tokens=N)
            long = run(case, seed, max_new_tokens=N + 3)
            assert long.tokens[: len(short.tokens)] == short.tokens
            assert len(short.tokens) == min(N, len(long.tokens))


@given(cases(), SEEDS)
def test_greedy_texts_are_equal_whatever_the_draft_does(case, seed):
    """Only the target's temperature must be 0; any draft law, list, C and backup."""
    greedy = {"temperature": 0.0}
    own = {"draft_temperature": case.draft_law.get("draft_temperature", 1.0)}
    ar = run_ar(case, seed, **greedy)
    assert run_sd(case, seed, **greedy, **own).tokens == ar.tokens
    assert run_ssd(case, seed, **greedy, **own).tokens == ar.tokens


@given(cases(), SEEDS)
def test_sd_and_ssd_emit_the_same_text_for_the_same_seed(case, seed):
    """C = 1, the draft as backup, and equal settings; draft and target may differ in theirs."""
    sd, both = run_sd(case, seed), run_ssd(case, seed, **OWN_DRAFT)
    assert both.tokens == sd.tokens
    assert both.logprobs == sd.logprobs
    assert [(r.drafted, r.accepted, r.bonus) for r in both.rounds] == [
        (r.drafted, r.accepted, r.bonus) for r in sd.rounds
    ]


@given(cases(), SEEDS)
def test_ssd_that_guesses_nothing_is_sd(case, seed):
    """All-zero lists and the draft as backup: equal round by round, but for served_by and rank."""

    def plain(text):
        return [{**asdict(r), "served_by": None, "rank": None} for r in text.rounds]

    nothing = [0] * (case.lookahead + 1)
    text = run_ssd(
        case, seed, fan_out=nothing, fan_out_miss=None, saguaro_c=case.cache["saguaro_c"],
        backup="draft",
    )  # fmt: skip
    sd = run_sd(case, seed)
    assert text.tokens == sd.tokens
    assert plain(text) == plain(sd)
    assert {r.served_by for r in text.rounds[1:]} <= {"backup"}
    for ours, theirs in zip(text.rounds, sd.rounds, strict=True):
        assert theirs.rank in (None, ours.rank)


@given(cases(), SEEDS)
def test_a_full_fan_out_always_hits_after_round_1(case, seed):
    full = [case.target.vocabulary] * (case.lookahead + 1)
    text = run_ssd(case, seed, fan_out=full, fan_out_miss=full)
    assert [r.served_by for r in text.rounds] == ["first", "cache", *["cache"] * LONG][
        : len(text.rounds)
    ]


@given(cases(plain=True), SEEDS)
def test_a_draft_equal_to_the_target_has_every_token_accepted(case, seed):
    """Same law on both sides, C = 1, the draft as backup, no end token."""
    K = case.lookahead
    for temperature in (case.law["temperature"], 0.0):
        same = {"temperature": temperature, "draft_temperature": None, "eos": None}
        twins = type(case)(
            case.target, case.target, case.prompt, LONG, K, case.law, case.draft_law, case.cache
        )
        for text in (run_sd(twins, seed, **same), run_ssd(twins, seed, **same, **OWN_DRAFT)):
            assert [r.accepted for r in text.rounds] == [r.drafted for r in text.rounds]
            assert len(text.rounds) == -(-LONG // (K + 1))


class Perturbed(SeededRandomness):
    """Another seed's uniforms for the draws of one round's cache entries, and for nothing else."""

    def __init__(self, seed, round):
        super().__init__(seed)
        self.perturbed_round, self.other = round, SeededRandomness(seed + 1)

    def uniform(self, site):
        entry = site.branch is not None and site.round == self.perturbed_round
        return self.other.uniform(site) if entry else super().uniform(site)


@given(cases(), SEEDS, st.integers(2, 4))
def test_hit_or_miss_does_not_depend_on_an_entrys_content(case, seed, round):
    """(A3): redraw all entries prepared for one round; up to its service nothing may change."""
    before, after = run_ssd(case, seed), run_ssd(case, seed, Perturbed(seed, round))
    assert before.rounds[: round - 1] == after.rounds[: round - 1]
    assert [r.served_by for r in before.rounds[:round]] == [
        r.served_by for r in after.rounds[:round]
    ]


def replay(rounds, lookahead, fan_out, fan_out_miss):
    """Who would have served each round under other lists, from recorded ranks alone."""
    served, widths = ["first"], fan_out
    for r in rounds[:-1]:
        width = widths[r.accepted] if r.accepted < r.drafted else widths[-1]
        hit = r.rank is not None and r.rank < width
        served.append("cache" if hit else "backup")
        widths = fan_out if hit else fan_out_miss
    return served[: len(rounds)]


@given(cases(), SEEDS, st.data())
def test_one_recording_answers_every_fan_out_list(case, seed, data):
    """C = 1 and the draft as backup: recorded ranks give the hits under any other pair of lists."""
    recorded = run_ssd(case, seed, **OWN_DRAFT)
    widths = st.lists(st.integers(0, 5), min_size=case.lookahead + 1, max_size=case.lookahead + 1)
    for _ in range(3):
        hit, miss = data.draw(widths), data.draw(widths)
        text = run_ssd(case, seed, fan_out=hit, fan_out_miss=miss, **OWN_DRAFT)
        assert [r.served_by for r in text.rounds] == replay(
            recorded.rounds, case.lookahead, hit, miss
        )


class Noting(SeededRandomness):
    """Keeps each row that is drawn from, by its site."""

    def __init__(self, seed):
        super().__init__(seed)
        self.rows = {}

    def choose(self, probabilities, site):
        self.rows[site] = np.array(probabilities)
        return super().choose(probabilities, site)

    def choose_rows(self, rows, sites):
        self.rows |= {site: np.array(row) for row, site in zip(rows, sites, strict=True)}
        return super().choose_rows(rows, sites)


@given(cases(), SEEDS)
def test_the_rows_of_a_speculation_are_the_rows_it_was_drawn_from(case, seed):
    source, tested = Noting(seed), []

    class Spy(Verifier):
        def verify(self, speculation):
            tested.append(speculation)
            return super().verify(speculation)

    with patch.object(SSD_MODULE, "Verifier", Spy):
        run_ssd(case, seed, source)
    for speculation in tested:
        for token, row, site in zip(
            speculation.tokens, speculation.rows, speculation.sites, strict=True
        ):
            assert row.tobytes() == source.rows[site].tobytes()
            assert row[token] > 0


@given(cases(), SEEDS)
def test_saguaros_set_without_the_drawn_token_lies_within_the_guesses(case, seed):
    """S_i is the top F_i of the raw logits, fixed before d_{i+1} is drawn."""
    seen = []

    class Spy(Speculator):
        def prepare(self):
            super().prepare()
            for k, token in enumerate(self.speculation.tokens):
                favoured = set(ranking(self.logits[k])[: self.widths[k]].tolist())
                seen.append((k, favoured - {token}, {o.bonus for o in self.guesses if o[0] == k}))

    with patch.object(SSD_MODULE, "Speculator", Spy):
        run_ssd(case, seed)
    for k, favoured, guessed in seen:
        assert favoured <= guessed, k
