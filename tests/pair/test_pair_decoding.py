"""The decoders on the pair that ships: equal texts in float64, and the law by sampling.

Suite-wide false-alarm budget of the sampling tests: 1e-6, shared among them.
"""

from collections import Counter

import numpy as np
import pytest
import torch

from ssd_ref import Law, SeededRandomness, autoregressive, load_pair, speculative, ssd
from ssd_ref.pair.corpus import held_out_prompts
from ssd_ref.testing.goodness import goodness_of_fit, power, two_samples
from ssd_ref.verification import acceptance

pytestmark = pytest.mark.slow  # left out of the everyday run

LEVEL = 1e-6 / 6  # six sampling tests share the budget
SSD = {"lookahead": 4, "fan_out": [2, 2, 2, 2, 4]}


@pytest.fixture(scope="module")
def pair64():
    return load_pair(dtype=torch.float64)


@pytest.fixture(scope="module")
def pair():
    return load_pair()


def equal_texts(pair, prompts, tokens):
    """AR = SD = SSD at temperature 0, and SD = SSD at temperature 1, token for token."""
    for i, prompt in enumerate(prompts):
        greedy = {"max_new_tokens": tokens, "temperature": 0.0}
        source = SeededRandomness(0, sequence=i)
        ar = autoregressive(pair.target, prompt, randomness=source, **greedy)
        for text in (
            speculative(pair.target, pair.draft, prompt, lookahead=4, randomness=source, **greedy),
            ssd(pair.target, pair.draft, prompt, randomness=source, **SSD, **greedy),
        ):
            assert text.tokens == ar.tokens
            np.testing.assert_allclose(text.logprobs, ar.logprobs, atol=1e-9)
        warm = {"max_new_tokens": tokens, "temperature": 1.0}
        sd = speculative(pair.target, pair.draft, prompt, lookahead=4, randomness=source, **warm)
        both = ssd(pair.target, pair.draft, prompt, randomness=source, **SSD, **warm)
        assert both.tokens == sd.tokens
        assert {r.served_by for r in both.rounds[1:]} <= {"cache", "backup"}


def test_equal_texts_on_three_held_out_prompts(pair64):
    equal_texts(pair64, held_out_prompts(3), tokens=24)


@pytest.mark.slow
def test_equal_texts_on_fifty_held_out_prompts(pair64):
    equal_texts(pair64, held_out_prompts(50), tokens=48)


def test_the_pair_speaks_one_vocabulary_and_ends_where_its_context_ends(pair):
    prompt = held_out_prompts(1)[0]
    filled = prompt * (512 // len(prompt))
    text = speculative(
        pair.target, pair.draft, filled[:509], max_new_tokens=10, lookahead=4,
        randomness=SeededRandomness(0),
    )  # fmt: skip
    assert (len(text.tokens), text.finish_reason) == (3, "context")


def first_tokens(pair, prompt, n, decode):
    counts = np.zeros(pair.target.vocabulary)
    for sequence in range(n):
        counts[decode(prompt, SeededRandomness(1, sequence)).tokens[0]] += 1
    return counts


@pytest.mark.slow
def test_first_tokens_fit_the_targets_law(pair):
    """SD and SSD, n = 600 each, on the prompt where the fault "drawn at temperature .7, tested at
    1" would show most: it is told apart with a chance of at least .99."""
    n = 600
    prompt, p, wrong = max(
        (with_fault(pair, prompt) for prompt in held_out_prompts()), key=distance
    )
    assert power(wrong, p, n, LEVEL) >= 0.99
    decoders = [
        lambda x, r: speculative(
            pair.target, pair.draft, x, max_new_tokens=1, lookahead=1, randomness=r
        ),
        lambda x, r: ssd(
            pair.target, pair.draft, x, max_new_tokens=1, lookahead=1, fan_out=[2, 2],
            saguaro_c=0.5, randomness=r,
        ),
    ]  # fmt: skip
    for decode in decoders:
        fit = goodness_of_fit(first_tokens(pair, prompt, n, decode), p)
        assert fit.p_value > LEVEL, fit


def with_fault(pair, prompt):
    """The prompt, the target's law of its next token, and the law that the fault would give."""
    logits = [m.start(prompt[:-1]).extend(prompt[-1:]) for m in (pair.target, pair.draft)]
    p, q = (Law().rows(z)[0] for z in logits)
    return prompt, p, emitted(p, q, Law(0.7).rows(logits[1])[0])


def distance(found):
    """Chi-square distance of the faulty law from the right one: a G-test's power grows with it."""
    _, p, wrong = found
    return ((wrong - p) ** 2 / p).sum()


def emitted(p, q, drawn):
    """The law of a token drafted from `drawn`, but tested and corrected as if from q."""
    law = np.zeros(len(p))
    for token in np.flatnonzero(drawn):
        a, residual = acceptance(p, q, int(token))
        law[token] += drawn[token] * a
        law += drawn[token] * (1 - a) * residual
    return law


@pytest.mark.slow
def test_three_tokens_of_sd_and_ssd_have_the_law_of_ar(pair):
    """Two-sample tests on texts of three tokens, n = 700 each."""
    n, prompt = 700, held_out_prompts(8)[4]

    def texts(decode, seed):
        return Counter(
            tuple(decode(SeededRandomness(seed, sequence)).tokens) for sequence in range(n)
        )

    common = {"max_new_tokens": 3}
    ar = texts(lambda r: autoregressive(pair.target, prompt, randomness=r, **common), 2)
    sd = texts(
        lambda r: speculative(pair.target, pair.draft, prompt, lookahead=2, randomness=r, **common),
        3,
    )
    both = texts(
        lambda r: ssd(
            pair.target, pair.draft, prompt, lookahead=2, fan_out=[1, 1, 2], randomness=r, **common
        ),
        4,
    )
    for sample in (sd, both):
        fit = two_samples(ar, sample)
        assert fit.p_value > LEVEL, fit
