"""Archives and folders as learning platforms give them: one file a student is found."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from lessons.assignments import archives
from lessons.assignments.archives import Submission, collect

Files = dict[str, str | bytes]
ANN, BOB = "Ann Lee_1234567_assignsubmission_file", "Bob de Vries_7654321_assignsubmission_file"


def zipped(files: Files, times: dict[str, int] | None = None) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in files.items():
            year = (times or {}).get(name, 2020)
            archive.writestr(zipfile.ZipInfo(name, (year, 1, 1, 0, 0, 0)), text)
    return buffer.getvalue()


def placed(folder: Path, files: Files) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def found(tmp_path: Path, *paths: Path) -> dict[tuple[str, str], str | None]:
    """(student, id) -> the text of the file that was chosen."""
    submissions = collect(paths, 2, tmp_path / "scratch")
    assert len({(s.student, s.id) for s in submissions}) == len(submissions)
    return {(s.student, s.id): s.path.read_text() if s.path else None for s in submissions}


MOODLE: Files = {
    f"{ANN}/assignment2.py": "ann",
    f"{ANN}/test_assignment2.py": "a test that was tampered with",
    f"{BOB}/deep/er/assignment2.ipynb": "bob",
    f"__MACOSX/{ANN}/._assignment2.py": "litter",
    f"{BOB}/.DS_Store": "litter",
    "Cy_99_assignsubmission_file/hand-in.zip": zipped({"work/assignment2.py": "cy"}),
    "Di_98_assignsubmission_file/notes.txt": "nothing",
    "Ed_97_assignsubmission_file/damaged.zip": b"PK no zip",
    "Flo_96_assignsubmission_onlinetext/onlinetext.html": "words",
}
MOODLE_FOUND = {
    ("Ann Lee", "1234567"): "ann",
    ("Bob de Vries", "7654321"): "bob",
    ("Cy", "99"): "cy",
    ("Di", "98"): None,
    ("Ed", "97"): None,
    ("Flo", "96"): None,
}
CANVAS: Files = {
    "leeann_4321_98765_assignment2.py": "first",
    "leeann_4321_98766_assignment2-1.py": "second",
    "leeann_4321_98767_assignment2-2.py": "third",
    "vriesbob_LATE_4322_98768_assignment2.ipynb": "bob",
    "wu_4323_98769_work.zip": zipped({"assignment2.py": "wu"}),
}
CANVAS_FOUND = {("leeann", "4321"): "third", ("vriesbob", "4322"): "bob", ("wu", "4323"): "wu"}


@pytest.mark.parametrize(
    ("files", "expected"),
    [(MOODLE, MOODLE_FOUND), (CANVAS, CANVAS_FOUND)],
    ids=["moodle", "canvas"],
)
def test_a_platforms_batch_zipped_or_unpacked(
    tmp_path: Path, files: Files, expected: dict[tuple[str, str], str | None]
) -> None:
    archive = placed(tmp_path, {"batch.zip": zipped(files)}) / "batch.zip"
    assert found(tmp_path, archive) == expected
    folder = placed(tmp_path / "unpacked", files)
    assert found(tmp_path / "again", folder) == expected


def test_folders_of_students_and_single_files(tmp_path: Path) -> None:
    files: Files = {"ann/assignment2.py": "a", "bob/src/assignment2.py": "b", "cy.py": "c"}
    placed(tmp_path, {**files, "di/assignment2.py": "d", "ed/assignment2.py": "e"})
    names = ["ann", "bob", "cy.py", "di/assignment2.py", "ed/assignment2.py"]
    expected = {
        ("ann", ""): "a",
        ("bob", ""): "b",
        ("cy", ""): "c",
        ("di", ""): "d",
        ("ed", ""): "e",
    }
    assert found(tmp_path, *(tmp_path / name for name in names)) == expected


def test_a_folder_of_folders_is_a_batch(tmp_path: Path) -> None:
    placed(tmp_path / "batch", {"ann/assignment2.py": "a", "bob/x/assignment2.py": "b"})
    assert found(tmp_path, tmp_path / "batch") == {("ann", ""): "a", ("bob", ""): "b"}
    placed(tmp_path / "one", {"ann/assignment2.py": "a"})
    assert found(tmp_path, tmp_path / "one") == {("ann", ""): "a"}


@pytest.mark.parametrize(
    ("names", "best"),
    [
        (["assignment2.py", "assignment2-1.py", "assignment2-10.py", "assignment2-9.py"], 2),
        (["assignment2 (1).py", "assignment2.py"], 0),
        (["assignment2.ipynb", "assignment2.py"], 1),
        (["Assignment_2.py", "helper.py"], 0),
        (["assignment2.py", "assignment12.py", "assignment1.py"], 0),
        (["my_work.py", "test_assignment2.py"], 0),
        (["my_work.py", "other.py"], None),
        (["readme.txt"], None),
    ],
)
def test_the_last_version_is_taken(tmp_path: Path, names: list[str], best: int | None) -> None:
    files: Files = {f"s/{name}": str(i) for i, name in enumerate(names)}
    archive = placed(tmp_path, {"z.zip": zipped(files)}) / "z.zip"
    assert found(tmp_path, archive) == {("s", ""): None if best is None else str(best)}


def test_of_equal_names_the_later_is_taken(tmp_path: Path) -> None:
    files: Files = {"s/old/assignment2.py": "old", "s/new/assignment2.py": "new"}
    data = zipped(files, {"s/new/assignment2.py": 2021})
    archive = placed(tmp_path, {"z.zip": data}) / "z.zip"
    assert found(tmp_path, archive) == {("s", ""): "new"}


def test_what_was_done_is_noted(tmp_path: Path) -> None:
    placed(
        tmp_path, {"a/other.py": "", "b/assignment2.py": "", "b/assignment2-1.py": "", "c/x": ""}
    )
    notes = [s.notes for s in collect([tmp_path / n for n in "abc"], 2, tmp_path / "scratch")]
    assert notes == [
        ("expected assignment2.py; other.py was taken for it",),
        ("of several versions assignment2-1.py was taken",),
        ("no assignment2.py in x",),
    ]


def test_nothing_leaves_the_scratch_folder(tmp_path: Path) -> None:
    archive = placed(tmp_path, {"z.zip": zipped({"../../evil.py": "x", "/s/assignment2.py": "s"})})
    submissions = collect([archive / "z.zip"], 2, tmp_path / "deep" / "scratch")
    assert all(s.path is None or s.path.is_relative_to(tmp_path / "deep") for s in submissions)
    assert not (tmp_path / "evil.py").exists()


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, "no such file or folder"),
        ({"z.zip": b"no zip"}, "no zip archive that can be read"),
        ({"z.zip": zipped({})}, "no submission in"),
    ],
)
def test_what_cannot_be_read_is_an_error(tmp_path: Path, files: Files, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        collect([placed(tmp_path, files) / "z.zip"], 2, tmp_path / "scratch")


def test_an_archive_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MOST_BYTES", 10)
    archive = placed(tmp_path, {"z.zip": zipped({"s/assignment2.py": "x" * 11})}) / "z.zip"
    with pytest.raises(ValueError, match="1 files, 11 bytes; too large"):
        collect([archive], 2, tmp_path / "scratch")


def test_an_empty_folder_is_a_student_without_points(tmp_path: Path) -> None:
    (tmp_path / "ann").mkdir()
    assert collect([tmp_path / "ann"], 2, tmp_path) == [
        Submission("ann", None, notes=("an empty folder",))
    ]


def test_a_submission_given_twice_is_one_student(tmp_path: Path) -> None:
    placed(tmp_path, {"1/ann/assignment2.py": "a", "2/ann/assignment2-1.py": "b"})
    submissions = collect([tmp_path / "1" / "ann", tmp_path / "2" / "ann"], 2, tmp_path / "scratch")
    assert [s.student for s in submissions] == ["ann"]
    assert isinstance(submissions[0], Submission)
