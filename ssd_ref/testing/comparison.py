"""Where two output laws differ: how much, at which text, and from which token on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

Tokens = tuple[int, ...]
END = -1  # "the text ends here", as one more value of the next token


@dataclass(frozen=True)
class Departure:
    """The shortest prefix after which the next token has another law.

    position: index of that token in the new text, 1 for the first. got, expected: the two laws of
    the next token after `prefix`; the key -1 stands for "the text ends".
    """

    position: int
    prefix: Tokens
    got: dict[int, float]
    expected: dict[int, float]


@dataclass(frozen=True)
class Comparison:
    """Two output laws side by side.

    worst: the text whose probabilities differ most; got, expected: those probabilities.
    departure: the first place where the laws part; None if they agree within the tolerance.
    """

    total_variation: float
    worst: Tokens
    got: float
    expected: float
    tolerance: float
    departure: Departure | None

    @property
    def equal(self) -> bool:
        return self.departure is None

    def __bool__(self) -> bool:
        """So that `assert compare_laws(..)` says what it seems to say."""
        return self.equal

    def __str__(self) -> str:
        if self.departure is None:
            return f"equal within {self.tolerance:g} (total variation {self.total_variation:.1e})"
        d = self.departure
        lines = [
            f"total variation {self.total_variation:.6g}; largest difference at {self.worst}: "
            f"got {self.got:.6g}, expected {self.expected:.6g}",
            f"first departure at position {d.position}, after {d.prefix}:",
            "  token        got   expected",
        ]
        for token in sorted(d.got.keys() | d.expected.keys()):
            name = "end" if token == END else str(token)
            lines.append(
                f"  {name:>5} {d.got.get(token, 0):10.6f} {d.expected.get(token, 0):10.6f}"
            )
        return "\n".join(lines)


def compare_laws(
    got: Mapping[Tokens, float], expected: Mapping[Tokens, float], tolerance: float = 1e-12
) -> Comparison:
    """Compare two laws over texts; they are equal if no probability differs by over `tolerance`.

    The result is true if they are equal, prints as a small table, and has `total_variation`, the
    text that differs most (`worst`, `got`, `expected`), and `departure`: the first position, from
    1, at which the next token has another law, after the first such prefix (shortest, then lowest
    tokens; another may differ more). Raises ValueError on what is no probability.
    """
    texts = sorted(got.keys() | expected.keys(), key=lambda text: (len(text), text))
    if not texts:
        raise ValueError("compare_laws: expected at least one text, got two empty laws")
    for p in (*got.values(), *expected.values()):
        if not 0 <= p <= 1 + tolerance:
            raise ValueError(f"compare_laws: expected probabilities in [0, 1], got {p}")
    gaps = {text: abs(got.get(text, 0.0) - expected.get(text, 0.0)) for text in texts}
    worst = max(texts, key=lambda text: gaps[text])
    equal = gaps[worst] <= tolerance
    return Comparison(
        total_variation=sum(gaps.values()) / 2,
        worst=worst,
        got=got.get(worst, 0.0),
        expected=expected.get(worst, 0.0),
        tolerance=tolerance,
        departure=None if equal else first_departure(got, expected, tolerance),
    )


def first_departure(
    got: Mapping[Tokens, float], expected: Mapping[Tokens, float], tolerance: float
) -> Departure | None:
    """The shortest prefix (lowest tokens first) whose continuations carry different mass.

    Masses are compared, not conditional laws: a conditional law after a prefix of tiny mass is all
    rounding error.
    """
    ours, theirs = continuations(got), continuations(expected)
    for prefix in sorted(ours.keys() | theirs.keys(), key=lambda p: (len(p), p)):
        a, b = ours.get(prefix, {}), theirs.get(prefix, {})
        if any(abs(a.get(x, 0.0) - b.get(x, 0.0)) > tolerance for x in a.keys() | b.keys()):
            return Departure(len(prefix) + 1, prefix, normalised(a), normalised(b))
    return None


def continuations(law: Mapping[Tokens, float]) -> dict[Tokens, dict[int, float]]:
    """prefix -> {next token, or END: mass of the texts that go on so}."""
    mass: dict[Tokens, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for text, p in law.items():
        for i, token in enumerate((*text, END)):
            mass[text[:i]][token] += p
    return mass


def normalised(mass: Mapping[int, float]) -> dict[int, float]:
    total = sum(mass.values())
    return {token: p / total for token, p in mass.items()} if total > 0 else {}
