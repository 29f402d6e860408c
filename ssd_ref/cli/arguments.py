"""The options of every command. Imports no torch: help and mistyped options answer at once."""

from __future__ import annotations

import argparse
from dataclasses import fields
from pathlib import Path
from typing import Any, NoReturn

from ssd_ref import __version__
from ssd_ref.cli import assignment, bench, calibrate, grade, measure, predict, sweep
from ssd_ref.cli.errors import CommandError
from ssd_ref.cli.pairs import add_machine
from ssd_ref.cli.settings import METHODS, Settings
from ssd_ref.ssd import BACKUPS

TOUR = """\
ssd-ref compare                one text by AR, SD and SSD, and the figures that tell them apart
ssd-ref generate "A list is"   a text as it is decoded, by a model of Python's documentation
ssd-ref bench                  how fast each of the three is on this machine
ssd-ref predict                how fast SD should be, and is, on prompts it has not seen
ssd-ref measure                acceptance, hits and the law of misses, over many prompts
ssd-ref sweep                  which outcomes to prepare for: policies and budgets into a CSV
ssd-ref assignment list        the course's assignments; `start N DIR`, `check N DIR`
ssd-ref compare --help         the options: lookahead, fan-out, temperature, devices and more
"""
PROMPT = 'the prompt; "-" reads standard input; without one, held-out text is taken'
DISPLAY = (
    "Only new text goes to standard output, figures go to standard error. Invalid UTF-8 shows as "
    "U+FFFD, control characters as their symbols; --json has the exact tokens. Ctrl-C ends early."
)
NONE_IS_ALL = "default: no limit"
AS_TARGET = "default: the target's"


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        if message.startswith("unrecognized arguments"):
            message += " (a prompt of several words needs quotes)"
        raise CommandError(message)


def whole_number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a whole number, got {text!r}") from None


def real_number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a number, got {text!r}") from None


def whole_numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"expected whole numbers with commas between, such as 2,2,2,2,4, got {text!r}"
        ) from None


def build_parser() -> Parser:
    parser = Parser(
        prog="ssd-ref",
        description="Autoregressive (AR), speculative (SD) and Speculative Speculative (SSD) "
        "decoding of a small model of Python's documentation, which ships with the package.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"ssd-ref {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="command")
    generate = commands.add_parser(
        "generate", help="decode one text and show it as it comes", description=DISPLAY
    )
    generate.add_argument("--method", choices=METHODS, default="ssd", help="default: %(default)s")
    add_decoding(generate)
    compare = commands.add_parser(
        "compare", help="decode one prompt by all three methods and explain the difference"
    )
    add_decoding(compare)
    add_processes(compare.add_argument_group("two processes"))
    bench.add_arguments(commands.add_parser("bench", help="measure the speed of all three"))
    text = "two processes: steps measured, speeds predicted by the simulator, and measured"
    calibrate.add_arguments(commands.add_parser("calibrate", help=text, description=text))
    text = "SD/AR predicted by the simulator from other prompts, beside what is then measured"
    predict.add_arguments(commands.add_parser("predict", help=text, description=text))
    for command, text in ((measure, "record rounds"), (sweep, "compare fan-out policies")):
        name = command.__name__.rpartition(".")[2]
        command.add_arguments(commands.add_parser(name, help=text, description=command.TEXT))
    text = "grade a batch of submissions"
    assignment.add_arguments(commands.add_parser("assignment", help=assignment.TEXT))
    grade.add_arguments(commands.add_parser("grade", help=text, description=grade.TEXT))
    return parser


def add_decoding(parser: argparse.ArgumentParser) -> None:
    """The options that `generate` and `compare` share."""
    parser.add_argument("prompt", nargs="?", help=PROMPT)
    parser.add_argument("--prompt-file", type=Path, metavar="FILE", help="read the prompt from it")
    add_settings(parser.add_argument_group("decoding"))
    machine = parser.add_argument_group("machine and output")
    add_machine(machine)
    machine.add_argument(
        "--rounds", type=Path, metavar="FILE", help="write a record of each round, as JSON lines"
    )


def add_processes(group: argparse._ArgumentGroup) -> None:
    """The options of a measured run of SSD in two processes."""
    text = "besides: SSD with the draft in a process of its own, measured; also under torchrun"
    group.add_argument("--processes", action="store_true", help=text)
    group.add_argument(
        "--abort", action=argparse.BooleanOptionalAction, default=True,
        help="an outcome that comes early ends the filling of the cache",
    )  # fmt: skip
    text = "write what both processes did as a Chrome trace (for Perfetto)"
    group.add_argument("--trace", type=Path, metavar="FILE", help=text)


def add_settings(group: argparse._ArgumentGroup) -> None:
    """An option for each field of `Settings`."""
    defaults = {field.name: field.default for field in fields(Settings)}

    def add(name: str, kind: Any, metavar: str, text: str, **more: Any) -> None:
        option, default = f"--{name.replace('_', '-')}", defaults[name]
        text = text if default is None else f"{text}; default: {default}"
        group.add_argument(option, type=kind, metavar=metavar, default=default, help=text, **more)

    add("max_new_tokens", whole_number, "N", "tokens to decode at most")
    add("lookahead", whole_number, "K", "tokens drafted a round")
    add("fan_out", whole_numbers, "F,..", "guesses at k = 0..K accepted, K + 1 numbers, or one for "
        "every k; default: 2 at each k < K and 4 at K")  # fmt: skip
    add("fan_out_miss", whole_numbers, "F,..", "the same after a miss; default: as --fan-out")
    add("temperature", real_number, "T", "0 is greedy")
    add("draft_temperature", real_number, "T", AS_TARGET)
    add("top_k", whole_number, "N", f"keep the N most probable tokens; {NONE_IS_ALL}")
    add("top_p", real_number, "P", f"keep the most probable tokens up to sum P; {NONE_IS_ALL}")
    add("draft_top_k", whole_number, "N", AS_TARGET)
    add("draft_top_p", real_number, "P", AS_TARGET)
    add("saguaro_c", real_number, "C", "weight of guessed tokens in the draft's law, 0 to 1")
    add("backup", str, "B", "who drafts after a miss: " + " or ".join(BACKUPS))
    add("seed", whole_number, "N", "the same seed gives the same text")


def settings_of(args: argparse.Namespace) -> Settings:
    return Settings(**{field.name: getattr(args, field.name) for field in fields(Settings)})
