"""The lessons' exercises, one file a lesson: their cases and the usual slips."""

from ssd_ref.testing.exercises import (
    lesson_00,
    lesson_01,
    lesson_02,
    lesson_03,
    lesson_04,
    lesson_05,
    lesson_06,
    lesson_07,
    lesson_08,
    lesson_09,
    lesson_10,
    lesson_11,
)

__all__ = [
    "lesson_00",
    "lesson_01",
    "lesson_02",
    "lesson_03",
    "lesson_04",
    "lesson_05",
    "lesson_06",
    "lesson_07",
    "lesson_08",
    "lesson_09",
    "lesson_10",
    "lesson_11",
]
