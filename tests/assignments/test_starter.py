"""Starters: solutions leave without a trace, all else stays."""

from __future__ import annotations

import pytest

from lessons.assignments import catalogue, starter

SOURCE = '''\
"""A file."""

import os

### BEGIN SOLUTION
import secret
### END SOLUTION


def one(x):
    """Words."""
    ### BEGIN SOLUTION
    return secret.one(x)
    ### END SOLUTION


def two(x):
    given = 1

    ### BEGIN SOLUTION
    if x:
        return given
    ### END SOLUTION
'''
STARTER = '''\
"""A file."""

import os


def one(x):
    """Words."""
    raise NotImplementedError("task 9.1: yours to write")


def two(x):
    given = 1

    raise NotImplementedError("task two: yours to write")
'''


def test_solutions_are_replaced() -> None:
    assert starter.without_solutions(SOURCE, {"one": "9.1"}) == STARTER


@pytest.mark.parametrize(
    "source",
    [
        "### BEGIN SOLUTION",
        "### END SOLUTION",
        "### BEGIN SOLUTION\n### BEGIN SOLUTION\n### END SOLUTION",
    ],
)
def test_a_marker_without_its_partner_is_an_error(source: str) -> None:
    with pytest.raises(ValueError, match="partner"):
        starter.without_solutions(source, {})


@pytest.mark.parametrize("number", catalogue.numbers())
def test_every_task_is_in_the_starter_and_in_the_public_tests(number: int) -> None:
    assignment = catalogue.load(number)
    text, tests = starter.starter(assignment), starter.public_tests(assignment)
    for task in assignment.tasks:
        if task.function:
            assert f'raise NotImplementedError("task {task.id}: yours to write")' in text
        assert f'check("{task.id}", mine' in tests
