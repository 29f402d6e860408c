"""Small models, the decoders by name, and a wrapper that keeps every call to a model."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from ssd_ref import (
    ContextModel,
    Generation,
    Law,
    SeededRandomness,
    Site,
    Speculation,
    TableModel,
    autoregressive,
    exact_law,
    speculative,
    ssd,
)
from ssd_ref.gpt import GPTConfig, TinyGPT
from ssd_ref.models import Branches, Model, Row, Rows, Session
from ssd_ref.randomness import Randomness
from ssd_ref.speculative import Drafter
from ssd_ref.ssd import Speculator
from ssd_ref.transcript import Limits, Transcript
from ssd_ref.verification import Verifier, verify

# Every decoder: SSD with a cache that always hits after round 1, never hits, hits now and then.
METHODS = ("ar", "sd", "ssd-hits", "ssd-misses", "ssd-uniform", "ssd-saguaro")
SPECULATIVE = METHODS[1:]
SSD = METHODS[2:]


def decode(
    method: str,
    target: Model,
    draft: Model,
    prompt: Sequence[int] = (0,),
    *,
    lookahead: int,
    randomness: Randomness,
    **settings: Any,
) -> Generation:
    """One decoder by name, on the same arguments as every other."""
    both = {"randomness": randomness, **settings}
    if method == "ar":
        own = {name: value for name, value in both.items() if not name.startswith("draft_")}
        return autoregressive(target, prompt, **own)
    both["lookahead"] = lookahead
    if method == "sd":
        return speculative(target, draft, prompt, **both)
    ones, all_of_them, none = ([n] * (lookahead + 1) for n in (1, target.vocabulary, 0))
    extra: dict[str, Any] = {
        "ssd-hits": {"fan_out": all_of_them},
        "ssd-misses": {"fan_out": none},
        "ssd-uniform": {"fan_out": ones, "backup": "uniform"},
        "ssd-saguaro": {"fan_out": ones, "fan_out_miss": [2, *none[1:]], "saguaro_c": 0.3},
    }[method]
    return ssd(target, draft, prompt, **both, **extra)


def law(method: str, target: Model, draft: Model, prompt: Sequence[int] = (0,), **settings: Any):
    """The exact output law of a decoder."""
    return exact_law(
        lambda randomness: (
            decode(method, target, draft, prompt, randomness=randomness, **settings).tokens
        )
    )


def law_of(observe: Callable[[Generation], Any], method: str, *models: Model, **settings: Any):
    """The exact law of something else that a run shows, as {value: probability}."""
    found = exact_law(
        lambda randomness: [
            int(observe(decode(method, *models, randomness=randomness, **settings)))
        ],
        vocabulary=1000,  # what is observed is a count, not a token
    )
    return {value: probability for (value,), probability in found.items()}


def mean_of(observe: Callable[[Generation], Any], method: str, *models: Model, **settings: Any):
    found = law_of(observe, method, *models, **settings)
    return sum(value * probability for value, probability in found.items())


def random_table(rng: np.random.Generator, vocabulary: int, order: int, zeros: bool = False):
    """A table of small rational numbers; with `zeros`, about a third of its entries are 0."""
    counts = rng.integers(1, 9, size=(vocabulary,) * (order + 1)).astype(float)
    if zeros:
        counts *= rng.random(counts.shape) > 0.35
        counts[counts.sum(-1) == 0] = 1
    return counts / counts.sum(-1, keepdims=True)


class FunctionModel(ContextModel):
    """A model whose logits are any function of the whole context."""

    def __init__(
        self,
        vocabulary: int,
        logits: Callable[[list[int]], Sequence[float]],
        context_limit: int | None = None,
    ) -> None:
        super().__init__(vocabulary, context_limit)
        self.function = logits

    def logits_after(self, context: Sequence[int]) -> Row:
        return np.array(self.function(list(context)), dtype=np.float64)


def from_laws(vocabulary: int, row: Callable[[list[int]], Sequence[float]]) -> FunctionModel:
    """The same by probabilities."""

    def logits(context: list[int]) -> Row:
        with np.errstate(divide="ignore"):
            return np.log(np.array(row(context), dtype=np.float64))

    return FunctionModel(vocabulary, logits)


def from_map(following: dict[int, int], context_limit: int | None = None) -> TableModel:
    """The deterministic model in which `following[token]` always follows `token`."""
    table = np.zeros((len(following), len(following)))
    for token, after in following.items():
        table[token, after] = 1
    return TableModel(table, context_limit)


CYCLE = {0: 1, 1: 2, 2: 0}


class Recording:
    """A model with a log of every call to it: (what, length before, tokens or lengths)."""

    def __init__(self, model: Model) -> None:
        self.model, self.log = model, list[tuple[str, int, tuple[int, ...]]]()
        self.sessions: list[RecordingSession] = []
        self.vocabulary, self.start_token = model.vocabulary, model.start_token
        self.context_limit = model.context_limit

    def note(self, what: str, length: int, numbers: Sequence[int]) -> None:
        self.log.append((what, length, tuple(numbers)))

    def start(self, tokens: Sequence[int]) -> Session:
        self.note("start", 0, tokens)
        self.sessions.append(RecordingSession(self, self.model.start(tokens)))
        return self.sessions[-1]

    def forwards(self) -> int:
        """How many forwards it made, the prompt's own not counted."""
        return sum(what == "extend" or what == "branches" for what, _, _ in self.log)

    def furthest(self) -> int:
        """One more than the last position that was ever fed."""
        return max(
            length + (1 if what == "branches" else len(tokens))
            for what, length, tokens in self.log
            if what in ("start", "extend", "branches")
        )


class RecordingSession:
    def __init__(self, owner: Recording, session: Session) -> None:
        self.owner, self.session = owner, session

    @property
    def length(self) -> int:
        return self.session.length

    def extend(self, tokens: Sequence[int]) -> Rows:
        self.owner.note("extend", self.length, tokens)
        return self.session.extend(tokens)

    def rewind(self, length: int) -> None:
        self.owner.note("rewind", self.length, (length,))
        self.session.rewind(length)

    def branch(self, lengths: Sequence[int]) -> Branches:
        self.owner.note("branch", self.length, lengths)
        return RecordingBranches(self.owner, self.session.branch(lengths), lengths)


class RecordingBranches:
    def __init__(self, owner: Recording, branches: Branches, lengths: Sequence[int]) -> None:
        self.owner, self.branches, self.lengths = owner, branches, list(lengths)

    def extend(self, which: Sequence[int], tokens: Sequence[int]) -> Rows:
        self.owner.note("branches", max(self.lengths[b] for b in which), tokens)
        for b in which:
            self.lengths[b] += 1
        return self.branches.extend(which, tokens)


def sites(n: int, round: int = 1) -> tuple[Site, ...]:
    return tuple(Site(0, round, "draft", i) for i in range(n))


def speculation_of(tokens: Sequence[int], rows: Sequence[Sequence[float]]) -> Speculation:
    """A hand-made speculation."""
    return Speculation(
        tuple(tokens), np.array(rows, dtype=np.float64), sites(len(tokens)), "by hand"
    )


def one_round(p: Sequence[float], drawn_from: Sequence[float], tested_with: Sequence[float]):
    """The law of the first token of a K=1 round whose draft is drawn from one law and tested with
    another. Where the two differ, this is the fault that the real decoders must not have.
    """
    target = np.array(p, dtype=np.float64)

    def decode_one(randomness: Randomness) -> list[int]:
        token = randomness.choose(drawn_from, sites(1)[0])
        round_ = speculation_of([token], [tested_with])
        outcome = verify(lambda i: target, round_, randomness, 1)
        return [token if outcome.accepted else outcome.bonus]

    found = exact_law(decode_one)
    return [found.get((token,), 0.0) for token in range(len(p))]


def transcript(prompt: Sequence[int], max_new_tokens: int, **limits: Any) -> Transcript:
    return Transcript(tuple(prompt), Limits(len(prompt), max_new_tokens, **limits))


def seeded(seed: int = 0) -> SeededRandomness:
    return SeededRandomness(seed)


def actors(
    target: Model,
    draft: Model,
    prompt: Sequence[int] = (0,),
    *,
    max_new_tokens: int = 20,
    lookahead: int,
    fan_out: Sequence[int] | None = None,
    randomness: Randomness | None = None,
    **limits: Any,
) -> tuple[Transcript, Verifier, Drafter]:
    """The text and the two actors of SD, or of SSD if a fan-out list is given."""
    text = transcript(prompt, max_new_tokens, context_limit=target.context_limit, **limits)
    source = randomness or seeded()
    verifier = Verifier(target, text, Law(), source)
    common = (draft, text.prompt, text.limits, lookahead, Law(), source)
    if fan_out is None:
        return text, verifier, Drafter(*common)
    return text, verifier, Speculator(*common, fan_out, fan_out, 1.0, "draft")


def on_schedule(
    schedule: Sequence[int], target: Model, draft: Model, max_new_tokens: int, ssd: bool = False
) -> Transcript:
    """Rounds in which the draft's lookahead follows a schedule (its last entry repeats)."""
    fan_out = [target.vocabulary] * (max(schedule) + 1) if ssd else None
    text, verifier, drafter = actors(
        target, draft, max_new_tokens=max_new_tokens, lookahead=schedule[0], fan_out=fan_out
    )
    speculation = drafter.first()
    while True:
        drafter.lookahead = schedule[min(text.round, len(schedule) - 1)]  # of the next round
        if isinstance(drafter, Speculator):
            drafter.prepare()
        outcome = verifier.verify(speculation)
        text.close_round(drafter.rank(outcome))
        if text.finish_reason:
            return text
        speculation = drafter.answer(outcome)


def random_gpt(
    vocabulary: int = 7, context_limit: int = 24, seed: int = 0, dtype: torch.dtype = torch.float64
) -> TinyGPT:
    """A small GPT whose weights are large enough to make its rows differ by the context."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = TinyGPT(GPTConfig(vocabulary, context_limit, layers=2, heads=2, width=16))
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(8 if weight.dim() == 2 else 1)
    return model.to(dtype).eval()
