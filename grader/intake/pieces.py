"""Files, folders and archives that lie apart become one tree: a flat download, or a folder with the student's own zip.

An archive's one folder around everything is left out, so that what was packed lies beside what was not, and of two
archives the newer completes the older.
"""

import hashlib
from collections.abc import Iterable, Sequence
from functools import partial

from grader.find import Piece
from grader.intake.archive import read_archive
from grader.intake.folder import content_of, gather, read_folder
from grader.intake.tree import Gathering, Refusal, Tree, normal
from grader.names import archive_id, is_archive
from grader.record import clean_text

#: Archives of one submission that are unpacked; each costs a process.
MOST_ARCHIVES = 10
_TOO_MANY = f"more than {MOST_ARCHIVES} archives were handed in; hand in one"
_IS_UNREADABLE = "only zip, tar and tar.gz archives are read; hand in one of those, or the files themselves"


def read_pieces(pieces: Sequence[Piece]) -> Tree:
    """What can be taken of all pieces; where two hold a file of one name, the first piece counts.

    Raises:
        IntakeError: this machine has no descriptor or process left for it.
    """
    merged = _Merged()
    try:
        for piece in pieces:
            merged.add(piece)
    except Refusal as refusal:
        return Tree.of_refusal(refusal)
    return merged.tree()


class _Merged:
    """Trees and files in the making of one tree."""

    def __init__(self) -> None:
        self._gathering = Gathering()
        #: Name of each file taken or refused, to the piece it came with.
        self._origin: dict[str, str] = {}
        self._archives = 0
        #: Why a piece gave nothing, and digests of what it was.
        self._problems: list[str] = []
        self._digests: list[str] = []

    def add(self, piece: Piece) -> None:
        """Raises Refusal when it is too much."""
        if piece.is_folder:
            self._merge(piece.name, f"{piece.name}/", read_folder(piece.path))
        elif archive_id(piece.name) is not None:
            self._unpack(piece)
        elif is_archive(piece.name):
            self._gathering.leave(piece.name, _IS_UNREADABLE)
        elif self._is_new(piece.name, piece.name):
            gather(self._gathering, piece.name, partial(content_of, piece.path))

    def tree(self) -> Tree:
        """What was gathered; the reason for nothing, when there was one."""
        tree = self._gathering.tree()
        if tree.files or tree.notebooks or tree.refused or not self._problems:
            return tree
        digest = hashlib.sha256("".join(self._digests).encode()).hexdigest() if self._digests else ""
        return Tree(problem=self._problems[0], sha256=digest, notes=tree.notes)

    def _unpack(self, piece: Piece) -> None:
        self._archives += 1
        if self._archives > MOST_ARCHIVES:
            self._gathering.leave(piece.name, _TOO_MANY)
            self._gathering.cut_short(_TOO_MANY)
            return
        tree = read_archive(piece.path)
        self._merge(piece.name, "", tree, without=_folder_around((*tree.files, *tree.notebooks, *tree.refused)))

    def _merge(self, origin: str, place: str, tree: Tree, without: str = "") -> None:
        if tree.problem:
            self._gathering.leave(origin, tree.problem)
            self._gathering.cut_short(tree.problem)
            self._problems.append(tree.problem)
            self._digests.append(tree.sha256)
        if tree.cut:
            self._gathering.cut_short(tree.cut)
        contents: dict[str, bytes | str] = {**tree.files, **tree.notebooks, **tree.refused}
        for name, content in contents.items():
            short = place + name.removeprefix(without)
            if self._is_new(short, origin, f"{origin}/{name}"):
                self._gathering.take(short, content)
        for note in tree.notes:
            self._gathering.remark(f"{origin}: {note}")

    def _is_new(self, name: str, origin: str, shown: str = "") -> bool:
        first = self._origin.setdefault(normal(name), origin)
        if first == origin:
            return True
        self._gathering.leave(shown or name, f"of two, the one handed in as {clean_text(first)} counts")
        return False


def _folder_around(everything: Iterable[str]) -> str:
    """The folders in which everything lies, with `/` at their end; empty when something lies at the top."""
    names = list(everything)
    around = ""
    while names and len({name.split("/", 1)[0] for name in names}) == 1 and all("/" in name for name in names):
        first, _ = names[0].split("/", 1)
        around += f"{first}/"
        names = [name.split("/", 1)[1] for name in names]
    return around
