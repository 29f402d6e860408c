"""Prompt look-up against the slow version that searches the text anew each time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssd_ref.saguaro import PromptLookup


def slow_lookup(text, vocabulary, longest):
    """Try runs from the longest to one token, places from the last to the first."""
    for size in range(min(longest, len(text)), 0, -1):
        for place in range(len(text) - 1, size - 1, -1):
            if text[place - size : place] == text[-size:]:
                return [float(t == text[place]) for t in range(vocabulary)]
    return [1 / vocabulary] * vocabulary


@st.composite
def dialogues(draw):
    """Texts as a decoder asks them: growing, cut back, sometimes another text altogether."""
    V, text, texts = draw(st.integers(1, 3)), [], []
    for _ in range(draw(st.integers(1, 12))):
        keep = draw(st.integers(0, len(text)) | st.just(len(text)))
        text = text[:keep] + draw(st.lists(st.integers(0, V - 1), max_size=5))
        texts.append(list(text))
    return V, texts


@given(dialogues(), st.integers(1, 4))
def test_the_index_changes_nothing(dialogue, longest):
    vocabulary, texts = dialogue
    lookup = PromptLookup(vocabulary, longest)
    for text in texts:
        expected = slow_lookup(text, vocabulary, longest)
        assert lookup(text).tolist() == expected
        assert lookup(tuple(text)).tolist() == expected  # asked again
        assert PromptLookup(vocabulary, longest)(text).tolist() == expected


def test_an_example_by_hand():
    lookup = PromptLookup(5, longest=2)
    assert lookup([1, 2, 3, 1, 2, 4, 0, 1, 2]).argmax() == 4  # (1, 2) was last followed by 4
    assert lookup([1, 2, 3, 1, 2, 4, 0, 2]).argmax() == 4  # (0, 2) is new, 2 was followed by 4
    assert lookup([1, 1]).argmax() == 1  # an occurrence may overlap the suffix
    assert lookup([1, 2, 3]).tolist() == [0.2] * 5
    assert lookup([]).tolist() == [0.2] * 5


def test_a_row_is_the_callers_to_keep():
    lookup = PromptLookup(3)
    row = lookup([1, 2, 1])
    row[:] = 7
    assert lookup([1, 2, 1]).tolist() == [0, 0, 1]


def test_the_callers_text_is_not_changed():
    text = [0, 1, 0]
    PromptLookup(2)(text)
    assert text == [0, 1, 0]


def test_the_index_is_extended_not_rebuilt():
    """A thousand calls on a growing text add each token once."""
    lookup = PromptLookup(7, longest=3)
    added = []
    runs = lookup.runs_before
    lookup.runs_before = lambda place: added.append(place) or runs(place)
    text = [int(t) for t in np.random.default_rng(0).integers(0, 7, 1000)]
    for n in range(1000):
        lookup(text[:n])
    assert added == list(range(999))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: PromptLookup(0), "vocabulary: expected an integer >= 1, got 0"),
        (lambda: PromptLookup(3, longest=0), "longest: expected an integer >= 1, got 0"),
        (lambda: PromptLookup(3)([0, 3]), r"text[1]: expected an integer in [0, 3), got 3"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError) as error:
        call()
    assert str(error.value).startswith(message)
