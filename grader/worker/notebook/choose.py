"""Which statements of a notebook a stub file needs: those that define its names, and all that these use in turn.

Taken in the notebook's order. Of several definitions of a name the last one counts, as after running all cells.
"""

import ast
import builtins
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from .statements import DEFINITION, Statement, uses


class Binding(NamedTuple):
    """A statement that binds a name."""

    rank: int
    at: int


@dataclass(slots=True)
class Choice:
    """What one stub file is made of."""

    #: Statements, by their places among all.
    taken: set[int] = field(default_factory=set)
    #: Asked names that are defined.
    defined: set[str] = field(default_factory=set)
    #: Names that are used, and that only statements which are left bind; with the cell.
    left: dict[str, int] = field(default_factory=dict)
    #: Names that a statement needs at once, and a later cell binds: the cell that uses it, and the one that binds it.
    too_late: dict[str, tuple[int, int]] = field(default_factory=dict)


class Statements:
    """All statements of a notebook, and who binds what."""

    def __init__(self, everything: list[Statement], modules: Collection[str]) -> None:
        """`modules`: files that the notebook itself takes the place of; what is imported from them is defined here."""
        self.everything = everything
        self._modules = frozenset(modules)
        self._bindings: dict[str, list[Binding]] = defaultdict(list)
        self._changes: dict[str, list[int]] = defaultdict(list)
        self._stars: list[int] = []
        #: Names bound by what is left, and in which cell.
        self._left: dict[str, int] = {}
        for at, statement in enumerate(everything):
            self._enter(at, statement)
        self._let_notebook_answer_for_its_files()
        self._raise_aliases()

    def lose(self, names: Iterable[str], cell: int) -> None:
        """Names that something in a cell binds which is no Python."""
        self._left.update(dict.fromkeys(names, cell))

    def definitions(self, name: str) -> list[int]:
        """Statements that define a name, in order; when none does, those that bind it."""
        found = self._bindings.get(name, [])
        most = max((binding.rank for binding in found), default=0)
        return [binding.at for binding in found if binding.rank == most]

    def choose(self, asked: Iterable[str]) -> Choice:
        """What these names need."""
        choice = Choice()
        waiting: list[int] = []
        for name in asked:
            if self._bindings.get(name):
                choice.defined.add(name)
                waiting += self._needed(name)
        while waiting:
            at = waiting.pop()
            if at not in choice.taken:
                choice.taken.add(at)
                waiting += self._needs(at, choice)
        return choice

    # --- entering ---------------------------------------------------------------------------------------------

    def _enter(self, at: int, statement: Statement) -> None:
        node = statement.node
        if statement.is_experiment:
            self.lose(statement.binds, statement.cell)
            return
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            return
        for name, rank in statement.binds.items():
            self._bindings[name].append(Binding(rank, at))
        for name in statement.changes:
            self._changes[name].append(at)
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            self._stars.append(at)

    def _let_notebook_answer_for_its_files(self) -> None:
        """`from single_head import attention`, where `attention` is defined here and there is no such file."""
        for name, found in self._bindings.items():
            own = [binding for binding in found if self._is_own_import(binding.at)]
            others = [binding for binding in found if binding not in own]
            if own and others:
                self._bindings[name] = others

    def _is_own_import(self, at: int) -> bool:
        node = self.everything[at].node
        return isinstance(node, ast.ImportFrom) and node.module in self._modules

    def _raise_aliases(self) -> None:
        """`Attention = FastAttention` is a definition when the right one is."""
        for name, found in self._bindings.items():
            for place, binding in enumerate(found):
                value = getattr(self.everything[binding.at].node, "value", None)
                if isinstance(value, ast.Name) and value.id != name and self._is_definition(value.id):
                    found[place] = Binding(DEFINITION, binding.at)

    def _is_definition(self, name: str) -> bool:
        return any(binding.rank == DEFINITION for binding in self._bindings.get(name, ()))

    # --- needing ----------------------------------------------------------------------------------------------

    def _needs(self, at: int, choice: Choice) -> list[int]:
        found = uses(self.everything[at].node)
        needed: list[int] = []
        for name in found.at_once:
            needed += self._needed(name, at, choice)
        for name in found.later:
            needed += self._needed(name)
        for name in found.at_once | found.later:
            self._note_what_is_nowhere(name, choice, needed)
        return needed

    def _needed(self, name: str, before: int | None = None, choice: Choice | None = None) -> list[int]:
        """The statement that binds a name, and those that change what it bound."""
        found = self._bindings.get(name)
        if not found:
            return []
        earlier = found if before is None else [binding for binding in found if binding.at < before]
        chosen = max(earlier or found).at
        if not earlier and before is not None and choice is not None and chosen != before:
            choice.too_late[name] = (self.everything[before].cell, self.everything[chosen].cell)
        if isinstance(self.everything[chosen].node, (ast.Import, ast.ImportFrom)):
            return [chosen]  # `plt.rcParams["figure.figsize"] = 8, 6` is nobody's definition
        return [chosen, *(at for at in self._changes.get(name, ()) if at > chosen)]

    def _note_what_is_nowhere(self, name: str, choice: Choice, needed: list[int]) -> None:
        if name in self._bindings or hasattr(builtins, name):
            return
        if name in self._left:
            choice.left[name] = self._left[name]
        needed += [at for at in self._stars if not self._is_own_import(at)]
