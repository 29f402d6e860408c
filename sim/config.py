"""All parameters from one TOML file (or a dictionary) into a scenario that validates itself.

A file starts from a preset, and each table changes a part of it. `KEYS` says what each key means.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from sim.checks import need_integer, read_text, unknown_keys
from sim.costs import Forward, Linear, Link, Roofline, Times
from sim.laws import Acceptance, Context, Curve, Rates, Text
from sim.presets import preset
from sim.report import Machines
from sim.rounds import Rules
from sim.scenario import Scenario

FORWARD = {
    "base_ms": "milliseconds of a forward, whatever its rows",
    "row_ms": "milliseconds more for each row (token position)",
    "chip": "instead: a100, h100 or h200, with the keys of a roofline that follow",
    "parameters_billions": "size of the model",
    "devices": "chips the model is spread over",
    "bytes_per_parameter": "2 for 16 bits",
    "bandwidth_efficiency": "share of the data sheet's bandwidth that is reached",
    "compute_efficiency": "share of the data sheet's peak that is reached",
    "overhead_ms": "milliseconds a forward costs besides",
    "rule": "sum (default) or max of reading and computing",
}
LAWS = {
    "acceptance": "chance that a draft is accepted: one number (i.i.d.) or one for each position",
    "backup_acceptance": "the same for drafts of the backup, where it is not the draft",
    "fast_acceptance": "the same for drafts of the instant backup of method.fast_from (default 0)",
    "stay": "chance that the next round stays in this context (only with a hard context)",
    "prefactor": "c of the miss rate c F^-r at fan-out F",
    "exponent": "r of the miss rate c F^-r",
    "after_hit": "instead: measured hit rate after a round that the cache served",
    "after_miss": "instead: measured hit rate after a round that the backup served",
}
KEYS: dict[str, dict[str, str]] = {
    "text": LAWS,
    "hard": LAWS,
    "method": {
        "lookahead": "K, tokens drafted a round by SSD (and by SD unless sd_lookahead is given)",
        "sd_lookahead": "K of SD",
        "sd_extra_step": "true: SD drafts K + 1 steps, the last one only to fill its KV cache",
        "fan_out": "guesses at each k: one number for all, or K + 1 numbers",
        "fan_out_miss": "the same after a round that the backup served",
        "backup": "draft (just in time) or instant (takes no time; give backup_acceptance)",
        "fast_from": "batch size from which the backup is an instant one (default: never)",
        "batch": "sequences in lock-step",
    },
    "rules": {
        "abort": "when a miss stops the filling: never, step (end of a kernel) or instant",
        "late_hit": "wait, or fallback: a hit whose cache is not full is treated as a miss",
        "sending_occupies_draft": "true: the draft cannot fill while it sends",
    },
    "target": FORWARD,
    "draft": FORWARD,
    "ar": FORWARD,
    "glue": FORWARD,
    "tree": FORWARD,
    "backup": FORWARD,
    "times": {
        "service_ms": "the draft reads an outcome and looks its answer up",
        "store_ms": "end of a filling",
        "handshake_ms": "from the end of a verification until the outcome is sent",
        "target_prefill_ms": "prefill of the target",
        "draft_prefill_ms": "prefill of the draft",
        "jitter": "coefficient of variation of a log-normal factor on every kernel",
    },
    "link": {
        "latency_us": "one-way latency in microseconds",
        "gb_per_s": "bandwidth for rows q, 10^9 bytes a second; none: no limit",
        "vocabulary": "V, numbers in a row",
        "bytes_per_probability": "4 for single precision",
        "greedy": "true: no rows cross the link (temperature 0)",
    },
    "machines": {
        "target_weight": "number (or price) of the target's devices",
        "draft_weight": "number (or price) of the draft's devices",
        "target_billions": "parameters of the target, 10^9",
        "draft_billions": "parameters of the draft, 10^9",
    },
}
RUNS = {
    "run": {
        "rounds": "rounds of each run",
        "seed": "one seed, one result",
    },
    "serve": {
        "arrivals_per_s": "random arrivals (Poisson), requests a second",
        "concurrency": "instead: a fixed number of requests in the system",
        "requests": "requests served",
        "tokens": "new tokens of a request, mean",
        "lengths": "fixed, or geometric with that mean",
        "prompt": "tokens of a prompt, for KV room",
        "warm_up": "share of the requests discarded at the start",
        "kv_positions": "room of the KV cache in token positions (default: no limit)",
        "replications": "independent repetitions, each with a seed of its own",
    },
}
"""What a file may say besides the scenario: how long a run is, and who asks for what."""
KNOWN = KEYS | RUNS
TOP = {
    "preset": "scenario to start from (default: toy)",
    "temperature": "the preset's temperature",
    "batch": "the preset's batch size",
}
DERIVED = ("tokens_per_round", "tokens_hit", "tokens_miss", "e_hit", "e_miss", "e_sd", "hit_rate")


def load(path: Path | str) -> dict[str, Any]:
    try:
        return tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path}: not TOML: {error}") from error


def scenario_of(data: Mapping[str, Any]) -> Scenario:
    """The scenario that a file's content describes."""
    data = dict(data)
    top = {key: data.pop(key) for key in TOP if key in data}
    check_keys(data)
    data = {name: table for name, table in data.items() if name not in RUNS}
    base = preset(top.get("preset", "toy"), top.get("temperature", 0.0), top.get("batch", 1))
    return with_tables(base, data)


def check_keys(tables: Mapping[str, Any]) -> None:
    known_names("parameters", tables, [*KNOWN, *TOP])
    for name, table in tables.items():
        if not isinstance(table, Mapping):
            raise ValueError(f"{name}: expected a table of keys, got {table!r}")
        for key in table:
            if key.lower() in DERIVED:
                raise ValueError(
                    f"{name}.{key}: is derived from acceptance and hits and cannot be given "
                    "(a fixed one would contradict them as soon as K or F changes)"
                )
        unknown_keys(name, table, KNOWN[name])


def known_names(where: str, names: Iterable[str], known: Collection[str]) -> None:
    """Raises for an unknown name; one that is a key of a table is sent there."""
    for name in names:
        homes = [f"{table}.{name}" for table, keys in KNOWN.items() if name in keys]
        if homes and name not in known:
            raise ValueError(f"{where}: unknown key {name!r}; did you mean {homes[0]!r}?")
    unknown_keys(where, names, known)


def with_tables(base: Scenario, tables: Mapping[str, Mapping[str, Any]]) -> Scenario:
    """`base` with the parts that the tables name changed."""
    method = dict(tables.get("method", {}))
    refuse_stale_rates(base, method, tables)
    parts: dict[str, Any] = {"times": times_of(base.times, tables)}
    if "text" in tables or "hard" in tables:
        parts |= {"text": text_of(base.text, tables), "sd_text": None}
    lookahead = method.get("lookahead", base.lookahead)
    if "lookahead" in method and "sd_lookahead" not in method:
        parts["sd_lookahead"] = None
    need_integer("lookahead", lookahead)
    for name in ("fan_out", "fan_out_miss"):
        given = method.pop(name, getattr(base, name))
        if given is not None:
            parts[name] = widths(name, given, lookahead)
    for name, kind in (("rules", Rules), ("link", Link), ("machines", Machines)):
        if name in tables:
            parts[name] = kind(**(values(getattr(base, name)) | dict(tables[name])))
    return base.with_(**method, **parts)


def refuse_stale_rates(
    base: Scenario, method: Mapping[str, Any], tables: Mapping[str, Mapping[str, Any]]
) -> None:
    """Measured hit rates hold at one K and fan-out: changing these without new ones is refused."""
    text = tables.get("text", {})
    if "prefactor" in text or "after_hit" in text:
        return
    for name in ("lookahead", "fan_out", "fan_out_miss"):
        rates = any(isinstance(context.hits, Rates) for context in base.text.contexts)
        changed = name in method and method[name] != getattr(base, name)
        if changed and rates:
            raise ValueError(
                f"method.{name}: the hit rates of this scenario were measured at K = "
                f"{base.lookahead} and fan-out {list(base.fan_out)} and say nothing about "
                f"{method[name]!r}; give text.prefactor and text.exponent, or new rates"
            )


def widths(name: str, given: Any, lookahead: int) -> tuple[int, ...]:
    """One number stands for all k; so does an old uniform list for a new lookahead."""
    if isinstance(given, int):
        return (given,) * (lookahead + 1)
    if not isinstance(given, list | tuple):
        raise ValueError(f"{name}: expected a number or a list of {lookahead + 1}, got {given!r}")
    if isinstance(given, tuple) and len(set(given)) == 1:
        return given[:1] * (lookahead + 1)
    return tuple(given)


def times_of(base: Times, tables: Mapping[str, Mapping[str, Any]]) -> Times:
    changes: dict[str, Any] = dict(tables.get("times", {}))
    for name in ("target", "draft", "ar", "glue", "tree", "backup"):
        if name in tables:
            changes[name] = forward(getattr(base, name), tables[name])
    if "target" in tables and "ar" not in tables:
        changes["ar"] = None  # the old AR step belongs to the old target
    return replace(base, **changes)


def forward(base: Forward | None, table: Mapping[str, Any]) -> Forward:
    if "chip" in table:
        mixed = sorted({"base_ms", "row_ms"} & set(table))
        if mixed:
            raise ValueError(f"chip: expected no {mixed[0]} beside it, got both")
        if "parameters_billions" not in table:
            raise ValueError(f"chip: expected parameters_billions beside it, got {sorted(table)}")
        return Roofline(**table)
    start = values(base) if isinstance(base, Linear) else {"base_ms": 0.0}
    return Linear(**(start | dict(table)))


def text_of(base: Text, tables: Mapping[str, Mapping[str, Any]]) -> Text:
    easy = context(base.contexts[0], tables.get("text", {}))
    if "hard" not in tables and len(base.contexts) == 1:
        return Text((easy,))
    if easy.stay == 1:
        raise ValueError("hard: expected text.stay below 1 (it is never reached otherwise), got 1")
    old = base.contexts[1] if len(base.contexts) == 2 else easy
    return Text((easy, context(old, tables.get("hard", {}))))


def context(base: Context, table: Mapping[str, Any]) -> Context:
    table, changes = dict(table), dict[str, Any]()
    rates = {name: table.pop(name) for name in tuple(table) if name in ("after_hit", "after_miss")}
    curve = {name: table.pop(name) for name in tuple(table) if name in ("prefactor", "exponent")}
    if rates and curve:
        raise ValueError(f"hits: expected a curve or rates, got {sorted(rates | curve)}")
    if curve:
        changes["hits"] = law(Curve, base, curve)
    elif rates:
        changes["hits"] = law(Rates, base, rates)
    if "acceptance" in table:
        changes |= {"acceptance": acceptance(table.pop("acceptance")), "backup": None}
    if "fast_acceptance" in table:
        changes["fast"] = acceptance(table.pop("fast_acceptance"))
    if "backup_acceptance" in table:
        changes["backup"] = acceptance(table.pop("backup_acceptance"))
    return replace(base, **changes, **table)


def law(kind: type[Curve] | type[Rates], base: Context, given: Mapping[str, float]) -> Any:
    numbers = values(base.hits, kind) | dict(given)
    missing = sorted({field.name for field in fields(kind)} - set(numbers))
    if missing:
        raise ValueError(f"hits: expected {missing[0]} beside {sorted(given)[0]}, got none")
    return kind(**numbers)


def acceptance(given: Any) -> Acceptance:
    return Acceptance(tuple(given)) if isinstance(given, list) else Acceptance((given,), iid=True)


def values(part: Any, kind: type | None = None) -> dict[str, Any]:
    """Fields of a dataclass; none if it is not of this kind."""
    if kind is not None and not isinstance(part, kind):
        return {}
    return {field.name: getattr(part, field.name) for field in fields(part)}


def number_or_word(text: str) -> float | str:
    """What TOML does not take: .9 for 0.9, and words without quotes."""
    try:
        return float(text)
    except ValueError:
        return text


def set_key(data: dict[str, Any], assignment: str) -> None:
    """`table.key=value` (the value as in TOML; a bare word is a string), as on the command line."""
    name, equals, text = assignment.partition("=")
    if not equals or not name:
        raise ValueError(f"--set: expected table.key=value, got {assignment!r}")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = number_or_word(text)
    table, dot, key = name.strip().partition(".")
    if not dot:
        known_names("--set", [table], TOP)
        data[table] = value
    else:
        unknown_keys("--set", [table], KNOWN)
        data.setdefault(table, {})[key] = value
