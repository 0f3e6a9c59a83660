"""When the last commit of a clone was made. A clone is a student's: nothing that it says is done.

`git` is not run in the clone. Its configuration, hooks, attributes, filters and remotes are instructions to whoever
runs git there, so git gets a repository of our own, empty, and is only shown the clone's objects; the name of the
commit is read here, from the files of `.git`, without following a link. What git prints of that commit is read up to a
limit.
"""

import os
import re
import selectors
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

from grader.intake.regular import Unreadable, open_folder, read_regular

_SHA1 = re.compile(r"[0-9a-f]{40}")
#: A branch as git allows it, and nothing that leads elsewhere.
_BRANCH = re.compile(r"ref: (?P<ref>refs/heads/[^\x00-\x20\x7f~^:?*\[\\]+)")
_COMMITTER = re.compile(rb"^committer [^\n]*> (?P<seconds>\d{1,11}) (?P<zone>[+-]\d{4})$", re.MULTILINE)
#: Bytes of HEAD or a branch, of the packed branches, and of the beginning of a commit.
_MOST_REF, _MOST_PACKED, _MOST_COMMIT = 4096, 16 * 1024 * 1024, 256 * 1024
_TOO_LARGE = "it is larger than git writes it"
#: Seconds for one look-up, many times what it takes.
_DEADLINE_S = 10


class NoCommit(Exception):
    """Why the time is not known."""


def is_clone(folder: Path) -> bool:
    """Whether a folder has a `.git` that is a folder itself, not a link or a file that leads elsewhere."""
    git = folder / ".git"
    return git.is_dir() and not git.is_symlink()


@contextmanager
def commit_reader() -> Iterator["CommitReader | None"]:
    """What asks git, with a repository of its own for as long as it is used; None where git is not installed."""
    git = shutil.which("git")
    if git is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="grade-git-") as own:
        for name in ("objects", "refs"):
            os.mkdir(os.path.join(own, name))
        Path(own, "HEAD").write_text("ref: refs/heads/none\n", encoding="ascii")
        Path(own, "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = true\n", encoding="ascii")
        yield CommitReader(git, own)


class CommitReader:
    """Reads the last commits of clones."""

    def __init__(self, git: str, own: str) -> None:
        self._git, self._own = git, own

    def time_of(self, clone: Path) -> datetime:
        """The committer's date of HEAD, in the committer's zone.

        Raises:
            NoCommit: it has none, is damaged, or is written in a form that is not read.
        """
        commit = self._printed(clone / ".git" / "objects", _head(clone / ".git"))
        found = _COMMITTER.search(commit.partition(b"\n\n")[0])
        if found is None:
            raise NoCommit("its last commit is missing or damaged; clone it again")
        zone = found["zone"].decode()
        minutes = int(zone[0] + "1") * (int(zone[1:3]) * 60 + int(zone[3:5]))
        try:
            offset = timezone(timedelta(minutes=minutes)) if minutes else UTC
            return datetime.fromtimestamp(int(found["seconds"]), offset)
        except (ValueError, OverflowError, OSError):
            raise NoCommit("the date of its last commit is none") from None

    def _printed(self, objects: Path, sha: str) -> bytes:
        """The beginning of a commit."""
        environment = {
            "PATH": os.defpath,
            "LC_ALL": "C",
            "HOME": self._own,
            "GIT_DIR": self._own,
            "GIT_OBJECT_DIRECTORY": str(objects),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_ALLOW_PROTOCOL": "none",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ALLOC_LIMIT": "64m",  # for one piece of memory: a small pack can hold a commit of gigabytes
        }
        command = [self._git, "--no-pager", "cat-file", "commit", sha]
        with subprocess.Popen(
            command,
            env=environment,
            cwd=self._own,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:
            assert process.stdout is not None
            try:
                return _beginning(process)
            finally:
                process.kill()


def _beginning(process: "subprocess.Popen[bytes]") -> bytes:
    """What it prints until it ends, up to a limit and a deadline."""
    assert process.stdout is not None
    received = bytearray()
    deadline = time.monotonic() + _DEADLINE_S
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while len(received) < _MOST_COMMIT:
            if not selector.select(max(deadline - time.monotonic(), 0)):
                raise NoCommit("git does not come to an end with its last commit")
            some = os.read(process.stdout.fileno(), _MOST_COMMIT)
            if not some:
                break
            received += some
    return bytes(received)


def _head(git: Path) -> str:
    """The name of the commit that HEAD leads to.

    Raises:
        NoCommit: it leads nowhere that is understood here.
    """
    try:
        with ExitStack() as stack:
            top = open_folder(str(git))
            stack.callback(os.close, top)
            head = _line(read_regular("HEAD", _MOST_REF, _TOO_LARGE, within=top))
            if _SHA1.fullmatch(head):
                return head
            branch = _BRANCH.fullmatch(head)
            parts = branch["ref"].split("/") if branch else []
            if not parts or any(part in ("", ".", "..") for part in parts):
                raise NoCommit("its HEAD is damaged, or of another form of git")
            return _loose(top, parts, stack) or _packed(top, "/".join(parts))
    except Unreadable as problem:
        raise NoCommit(f"its .git cannot be read: {problem}") from None


def _loose(top: int, parts: list[str], stack: ExitStack) -> str:
    """A branch in a file of its own; empty when there is none."""
    here = top
    try:
        for part in parts[:-1]:
            here = open_folder(part, within=here)
            stack.callback(os.close, here)
        line = _line(read_regular(parts[-1], _MOST_REF, _TOO_LARGE, within=here))
    except Unreadable:
        return ""
    return line if _SHA1.fullmatch(line) else ""


def _packed(top: int, ref: str) -> str:
    """A branch among the packed ones."""
    try:
        packed = read_regular("packed-refs", _MOST_PACKED, _TOO_LARGE, within=top)
    except Unreadable:
        packed = b""
    for line in packed.decode("utf-8", "surrogateescape").splitlines():
        sha, _, name = line.partition(" ")
        if name == ref and _SHA1.fullmatch(sha):
            return sha
    raise NoCommit("it has no commit yet, or is of another form of git")


def _line(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape").rstrip("\n")
