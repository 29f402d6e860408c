"""Lesson 11: the mean of a histogram; where two measured curves cross."""

from collections.abc import Sequence

from ssd_ref.testing.check import Exercise, register
from ssd_ref.testing.trials import gives

Numbers = Sequence[float]

register(
    Exercise(
        "L11.1",
        (
            gives(1.0, [1.0]),
            gives(2.0, [0.0, 1.0]),
            gives(1.5, [0.5, 0.5]),
            gives(3.05, [0.25, 0.2, 0.0, 0.35, 0.2]),
        ),
        {
            "the bonus is missing: a round with k accepted drafts emits k + 1": lambda f: sum(
                k * share for k, share in enumerate(f)
            ),
            "the most frequent k is taken instead of the mean": lambda f: (
                1 + max(range(len(f)), key=f.__getitem__)
            ),
            "every k counts alike; its share is its weight": lambda f: (
                sum(k + 1 for k in range(len(f))) / len(f)
            ),
        },
        pointer="lesson 02, section 6",
    )
)


def crossing(
    batches: Sequence[int], slow: Numbers, fast: Numbers, strictly: bool = False
) -> object:
    pairs = zip(batches, slow, fast, strict=True)
    return next((b for b, s, f in pairs if f > s or (f == s and not strictly)), None)


register(
    Exercise(
        "L11.2",
        (
            gives(1, [1], [2.0], [3.0]),
            gives(None, [1], [2.0], [1.0]),
            gives(1, [1, 2], [2.0, 1.0], [2.0, 1.5]),
            gives(4, [1, 2, 4], [3.0, 2.5, 2.0], [2.2, 2.2, 2.2]),
            gives(2, [1, 2, 4, 8], [3.0, 2.0, 2.5, 1.0], [2.2, 2.2, 2.2, 2.2]),
        ),
        {
            "the index is returned, not the batch": lambda b, s, f: next(
                (i for i in range(len(b)) if f[i] >= s[i]), None
            ),
            "equally fast is fast enough: at least as good": lambda b, s, f: crossing(
                b, s, f, True
            ),
            "the two curves are exchanged": lambda b, s, f: crossing(b, f, s),
            "the last crossing is returned, not the first": lambda b, s, f: max(
                (x for x, a, c in zip(b, s, f, strict=True) if c >= a), default=None
            ),
        },
        pointer="lesson 08",
    )
)
