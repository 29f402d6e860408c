"""Lesson 09: what a pause of the target was for, and the most that hiding the draft can bring."""

from collections.abc import Sequence

from ssd_ref.testing.check import Exercise, register
from ssd_ref.testing.trials import gives

Block = tuple[float, float]


def divided(
    pause: Block, backup: Sequence[Block], filling: Sequence[Block], clip: bool = True
) -> tuple[float, float, float]:
    """Slip: without `clip` a block that only touches the pause counts in full."""
    begin, end = pause

    def inside(blocks: Sequence[Block]) -> float:
        if not clip:
            return sum(e - b for b, e in blocks if b < end and e > begin)
        return sum(max(0, min(e, end) - max(b, begin)) for b, e in blocks)

    miss, overflow = inside(backup), inside(filling)
    return miss, overflow, end - begin - miss - overflow


def unbounded(
    pause: Block, backup: Sequence[Block], filling: Sequence[Block]
) -> tuple[float, float, float]:
    """Slip: a block that ends before the pause, or begins after it, has a length below 0."""
    begin, end = pause
    miss, overflow = (
        sum(min(e, end) - max(b, begin) for b, e in blocks) for blocks in (backup, filling)
    )
    return miss, overflow, end - begin - miss - overflow


register(
    Exercise(
        "L09.1",
        (
            gives((0, 0, 10), (10, 20), [], []),
            gives((5, 0, 5), (10, 20), [(12, 17)], []),
            gives((0, 1, 9), (10, 20), [], [(4, 11), (22, 30)]),
            gives((5, 1, 4), (10, 20), [(12, 15), (15, 17)], [(4, 11)]),
        ),
        {
            "a block that only reaches into the pause counts in full": (
                lambda pause, backup, filling: divided(pause, backup, filling, clip=False)
            ),
            "a block outside of the pause counts as less than nothing": (
                lambda pause, backup, filling: unbounded(pause, backup, filling)
            ),
            "miss and overflow are exchanged": (
                lambda pause, backup, filling: divided(pause, filling, backup)
            ),
        },
        pointer="lesson 09, section 5",
    )
)

register(
    Exercise(
        "L09.2",
        (
            gives(1.0, 0.0, 4, 5.0),
            gives(1.4, 0.5, 4, 5.0),
            gives(2.0, 1.0, 6, 6.0),
            gives(1.5, 2.0, 4, 4.0),
        ),
        {
            "a draft slower than the target is hidden in full": lambda d, K, v: 1 + K * d / v,
            "one step is hidden, not all of the round's": lambda d, K, v: 1 + d / v,
            "what is hidden is divided by SD's round, not by what is left of it": (
                lambda d, K, v: 1 + K * d / (v + K * d)
            ),
        },
        pointer="lesson 09, section 5",
    )
)
