"""Build the notebooks: `python lessons/build.py [NAME ..]` from the repository's root.

Each lesson is a text, `lessons/NN_name.py` in Jupytext's percent format; the notebook beside it is
made from it by running its cells in a fresh kernel, and keeps the outputs, so that figures show
where the code is hosted. A notebook is built anew when its text, `style.py` or the weights changed.

    python lessons/build.py              build what changed
    python lessons/build.py --all        build everything
    python lessons/build.py 02 05        build these
    python lessons/build.py --check      build nothing; fail on drift, errors and warnings
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import time
from pathlib import Path
from typing import Any

LESSONS = Path(__file__).resolve().parent
WEIGHTS = LESSONS.parent / "ssd_ref" / "pair" / "weights" / "card.json"
MARK = re.compile(r"^# %%(?: \[(?P<kind>markdown)\])?(?: (?P<options>\w.*))?$")
FIGURE = "image/png"
WIDGET = "application/vnd.jupyter.widget-view+json"
SECONDS = 300  # a cell may take at most

Cell = dict[str, Any]  # cell_type, source, metadata: as in the notebook's JSON
Notebook = dict[str, Any]


def sources(names: list[str]) -> list[Path]:
    """The lessons whose names begin with one of `names`; all if there are none."""
    lessons = sorted(LESSONS.glob("[0-9][0-9]_*.py"))
    unknown = [name for name in names if not any(p.name.startswith(name) for p in lessons)]
    if unknown:
        raise SystemExit(f"no lesson begins with {unknown}; there are {[p.stem for p in lessons]}")
    return [p for p in lessons if not names or p.name.startswith(tuple(names))]


def cells(text: str) -> list[Cell]:
    """The cells of a lesson in percent format; what is above the first mark is its header."""
    found: list[Cell] = []
    for line in text.splitlines():
        if mark := MARK.match(line):
            kind = mark["kind"] or "code"
            found.append({"cell_type": kind, "metadata": options(mark["options"]), "source": []})
        elif found:
            if found[-1]["cell_type"] == "markdown":
                line = line.removeprefix("#").removeprefix(" ")
            found[-1]["source"].append(line)
    for cell in found:
        cell["source"] = "\n".join(cell["source"]).strip("\n")
    return found


def options(text: str | None) -> dict[str, Any]:
    """`tags=["solution"] jupyter={"source_hidden": true}` as a dictionary."""
    values, rest = {}, text or ""
    while rest:
        name, rest = rest.split("=", 1)
        values[name], end = json.JSONDecoder().raw_decode(rest)
        rest = rest[end:].lstrip()
    return values


def fingerprint(lesson: Path) -> dict[str, str]:
    """What a notebook is built from: hashes of the text, the style and the weights."""
    parts = {"source": lesson, "style": LESSONS / "style.py", "weights": WEIGHTS}
    return {
        name: hashlib.sha256(path.read_bytes()).hexdigest()[:16] for name, path in parts.items()
    }


def read(path: Path) -> Notebook | None:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def is_stale(lesson: Path) -> bool:
    notebook = read(lesson.with_suffix(".ipynb"))
    return notebook is None or notebook["metadata"].get("built_from") != fingerprint(lesson)


def faults(lesson: Path) -> list[str]:
    """What is wrong with the committed notebook of `lesson`: nothing, one hopes."""
    notebook = read(lesson.with_suffix(".ipynb"))
    if notebook is None:
        return ["there is no notebook"]
    text, built = cells(lesson.read_text(encoding="utf-8")), notebook["cells"]
    found = [] if not is_stale(lesson) else ["built from another text, style or weights"]
    if len(text) != len(built):
        found.append(f"{len(text)} cells in the text, {len(built)} in the notebook")
    for i, (ours, theirs) in enumerate(zip(text, built, strict=False)):
        if any(ours[key] != theirs[key] for key in ours):
            found.append(f"cell {i} differs: {ours['source'][:60]!r}")
    return found + [f"cell {i}: {fault}" for i, fault in troubles(built)]


def troubles(built: list[Cell]) -> list[tuple[int, str]]:
    """Errors, warnings and figures without a description among the outputs, by cell."""
    found = []
    for i, cell in enumerate(built):
        for output in cell.get("outputs", []):
            if output["output_type"] == "error":
                found.append((i, f"{output['ename']}: {output['evalue']}"))
            elif output.get("name") == "stderr":
                found.append((i, f"a warning: {''.join(output['text'])[:200]}"))
            elif FIGURE in output.get("data", {}) and not output["metadata"]:
                found.append((i, "a figure; the next cell must begin with its '*Figure: ..*'"))
    return found


def build(lesson: Path, folder: Path = LESSONS) -> None:
    """Run the lesson in a fresh kernel and write its notebook; an error if a cell fails or warns."""
    import nbformat  # only a build needs these two
    from nbclient import NotebookClient

    notebook = nbformat.from_dict(unrun(lesson))
    metadata = notebook.metadata.copy()  # a run adds the kernel's version
    NotebookClient(
        notebook, timeout=SECONDS, kernel_name="python3", extra_arguments=["--log-level=40"],
        record_timing=False, coalesce_streams=True, resources={"metadata": {"path": str(LESSONS)}},
    ).execute()  # fmt: skip
    notebook.metadata = metadata
    for i, cell in enumerate(notebook.cells):
        clean(cell, caption(notebook.cells[i + 1 :]))
    if bad := troubles(notebook.cells):
        raise RuntimeError(f"{lesson.name}: {bad}")
    text = json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False)
    (folder / f"{lesson.stem}.ipynb").write_text(text + "\n", encoding="utf-8")


def unrun(lesson: Path) -> Notebook:
    """The notebook of a lesson without outputs; cells have the same ids in every build."""
    found = cells(lesson.read_text(encoding="utf-8"))
    for i, cell in enumerate(found):
        cell["id"] = f"{lesson.stem[:2]}-{i:03}"
        if cell["cell_type"] == "code":
            cell |= {"outputs": [], "execution_count": None}
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"built_from": fingerprint(lesson), "kernelspec": kernel}
    return {"cells": found, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def clean(cell: Cell, alt: str) -> None:
    """Give figures their alt text; drop widgets, which show nothing without a kernel."""
    if cell["cell_type"] == "code":
        cell["outputs"] = [o for o in cell["outputs"] if WIDGET not in o.get("data", {})]
        for output in cell["outputs"]:
            if FIGURE in output.get("data", {}):
                output["metadata"] = {FIGURE: {"alt": alt}} if alt else {}


def caption(following: list[Cell]) -> str:
    """The description of a figure: the paragraph "*Figure: ..*" with which the next cell begins."""
    text = following[0]["source"].split("\n\n")[0] if following else ""
    return " ".join(text.split()).strip("*") if text.startswith("*Figure") else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help="beginnings of lessons' names; none: all")
    parser.add_argument("--all", action="store_true", help="build those that are current, too")
    parser.add_argument("--check", action="store_true", help="build nothing, look for faults")
    arguments = parser.parse_args()
    lessons = sources(arguments.names)
    if arguments.check:
        found = [f"{p.stem}: {fault}" for p in lessons for fault in faults(p)]
        print("\n".join(found) or f"{len(lessons)} notebooks are what their texts say")
        return bool(found)
    for lesson in lessons:
        if not (arguments.all or arguments.names or is_stale(lesson)):
            print(f"{lesson.stem:28} is current")
            continue
        print(f"{lesson.stem:28} ", end="", flush=True)
        begin = time.perf_counter()
        build(lesson)
        print(f"built in {time.perf_counter() - begin:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
