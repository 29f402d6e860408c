"""`ssd-ref measure`: acceptance, hits and the law of misses of one setting, over many prompts.

Imports no torch: help and mistyped arguments answer at once.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssd_ref.cli import studies
from ssd_ref.cli.errors import CommandError
from ssd_ref.cli.pairs import Load
from ssd_ref.cli.settings import Settings

if TYPE_CHECKING:
    from ssd_ref.study.texts import Setting, Text

TEXT = (
    "Decodes held-out prompts and keeps, for each round, the bonus token's rank among the draft's "
    "guesses and what the draft knew before the outcome. With C = 1 one recording answers every "
    "fan-out list. Each finished text is one line of --output; after Ctrl-C, or a crash, the same "
    "command goes on where it was."
)
PARTS = ("evaluation", "calibration", "all")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `measure`."""
    from ssd_ref.cli.arguments import real_number, whole_number, whole_numbers

    def add(option: str, kind: Any, metavar: str, text: str, default: Any = None) -> None:
        parser.add_argument(option, type=kind, metavar=metavar, default=default, help=text)

    defaults = Settings()
    parser.add_argument("--output", type=Path, metavar="FILE", required=True, help="the texts")
    add("--rounds", Path, "FILE", "also write the rounds alone, for ssd-sim --replay")
    parser.add_argument("--part", choices=PARTS, default="evaluation", help="of the prompts: one "
        "document is for calibration, the others for evaluation; default: %(default)s")  # fmt: skip
    add("--lookahead", whole_number, "K", "tokens drafted a round; default: 4", defaults.lookahead)
    add("--fan-out", whole_numbers, "F,..", "guesses at k = 0..K accepted, K + 1 numbers, or one "
        "for every k; default: 2 at each k < K and 4 at K")  # fmt: skip
    add("--fan-out-miss", whole_numbers, "F,..", "the same after a miss; default: as --fan-out")
    add("--temperature", real_number, "T", "0 is greedy; default: 1", defaults.temperature)
    add("--saguaro-c", real_number, "C", "weight of guessed tokens in the draft's law; default: 1",
        defaults.saguaro_c)  # fmt: skip
    studies.add_shared(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")


def run(args: argparse.Namespace, load: Load, clock: Callable[[], float]) -> int:
    """Record and report; 130 after Ctrl-C."""
    from ssd_ref.study.collect import collect, keys_of

    studies.check_shared(args)
    setting = setting_of(args)
    prompts = chosen(studies.held_out_prompts(args.prompts), args.part)
    pair = load(argparse.Namespace(device=args.device, draft_device=None, dtype=args.dtype))
    store = studies.open_store(args.output, pair.hash, args.dtype)
    keys = keys_of([setting], prompts, args.seeds)
    models = studies.LoadModels(load, args.device, args.dtype)
    try:
        with studies.bar() as progress:
            texts = collect(store, keys, prompts, models, jobs=args.jobs, progress=progress)
    except KeyboardInterrupt:
        return studies.interrupted(store)
    if args.rounds is not None:
        export(args.rounds, store.header, setting, texts)
    show(setting, texts, args.json)
    return 0


def setting_of(args: argparse.Namespace) -> Setting:
    """The checked setting. Raises CommandError."""
    from ssd_ref.study.texts import Setting

    names = "lookahead", "fan_out", "fan_out_miss", "temperature", "saguaro_c", "max_new_tokens"
    settings = Settings(**{name: getattr(args, name) for name in names})
    settings.check()
    if args.lookahead < 1:
        raise CommandError(f"--lookahead: expected at least 1, got {args.lookahead}")
    written_out = settings.to_json()
    return Setting(**{name: written_out[name] for name in names})


def chosen(parts: dict[str, dict[int, Sequence[int]]], part: str) -> dict[int, Sequence[int]]:
    if part == "all":
        return parts["calibration"] | parts["evaluation"]
    return parts[part]


def export(path: Path, header: dict[str, Any], setting: Setting, texts: Sequence[Text]) -> None:
    """The rounds of all texts, one after the other, each from its round 1."""
    from dataclasses import asdict

    from ssd_ref.study.recording import write_rounds

    rounds = [record for text in texts for record in text.rounds]
    write_rounds(path, header | {"settings": asdict(setting)}, {"ssd": rounds})


def show(setting: Setting, texts: Sequence[Text], as_json: bool) -> None:
    from dataclasses import asdict

    from ssd_ref.study.figures import report
    from ssd_ref.study.replay import as_decoded

    figures = {"settings": asdict(setting)} | report(texts, [as_decoded(text) for text in texts])
    if as_json:
        print(json.dumps(figures, indent=1))
    else:
        from ssd_ref.cli.measure_report import lines

        print("\n".join(lines(figures)))
