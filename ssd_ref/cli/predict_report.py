"""What `predict` prints for people: the object of --json as a table, and what its columns mean."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

GOAL = 0.15
BUSY = 1.0  # an interval of the measured ratio wider than this share of it

NOTES = (
    "error: predicted over measured, less 1. Measured is the median over the prompts of AR's time",
    "per token over SD's on the same prompt, both in one turn, with an interval of two order",
    "statistics. Predicted is one figure for all prompts; its interval has the chance of the",
    "recorded acceptance (prompts drawn anew), not that of the measured times.",
    "unseen: this K was never decoded in the first half. A smaller K needs nothing but the",
    "recorded acceptance by position; for positions behind the last recorded one it is assumed to",
    "stay as it was in the later half of the recorded ones.",
    "Times are medians over the first half's prompts; the time outside forwards is taken to grow",
    "by a line in the rows that are made into laws, through AR's and the recorded SD's.",
    "Forwards are timed one by one, as a round has them; their sum is brought to the level of the",
    "recorded rounds. AR's time a token is the recorded one.",
)


def report(result: dict[str, Any]) -> Iterator[str]:
    """The lines to print."""
    s, rows = result["settings"], result["rows"]
    yield (
        f"SD/AR, {s['max_new_tokens']} tokens a text at temperature {s['temperature']:g}, one "
        f"thread, weights {result['hash']}."
    )
    yield (
        f"Predicted from {result['recorded_rounds']} rounds at K = {s['lookahead']} on "
        f"{s['prompts']} prompts; measured on {s['prompts']} others.\n"
    )
    yield f"{'':12} {'':<19} {'':<19} {'':>7} {'tokens a round':>20}"
    yield f"{' K':12} {'predicted':<19} {'measured':<19} {'error':>7} {'predicted, measured':>20}"
    yield from map(line, rows)
    worst = max(abs(row["error"]) for row in rows)
    yield f"\nLargest error {worst:.1%} (goal: at most {GOAL:.0%}).\n"
    measured = [row["measured"] for row in rows]
    if any(m["high"] - m["low"] > BUSY * m["median"] for m in measured):
        yield "Very wide intervals: was the machine busy? Then neither figure tells much.\n"
    yield from costs(result)
    yield from ("", *NOTES)


def line(row: dict[str, Any]) -> str:
    m, told = row["measured"], "recorded" if row["recorded"] else "unseen"
    guess = f"{row['predicted']:.2f} [{row['predicted_low']:.2f}, {row['predicted_high']:.2f}]"
    truth = f"{m['median']:.2f} [{m['low']:.2f}, {m['high']:.2f}]"
    tokens = f"{row['predicted_tokens_per_round']:.2f}, {row['tokens_per_round']:.2f}"
    name = f"{row['lookahead']:>2}  {told}"
    return f"{name:<12} {guess:<19} {truth:<19} {row['error']:>+7.1%} {tokens:>20}"


def costs(result: dict[str, Any]) -> Iterator[str]:
    """What was recorded: acceptance by position, and milliseconds of a round's parts."""
    hazards = " ".join(f"{i}: {h:.2f}" for i, h in enumerate(result["hazards"], 1))
    yield f"Acceptance of draft i, given that those before it were: {hazards}"
    for row in result["rows"]:
        k = row["lookahead"]
        step, verify = result["forward_ms"][str(k)]
        yield (
            f"K = {k}: {k} draft steps of {step:.2f} ms, verification {verify:.2f} ms, "
            f"outside {row['outside_ms']:.2f} ms: a round {row['round_ms']:.2f} ms"
        )
    ar, without = result["round_ms"][0], result["outside_ms"][0]
    yield f"AR: a token {ar:.2f} ms, outside forwards {without:.2f} ms of it"
