"""Classes to test with, as platforms hand them out: files by name, on the disk or in a zip."""

import io
import os
import subprocess
import zipfile
from collections.abc import Mapping
from pathlib import Path

from conftest import write_files

from grader.find import Found
from grader.intake import read_tree
from grader.layouts.recognise import read_class

#: Stub files of the assignment that the classes here answer.
STUBS = ("mix.py", "scale_up.py")
Files = Mapping[str, str | bytes]


def zipped(files: Files, **options: object) -> bytes:
    """A zip of files by name."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, **options) as archive:  # type: ignore[arg-type]
        for name, content in files.items():
            archive.writestr(name, content)
    return file.getvalue()


def as_zip(path: Path, files: Files) -> Path:
    """The same in a file."""
    path.write_bytes(zipped(files))
    return path


class Class:
    """What was read of a class, with the files of each submission."""

    def __init__(self, place: Path, stubs: tuple[str, ...] = STUBS) -> None:
        with read_class(place, stubs) as layout:
            self.summary = layout.summary
            self.remarks = list(layout.remarks)
            self.found: dict[str, Found] = {one.id: one for one in layout.submissions}
            assert len(self.found) == len(layout.submissions)
            trees = {one.id: read_tree(one) for one in layout.submissions}
        self.files = {id: {name: data.decode() for name, data in tree.files.items()} for id, tree in trees.items()}
        self.notes = {id: [*self.found[id].notes, *tree.notes] for id, tree in trees.items()}
        self.problems = {id: tree.problem for id, tree in trees.items() if tree.problem}


def read_folder(folder: Path, files: Files) -> Class:
    """A class read as a folder."""
    return Class(write_files(folder / "unpacked", files))


def read_both(folder: Path, files: Files) -> Class:
    """A class read as a folder and as a zip; both must be the same in every respect."""
    unpacked = read_folder(folder, files)
    packed = Class(as_zip(folder / "class.zip", files))
    for aspect in ("summary", "remarks", "files", "notes", "problems"):
        assert getattr(unpacked, aspect) == getattr(packed, aspect)
    return packed


def git(repository: Path, *arguments: str, date: str = "2026-03-01T10:00:00 +0530") -> str:
    """Run git in a repository of a test's own, as somebody invented."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(repository),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_COMMITTER_DATE": date,
        "GIT_AUTHOR_DATE": date,
    }
    who = ["-c", "user.name=Zoë Ångström", "-c", "user.email=zoe@uni.example"]
    command = ["git", "-C", str(repository), *who, *arguments]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.strip()


def commit(repository: Path, files: Files, **options: str) -> Path:
    """A repository with one commit more."""
    write_files(repository, files)
    if not (repository / ".git").exists():
        git(repository, "init", "-q", "-b", "main")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "--allow-empty", "-m", "homework", **options)
    return repository
