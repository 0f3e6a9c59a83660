"""Which notebook of a submission stands for which stub, and what it gives of it. By names, as with Python files.

A Python file comes first: only stubs that are not there as one are looked for in notebooks. A notebook called like a
stub stands for it; any other one stands for all stubs that are left.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from grader.assignment import Assignment
from grader.intake import Notebook, Tree, read_notebook
from grader.intake.tree import said_of
from grader.names import (
    Match,
    are_copies,
    best_of,
    file_of,
    folder_of,
    is_notebook,
    match_stub,
    notebook_of,
    stands_for,
)
from grader.record import clean_text

#: Notebooks named in a reason.
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What notebooks give of a submission's stubs."""

    #: Stub files by name: their text.
    texts: Mapping[str, str] = field(default_factory=dict)
    #: Those that they should have given: why not.
    unreadable: Mapping[str, str] = field(default_factory=dict)
    #: Notebooks that were looked into, as they were handed in.
    files: Mapping[str, bytes] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    #: Where they lie; their cells may import Python files beside them.
    folders: frozenset[str] = frozenset()


def notebook_homes(tree: Tree) -> list[str]:
    """The folders in which notebooks lie: the top (empty) alone when one lies there, else all nested ones."""
    found = {folder_of(name) for name in _names(tree)}
    return [""] if "" in found else sorted(found)


def read_notebooks(tree: Tree, home: str, assignment: Assignment, there: Sequence[str]) -> Made:
    """What the notebooks of a submission give.

    Args:
        tree: the submission.
        home: the folder in which it lies.
        assignment: what is asked.
        there: stubs that are there as Python files.

    Raises:
        IntakeError: this machine has no process left to take a notebook apart.
    """
    everything = _names(tree)
    missing = [stub for stub in assignment.files if stub not in there]
    near = [name for name in everything if folder_of(name) == home] or everything
    chosen, unclear = _chosen(near, assignment.files, missing)
    by_notebook: dict[str, list[str]] = {}
    for stub, name in chosen.items():
        by_notebook.setdefault(name, []).append(stub)
    made = [_read(tree, name, stubs, assignment) for name, stubs in by_notebook.items()]
    looked_into = [*by_notebook, *unclear]
    reason = "" if missing else f": {', '.join(there)} are Python files, which come first"
    unread = [f"{clean_text(name)} was not read{reason}" for name in everything if name not in looked_into]
    return Made(
        texts={stub: text for one in made for stub, text in one.texts.items()},
        unreadable={stub: why for one in made for stub, why in one.unreadable.items()}
        | dict.fromkeys([stub for stub in missing if unclear and stub not in chosen], _unclear(unclear, missing)),
        files={name: tree.notebooks[name] for name in looked_into if name in tree.notebooks},
        notes=(*(note for one in made for note in one.notes), *unread),
        folders=frozenset(map(folder_of, by_notebook)),
    )


def _names(tree: Tree) -> list[str]:
    """Notebooks that are there, whether they can be taken or not."""
    return [*tree.notebooks, *filter(is_notebook, tree.refused)]


def _chosen(names: Sequence[str], stubs: Sequence[str], missing: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Stub to the notebook that stands for it; and notebooks of which it is not clear which one does."""
    chosen = {stub: match.name for stub in missing if (match := match_stub(names, notebook_of(stub)))}
    if len(chosen) == len(missing):
        return chosen, []
    others = [name for name in names if not any(stands_for(file_of(name), notebook_of(stub)) for stub in stubs)]
    rest = others or (list(names) if are_copies(names) else [])
    if not are_copies(rest):
        return chosen, sorted(rest)
    best: Match | None = best_of(rest, min(map(file_of, rest), key=len, default=""))
    return ({stub: chosen.get(stub, best.name) for stub in missing} if best else chosen), []


def _read(tree: Tree, name: str, stubs: Sequence[str], assignment: Assignment) -> Notebook:
    if name in tree.refused:
        return Notebook(unreadable=dict.fromkeys(stubs, said_of(clean_text(name), tree.refused[name])))
    asked = {part.file: tuple(part.callables) for part in assignment.parts if part.file in stubs}
    others = [file for file in assignment.files if file not in asked]
    return read_notebook(tree.notebooks[name], name, asked, others)


def _unclear(notebooks: Sequence[str], missing: Sequence[str]) -> str:
    shown = ", ".join(map(clean_text, notebooks[:_MOST_NAMED])) + (", ..." if len(notebooks) > _MOST_NAMED else "")
    names = ", ".join(map(notebook_of, missing))
    return f"there are several notebooks ({shown}); hand in a single one, or call them {names}"
