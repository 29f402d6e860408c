"""`python -m tests.mutants`: show that the tests can fail, by the faults that they must find.

Each mutant is a copy of the package with one small change; the checks run against it in a process
of its own. A crash, a time-out or an import error is not a kill.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.mutants.catalogue import MUTANTS, Mutant

ENUMERATED = ("law", "replay")  # the checks of the output law

ROOT = Path(__file__).parents[2]
RUN = """
import json, sys
from tests.mutants.checks import CHECKS, enumerate_all, enumerate_batch, gpt
file = sys.argv[1]
in_batch = file.startswith("batched/")
def enumerated():
    laws = enumerate_batch() if in_batch else enumerate_all()
    return [[name, failure] for name, failure in laws.items() if failure]
def others():
    checks = {"gpt": gpt} if file == "gpt.py" else {} if in_batch else CHECKS
    return [[name, failure] for name, check in checks.items() if (failure := check())]
found = [] if file == "gpt.py" else enumerated()
if not found:
    found = others()
print(json.dumps(found[:1]))
"""


def mutated(mutant: Mutant, folder: Path) -> None:
    """A copy of the package in `folder`, with the edits applied; each must apply exactly once."""
    shutil.copytree(
        ROOT / "ssd_ref",
        folder / "ssd_ref",
        ignore=shutil.ignore_patterns("weights", "__pycache__"),
    )
    file = folder / "ssd_ref" / mutant.file
    source = file.read_text()
    for old, new in mutant.edits:
        if source.count(old) != 1:
            raise ValueError(
                f"mutant {mutant.name!r} no longer applies: expected these lines once in "
                f"{mutant.file}, found them {source.count(old)} times:\n{old}"
            )
        source = source.replace(old, new)
    compile(source, str(file), "exec")
    file.write_text(source)


def run(mutant: Mutant, limit_s: float) -> tuple[str, list[Any]]:
    """("killed" | "survived" | how the run failed, [check, [size, variation]])."""
    with tempfile.TemporaryDirectory() as name:
        mutated(mutant, Path(name))
        path = os.pathsep.join([name, str(ROOT)])
        try:
            done = subprocess.run(
                [sys.executable, "-W", "ignore", "-c", RUN, mutant.file],
                env={**os.environ, "PYTHONPATH": path, "PYTHONSAFEPATH": "1"},
                cwd=name, capture_output=True, text=True, timeout=limit_s,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"no kill: over {limit_s:.0f} s", []
    if done.returncode:
        return f"no kill: {done.stderr.strip().splitlines()[-1]}", []
    kills = json.loads(done.stdout)
    return ("killed", kills[0]) if kills else ("survived", [])


def verdict(mutant: Mutant, state: str, kill: list[Any]) -> bool:
    """As it should be: killed, by enumeration unless it is exact in law; or not by it at all."""
    if mutant.survives:
        return state == "survived" or (state == "killed" and kill[0] not in ENUMERATED)
    if state != "killed":
        return False
    return kill[0] != "law" if mutant.exact else kill[0] in ENUMERATED


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--only", default="", help="mutants whose name contains this")
    parser.add_argument("--limit-s", type=float, default=120, help="seconds for one mutant")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    options = parser.parse_args()
    mutants = [m for m in MUTANTS if options.only in m.name]
    begin = time.monotonic()
    print(f"{'mutant':58} {'killed by':18} {'smallest input':18} TV")
    wrong, killed = 0, 0
    with ThreadPoolExecutor(options.workers) as pool:
        results = pool.map(lambda m: run(m, options.limit_s), mutants)
        for mutant, (state, kill) in zip(mutants, results, strict=True):
            good = verdict(mutant, state, kill)
            wrong += not good
            killed += state == "killed" and not mutant.survives
            print(row(mutant, state, kill, good), flush=True)
    must_die = sum(not m.survives for m in mutants)
    print(f"{time.monotonic() - begin:.0f} s; {len(mutants) - must_die} must survive")
    print(f"{killed} killed, {must_die - killed} survived")
    return 1 if wrong else 0


def row(mutant: Mutant, state: str, kill: list[Any], good: bool) -> str:
    check, (size, variation) = kill if kill else (state, ("", None))
    shown = "" if variation is None else f"{variation:.4f}"
    note = "" if good else "   <-- not as it should be"
    if good and mutant.survives:
        note = "   (must survive the law, and does)"
    return f"{mutant.name:58} {check:18} {size:18} {shown}{note}"


if __name__ == "__main__":
    sys.exit(main())
