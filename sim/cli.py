"""`ssd-sim`: run, compare, whatif, sweep, validate, forwards, timeline, frontier, .."""

from __future__ import annotations

import argparse
import sys
from argparse import ArgumentTypeError
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from rich.console import Console

from sim import commands, verdict
from sim.config import KNOWN, RUNS, TOP
from sim.presets import PRESETS
from sim.queueing import LENGTHS
from sim.simulate import METHODS


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit status: 0; 2 after a refusal, its reason on standard error; 130 after ^C."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        args = parser().parse_args(given or ["--help"])
        args.command(args, Console(width=args.width))
    except ModuleNotFoundError as error:
        extra = "pictures need matplotlib: install the extra [plots]"
        print(f"ssd-sim: {extra if error.name == 'matplotlib' else error}", file=sys.stderr)
        return 2
    except (ValueError, OSError) as error:
        print(f"ssd-sim: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        swept = bool(given) and given[0] == "sweep"
        more = "; the same command goes on where it was" if swept else ""
        print(f"ssd-sim: interrupted{more}", file=sys.stderr)
        return 130
    return 0


class Parser(argparse.ArgumentParser):
    """A parser whose refusals are one line, like all others."""

    def error(self, message: str) -> NoReturn:
        raise ValueError(message)


def parser() -> argparse.ArgumentParser:
    top = Parser(prog="ssd-sim", description=sys.modules["sim"].__doc__)
    added = top.add_subparsers(required=True, metavar="command")

    def add(
        name: str, command: commands.Command, text: str, *parents: Parser
    ) -> argparse.ArgumentParser:
        made = added.add_parser(
            name, help=text, description=text, parents=[output_options(), *parents],
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )  # fmt: skip
        if any(action.dest == "config" for action in made._actions):
            made.epilog = KEY_HELP
        made.set_defaults(command=command)
        return made

    add_runs(add, scenario_options())
    add_pictures(add, scenario_options())
    add_serve(add, scenario_options())
    return top


Add = Callable[..., argparse.ArgumentParser]


def add_runs(add: Add, scenario: Parser) -> None:
    options = (scenario, run_options(commands.ROUNDS))
    run = add("run", commands.run, "one method: speed, causes and cost", *options)
    run.add_argument("method", choices=METHODS, help="which of the three")
    compare = add("compare", commands.compare, "AR, SD and SSD side by side", *options)
    compare.add_argument("--out", type=picture, help="also draw bars of tokens/s (.png or .svg)")
    for made in (run, compare):
        made.add_argument("--replay", type=Path, help="recorded rounds (JSON lines) as workload")
    text = "SSD with one cause of lost time taken away at a time"
    add("whatif", commands.whatif, text, *options)
    text = "a grid of scenarios into a CSV; a second call with the same file goes on"
    sweep = add("sweep", commands.sweep, text, scenario, run_options(commands.SWEPT))
    sweep.add_argument(
        "--over", action="append", default=[], metavar="TABLE.KEY=V,V,..",
        help="an axis; lists of lists are separated by ;",
    )  # fmt: skip
    sweep.add_argument("--file", type=file, required=True, help="the CSV that rows are added to")
    sweep.add_argument("--jobs", type=int, default=-1, help="processes (default: all cores)")
    text = "what the calibrated presets predict, beside what was measured"
    add("validate", verdict.validate, text, run_options(verdict.VALIDATED))
    text = "milliseconds of a forward by its rows, sum and maximum of reading and computing"
    add("forwards", commands.forwards, text, scenario)


def add_pictures(add: Add, scenario: Parser) -> None:
    line = add("timeline", commands.timeline, "draw or export the first rounds", scenario)
    line.add_argument("methods", nargs="*", metavar="method", help="default: sd ssd")
    line.add_argument("--rounds", type=int, help="rounds drawn (default: 6)")
    line.add_argument("--seed", type=int, help="one seed, one result (default: 0)")
    line.add_argument("--trace", type=file, help="Chrome trace (.json), for Perfetto")
    text = "tokens/s/user against tokens/s/device over batch sizes"
    frontier = add("frontier", commands.frontier, text, scenario, run_options(commands.COMPARED))
    frontier.add_argument("--batches", type=int, nargs="+", default=[1, 2, 4, 8, 16], metavar="B",
                          help="batch sizes (default: 1 2 4 8 16)")  # fmt: skip
    frontier.add_argument("--jobs", type=int, default=-1, help="processes (default: all cores)")
    text = "speed over batch sizes with a slow accurate and a fast backup, and b* (Thm 17)"
    fallback = add("fallback", commands.fallback, text)
    for name, value, meaning in FALLBACK:
        fallback.add_argument(name, type=float, default=value, help=f"{meaning} (default {value})")
    for made in (line, frontier, fallback):
        made.add_argument("--out", type=picture, help="picture (.png or .svg)")


def add_serve(add: Add, scenario: Parser) -> None:
    text = "requests arrive, join a batch between rounds, and leave at their last token"
    serve = add("serve", commands.serve, text, scenario)
    serve.add_argument("methods", nargs="*", metavar="method", help="default: ar sd ssd")
    defaults = {"requests": 400, "tokens": 64, "lengths": "fixed", "prompt": 0, "warm_up": 0.2,
                "replications": 5}  # fmt: skip
    kinds = {"arrivals_per_s": float, "warm_up": float, "lengths": str}
    for name, meaning in RUNS["serve"].items():
        shown = f" (default: {defaults[name]})" if name in defaults else ""
        choices = LENGTHS if name == "lengths" else None
        serve.add_argument(f"--{name.replace('_', '-')}", type=kinds.get(name, int),
                           choices=choices, help=meaning + shown)  # fmt: skip
    serve.add_argument("--seed", type=int, help="the first of the replications' (default: 0)")


NARROWEST = 30
FALLBACK = (
    ("--hit", 0.9, "hit rate"),
    ("--tokens", 4.0, "tokens of a round after a hit or the accurate backup"),
    ("--tokens-fast", 1.0, "tokens of a round after the fast backup"),
    ("--t-p", 1.0, "time to fill the cache, in verifications"),
    ("--t-b", 0.3, "time of the accurate backup, in verifications"),
)


def picture(name: str) -> Path:
    """A file that a picture can be written to: told before anything is computed."""
    path = Path(name)
    if path.suffix not in (".png", ".svg"):
        raise ArgumentTypeError(f"expected a name ending in .png or .svg, got {path.name!r}")
    return file(name)


def file(name: str) -> Path:
    path = Path(name)
    if path.is_dir() or not path.parent.is_dir():
        raise ArgumentTypeError(f"expected a file in a folder that exists, got {name!r}")
    return path


def width(text: str) -> int:
    if not text.isdecimal() or int(text) < NARROWEST:
        raise ArgumentTypeError(f"expected a whole number from {NARROWEST} on, got {text!r}")
    return int(text)


def scenario_options() -> Parser:
    options = Parser(add_help=False)
    options.add_argument("--preset", choices=PRESETS, help="scenario to start from (default: toy)")
    options.add_argument("--config", type=Path, help="TOML file with the keys below")
    options.add_argument("--set", action="append", default=[], metavar="TABLE.KEY=VALUE",
                         help="one key, as in the file; may be repeated")  # fmt: skip
    return options


def run_options(rounds: int) -> Parser:
    options = Parser(add_help=False)
    options.add_argument("--rounds", type=int, help=f"rounds of each run (default: {rounds})")
    options.add_argument("--seed", type=int, help="one seed, one result (default: 0)")
    return options


def output_options() -> Parser:
    options = Parser(add_help=False)
    options.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options.add_argument("--csv", type=file, help="also write the table as CSV")
    options.add_argument("--width", type=width, help="width of tables (default: the terminal's)")
    return options


def key_help() -> str:
    lines = ["keys of --config and --set (a preset gives all that are not set):"]
    lines += [f"  {name:32}{meaning}" for name, meaning in TOP.items()]
    shown: set[int] = set()
    for name, keys in KNOWN.items():
        if id(keys) in shown:
            lines.append(f"  {name + '.*':32}as above")
            continue
        shown.add(id(keys))
        lines += [f"  {name + '.' + key:32}{meaning}" for key, meaning in keys.items()]
    return "\n".join(lines)


KEY_HELP = key_help()
