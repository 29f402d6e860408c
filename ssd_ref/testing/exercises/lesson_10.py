"""Lesson 10: parameter-tokens from a method's shape; the hit rate at which SSD just pays."""

from ssd_ref.testing.check import Exercise, register
from ssd_ref.testing.trials import gives

TARGET, DRAFT = 70.6, 1.24


def cost(target_rows: int, draft_rows: int, tokens: float) -> float:
    return (target_rows * TARGET + draft_rows * DRAFT) / tokens


register(
    Exercise(
        "L10.1",
        (
            gives(TARGET, 0, 0, 1.0),
            gives(cost(2, 2, 1.5), 1, 0, 1.5),
            gives(cost(2, 3, 1.5), 1, 1, 1.5),
            gives(cost(7, 7, 5.03), 6, 0, 5.03),
            gives(cost(8, 176, 5.47), 7, 24, 5.47),
        ),
        {
            "a draft was counted for AR: lookahead 0 costs the target alone": lambda K, b, E: cost(
                K + 1, K + 1 + K * b, E
            ),
            "K rows of the draft were counted for SD's steps or SSD's glue; there are K + 1": (
                lambda K, b, E: cost(K + 1, K + K * b, E)
            ),
            "K rows of the target were counted; it reads K + 1: the last token and the K drafts": (
                lambda K, b, E: cost(K or 1, (K + 1 if K else 0) + K * b, E)
            ),
            "the glue forward is forgotten": lambda K, b, E: cost(K + 1, K * b or K + bool(K), E),
            "you gave the cost of a round; its tokens share it": lambda K, b, E: cost(
                K + 1, (K + 1 if K else 0) + K * b, 1.0
            ),
        },
        pointer="lesson 10, section 1",
    )
)
register(
    Exercise(
        "L10.2",
        (
            gives(0.0, 0.8, 1.0),
            gives(0.45, 0.8, 1.25),
            gives(0.4, 1.0, 1.25),
            gives(None, 0.8, 2.0),
            gives(1.0, 0.5, 1.5),
        ),
        {
            "you gave a rate above 1: where none is enough, say None": lambda T, needed: (
                1 - ((1 + T) / needed - 1) / T
            ),
            "you gave the miss rate": lambda T, needed: (
                None if needed > 1 + T else ((1 + T) / needed - 1) / T
            ),
            "the drafting of a miss was forgotten: a miss takes 1 + T": lambda T, needed: (
                None if needed > 1 + T else (needed - 1) / T
            ),
        },
        pointer="lesson 10, section 3",
    )
)
