"""What a bench's samples say: paired ratios with intervals, and medians over prompts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from statistics import median
from typing import Any

from ssd_ref.study.bench import Condition, Sample
from ssd_ref.study.paired import Ratio, WeakEvidence, paired_ratio


class Results:
    """Samples by condition, arm and prompt; a prompt that an arm did not finish has none."""

    def __init__(self, samples: Iterable[Sample]) -> None:
        self.samples: dict[tuple[Condition, str], dict[int, Sample]] = {}
        for sample in samples:
            of_arm = self.samples.setdefault((sample.condition, sample.arm), {})
            of_arm[sample.prompt] = sample
        self.conditions = list(dict.fromkeys(condition for condition, _ in self.samples))

    def both(self, fast: str, slow: str, condition: Condition) -> list[tuple[Sample, Sample]]:
        """The pairs: what both arms made of one prompt."""
        fasts, slows = (self.samples.get((condition, arm), {}) for arm in (fast, slow))
        return [(fasts[prompt], slows[prompt]) for prompt in fasts if prompt in slows]

    def ratio(self, fast: str, slow: str, condition: Condition) -> Ratio:
        """How many times as fast `fast` is: seconds per token of `slow` over those of `fast`.

        Raises WeakEvidence when there are too few pairs for an interval.
        """
        pairs = self.both(fast, slow, condition)
        return paired_ratio(
            [slow.seconds_per_token for _, slow in pairs],
            [fast.seconds_per_token for fast, _ in pairs],
        )

    def ratios(self, *pairs: tuple[str, str]) -> dict[str, dict[str, Any]]:
        """{"sd/ar@T=0": median, low, high, n} for each pair of arms under each condition.

        Null where the evidence is too weak, with the reason as `refused`.
        """
        found: dict[str, dict[str, Any]] = {}
        for condition in self.conditions:
            for fast, slow in pairs:
                n = len(self.both(fast, slow, condition))
                key = f"{fast}/{slow}{condition.suffix}"
                try:
                    if n:
                        found[key] = self.ratio(fast, slow, condition).to_json()
                except WeakEvidence as error:
                    empty = dict.fromkeys(("median", "low", "high"))
                    found[key] = {**empty, "n": n, "refused": str(error)}
        return found

    def medians(self, figure: str) -> dict[str, float]:
        """The median over prompts of one of a Sample's figures: {"ssd@T=0": ..}."""
        return {
            arm + condition.suffix: median(getattr(s, figure) for s in of_arm.values())
            for (condition, arm), of_arm in self.samples.items()
        }

    def cut(self) -> dict[str, float]:
        """Of the greedy texts: how many there are, how many were cut, the share of tokens cut."""
        texts = {sample.prompt: sample for sample in self.greedy()}.values()
        total = sum(s.tokens for s in texts)
        return {
            "texts": len(texts),
            "texts_cut": sum(s.counted < s.tokens for s in texts),
            "share_of_tokens": sum(s.tokens - s.counted for s in texts) / max(1, total),
        }

    def diverged(self) -> int:
        """Greedy runs whose counted tokens are not the other arms': near-ties in low precision."""
        return sum(not sample.same_text for sample in self.greedy())

    def greedy(self) -> Iterator[Sample]:
        for (condition, _), of_arm in self.samples.items():
            if condition.temperature == 0:
                yield from of_arm.values()

    def to_json(self) -> dict[str, Any]:
        names = "seconds_per_token", "tokens_per_round", "outside_share"
        figures: dict[str, Any] = {name: self.medians(name) for name in names}
        return figures | {"cut": self.cut(), "diverged": self.diverged()}
