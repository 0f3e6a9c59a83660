"""A submission's files, read once: the bytes that are hashed are the bytes that run. Runs and parses nothing.

`intake` says what is there; here is decided which of it stands for which stub, and what is read beside it. What is not
there as a Python file is looked for in `notebooks`.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from grader.assignment import Assignment
from grader.find import Found
from grader.intake import Tree, read_tree
from grader.names import file_of, folder_of, homes, match_stub, neighbours
from grader.notebooks import Made, notebook_homes, read_notebooks
from grader.record import clean_text
from grader.report import SourceFile
from grader.sources import Sources

#: Files of one submission that can be imported.
MOST_FILES = 200
#: Notes about one submission; whoever needs more looks into it.
_MOST_NOTES = 20
#: Folders named in a reason.
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged:
    """What was read of one submission."""

    id: str
    sources: Sources
    files: tuple[SourceFile, ...]
    #: What a TA and the student ought to know, such as a misspelt name that was accepted.
    notes: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        """Whether no file that the assignment asks for could be read."""
        return not self.sources.texts

    @property
    def digest(self) -> frozenset[tuple[str, str]]:
        """Identity of what was handed in."""
        return file_digest(self.files)


def file_digest(files: Iterable[SourceFile]) -> frozenset[tuple[str, str]]:
    """Identity of files: their names and contents."""
    return frozenset((file.name, file.sha256) for file in files)


class _NoText(Exception):
    """Why a file gives no text, for its student."""


def stage(found: Found, assignment: Assignment) -> Staged:
    """Read the files of a submission: those that stand for stubs, and the others that these may import.

    Raises:
        IntakeError: this machine could not read it, whatever is in it.
    """
    tree = read_tree(found)
    if tree.problem:
        name = found.pieces[0].name if found.pieces else found.path.name
        packed = (SourceFile(name=name, sha256=tree.sha256),) if tree.sha256 else ()
        return _nothing(found, assignment, tree, tree.problem, packed)
    places = homes(_names(tree), assignment.files) or notebook_homes(tree)
    if len(places) > 1:
        shown = ", ".join(clean_text(place) or "the top" for place in places[:_MOST_NAMED])
        more = ", ..." if len(places) > _MOST_NAMED else ""
        reason = f"several folders hold such a file ({shown}{more}); leave one"
        stubs = {name: data for name, data in tree.files.items() if homes([name], assignment.files)}
        attempts = stubs or tree.notebooks
        return _nothing(found, assignment, tree, reason, _hashed(attempts))
    if not places and tree.cut:
        return _nothing(found, assignment, tree, tree.cut, ())
    there = [stub for stub in assignment.files if match_stub(_names(tree), stub)]
    made = read_notebooks(tree, (places or [""])[0], assignment, there)
    return _staged(found, assignment, tree, made)


def _staged(found: Found, assignment: Assignment, tree: Tree, made: Made) -> Staged:
    notes: list[str] = list(made.notes)
    chosen = _chosen(assignment, tree, made, notes)
    texts: dict[str, str] = dict(made.texts)
    unreadable: dict[str, str] = dict(made.unreadable)
    for name, source in chosen.items():
        try:
            texts[name] = _text(tree, source)
        except _NoText as problem:
            unreadable[name] = str(problem)
            if name not in assignment.files:  # its absence is noticed as an import that fails, far from here
                notes.append(f"{clean_text(source)} was not read: {problem}")
    if not any(name in texts for name in assignment.files):
        texts = {}
    files = {name: tree.files[source] for name, source in chosen.items() if source in tree.files}
    return Staged(
        id=found.id,
        sources=Sources(texts=texts, unreadable=unreadable),
        files=_hashed({**files, **made.files}),
        notes=_few([*notes, *found.notes, *tree.notes]),
    )


def _chosen(assignment: Assignment, tree: Tree, made: Made, notes: list[str]) -> dict[str, str]:
    """Name under which a file is imported, to its name in the submission."""
    names = _names(tree)
    chosen: dict[str, str] = {}
    for stub in assignment.files:
        match = match_stub(names, stub)
        if match:
            chosen[stub] = match.name
            if not match.is_exact:
                verb = "was read as" if match.name in tree.files else "was taken for"
                notes.append(f"{clean_text(match.name)} {verb} {stub}")
            notes.extend(f"{clean_text(other)} was not read" for other in match.others)
    taken = set(chosen.values())
    folders = {"", *map(folder_of, taken), *made.folders}
    for name in sorted(name for folder in folders for name in neighbours(names, folder)):
        imported = file_of(name)
        if name not in taken and imported.removesuffix(".py").isidentifier() and len(chosen) < MOST_FILES:
            chosen.setdefault(imported, name)
    return chosen


def _nothing(found: Found, assignment: Assignment, tree: Tree, reason: str, files: tuple[SourceFile, ...]) -> Staged:
    """A submission of which no file is taken, for one reason."""
    sources = Sources(texts={}, unreadable=dict.fromkeys(assignment.files, reason))
    return Staged(id=found.id, sources=sources, files=files, notes=_few([*found.notes, *tree.notes]))


def _names(tree: Tree) -> list[str]:
    """What is there, whether it can be taken or not: a better name that cannot is a reason, and not passed over."""
    return [*tree.files, *tree.refused]


def _hashed(files: Mapping[str, bytes]) -> tuple[SourceFile, ...]:
    return tuple(SourceFile(name=name, sha256=hashlib.sha256(data).hexdigest()) for name, data in files.items())


def _few(notes: Iterable[str]) -> tuple[str, ...]:
    everything = tuple(notes)
    left = len(everything) - _MOST_NOTES
    return (*everything[:_MOST_NOTES], f"and {left} more of this kind") if left > 0 else everything


def _text(tree: Tree, name: str) -> str:
    if name in tree.refused:
        raise _NoText(tree.refused[name])
    data = tree.files[name]
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        column = len(before) - (before.rfind(b"\n") + 1) + 1
        raise _NoText(
            f"it is not UTF-8: byte 0x{data[error.start]:02x} at line {line}, column {column}; save the file as UTF-8"
        ) from None
