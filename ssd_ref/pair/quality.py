"""`python -m ssd_ref.pair.quality`: how well the draft knows the target, into the model card.

Everything but the held-out losses is measured on the target's own continuations of held-out
prompts, which is where a draft is used; on the held-out text itself it would look better.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ssd_ref.gpt import TinyGPT
from ssd_ref.pair.corpus import END, VOCABULARY, Corpus, load_corpus, token_stream
from ssd_ref.pair.lm import token_losses
from ssd_ref.pair.loading import WEIGHTS, Card, Pair, load, read_card, write_card
from ssd_ref.pair.ngram import WittenBell
from ssd_ref.pair.sampling import continue_rows
from ssd_ref.randomness import SeededRandomness
from ssd_ref.speculative import speculative
from ssd_ref.study.timing import first_repeat

PROMPTS = 64  # held-out prompts
NEW_TOKENS = 192  # length of a continuation
LOOKAHEAD = 4  # of the accepted/drafted figures
STRETCH = 128  # tokens of held-out text that count as one observation of the loss
SEED = 11


@dataclass(frozen=True)
class Figure:
    """A mean with its 95 % interval over n observations (t distribution)."""

    mean: float
    low: float
    high: float
    n: int


def figure(values: Sequence[float], weights: Sequence[float] | None = None) -> Figure:
    """Mean of `values`, each counted `weights` times, and its interval over the observations.

    The interval is that of a ratio estimator: observations of different weight stay independent.
    Raises ValueError for fewer than 10 observations, which is too few for an interval.
    """
    x = np.asarray(values, dtype=np.float64)
    w = np.ones_like(x) if weights is None else np.asarray(weights, dtype=np.float64)
    n = len(x)
    if n < 10:
        raise ValueError(f"an interval needs at least 10 observations, got {n}")
    mean = float((w * x).sum() / w.sum())
    spread = math.sqrt(n / (n - 1) * float(((w * (x - mean)) ** 2).sum())) / float(w.sum())
    half = student(n - 1) * spread
    return Figure(round(mean, 4), round(mean - half, 4), round(mean + half, 4), n)


def student(freedom: int) -> float:
    """97.5 % quantile of Student's t, by the Cornish-Fisher expansion (error < .0005 from 9 on)."""
    z = 1.959964
    g1 = (z**3 + z) / 4
    g2 = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    g3 = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + g1 / freedom + g2 / freedom**2 + g3 / freedom**3


def before_end(tokens: Sequence[int]) -> int:
    """How many of `tokens` belong to the text: up to and with its end token."""
    return tokens.index(END) + 1 if END in tokens else len(tokens)


@dataclass(frozen=True)
class Continuations:
    """New tokens of each prompt, and both models' laws (new tokens, V) of each of them."""

    tokens: list[list[int]]
    target: list[NDArray[np.float64]]
    draft: list[NDArray[np.float64]]


def continuations(pair: Pair, prompts: list[list[int]], temperature: float) -> Continuations:
    """The target's continuations of `prompts` (of one length), each cut at its end token."""
    P = len(prompts[0])
    tokens, _ = continue_rows(
        pair.target, torch.tensor(prompts), NEW_TOKENS, temperature, seed=SEED
    )
    rows = [row[P:] for row in tokens.tolist()]
    rows = [row[: before_end(row)] for row in rows]
    laws = [laws_of(model, tokens, P) for model in (pair.target, pair.draft)]
    cut = [[law[: len(row)] for law, row in zip(each, rows, strict=True)] for each in laws]
    return Continuations(rows, cut[0], cut[1])


@torch.inference_mode()
def laws_of(model: TinyGPT, tokens: Tensor, first: int) -> list[NDArray[np.float64]]:
    """Laws of the tokens at positions `first`.. of each row: arrays (T-first, V)."""
    return [
        model(row[None, :-1].long())[0, first - 1 :].double().softmax(-1).numpy() for row in tokens
    ]


def sampled_overlap(pair: Pair, prompts: list[list[int]]) -> Figure:
    """Mean of sum_x min(p, q) per position at temperature 1: the chance of acceptance."""
    c = continuations(pair, prompts, 1.0)
    shared = [np.minimum(p, q).sum(-1) for p, q in zip(c.target, c.draft, strict=True)]
    return figure([float(s.mean()) for s in shared], [len(s) for s in shared])


def greedy_agreement(pair: Pair, prompts: list[list[int]]) -> dict[str, Figure | float]:
    """Share of positions with one most likely token, over whole texts and with cycles cut."""
    c = continuations(pair, prompts, 0.0)
    same = [p.argmax(-1) == q.argmax(-1) for p, q in zip(c.target, c.draft, strict=True)]
    kept = [first_repeat(row) for row in c.tokens]
    heads = [s[:n] for s, n in zip(same, kept, strict=True)]
    return {
        "greedy_agreement": figure([float(s.mean()) for s in same], [len(s) for s in same]),
        "greedy_agreement_cycles_cut": figure(
            [float(s.mean()) for s in heads], [len(s) for s in heads]
        ),
        "greedy_share_cut": round(1 - sum(kept) / sum(map(len, same)), 4),
    }


def accepted_share(pair: Pair, prompts: list[list[int]], temperature: float) -> Figure:
    """Accepted over drafted tokens of speculative decoding with a lookahead of LOOKAHEAD."""
    accepted, drafted = [], []
    for i, prompt in enumerate(prompts):
        text = speculative(
            pair.target,
            pair.draft,
            prompt,
            max_new_tokens=NEW_TOKENS,
            lookahead=LOOKAHEAD,
            temperature=temperature,
            eos=END,
            randomness=SeededRandomness(SEED, sequence=i),
        )
        kept = first_repeat(text.tokens) if temperature == 0 else len(text.tokens)
        ends = np.cumsum([r.emitted for r in text.rounds])
        rounds = [r for r, end in zip(text.rounds, ends, strict=True) if end <= kept]
        accepted.append(sum(r.accepted for r in rounds))
        drafted.append(sum(r.drafted for r in rounds))
    pairs = [(a / d, d) for a, d in zip(accepted, drafted, strict=True) if d]
    return figure([share for share, _ in pairs], [weight for _, weight in pairs])


def held_out_losses(pair: Pair, corpus: Corpus) -> dict[str, Figure]:
    """Nats a byte on the held-out topics of target, draft and a 5-gram of the training text."""
    gram = WittenBell(corpus.stream().tolist(), VOCABULARY)
    documents = [token_stream([text]).tolist() for text in corpus.held_out.values()]
    losses = {
        "held_out_target": [token_losses(pair.target, d) for d in documents],
        "held_out_draft": [token_losses(pair.draft, d) for d in documents],
        "held_out_5_gram": [gram.losses(d) for d in documents],
    }
    return {name: stretches(np.concatenate(each)) for name, each in losses.items()}


def stretches(losses: NDArray[np.float64]) -> Figure:
    """Mean loss, with an interval over stretches of STRETCH tokens (neighbours depend)."""
    pieces = np.array_split(losses, max(1, len(losses) // STRETCH))
    return figure([float(p.mean()) for p in pieces], [len(p) for p in pieces])


def measure(pair: Pair, corpus: Corpus, prompts: int = PROMPTS) -> dict[str, object]:
    """All figures, as they go into the card."""
    starts = corpus.prompts(prompts)
    figures: dict[str, object] = {"overlap_at_temperature_1": sampled_overlap(pair, starts)}
    figures |= greedy_agreement(pair, starts)
    figures["accepted_at_temperature_1"] = accepted_share(pair, starts, 1.0)
    figures["accepted_greedy_cycles_cut"] = accepted_share(pair, starts, 0.0)
    figures |= held_out_losses(pair, corpus)
    return {k: asdict(v) if isinstance(v, Figure) else v for k, v in figures.items()}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m ssd_ref.pair.quality", description=__doc__)
    parser.add_argument("--folder", type=Path, default=WEIGHTS, help="weights and card")
    parser.add_argument("--prompts", type=int, default=PROMPTS)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--dry", action="store_true", help="print, and leave the card as it is")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    pair, corpus = load(folder=options.folder), load_corpus()
    card: Card = read_card(options.folder)
    corpus.compare(card["corpus"]["sha256"])
    figures = measure(pair, corpus, options.prompts)
    for name, value in figures.items():
        print(f"{name:32} {value}")
    if not options.dry:
        card["quality"] = figures
        card["hash"] = pair.hash
        write_card(card, options.folder)


if __name__ == "__main__":
    main()
