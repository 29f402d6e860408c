"""The two places where a caller may put a policy of their own: who guesses, and who backs up."""

import numpy as np
import pytest

from ssd_ref import SeededRandomness, TableModel, exact_law, ssd
from ssd_ref.fan_out import guess_outcomes
from ssd_ref.rounds import Outcome
from ssd_ref.testing import compare_laws, target_law

TARGET = TableModel([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.3, 0.3, 0.4]])
DRAFT = TableModel([[0.4, 0.4, 0.2], [0.2, 0.3, 0.5], [0.1, 0.3, 0.6]])


def run(randomness=None, **settings):
    settings = {"fan_out": [1, 1, 2], "lookahead": 2, "max_new_tokens": 12} | settings
    return ssd(TARGET, DRAFT, [0], randomness=randomness or SeededRandomness(3), **settings)


def test_a_predictor_that_reads_the_list_is_the_list():
    def by_list(logits, speculation):
        return guess_outcomes(logits, speculation.tokens, [1, 1, 2])

    for seed in range(20):
        with_list, with_predictor = (
            run(SeededRandomness(seed), fan_out=fan_out, predict=predict)
            for fan_out, predict in (([1, 1, 2], None), ([0, 0, 0], by_list))
        )
        assert with_list == with_predictor


def test_a_predictor_is_given_what_the_draft_alone_knows():
    seen = []

    def spy(logits, speculation):
        seen.append((len(logits), speculation.tokens, speculation.rows, speculation.served_by))
        return []

    rounds = run(predict=spy).rounds
    assert [(n, len(tokens), who) for n, tokens, _, who in seen] == [
        (record.drafted + 1, record.drafted, record.served_by) for record in rounds
    ]
    assert {record.served_by for record in rounds} == {"first", "backup"}
    for _, tokens, rows, _ in seen:
        assert rows.shape == (len(tokens), 3)


def test_the_same_guess_twice_and_a_guess_that_cannot_be_are_harmless_or_an_error():
    twice = run(predict=lambda logits, speculation: [Outcome(0, 1), Outcome(0, 1)])
    once = run(predict=lambda logits, speculation: [Outcome(0, 1)])
    assert twice == once
    with pytest.raises(ValueError, match=r"expected a length in \[0, 3\], got 4"):
        run(predict=lambda logits, speculation: [Outcome(3, 1)])
    with pytest.raises(ValueError, match=r"expected an integer in \[0, 3\), got 3"):
        run(predict=lambda logits, speculation: [Outcome(0, 3)])


def test_a_backup_of_ones_own_has_the_law_and_sees_the_text_with_its_drafts():
    seen = []

    def count(text):
        """One-hot on a token that the text's length names."""
        seen.append(list(text))
        return np.eye(3)[len(text) % 3]

    def decode(randomness):
        return run(randomness, max_new_tokens=3, backup=count, fan_out=[1, 0, 0]).tokens

    assert compare_laws(exact_law(decode), target_law(TARGET, [0], max_new_tokens=3))
    seen.clear()
    generation = run(backup=count, fan_out=[0, 0, 0])
    first, *others = generation.rounds
    length = 1 + first.emitted
    for record in others:
        calls, seen[:] = seen[: record.drafted], seen[record.drafted :]
        for i, text in enumerate(calls):
            assert text[:length] == [0, *generation.tokens][:length]
            assert text[length:] == [n % 3 for n in range(length, length + i)]
        length += record.emitted
    assert not seen


def test_uniform_by_name_and_by_function_are_one():
    by_name, by_function = run(backup="uniform"), run(backup=lambda text: [1 / 3] * 3)
    assert by_name == by_function


@pytest.mark.parametrize(
    "law", [[0.5, 0.5], [0.5, 0.6, 0.2], [-0.1, 0.6, 0.5], [np.nan, 0.5, 0.5], 1.0]
)
def test_a_backup_must_give_a_law(law):
    with pytest.raises(ValueError, match="backup: expected a law of 3 tokens, got"):
        run(backup=lambda text: law, fan_out=[0, 0, 0])
