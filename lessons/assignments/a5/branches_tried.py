"""What task 5.5 is tried on: a small GPT in double precision, and one session for each text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lessons.assignments.cases import Generator
from lessons.assignments.spies import Spied
from lessons.assignments.trials import runs
from ssd_ref.testing.check import Trial

if TYPE_CHECKING:
    from ssd_ref.gpt import TinyGPT

V = 5


def small_gpt(rng: Generator) -> TinyGPT:
    """With weights so large that its tokens differ."""
    import torch  # the other tasks need none

    from ssd_ref.gpt import GPTConfig, TinyGPT

    torch.set_num_threads(1)  # for models this small, more threads only get in each other's way
    model = TinyGPT(GPTConfig(vocabulary=V, context_limit=24, layers=2, heads=2, width=8)).double()
    for weight in model.parameters():
        weight.data = torch.from_numpy(rng.normal(0, 0.8, tuple(weight.shape)))
    return model


def alone(model: Any, text: list[int], n: int, eos: int | None) -> list[int]:
    """The oracle: the whole text anew for every token."""
    chain: list[int] = []
    while len(chain) < n and eos not in chain:
        context = [*text, *chain]
        chain.append(int(model.start(context[:-1]).extend(context[-1:])[0].argmax()))
    return chain


Case = tuple[list[int], list[int], list[int], int, int | None]  # text, lengths, firsts, n, eos


def some(rng: Generator, model: Any) -> list[Case]:
    """The end token, where there is one, is what the first chain says at its second place."""
    found: list[Case] = []
    for length, many, n, ends in (
        (3, 1, 2, 0),
        (4, 3, 3, 0),
        (6, 5, 4, 1),
        (2, 3, 0, 0),
        (5, 4, 5, 1),
    ):
        text, firsts = rng.integers(V, size=length).tolist(), rng.integers(V, size=many).tolist()
        lengths = rng.integers(length + 1, size=many).tolist()
        chain = alone(model, [*text[: lengths[0]], firsts[0]], 2, None)
        found.append((text, lengths, firsts, n, chain[1] if ends else None))
    return found


def words(case: Case) -> str:
    text, lengths, firsts, n, eos = case
    return f"a session that has read {text}, lengths={lengths}, firsts={firsts}, n={n}, eos={eos}"


def chain_trials(rng: Generator) -> list[Trial]:
    model = small_gpt(rng)

    def trial(case: Case) -> Trial:
        text, lengths, firsts, n, eos = case
        starts = [[*text[:length], first] for length, first in zip(lengths, firsts, strict=True)]
        expected = [alone(model, start, n, eos) for start in starts]
        return runs(f"the chains for {words(case)}", expected,
                    lambda answer: answer(model.start(text), lengths, firsts, n, eos))  # fmt: skip

    return [trial(case) for case in some(rng, model)]


def forward_trials(rng: Generator) -> list[Trial]:
    """No more than one forward a step; then the session is as it was."""
    model = small_gpt(rng)

    def trial(case: Case) -> Trial:
        text, lengths, firsts, n, eos = case

        def forwards(answer: Any) -> Any:
            spied = Spied(model)
            session = spied.start(text)
            answer(session, lengths, firsts, n, eos)
            few = spied.forwards() <= n
            return few or f"{spied.forwards()} forwards", session.length, spied.starts()

        case_words = (
            f"(at most n forwards, the session's length afterwards, sessions) for {words(case)}"
        )
        return runs(case_words, (True, len(text), 1), forwards)

    return [trial(case) for case in some(rng, model)]
