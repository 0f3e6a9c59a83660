"""What intake brings home of one submission: bytes by name, and why the rest was left. Opens nothing.

`Gathering` is where folders and archives meet: what is too deep, too much, or no homework is decided here, for both.
"""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from grader.fault import Fault
from grader.names import TOOL_FILES, file_of, is_archive, is_notebook, is_python
from grader.record import clean_text

MIB = 1024 * 1024
#: Bytes of one source file; the largest homework seen has 60 KiB.
MOST_BYTES = MIB
#: Bytes of all source files of a submission; what is beyond is a library, and no homework.
MOST_TOTAL = 20 * MIB
#: Bytes of a notebook, and of all of them: pictures lie in it, while its code has the limit of a source file.
MOST_NOTEBOOK = 20 * MIB
#: Files and folders of a submission that are looked at, leftovers of tools aside.
MOST_ENTRIES = 2000
#: Those that are listed at all: a `.git` may lie in a folder that is homework, but listing must end.
MOST_LISTED = 10 * MOST_ENTRIES
#: Parts of a file's name, its folders and itself; archives of archives of attempts have five.
DEEPEST = 8

IS_LINK = "it is a symbolic link, which is not followed; hand in what it leads to"
IS_HARD_LINK = "it is a hard link, which may lead to a file of somebody else's; hand in a copy"
IS_SPECIAL = "it is no regular file, but a device, a pipe or a socket"
IS_REPLACED = "it was replaced while it was read; grade again once nobody changes it"
IS_TOO_LARGE = f"it is larger than {MOST_BYTES // 1024} KiB"
IS_TOO_LARGE_A_NOTEBOOK = f"it is larger than {MOST_NOTEBOOK // MIB} MiB; clear all outputs, and save it again"
TOO_MANY_NOTEBOOKS = f"all notebooks together are larger than {MOST_NOTEBOOK // MIB} MiB; hand in one, without outputs"
TOO_MUCH = f"its Python files hold more than {MOST_TOTAL // MIB} MiB together; hand in only those you wrote"
TOO_MANY = f"more than {MOST_ENTRIES} files and folders; hand in the Python files alone"
TOO_DEEP = f"it lies more than {DEEPEST - 1} folders deep"
_IS_FOR_TOOLS = "a file of this name gives instructions to tools, and is never run here"
_IS_NESTED = "an archive inside a submission is not unpacked"


class IntakeError(Fault):
    """This machine could not read a submission, whatever is in it: never the student's fault."""


class Refusal(Exception):
    """Why nothing of a submission is taken, for its student.

    Attributes:
        sha256: digest of what was refused, where it is known.
    """

    def __init__(self, reason: str, sha256: str = "") -> None:
        super().__init__(reason)
        self.sha256 = sha256


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """What was taken of one submission. Names are relative, with `/` between folders, in normal form NFC."""

    #: Python files by name: their bytes as they were handed in.
    files: Mapping[str, bytes] = field(default_factory=lambda: MappingProxyType({}))
    #: Notebooks by name: their bytes.
    notebooks: Mapping[str, bytes] = field(default_factory=lambda: MappingProxyType({}))
    #: Python files and notebooks that are there and cannot be taken, by name: why.
    refused: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    #: What else was left, and why.
    notes: tuple[str, ...] = ()
    #: Why not all of it was looked through; empty when it was.
    cut: str = ""
    #: Why nothing was taken at all; empty when something could be.
    problem: str = ""
    #: Digest of an archive nothing was taken of, so that another one in its place is noticed.
    sha256: str = ""

    @classmethod
    def of_refusal(cls, refusal: Refusal) -> "Tree":
        """Nothing, and why."""
        return cls(problem=str(refusal), sha256=refusal.sha256)


class Gathering:
    """A tree in the making."""

    def __init__(self) -> None:
        self._files: dict[str, bytes] = {}
        self._notebooks: dict[str, bytes] = {}
        self._refused: dict[str, str] = {}
        self._notes: list[str] = []
        self._cut = ""
        self._total = 0
        self._total_of_notebooks = 0

    def take(self, name: str, content: bytes | str) -> None:
        """A Python file or a notebook: its bytes, or the reason why it has none.

        Raises:
            Refusal: all Python files together are too much.
        """
        name = normal(name)
        if any(name in there for there in (self._files, self._notebooks, self._refused)):
            # On the disk the two differ in how accents are written.
            self._notes.append(f"a second file that is also called {clean_text(name)} was not read")
            return
        if file_of(name).lower() in TOOL_FILES:
            content = _IS_FOR_TOOLS
        if isinstance(content, str):
            self._refused[name] = content
            return
        if is_notebook(name):
            self._take_notebook(name, content)
            return
        self._total += len(content)
        if self._total > MOST_TOTAL:
            raise Refusal(TOO_MUCH)
        self._files[name] = content

    def _take_notebook(self, name: str, content: bytes) -> None:
        if self._total_of_notebooks + len(content) > MOST_NOTEBOOK:
            self._refused[name] = TOO_MANY_NOTEBOOKS
            return
        self._total_of_notebooks += len(content)
        self._notebooks[name] = content

    def pass_by(self, name: str) -> None:
        """What is no homework by its name: something packed in it would be missed, anything else is not."""
        if is_archive(name):
            self.leave(name, _IS_NESTED)

    def leave(self, name: str, reason: str) -> None:
        """Something is left where it is, and whoever misses it shall know."""
        self.remark(f"{clean_text(normal(name))} was not read: {reason}")

    def remark(self, note: str) -> None:
        """Something that whoever misses a file shall know."""
        self._notes.append(note)

    def cut_short(self, reason: str) -> None:
        """What may hold a stub was not looked through."""
        self._cut = self._cut or reason

    def tree(self) -> Tree:
        """What was gathered."""
        return Tree(
            files=MappingProxyType(self._files),
            notebooks=MappingProxyType(self._notebooks),
            refused=MappingProxyType(self._refused),
            notes=tuple(self._notes),
            cut=self._cut,
        )


def most_bytes(name: str) -> tuple[int, str] | None:
    """How large a file of this name may be, and why a larger one is left; None when it is not taken at all."""
    if is_python(name):
        return MOST_BYTES, IS_TOO_LARGE
    return (MOST_NOTEBOOK, IS_TOO_LARGE_A_NOTEBOOK) if is_notebook(name) else None


def said_of(subject: str, reason: str) -> str:
    """A reason that begins with "it", with its subject named."""
    return subject + reason.removeprefix("it")


def normal(name: str) -> str:
    """One way of writing accents, so that names can be compared."""
    return unicodedata.normalize("NFC", name)
