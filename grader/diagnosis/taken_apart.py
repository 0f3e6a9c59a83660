"""A reference taken apart: the functions and classes at its modules' top level, and what uses what.

taken = TakenApart(texts)
taken.reached("multi_head.py", "MultiHeadAttention")  # that class itself, ("masks.py", "attend"), ...
"""

import ast
import functools
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeGuard

from grader.diagnosis.mistakes import Edit, MistakeError, Mistakes
from grader.oracle import PACKAGE


@dataclass(frozen=True, slots=True)
class Span:
    """An edit, as a place in a file."""

    start: int
    end: int
    new: str


@dataclass(frozen=True, slots=True)
class Definition:
    """A function or class at the top level of a module, or what stands before, between and after these."""

    file: str
    #: Empty for what is neither function nor class: imports, constants. Everything in the module may use it.
    name: str
    start: int
    end: int
    #: Names it uses that other definitions may have.
    uses: frozenset[str]


class TakenApart:
    """The modules of a reference, by file name."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        self.definitions = {file: _take_apart(file, text) for file, text in texts.items()}

    def locate(self, edit: Edit) -> tuple[str, str, Span]:
        """File and definition an edit stands in, and its place.

        Raises:
            MistakeError: it goes over the end of a definition.
        """
        start = self._texts[edit.file].index(edit.old)
        end = start + len(edit.old)
        for definition in self.definitions[edit.file]:
            if definition.start <= start and end <= definition.end:
                return edit.file, definition.name, Span(start, end, edit.new)
        raise MistakeError(f"{edit.old!r} in {edit.file} is not inside of one function, class or head of the file")

    def needed(self, file: str) -> Iterator[str]:
        """A module's file, after those of the neighbours it imports."""
        for other, _, _ in imports(self._texts[file]):
            if f"{other}.py" in self._texts:
                yield from self.needed(f"{other}.py")
        yield file

    def reached(self, file: str, name: str) -> Iterator[tuple[str, str]]:
        """Files and definitions that one uses, itself included, and the heads of their files."""
        waiting, seen = [(file, name), (file, "")], set()
        while waiting:
            place = waiting.pop()
            if place in seen:
                continue
            seen.add(place)
            yield place
            waiting += self._used_by(*place)

    def _used_by(self, file: str, name: str) -> Iterator[tuple[str, str]]:
        uses = next((one.uses for one in self.definitions[file] if one.name == name), frozenset())
        for definition in self.definitions[file]:
            if name and definition.name in uses:
                yield file, definition.name
        for other, original, alias in imports(self._texts[file]):
            if name and alias in uses and f"{other}.py" in self._texts:
                yield f"{other}.py", original
                yield f"{other}.py", ""


def reaching(mistakes: Mistakes, targets: Iterable[tuple[str, str]]) -> Mistakes:
    """Of a course's mistakes, those that one of these callables can show; and the modules they need.

    Args:
        targets: modules of the reference, and names in them; one that is not there is left out.
    """
    taken = TakenApart(mistakes.texts)
    there = [(f"{module}.py", name) for module, name in targets if f"{module}.py" in mistakes.texts]
    files = {one for file, _ in there for one in taken.needed(file)}
    reached = {place for target in there for place in taken.reached(*target)}

    def is_reached(edit: Edit) -> bool:
        return taken.locate(edit)[:2] in reached

    return mistakes.within(files, is_reached)


def without_harmless(mistakes: Mistakes, targets: Mapping[str, Collection[tuple[str, str]]]) -> Mistakes:
    """The mistakes but those that are declared harmless in every callable that they reach.

    Args:
        targets: modules of the reference, and names in them, by the callables that assignments call so.
    """
    declared = {one for group in mistakes.harmless for one in group.mistakes if set(group.callables) & targets.keys()}
    if not declared:
        return mistakes
    shown = {
        one.id
        for name, places in targets.items()
        for one in reaching(mistakes, places)
        if not mistakes.is_harmless(one.id, name)
    }
    return mistakes.without(declared - shown)


def imports_neighbours(node: ast.AST) -> TypeGuard[ast.Import | ast.ImportFrom]:
    """Whether a statement imports from the reference, in whatever way."""
    if isinstance(node, ast.ImportFrom):
        return bool(node.level) or node.module == PACKAGE or is_of_package(node.module)
    return isinstance(node, ast.Import) and any(one.name == PACKAGE or is_of_package(one.name) for one in node.names)


def is_of_package(module: str | None) -> bool:
    """Whether it is the dotted name of a module of the reference."""
    return module is not None and module.startswith(f"{PACKAGE}.")


@functools.cache
def imports(text: str) -> tuple[tuple[str, str, str], ...]:
    """Module, name and alias of what a module of the reference imports from its neighbours."""
    return tuple(
        (node.module.removeprefix(f"{PACKAGE}."), name.name, name.asname or name.name)
        for node in ast.parse(text).body
        if isinstance(node, ast.ImportFrom) and node.module and is_of_package(node.module)
        for name in node.names
    )


def _take_apart(file: str, text: str) -> tuple[Definition, ...]:
    """The head of a module, then each function and class of its top level, and what stands between, in order."""
    starts = [0]
    for line in text.split("\n"):  # Python's lines; `splitlines` ends some that Python does not
        starts.append(starts[-1] + len(line) + 1)
    parts: list[Definition] = []
    end, is_between = 0, True  # a head there always is
    for node in ast.parse(text).body:
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            is_between = True
            continue
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        if is_between:
            parts.append(Definition(file, "", end, starts[first - 1], frozenset()))
        assert node.end_lineno is not None
        start, end, is_between = starts[first - 1], starts[node.end_lineno], False
        names = frozenset(inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name))
        parts.append(Definition(file, node.name, start, end, names))
    if is_between:
        parts.append(Definition(file, "", end, len(text), frozenset()))
    return tuple(parts)
