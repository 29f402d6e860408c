"""`check`: right answers pass, known slips are named, all else is told its smallest case."""

from __future__ import annotations

import numpy as np
import pytest
from exercise_answers import RIGHT, WRONG

from ssd_ref.testing import check
from ssd_ref.testing.check import EXERCISES, Exercise, find, judge, register
from ssd_ref.testing.same import same, shown
from ssd_ref.testing.trials import gives, has_law, is_value, satisfies

find("L00.1")  # loads the registry
IDS = sorted(id for id in EXERCISES if id.startswith("L"))
SLIPS = [(id, text) for id in IDS for text in EXERCISES[id].slips]


def test_every_exercise_has_right_answers_here() -> None:
    assert sorted(RIGHT) == IDS


@pytest.mark.parametrize("id", IDS)
def test_right_answers_pass(id: str) -> None:
    for answer in RIGHT[id]:
        verdict = judge(find(id), answer)
        assert verdict, verdict.text
        assert verdict.text.startswith(f"{id}: right")


@pytest.mark.parametrize("id", IDS)
def test_at_least_two_slips_are_known(id: str) -> None:
    assert len(find(id).slips) >= 2


@pytest.mark.parametrize(("id", "slip"), SLIPS)
def test_a_slip_is_rejected_and_named(id: str, slip: str) -> None:
    verdict = judge(find(id), find(id).slips[slip])
    assert not verdict
    assert f"This looks as if {slip}." in verdict.text


@pytest.mark.parametrize(("id", "answer", "words"), WRONG)
def test_wrong_answers_are_told_the_smallest_case(id: str, answer: object, words: str) -> None:
    verdict = judge(find(id), answer)
    assert not verdict
    assert words in verdict.text


def test_the_verdict_is_printed_once_and_is_true_or_false(capsys: pytest.CaptureFixture) -> None:
    verdict = check("L02.1", lambda p, q: 0.5)
    assert capsys.readouterr().out == f"{verdict}\n"
    assert not verdict
    verdict._ipython_display_()
    assert capsys.readouterr().out == ""
    assert str(verdict) == (
        "L02.1: not yet, 0 of 4 cases right. The smallest wrong one:\n"
        "<lambda>([1.0], [1.0])\n"
        "  expected 1.0\n"
        "  got      0.5\n"
        "Read again: lesson 02, section 2."
    )


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda p, q: None, "got      None\nThis looks as if nothing is returned."),
        (lambda p, q: 1 / 0, "got      ZeroDivisionError: division by zero (line "),
        (lambda p: 1, "TypeError"),
        (None, "expected a function\n  got      None"),
        (lambda p, q: float("nan"), "got      nan"),
        (lambda p, q: "1.0", "got      '1.0'"),
        (lambda p, q: [1.0], "got      [1.0]"),
    ],
)
def test_answers_of_a_strange_kind(answer: object, words: str) -> None:
    verdict = judge(find("L02.1"), answer)
    assert not verdict
    assert words in verdict.text


def test_an_endless_loop_is_the_students_to_interrupt() -> None:
    def interrupted(p: object, q: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check("L02.1", interrupted)


def test_an_answer_cannot_spoil_the_cases_of_the_next_one() -> None:
    def spoiling(p: list[float], q: list[float]) -> float:
        p[:], alpha = [0] * len(p), sum(map(min, p, q))
        return alpha

    assert judge(find("L02.1"), spoiling)
    assert judge(find("L02.1"), spoiling)


@pytest.mark.parametrize("id", ["L2.1", "L02.9", "", None, "M05.3"])
def test_an_unknown_id_names_near_ones(id: object) -> None:
    with pytest.raises(ValueError, match=r"no exercise .*; did you mean one of L\d\d\.\d"):
        check(id, None)  # type: ignore[arg-type]


def test_an_assignment_registers_its_own() -> None:
    exercise = Exercise("7.1", (gives(2, 1),), {"you add nothing": lambda x: x})
    register(exercise)
    try:
        assert check("7.1", lambda x: x + 1)
        with pytest.raises(ValueError, match=r"7\.1 is registered already"):
            register(exercise)
    finally:
        del EXERCISES["7.1"]
    with pytest.raises(ValueError, match="at least one trial"):
        Exercise("7.2", ())


def test_a_decoder_that_breaks_a_rule_of_enumeration_is_told_so() -> None:
    from ssd_ref import Site

    def twice(r: object) -> list[int]:
        site = Site(0, 1, "bonus", 0)
        return [r.choose([0.5, 0.5], site), r.choose([0.5, 0.5], site)]

    exercise = Exercise("x", (has_law("two coins", lambda answer: answer, {(0, 0): 1.0}),))
    assert "drawn twice in one run" in judge(exercise, twice).text


def test_a_predicate_on_the_value() -> None:
    exercise = Exercise("x", (satisfies("a law", lambda p: abs(sum(p) - 1) < 1e-9, 3),))
    assert judge(exercise, lambda n: [1 / n] * n)
    for wrong in (lambda n: [1] * n, lambda n: None, lambda n: 1 / 0):
        assert "expected a law" in judge(exercise, wrong).text


def test_a_value_that_is_asked_for_is_not_given_away() -> None:
    text = judge(Exercise("x", (is_value("the answer", 42),)), 41).text
    assert "42" not in text
    assert "the answer" in text


@pytest.mark.parametrize(
    ("a", "b", "equal"),
    [
        (1, 1.0, True),
        (0.1 + 0.2, 0.3, True),
        (0.3, 0.31, False),
        ([1, 2], (1, 2), True),
        (np.array([1, 2]), [1, 2], True),
        (np.array(3), 3, True),
        ([1, 2], [1], False),
        ([[1]], [1], False),
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": 1}, {"b": 1}, False),
        (None, None, True),
        (None, 0, False),
        (float("nan"), float("nan"), False),
        (float("inf"), float("inf"), True),
        ("a", "a", True),
        ("1", 1, False),
        (np.bool_(True), True, True),
        ([np.array([1, 2])], [[1, 2]], True),
    ],
)
def test_same(a: object, b: object, equal: bool) -> None:
    assert same(a, b) is equal
    assert same(b, a) is equal


def test_shown_is_short_and_plain() -> None:
    assert shown(np.array([1 / 3, 1.0])) == "[0.333333, 1.0]"
    assert shown((np.int64(3), None)) == "(3, None)"
    assert len(shown(list(range(1000)))) < 310
