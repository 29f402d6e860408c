"""Lesson 04: tokens of a round whose tests are not alike; what free drafting is worth."""

from ssd_ref.testing.check import Exercise, register
from ssd_ref.testing.trials import gives


def by_the_mean(hazards: tuple[float, ...]) -> float:
    mean = sum(hazards) / len(hazards) if hazards else 0.0
    return float(sum(mean**i for i in range(len(hazards) + 1)))


def product(hazards: tuple[float, ...]) -> float:
    result = 1.0
    for hazard in hazards:
        result *= hazard
    return result


register(
    Exercise(
        "L04.1",
        (
            gives(1.0, ()),
            gives(1.5, (0.5,)),
            gives(2.8, (1.0, 0.8)),
            gives(1.0, (0.0, 1.0)),
            gives(2.9, (1.0, 0.5, 0.8)),
        ),
        {
            "the mean hazard is put into the formula for equal ones": by_the_mean,
            "the bonus is missing: every round emits one token more than it accepts": lambda h: sum(
                product(h[: i + 1]) for i in range(len(h))
            ),
            "hazards are added; draft i counts only if all before it passed": lambda h: 1 + sum(h),
            "only the round that accepts all is counted": lambda h: 1 + len(h) * product(h),
        },
        pointer="lesson 04, section 3",
    )
)
register(
    Exercise(
        "L04.2",
        (gives(1.6, 4, 0.15), gives(1.0, 0, 0.15), gives(1.0, 4, 0.0), gives(3.0, 4, 0.5)),
        {
            "you gave the share of the time spent drafting, not the gain": lambda K, c: (
                K * c / (1 + K * c)
            ),
            "you gave the time that is left; how many times faster is the other way up": (
                lambda K, c: 1 / (1 + K * c)
            ),
            "one draft step is counted; a round makes K": lambda K, c: 1 + c,
            "you counted the tokens of a round; they do not change, so they cancel": lambda K, c: (
                (1 - 0.8 ** (K + 1)) / 0.2
            ),
        },
        pointer="lesson 04, section 3",
    )
)
