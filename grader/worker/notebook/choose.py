"""Which statements of a notebook a stub file needs: those that define its names, and all that these use in turn.

Taken in the notebook's order. Of several definitions of a name that is asked for, the last one counts, as after running
all cells. What such a definition uses may have several meanings, too, since sections of a notebook use names anew: then
a value is the one that was set before the definition, and a function the last that can be called in the same way.
"""

import ast
import builtins
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import NamedTuple

from .statements import DEFINITION, IMPORT, VALUE, Statement, uses


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
    #: Names with several definitions: which statement was taken.
    picked: dict[str, int] = field(default_factory=dict)
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
        """Statements that define a name, in order."""
        return [binding.at for binding in self._bindings.get(name, ()) if binding.rank == DEFINITION]

    def choose(self, asked: Iterable[str]) -> Choice:
        """What these names need."""
        choice = Choice()
        waiting: list[int] = []
        for name in asked:
            if found := self._bindings.get(name):
                choice.defined.add(name)
                waiting += self._with_changes(name, max(found).at, choice)
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
            if not (rank == IMPORT and self._is_same_import(name, node)):
                self._bindings[name].append(Binding(rank, at))
        for name in statement.changes:
            self._changes[name].append(at)
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            self._stars.append(at)

    def _is_same_import(self, name: str, node: ast.stmt) -> bool:
        """Whether the binding before it gave the name the same meaning: every other cell imports torch."""
        before = self._bindings.get(name)
        meaning = _imported(name, node)
        if not before:
            return False
        return meaning is not None and meaning == _imported(name, self.everything[before[-1].at].node)

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
                if isinstance(value, ast.Name) and value.id != name and self.definitions(value.id):
                    found[place] = Binding(DEFINITION, binding.at)

    # --- needing ----------------------------------------------------------------------------------------------

    def _needs(self, at: int, choice: Choice) -> list[int]:
        found = uses(self.everything[at].node)
        needed: list[int] = []
        for name in found.at_once:
            needed += self._needed(name, at, choice, is_at_once=True)
        for name in found.later - found.at_once:
            needed += self._needed(name, at, choice, is_at_once=False)
        for name in found.at_once | found.later:
            self._note_what_is_nowhere(name, choice, needed)
        return needed

    def _needed(self, name: str, user: int, choice: Choice, is_at_once: bool) -> list[int]:
        """The statement that binds a name for a statement that uses it, and those that change what it bound."""
        found = self._bindings.get(name)
        if not found:
            return []
        earlier = [binding for binding in found if binding.at < user]
        chosen = max(earlier or found)
        if not is_at_once:
            chosen = self._last_alike(chosen, found)
        elif not earlier and chosen.at != user:
            choice.too_late[name] = (self.everything[user].cell, self.everything[chosen.at].cell)
        return self._with_changes(name, chosen.at, choice)

    def _last_alike(self, chosen: Binding, found: list[Binding]) -> Binding:
        """The last definition that can be called as the one that was there before can be."""
        if chosen.rank == VALUE and any(binding.rank > VALUE for binding in found):
            return max(found)
        alike = [
            binding
            for binding in found
            if binding.rank == chosen.rank == DEFINITION
            and binding.at > chosen.at
            and _can_replace(self.everything[binding.at].node, self.everything[chosen.at].node)
        ]
        return max([chosen, *alike])

    def _with_changes(self, name: str, at: int, choice: Choice) -> list[int]:
        if len(self.definitions(name)) > 1:
            choice.picked[name] = max(at, choice.picked.get(name, 0))
        if isinstance(self.everything[at].node, ast.ImportFrom):
            return [at]
        if isinstance(self.everything[at].node, ast.Import):
            # `import torch` and `import torch.utils.data` make one module; `plt.rcParams["figure.figsize"] = 8, 6` is
            # nobody's definition.
            others = [binding.at for binding in self._bindings[name]]
            return [other for other in others if isinstance(self.everything[other].node, ast.Import)]
        return [at, *(other for other in self._changes.get(name, ()) if other > at)]

    def _note_what_is_nowhere(self, name: str, choice: Choice, needed: list[int]) -> None:
        if name in self._bindings or hasattr(builtins, name):
            return
        if name in self._left:
            choice.left[name] = self._left[name]
        needed += [at for at in self._stars if not self._is_own_import(at)]


def _imported(name: str, node: ast.stmt) -> tuple[str, str] | None:
    """What an import at the top of a cell means by a name; None for what is none."""
    if isinstance(node, ast.ImportFrom):
        origin = f"{'.' * node.level}{node.module or ''}"
        return next(((origin, alias.name) for alias in node.names if (alias.asname or alias.name) == name), None)
    if isinstance(node, ast.Import):
        for alias in node.names:
            if (alias.asname or alias.name) == name:
                return alias.name, ""
    return None


def _can_replace(new: ast.stmt, old: ast.stmt) -> bool:
    """Whether whoever calls the old function can call the new one; of what is no function nothing is known."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    if not isinstance(new, functions) or not isinstance(old, functions):
        return True
    arguments = [*new.args.posonlyargs, *new.args.args]
    required = len(arguments) - len(new.args.defaults)
    pairs = zip_longest([*old.args.posonlyargs, *old.args.args], arguments)
    for place, (theirs, ours) in enumerate(pairs):
        if ours is None or (theirs is None and place < required) or (theirs is not None and theirs.arg != ours.arg):
            return False
    return {one.arg for one in old.args.kwonlyargs} <= {one.arg for one in (*arguments, *new.args.kwonlyargs)}
