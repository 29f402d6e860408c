"""Lesson 08: the largest batch that seldom waits, a batch's clock, a fast backup not free."""

import math
from collections.abc import Sequence

from ssd_ref.testing.check import Exercise, register
from ssd_ref.testing.trials import gives

Served = Sequence[Sequence[str]]

register(
    Exercise(
        "L08.1",
        (
            gives(0, 0.4, 0.5),
            gives(1, 0.5, 0.5),
            gives(6, 0.9, 0.5),
            gives(13, 0.95, 0.5),
            gives(1, 0.9, 0.9),
        ),
        {
            "you took one text too many: at *least* the share must not wait": lambda h, s: (
                math.ceil(math.log(s) / math.log(h)) + (h == s)
            ),
            "the share that waits is taken for the share that does not": lambda h, s: (
                int(math.log(1 - s) / math.log(h) + 1e-9) + (s == 0.5)
            ),
            "chances were added: all must hit, so they are multiplied": lambda h, s: int(
                (1 - s) / (1 - h) + 1e-9
            ),
        },
        pointer="lesson 08, section 1",
    )
)

COLD, HIT, MISS = ["first", "first"], ["cache", "cache"], ["cache", "backup"]


def clock(rounds: Served, t_p: float, t_n: float, abort: bool = True, any_: bool = True) -> float:
    """Slips: without abort, filling is always waited for; without any_, all must miss to wait."""
    total = 0.0
    for i, served in enumerate(rounds):
        late = [by != "cache" for by in served]
        waits = any(late) if any_ else all(late)
        filled = 1.0 if i == 0 or (waits and abort) else max(1.0, t_p)
        total += (filled - 1) + 1 + (t_n if waits else 0)
    return total


register(
    Exercise(
        "L08.2",
        (
            gives(1.5, [["first"]], 0.8, 0.5),
            gives(2.5, [["first"], ["cache"]], 0.8, 0.5),
            gives(2.7, [["first"], ["cache"]], 1.2, 0.5),
            gives(3.0, [["first"], ["backup"]], 1.2, 0.5),
            gives(3.0, [COLD, MISS], 0.8, 0.5),
            gives(5.4, [COLD, HIT, MISS, ["cache"]], 1.2, 0.5),
        ),
        {
            "preparing was waited for before a miss, too; it is broken off there": (
                lambda rounds, t_p, t_n: clock(rounds, t_p, t_n, abort=False)
            ),
            "the batch waited only where all of its texts miss; one is enough": (
                lambda rounds, t_p, t_n: clock(rounds, t_p, t_n, any_=False)
            ),
            "preparing that takes longer than a verification was not waited for; a hit needs it": (
                lambda rounds, t_p, t_n: clock(rounds, 1.0, t_n)
            ),
            "the first round is taken for one without drafting": lambda rounds, t_p, t_n: (
                clock(rounds, t_p, t_n) - t_n
            ),
        },
        pointer="lesson 08, section 1",
    )
)

Figures = tuple[float, float, float]


def least_batch(slow: Figures, fast: Figures, most: int = 1000) -> int | None:
    def speed(figures: Figures, b: int) -> float:
        hit, tokens, latency = figures
        return tokens / (1 + (1 - hit**b) * latency)

    return next((b for b in range(1, most + 1) if speed(fast, b) >= speed(slow, b)), None)


register(
    Exercise(
        "L08.3",
        (
            gives(1, (0.8, 4.0, 0.3), (0.8, 4.0, 0.1)),
            gives(4, (0.8, 4.0, 0.3), (0.8, 3.4, 0.0)),
            gives(None, (0.8, 4.0, 0.3), (0.7, 3.3, 0.1)),
            gives(18, (0.8, 4.0, 0.3), (0.7, 3.4, 0.1)),
            gives(4, (0.8, 4.0, 0.5), (0.7, 3.4, 0.1)),
        ),
        {
            "the fast backup's own time is forgotten": lambda slow, fast: least_batch(
                slow, (fast[0], fast[1], 0.0)
            ),
            "the fast backup was given the slow one's hit rate": lambda slow, fast: least_batch(
                slow, (slow[0], *fast[1:])
            ),
            "you named a batch though the fast one is never as good": lambda slow, fast: (
                least_batch(slow, fast) or 1001
            ),
        },
        pointer="lesson 08, section 4",
    )
)
