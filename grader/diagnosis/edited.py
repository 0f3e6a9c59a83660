"""The reference with some mistakes made in it.

A mistake is a text edit, and a search makes thousands of combinations of them, so the text is taken apart once: into
the functions and classes at a module's top level, and what stands between them, each compiled alone. Making mistakes
then compiles the few definitions they stand in, and runs all of them in fresh namespaces, which costs a fraction of a
millisecond.
"""

import ast
import linecache
from collections.abc import Callable, Iterable, Mapping
from types import CodeType, ModuleType

from grader.diagnosis.mistakes import MistakeError, Mistakes
from grader.diagnosis.taken_apart import Definition, Span, TakenApart, imports, imports_neighbours, is_of_package
from grader.oracle import PACKAGE


class Edited:
    """Makes edited references. Keeps what was compiled."""

    def __init__(self, mistakes: Mistakes) -> None:
        self._mistakes = mistakes
        self._texts = mistakes.texts
        if len(mistakes):
            _must_import_by_name(self._texts)
        self._taken = TakenApart(self._texts)
        self._spans = {
            one.id: tuple(self._taken.locate(edit) for edit in one.edits) for one in (*mistakes, *mistakes.variations)
        }
        self._code: dict[tuple[str, str, int, tuple[Span, ...]], CodeType] = {}
        for one in self._spans:  # that one is no Python is told before any student is graded
            try:
                self._compile_all(self._by_file([one]))
            except MistakeError as error:
                raise MistakeError(f"{one}: {error}") from None

    def modules(self, mistakes: Iterable[str] = (), *, is_readable: bool = False) -> Mapping[str, ModuleType]:
        """The reference's modules by name, with these mistakes made. They must be compatible.

        `is_readable`: tracebacks show their lines, which `linecache` then keeps.
        """
        edits = self._by_file(mistakes)
        made: dict[str, ModuleType] = {}
        for file in self._texts:
            self._make(file, edits, made, self._readable if is_readable else self._compiled)
        return {file.removesuffix(".py"): module for file, module in made.items()}

    def program(self, modules: Iterable[str], mistakes: Iterable[str] = ()) -> str:
        """One file that holds these modules, and those they import, with the mistakes made: what a student hands in."""
        edits = self._by_file(mistakes)
        files = dict.fromkeys(one for module in modules for one in self._taken.needed(f"{module}.py"))
        definitions = [(file, one) for file in files for one in self._taken.definitions[file]]
        homes: dict[str, str] = {}
        for file, one in definitions:
            if one.name and homes.setdefault(one.name, file) != file:
                raise MistakeError(f"one file cannot hold {homes[one.name]} and {file}: both define {one.name}")
        texts = [_edit(self._texts[file], one, _inside(one, edits.get(file, ()))) for file, one in definitions]
        return "\n\n".join(map(_without_neighbours, texts)).rstrip("\n") + "\n"

    def are_compatible(self, mistakes: Iterable[str]) -> bool:
        """Whether no two of them change the same place."""
        taken: dict[str, list[Span]] = {}
        for one in mistakes:
            for file, _, span in self._spans[one]:
                others = taken.setdefault(file, [])
                if any(span.start < other.end and other.start < span.end for other in others):
                    return False
                others.append(span)
        return True

    def mistakes_of(self, module: str, name: str) -> tuple[str, ...]:
        """Ids of the mistakes in what a callable of the reference uses, itself included; in the book's order."""
        return self._reaching(module, name, [one.id for one in self._mistakes if one.known_as is None])

    def variations_of(self, module: str, name: str) -> tuple[str, ...]:
        """Ids of the variations in what a callable of the reference uses."""
        return self._reaching(module, name, [one.id for one in self._mistakes.variations])

    # --- how ------------------------------------------------------------------------------------------------------

    def _by_file(self, mistakes: Iterable[str]) -> dict[str, list[Span]]:
        edits: dict[str, list[Span]] = {}
        for one in mistakes:
            for file, _, span in self._spans[one]:
                edits.setdefault(file, []).append(span)
        return edits

    def _compile_all(self, edits: Mapping[str, list[Span]]) -> None:
        for file, spans in edits.items():
            for definition in self._taken.definitions[file]:
                self._compiled(file, definition, _inside(definition, spans))

    def _make(
        self, file: str, edits: Mapping[str, list[Span]], made: dict[str, ModuleType], compiled: "_Compile"
    ) -> ModuleType:
        if file in made:
            return made[file]
        module = made[file] = ModuleType(f"{PACKAGE}.{file.removesuffix('.py')}")
        spans = edits.get(file, [])
        for definition in self._taken.definitions[file]:
            exec(compiled(file, definition, _inside(definition, spans)), module.__dict__)
            is_head = not definition.name and not definition.start
            if is_head:  # it has imported the unedited modules
                for other, name, alias in imports(self._texts[file]):
                    if f"{other}.py" in self._texts:
                        module.__dict__[alias] = getattr(self._make(f"{other}.py", edits, made, compiled), name)
        return module

    def _compiled(self, file: str, definition: Definition, spans: tuple[Span, ...]) -> CodeType:
        key = (file, definition.name, definition.start, spans)
        if key not in self._code:
            text = _edit(self._texts[file], definition, spans)
            self._code[key] = _compile(text, f"{PACKAGE}/{file}", definition.name)
        return self._code[key]

    def _readable(self, file: str, definition: Definition, spans: tuple[Span, ...]) -> CodeType:
        text = _edit(self._texts[file], definition, spans)
        name = f"{PACKAGE}/{file}#{definition.name}"
        linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
        return _compile(text, name, definition.name)

    def _reaching(self, module: str, name: str, ids: Iterable[str]) -> tuple[str, ...]:
        reached = set(self._taken.reached(f"{module}.py", name))
        return tuple(one for one in ids if any((file, where) in reached for file, where, _ in self._spans[one]))


_Compile = Callable[[str, Definition, tuple[Span, ...]], CodeType]


def _compile(text: str, file: str, name: str) -> CodeType:
    try:
        return compile(text, file, "exec", dont_inherit=True)
    except SyntaxError as error:
        raise MistakeError(f"an edit of {name} in {file} is no Python: {error}\n{text}") from None


def _edit(text: str, definition: Definition, spans: tuple[Span, ...]) -> str:
    pieces, at = [], definition.start
    for span in spans:
        pieces += [text[at : span.start], span.new]
        at = span.end
    return "".join([*pieces, text[at : definition.end]])


def _inside(definition: Definition, spans: Iterable[Span]) -> tuple[Span, ...]:
    """The edits of a definition, in their order."""
    inside = (span for span in spans if definition.start <= span.start and span.end <= definition.end)
    return tuple(sorted(inside, key=lambda span: span.start))


def _without_neighbours(text: str) -> str:
    """Some statements without their imports from the reference, whose names the same file holds."""
    lines = text.split("\n")
    for node in reversed(ast.parse(text).body):
        if isinstance(node, ast.ImportFrom) and is_of_package(node.module):
            renamed = [f"{name.asname} = {name.name}" for name in node.names if name.asname not in (None, name.name)]
            lines[node.lineno - 1 : node.end_lineno] = renamed
    return "\n".join(lines)


def _must_import_by_name(texts: Mapping[str, str]) -> None:
    """Refuse imports through which edits would not be seen.

    Raises:
        MistakeError: a module imports its neighbours in another way than by name, at its top level.
    """
    for file, text in texts.items():
        tree = ast.parse(text)
        by_name = [node for node in tree.body if isinstance(node, ast.ImportFrom) and is_of_package(node.module)]
        for node in ast.walk(tree):
            if file != "__init__.py" and imports_neighbours(node) and (node not in by_name or _has_star(node)):
                raise MistakeError(
                    f"{file}, line {node.lineno}: edits of a module reach only those that import from it by name, at "
                    f"their top; found {ast.unparse(node)!r}, wanted 'from {PACKAGE}.MODULE import NAME'"
                )


def _has_star(node: ast.Import | ast.ImportFrom) -> bool:
    return any(one.name == "*" for one in node.names)
