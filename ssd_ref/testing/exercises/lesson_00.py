"""Lesson 00: the self-test."""

from ssd_ref.testing.check import Exercise, register
from ssd_ref.testing.trials import gives, is_value

SUMS = "an introduction to probability, the chapter on conditional probability"


def invert_from_above(p: list[float], u: float) -> int:
    """Finds the first index whose sum reaches u, an impossible one for u = 0."""
    return next(i for i in range(len(p)) if u <= sum(p[: i + 1]))


register(
    Exercise(
        "L00.1",
        (is_value("P(rain | wet)", 0.75),),
        {
            "you took P(wet | rain) for P(rain | wet)": 0.9,
            "you gave P(rain and wet), not divided by P(wet)": 0.27,
            "you gave P(wet)": 0.36,
        },
        pointer=SUMS,
    )
)
register(
    Exercise(
        "L00.2",
        (
            gives(0, [1.0], 0.5),
            gives(0, [0.5, 0.5], 0.25),
            gives(1, [0.5, 0.5], 0.75),
            gives(1, [0.5, 0.5], 0.5),
            gives(1, [0.0, 1.0], 0.0),
            gives(2, [0.2, 0.3, 0.5], 0.5),
        ),
        {
            "u on a border goes to the token before it, and u = 0 draws an impossible token": (
                invert_from_above
            ),
            "the largest entry is taken, whatever u is": lambda p, u: max(
                range(len(p)), key=p.__getitem__
            ),
        },
        pointer="inverse transform sampling: pile the probabilities up, find the interval of u",
    )
)
register(
    Exercise(
        "L00.3",
        (is_value("the list at the end", [0, 1, 10, 2]),),
        {
            "the first next() ran the function to its end; it stops at yield": [0, 1, 2, 10],
            "calling the function ran it up to the first yield; it begins at next()": [1, 0, 2, 10],
        },
        pointer="the Python tutorial, section Generators",
    )
)
register(
    Exercise(
        "L00.4",
        (is_value("the shape of the scores", (2, 4, 5, 7)),),
        {
            "the heads were multiplied away; only the last two axes are": (2, 5, 7),
            "rows and columns are exchanged: each query has a row": (2, 4, 7, 5),
        },
        pointer="NumPy's page on matmul: the last two axes are multiplied, the others stay",
    )
)
