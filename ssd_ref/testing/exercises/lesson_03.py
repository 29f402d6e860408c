"""Lesson 03: a hiding place, a property that catches, a diagnosis, smallest witnesses."""

from typing import Any
from unittest.mock import patch

import numpy as np

import ssd_ref
from ssd_ref.models import TableModel
from ssd_ref.testing.check import Exercise, Raised, Wrong, register
from ssd_ref.testing.same import Words
from ssd_ref.testing.trials import is_value

HALF = [0.5, 0.5, 0.0], [0.25, 0.25, 0.5]


def hides(answer: Any) -> None:
    """The pair must be two different laws that reject sometimes, with the residual equal to p."""
    asked = "a pair (p, q) of laws of 3 tokens for which drawing the repair from p changes nothing"
    try:
        p, q = (np.array(row, dtype=np.float64) for row in answer)
        fine = p.shape == q.shape == (3,) and min(p.min(), q.min()) >= 0
    except (TypeError, ValueError):
        raise Wrong(asked, Words("two rows of three numbers"), answer) from None
    if not (fine and np.allclose([p.sum(), q.sum()], 1)):
        raise Wrong(asked, Words("two laws of three tokens"), answer)
    missing = np.maximum(p - q, 0)
    if missing.sum() < 1e-9:
        raise Wrong(asked, Words("a pair that rejects sometimes"), answer)
    law = np.minimum(p, q) + missing.sum() * p
    if not np.allclose(law, p, atol=1e-12, rtol=0):
        raise Wrong(f"{asked}; with p = {p.tolist()}, q = {q.tolist()}", p, law)


register(
    Exercise(
        "L03.1",
        (hides,),
        {
            "p and q were exchanged: the draft is the one that wastes mass": HALF[::-1],
            "p and q are equal: nothing is ever rejected": ([0.5, 0.5, 0.0], [0.5, 0.5, 0.0]),
        },
        pointer="lesson 02, section 4",
    )
)


class Task:
    """What a property needs of a drawn case: two models, a prompt, and `ssd()`'s keywords."""

    def __init__(self, lookahead: int) -> None:
        row = [[[0.2, 0.8], [0.6, 0.4]], [[0.9, 0.1], [0.5, 0.5]]]
        self.target, self.draft = TableModel(row), TableModel([0.3, 0.7])
        self.prompt, self.lookahead = [0, 1], lookahead

    def ssd(self) -> dict[str, Any]:
        widths = [1] * (self.lookahead + 1)
        return {"max_new_tokens": 60, "lookahead": self.lookahead, "fan_out": widths,
                "saguaro_c": 0.5, "backup": "uniform", "draft_temperature": 0.3}  # fmt: skip


def accepts_a_good_decoder(answer: Any) -> None:
    for lookahead in (0, 1, 2):
        case = f"a correct decoder, lookahead {lookahead}"
        try:
            answer(Task(lookahead))
        except Exception as error:
            raise Wrong(case, Words("no error"), Raised(error)) from error


def catches_a_bad_decoder(answer: Any) -> None:
    """The decoder is handed a draft that sees another text: not all is accepted."""
    good, other = ssd_ref.ssd, TableModel([0.05, 0.95])

    def bad(target: Any, draft: Any, *arguments: Any, **keywords: Any) -> Any:
        return good(target, other, *arguments, **keywords)

    with patch.object(ssd_ref, "ssd", bad):
        try:
            answer(Task(2))
        except AssertionError:
            return
        except Exception as error:
            raise Wrong("a decoder that hands the draft a wrong text", Words("an AssertionError"),
                        Raised(error)) from error  # fmt: skip
    raise Wrong(
        "a decoder that hands the draft a wrong text", Words("an AssertionError"), Words("no error")
    )


def with_the_cases_settings(task: Task) -> None:
    assert all(r.accepted == r.drafted for r in _run(task, {}))


def asserting_nothing(task: Task) -> None:
    _run(task, {})


def _run(task: Task, more: dict[str, Any]) -> Any:
    randomness = ssd_ref.SeededRandomness(0)
    keywords = {**task.ssd(), **more}
    return ssd_ref.ssd(
        task.target, task.target, task.prompt, randomness=randomness, **keywords
    ).rounds


register(
    Exercise(
        "L03.2",
        (accepts_a_good_decoder, catches_a_bad_decoder),
        {
            "it asserts nothing that a wrong decoder would break": asserting_nothing,
            "the case's own settings make the draft's law another one than the target's": (
                with_the_cases_settings
            ),
        },
        pointer="lesson 03, section 7",
    )
)
register(
    Exercise(
        "L03.3",
        (is_value("the first position that departs, and the text before it", (3, (0, 1))),),
        {
            "you named the worst text; the first departure is another field": (3, (0, 1, 1)),
            "you counted positions from 0: the third token has position 3": (2, (0, 1)),
        },
        pointer="lesson 03, section 6",
    )
)
register(
    Exercise(
        "L03.4",
        (
            is_value(
                "{bug's name: first (V, K, N), or None} of the four bugs",
                {
                    "accept always": (2, 1, 1),
                    "bonus from row K-1": (2, 1, 2),
                    "sum of the mask": (2, 2, 2),
                    "token matching": None,
                },
            ),
        ),
        {
            "you waited until all five pairs show the bug; one is enough": {
                "accept always": (2, 1, 1),
                "bonus from row K-1": (2, 1, 2),
                "sum of the mask": None,
                "token matching": None,
            },
            "the bug was not planted while the law was computed": {
                "accept always": None,
                "bonus from row K-1": None,
                "sum of the mask": None,
                "token matching": None,
            },
        },
        pointer="lesson 03, section 9",
    )
)
