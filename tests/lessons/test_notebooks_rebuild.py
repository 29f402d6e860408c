"""A notebook whose text, style or weights changed since it was built is built again, elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_notebooks import LESSONS, build


@pytest.mark.slow
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_a_stale_notebook_can_be_built(lesson: Path, tmp_path: Path) -> None:
    """Needs the extra `lessons`. A fresh kernel, no error, no warning, each figure described."""
    if build.is_stale(lesson):
        build.build(lesson, tmp_path)
        assert (tmp_path / f"{lesson.stem}.ipynb").exists()
    else:
        assert build.faults(lesson) == []
