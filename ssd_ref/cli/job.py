"""What a command is asked to decode: the checked arguments, the models, the prompt."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ssd_ref import __version__
from ssd_ref.cli.arguments import settings_of
from ssd_ref.cli.errors import CommandError
from ssd_ref.cli.pairs import Load, Pair
from ssd_ref.cli.prompts import Prompt, find_prompt, read_text
from ssd_ref.cli.run import Run
from ssd_ref.cli.settings import Settings
from ssd_ref.study.recording import write_rounds


@dataclass(frozen=True)
class Job:
    """Models, prompt and settings, and `facts` about them for every output.

    rounds: the file for the round records, if they are wanted.
    """

    pair: Pair
    prompt: Prompt
    settings: Settings
    facts: dict[str, Any]
    rounds: Path | None

    def record(self, runs: Sequence[Run]) -> None:
        """Write the rounds of all `runs`, if they are wanted."""
        if self.rounds is not None:
            write_rounds(self.rounds, self.facts, {run.method: run.records for run in runs})


def open_job(args: argparse.Namespace, load: Load) -> Job:
    """Check what can be checked, then load the models. Raises CommandError."""
    settings = settings_of(args)
    settings.check()
    given = read_text(args.prompt, args.prompt_file)
    check_writable(args.rounds)
    pair = load(args)
    prompt = find_prompt(given, pair.tokenizer)
    limit = pair.target.context_limit
    if limit is not None and len(prompt.tokens) > limit:
        raise CommandError(
            f"prompt: expected at most {limit} tokens (the target's context limit), "
            f"got {len(prompt.tokens)}"
        )
    machine = {name: getattr(args, name) for name in ("device", "draft_device", "dtype")}
    facts = {
        "weights": pair.hash,
        "prompt": prompt.to_json(pair.tokenizer),
        "settings": settings.to_json() | machine,
        "version": __version__,
    }
    return Job(pair, prompt, settings, facts, args.rounds)


def check_writable(path: Path | None) -> None:
    """Raises CommandError before anything is decoded, rather than after. Leaves no trace."""
    if path is not None:
        is_new = not path.exists()
        try:
            path.open("a").close()
            if is_new:
                path.unlink()
        except OSError as error:
            raise CommandError(
                f"--rounds: expected a file that can be written, got {path} ({error.strerror})"
            ) from error
