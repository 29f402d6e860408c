"""Presets: published pairs as scenarios. Each number is *given*, *assumed* or *fitted*.

Sources and the meaning of each measurement: `sim.published`. Fits: `sim.calibration`.
"""

from __future__ import annotations

from collections.abc import Callable

from sim import published as pub
from sim.calibration import (
    LOOKAHEAD,
    fit_llama,
    hit_law,
    qwen_acceptance,
    qwen_draft_step_ms,
    stretched,
)
from sim.checks import need_choice, need_number
from sim.costs import Linear, Link, Times
from sim.laws import Acceptance, Curve, Rates, Text
from sim.report import Machines
from sim.scenario import Scenario

T_HOT_MS = pub.LLAMA_WARM.verify_ms - pub.LLAMA_COLD.verify_ms  # given: sampling kernel at T > 0


def llama(temperature: float = 0.0, batch: int = 1) -> Scenario:
    """Llama-3.1-70B / 3.2-1B, 4 H100 + 1; SSD K = 7, F = 3, SD K = 6.

    Given: the law of k on a hit, hit rate and tokens after a hit and a miss at T = 0 and .7, draft
    step 1.75 ms, AR step 15 ms, 1.43 ms more verification at T > 0, SD drafts K + 1 steps.
    Fitted on batches 1, 2, 4: t0, s, f, hand-shake. Assumed: the shape of the law after a miss; at
    other temperatures hit rate and tokens on the straight line through T = 0 and .7; the draft
    cannot abort; hits of one round tell nothing about the next; no prefill.
    """
    need_number("temperature", temperature)
    fit = fit_llama()
    hit, after_hit, after_miss = laws_at(temperature)
    mean = mixture(after_hit, after_miss, hit)
    return Scenario(
        text=Text.simple(after_hit, Rates(hit, hit), after_miss),
        sd_text=Text.simple(mean, Rates(hit, hit)),
        times=Times(
            target=Linear(fit.verify_ms + T_HOT_MS * (temperature > 0), fit.verify_row_ms),
            ar=Linear(pub.LLAMA_AR_MS - fit.verify_row_ms, fit.verify_row_ms),
            draft=Linear(fit.draft_ms, fit.draft_row_ms),
            service_ms=fit.handshake_ms,
        ),
        lookahead=LOOKAHEAD,
        fan_out=(3,) * (LOOKAHEAD + 1),
        sd_lookahead=6,
        batch=batch,
        link=Link(greedy=True),
        machines=Machines(4, 1, *pub.LLAMA_BILLIONS),
    )


def laws_at(temperature: float) -> tuple[float, Acceptance, Acceptance]:
    """Hit rate, and the laws of k after a hit and after a miss."""
    cold, warm = pub.LLAMA_COLD, pub.LLAMA_WARM
    share = temperature / 0.7

    def line(a: float | None, b: float | None) -> float:
        assert a is not None and b is not None
        return a + share * (b - a)

    law = hit_law()
    tokens_hit = line(cold.tokens_hit, warm.tokens_hit)
    after_hit = stretched(law, tokens_hit, LOOKAHEAD) if temperature else law
    after_miss = stretched(law, line(cold.tokens_miss, warm.tokens_miss), LOOKAHEAD)
    return line(cold.hit, warm.hit), after_hit, after_miss


def mixture(first: Acceptance, second: Acceptance, share: float) -> Acceptance:
    """The law of k over rounds of which `share` follow the first law, the others the second."""
    pairs = zip(first.weights(LOOKAHEAD), second.weights(LOOKAHEAD), strict=True)
    return Acceptance.of_frequencies([share * a + (1 - share) * b for a, b in pairs])


def qwen(temperature: float = 0.0, batch: int = 1, lookahead: int = 4) -> Scenario:
    """Qwen-3-32B / 0.6B, 4 H100 + 1; SSD K = 4 (or 7), F = 3, SD K = 6; greedy and batch 1 only.

    Given: verification 11.45 ms, AR step 10.27 ms, service .71, glue 2.83, tree step 2.54, store
    .05 ms, hit rate .74 (logged at K = 7, taken for every K: assumed), .39 of the drafts accepted
    at K = 7. Fitted on one round time: the draft step of backup and SD. Assumed: i.i.d. acceptance.
    """
    if temperature != 0 or batch != 1:
        raise ValueError(
            "qwen-32b-0.6b: expected temperature 0 and batch 1 (nothing else is published), "
            f"got {temperature} and {batch}"
        )
    return Scenario(
        text=Text.simple(
            Acceptance((qwen_acceptance(),), iid=True), Rates(pub.QWEN_HIT, pub.QWEN_HIT)
        ),
        times=Times(
            target=Linear(pub.QWEN_VERIFY_MS),
            ar=Linear(pub.QWEN_AR_MS),
            draft=Linear(qwen_draft_step_ms()),
            glue=Linear(pub.QWEN_GLUE_MS),
            tree=Linear(pub.QWEN_TREE_MS),
            service_ms=pub.QWEN_SERVICE_MS,
            store_ms=pub.QWEN_STORE_MS,
        ),
        lookahead=lookahead,
        fan_out=(3,) * (lookahead + 1),
        sd_lookahead=6,
        machines=Machines(4, 1, *pub.QWEN_BILLIONS),
    )


def toy(temperature: float = 0.0, batch: int = 1) -> Scenario:
    """No particular pair: a = .8, verification 10 ms, draft step 1.5 ms, K = 4, F = 2."""
    if temperature != 0:
        raise ValueError(
            f"toy: expected temperature 0 (set its acceptance instead), got {temperature!r}"
        )
    return Scenario(
        text=Text.simple(Acceptance((0.8,), iid=True), Curve(0.5, 0.8)),
        times=Times(Linear(10.0), Linear(1.5)),
        lookahead=4,
        fan_out=(2,) * 5,
        batch=batch,
        machines=Machines(1, 1, 10.0, 1.0),
    )


PRESETS: dict[str, Callable[..., Scenario]] = {
    "llama-70b-1b": llama,
    "qwen-32b-0.6b": qwen,
    "toy": toy,
}
PUBLISHED = {
    "llama-70b-1b": {
        "paper's table": pub.LLAMA_TABLE,
        "paper's Figure 1": {"ar": pub.LLAMA_FIGURE_AR},  # read off the figure: about
        "reproduction": {"ar": pub.LLAMA_AR, "sd": pub.LLAMA_SD, "ssd": pub.LLAMA_SSD.tokens_per_s},
    },
    "qwen-32b-0.6b": {
        "paper's table": pub.QWEN_TABLE,
        "reproduction": {"ar": pub.QWEN_AR, "sd": pub.QWEN_SD, "ssd": pub.QWEN_SSD[4]},
    },
}


def preset(name: str, temperature: float = 0.0, batch: int = 1) -> Scenario:
    need_choice("preset", name, PRESETS)
    return PRESETS[name](temperature, batch)
