"""The nbgrader source notebook: what it holds, and that nbgrader itself grades with it.

nbgrader pins many packages, so it lives in an environment of its own, which also has NumPy:

    python -m venv NB && NB/bin/pip install nbgrader numpy
    NBGRADER=NB/bin/nbgrader python -m pytest -m slow tests/assignments/test_nbgrader.py
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import pytest

from lessons.assignments import catalogue, notebooks, stored
from lessons.assignments.notebooks import passes, passes_hidden

ROOT = catalogue.FOLDER.parents[1]
NBGRADER = os.environ.get("NBGRADER", "")


@pytest.mark.parametrize("number", catalogue.numbers())
def test_a_notebook_has_a_cell_for_each_task_and_check(number: int) -> None:
    assignment = catalogue.load(number)
    cells = notebooks.notebook(assignment)["cells"]
    flags = [cell["metadata"]["nbgrader"] for cell in cells]
    assert len({flag["grade_id"] for flag in flags}) == len(cells)
    graded = [flag for flag in flags if flag["grade"]]
    assert sum(flag["points"] for flag in graded) == assignment.points
    functions = [task.function for task in assignment.tasks if task.function]
    sources = "\n".join(
        cell["source"] for cell in cells if cell["metadata"]["nbgrader"]["solution"]
    )
    for name in functions:
        assert f"def {name}(" in sources
    assert (
        sources.count("### BEGIN SOLUTION") == sources.count("### END SOLUTION") >= len(functions)
    )


def test_a_check_of_a_cell_raises_with_the_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def residual(p: Any, q: Any) -> Any:
        return p

    passes("2.2/equal", residual)
    with pytest.raises(AssertionError, match="the replacement is drawn from p"):
        passes("2.2/laws", residual)
    (tmp_path / "seed").write_text("a long secret")
    monkeypatch.setenv("SSD_REF_SEED_FILE", str(tmp_path / "seed"))
    with pytest.raises(AssertionError, match=r"2\.2/laws: not yet"):
        passes_hidden("2.2/laws", residual)


def run(course: Path, *words: str) -> None:
    environment = os.environ | {
        "PATH": f"{Path(NBGRADER).parent}{os.pathsep}{os.environ['PATH']}",  # it calls its alembic
        "PYTHONPATH": str(ROOT),
        "SSD_REF_SEED_FILE": str(course / "seed"),
    }
    done = subprocess.run(
        [NBGRADER, *words], cwd=course, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-3000:]


def hand_in(course: Path, student: str, source: str) -> None:
    """The released notebook with the student's functions in the place of the stubs."""
    notebook = json.loads((course / "release/assignment2/assignment2.ipynb").read_text())
    head, parts = notebooks.split(source, ["is_kept", "residual", "verify", "verify_two"])
    for cell in notebook["cells"]:
        id = cell["metadata"]["nbgrader"]["grade_id"]
        if id == "given":
            cell["source"] = head
        elif id.startswith("task-"):
            task = catalogue.load(2).task(id.removeprefix("task-").replace("-", "."))
            cell["source"] = parts[str(task.function)]
    path = course / "submitted" / student / "assignment2" / "assignment2.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(notebook))


@pytest.mark.slow
@pytest.mark.skipif(not NBGRADER, reason="needs NBGRADER=.../nbgrader; the docstring says how")
def test_nbgrader_generates_and_autogrades(tmp_path: Path) -> None:
    (tmp_path / "seed").write_text("a long secret")
    (tmp_path / "nbgrader_config.py").write_text(
        "c = get_config()\nc.CourseDirectory.course_id = 'x'\n"
        "c.ClearSolutions.code_stub = {'python': 'raise NotImplementedError'}\n"
    )
    notebooks.write_notebook(catalogue.load(2), tmp_path / "source/assignment2/assignment2.ipynb")
    run(tmp_path, "generate_assignment", "assignment2")
    released = (tmp_path / "release/assignment2/assignment2.ipynb").read_text()
    assert "SOLUTION" not in released and "HIDDEN" not in released
    assert "verification.verify" not in released and "raise NotImplementedError" in released
    folder = catalogue.load(2).folder
    hand_in(tmp_path, "right", (folder / "right" / "loops.py").read_text())
    wrong = stored.read(folder / "wrong" / "two_first_residual_again.py", 2)
    plain = (folder / "right" / "plain.py").read_text()
    fault = wrong.path.read_text()
    hand_in(tmp_path, "wrong", plain[: plain.index("def verify_two")] + fault)
    run(tmp_path, "autograde", "assignment2")
    scores = sqlite3.connect(tmp_path / "gradebook.db").execute(
        "select s.id, sum(g.auto_score) from grade g"
        " join submitted_notebook n on g.notebook_id = n.id"
        " join submitted_assignment a on n.assignment_id = a.id"
        " join student s on a.student_id = s.id group by s.id"
    )
    assert dict(scores.fetchall()) == {"right": 21, "wrong": 17}
