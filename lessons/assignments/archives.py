"""From what a learning platform hands over to one file for each student.

Folders, single files and zip archives are read; archives within them, too. Names tell whose a file
is: Moodle's folders are called "Full Name_1234567_assignsubmission_file", Canvas' files
"lastfirst_LATE_4321_98765_assignment2-1.py" (-1: the first resubmission). Otherwise a folder is a
student. System litter (`__MACOSX`, dot files, caches) is left out.
"""

from __future__ import annotations

import os
import re
import time
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

MOODLE = re.compile(r"(?P<name>.+)_(?P<id>\d+)_assignsubmission_\w+")
CANVAS = re.compile(r"(?P<name>[^_]+)_(?:LATE_)?(?P<id>\d+)_\d+_(?P<file>.+)")
COPY = re.compile(r"[-_ ]?\(?(\d+)\)?$")  # assignment2-1, assignment2 (1)
LITTER = {"__MACOSX", "__pycache__", "node_modules"}
ANY_NAME = {"submission", "submissions", "src", "code", "work", "solution", "handin", "files"}
MOST_BYTES, MOST_FILES = 200_000_000, 10_000  # of one archive, unpacked


@dataclass(frozen=True)
class Submission:
    """One student's file. path: None if nothing was found. id: the platform's, if it gave one.

    notes: what the student and the instructor should know of how it was found.
    """

    student: str
    path: Path | None
    id: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Found:
    student: str
    id: str
    name: str  # of the file, without the platform's additions
    path: Path


def collect(paths: Sequence[Path], number: int, scratch: Path) -> list[Submission]:
    """One submission for each student, sorted; archives are unpacked into `scratch`.

    Raises ValueError for a path that does not exist, or where nobody's file is found.
    """
    groups: dict[tuple[str, str], list[Found]] = defaultdict(list)
    empty: list[Submission] = []
    for i, path in enumerate(paths):
        if not path.exists():
            raise ValueError(f"{path}: no such file or folder")
        batch = files_of(path, scratch / str(i))
        for found in batch:
            groups[found.student, found.id].append(found)
        if not batch and path.is_dir():
            empty.append(Submission(path.resolve().name, None, notes=("an empty folder",)))
    if not groups and not empty:
        raise ValueError(f"no submission in {', '.join(map(str, paths))}")
    return [*(chosen(found, number) for _, found in sorted(groups.items())), *empty]


def files_of(path: Path, scratch: Path) -> list[Found]:
    if path.is_file() and path.suffix != ".zip":
        ours = re.match(r"assignment[-_ ]?\d", path.stem, re.IGNORECASE)
        whose = path.resolve().parent.name if ours else path.stem
        return [found_at(path, PurePosixPath(path.name), whose)]
    root = unpack(path, scratch / "outer") if path.is_file() else path
    files = list(walk(root, scratch / "inner"))
    owner = owner_of(path, [inner for _, inner in files])
    return [found_at(file, inner, owner or top_of(inner)) for file, inner in files]


def top_of(inner: PurePosixPath) -> str:
    return inner.parts[0].removesuffix(".zip") if len(inner.parts) > 1 else inner.stem


def owner_of(path: Path, inner: list[PurePosixPath]) -> str | None:
    """The one student whose whole batch it is; None if each folder in it is a student."""
    if path.is_file():
        return None
    tops = {file.parts[0] for file in inner if len(file.parts) > 1}
    platform = any(
        MOODLE.fullmatch(part) or CANVAS.fullmatch(part) for file in inner for part in file.parts
    )
    direct = any(len(file.parts) == 1 and is_code(file) for file in inner)
    one_folder = len(tops) == 1 and tops.pop().lower() in ANY_NAME
    return path.resolve().name if not platform and (direct or one_folder) else None


def found_at(file: Path, inner: PurePosixPath, owner: str) -> Found:
    """Whose file it is, and what it was called when it was handed in."""
    for part in inner.parts:
        if match := MOODLE.fullmatch(part):
            return Found(match["name"], match["id"], inner.name, file)
        if match := CANVAS.fullmatch(part):
            name = match["file"] if part == inner.name else inner.name
            return Found(match["name"], match["id"], name, file)
    return Found(owner, "", inner.name, file)


def chosen(found: list[Found], number: int) -> Submission:
    """The student's last version of `assignmentN.py`; failing that, their only program."""
    first = found[0]
    named = [f for f in found if version(f, number) is not None]
    programs = [f for f in found if is_code(f.path) and not f.name.startswith("test_")]
    if named:
        best = max(named, key=lambda f: rank(f, number))
        others = sorted({f.name for f in named if f is not best})
        notes = [f"of several versions {best.path.name} was taken"] if others else []
    elif len(programs) == 1:
        best = programs[0]
        notes = [f"expected assignment{number}.py; {best.name} was taken for it"]
    else:
        names = ", ".join(sorted(f.name for f in found)) or "nothing"
        return Submission(first.student, None, first.id, (f"no assignment{number}.py in {names}",))
    return Submission(first.student, best.path, first.id, tuple(notes))


def rank(found: Found, number: int) -> tuple[int, float, bool]:
    """Resubmission, then time, then a program before a notebook."""
    return version(found, number) or 0, found.path.stat().st_mtime, found.path.suffix == ".py"


def version(found: Found, number: int) -> int | None:
    """0, or the number of the copy; None if it is another file."""
    stem, suffix = found.name.rpartition(".")[::2]
    match = re.fullmatch(rf"assignment[-_ ]?0?{number}(?P<copy>.*)", stem, re.IGNORECASE)
    if suffix not in ("py", "ipynb") or not match:
        return None
    if not match["copy"]:
        return 0
    copy = COPY.fullmatch(match["copy"])
    return int(copy[1]) if copy else None


def is_code(path: Path | PurePosixPath) -> bool:
    return path.suffix in (".py", ".ipynb")


def walk(root: Path, scratch: Path) -> Iterator[tuple[Path, PurePosixPath]]:
    """Files under `root` and their names from there; an archive within counts as a folder."""
    for path in sorted(root.rglob("*")):
        inner = PurePosixPath(path.relative_to(root).as_posix())
        if is_litter(inner) or path.is_symlink() or not path.is_file():
            continue
        if path.suffix == ".zip" and (folder := unpacked(path, scratch / inner)):
            for file, name in walk(folder, scratch / inner / "within"):
                yield file, inner / name
        else:
            yield path, inner


def unpacked(archive: Path, folder: Path) -> Path | None:
    """None: it cannot be read, and is a student's bad luck, not the batch's."""
    try:
        return unpack(archive, folder / "files")
    except ValueError:
        return None


def is_litter(inner: PurePosixPath) -> bool:
    return any(part in LITTER or part.startswith(".") for part in inner.parts)


def unpack(archive: Path, folder: Path) -> Path:
    """The archive's files below `folder`; ValueError if it is damaged, huge, or leads out of it."""
    try:
        with zipfile.ZipFile(archive) as opened:
            members = [m for m in opened.infolist() if not is_litter(PurePosixPath(m.filename))]
            size = sum(member.file_size for member in members)
            if size > MOST_BYTES or len(members) > MOST_FILES:
                raise ValueError(f"{archive}: {len(members)} files, {size} bytes; too large")
            for member in members:
                written = opened.extract(member, folder)
                stamp = time.mktime((*member.date_time, 0, 0, -1))
                os.utime(written, (stamp, stamp))
    except (zipfile.BadZipFile, RuntimeError, EOFError, OSError, OverflowError) as error:
        raise ValueError(f"{archive}: no zip archive that can be read ({error})") from None
    folder.mkdir(parents=True, exist_ok=True)
    return folder
