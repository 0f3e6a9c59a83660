"""Signs in the text of a submission that a person should look at: what the assignment forbids, and ways around it.

Read from the syntax tree, before any of the student's code has run. A sign is no proof and costs nothing; what is
forbidden and really called is caught where it is called (see `guards`). A forbidden name below `if __name__ ==
"__main__"`, or in a function that nothing graded reaches, is an honest comparison and no sign.
"""

import ast
import gc
import re
import unicodedata
import warnings
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from .folding import folded
from .imports import Imports
from .signs import (
    ATTRIBUTES,
    BLOB,
    BUILTINS,
    CHARACTERS,
    COMPUTED,
    FALLBACK,
    FORBIDDEN,
    HIDDEN,
    INTERNALS,
    MODULES,
    SIMILAR,
    ForbiddenNames,
)

#: Signs told of one submission.
MOST_FINDINGS = 100
#: Characters of a sign's text.
MOST_DETAIL = 200
#: Characters of a literal that is no docstring, and items of a table written out: weights, answers, or code.
LONG_TEXT, LONG_TABLE = 2000, 300

#: Marks that change the order in which text is shown, or take no room (PEP 672, CVE-2021-42574).
_UNSEEN = re.compile("[\u202a-\u202e\u2066-\u2069\u200b\u2060-\u2064\ufeff\u00ad]")
_WORD = re.compile(r"[^\W\d]\w*")
#: Fields of nodes that hold no code.
_EMPTY = {"ctx", "op", "ops", "type_comment", "type_ignores", "kind", "lineno", "conversion", "level"}


class Finding(NamedTuple):
    """A sign: its kind, where, and what was seen."""

    kind: str
    file: str
    line: int
    detail: str


class _Place(NamedTuple):
    """Where a node stands."""

    #: Name of the function or class at the top of the file that it belongs to; empty outside.
    owner: str = ""
    is_in_handler: bool = False
    #: Below `if __name__ == "__main__"`: not run while grading.
    is_main: bool = False


def scan(
    texts: Mapping[str, str],
    imports: Imports,
    forbidden: Iterable[str],
    flagged: Iterable[str],
    asked: Collection[str],
) -> dict[str, Any]:
    """The reply `scanned`: signs in these files, and the imports that placeholders will stand in for.

    A file that does not parse has neither: importing it will say why. `asked`: names that students are to write.
    """
    gc.disable()  # a tree is thousands of small objects, and no garbage
    try:
        trees = {file: tree for file, text in texts.items() if (tree := _parsed(text, file))}
        rules = ForbiddenNames(forbidden, flagged, asked)
        found = _findings([_File(file, tree, texts[file], rules) for file, tree in trees.items()], asked)
        absent = [
            {"file": file, "line": one.line, "package": one.package[:MOST_DETAIL], "reason": one.reason}
            for file, tree in trees.items()
            for one in imports.prepare(file, tree)
        ]
    finally:
        gc.enable()
    findings = [finding._asdict() for finding in found[:MOST_FINDINGS]]
    return {"status": "scanned", "findings": findings, "absent": absent[:MOST_FINDINGS]}


def _parsed(text: str, file: str) -> ast.Module | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they are the compiler's to tell, when the file is imported
        try:
            return ast.parse(text, file)
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            return None


def _findings(files: "list[_File]", asked: Collection[str]) -> list[Finding]:
    reached = _reached([file.names for file in files], asked)
    return [finding for file in files for finding in sorted(file.findings(reached), key=lambda one: one.line)]


def _reached(files: list[Mapping[str, set[str]]], asked: Collection[str]) -> set[str]:
    """Names that graded code may use: from what is asked for, and from what runs when a file is imported."""
    uses: dict[str, set[str]] = defaultdict(set)
    for names in files:
        for owner, used in names.items():
            uses[owner] |= used
    reached: set[str] = set()
    waiting = ["", *asked]
    while waiting:
        for name in uses.get(waiting.pop(), ()):
            if name not in reached:
                reached.add(name)
                waiting.append(name)
    return reached | {"", *asked}


class _File:
    """One file, walked once."""

    def __init__(self, file: str, tree: ast.Module, text: str, rules: ForbiddenNames) -> None:
        self._file = file
        self._rules = rules
        self._aliases: dict[str, str] = {}
        self._stars: list[str] = []
        self._own = {node.name for node in tree.body if isinstance(node, _DEFINITIONS)}
        #: The first line of each sign, by its kind and text, and by whose it is.
        self._signs: dict[tuple[str, str, str], int] = {}
        #: By owner: the names it uses.
        self.names: dict[str, set[str]] = defaultdict(set)
        self._docstrings: set[int] = set()
        for node in tree.body:
            self._bind(node)
        self._walk(tree)
        self._read_characters(text)

    def findings(self, reached: Collection[str]) -> Iterator[Finding]:
        """The signs, without forbidden names that nothing graded reaches."""
        first: dict[tuple[str, str], int] = {}
        for (kind, detail, owner), line in self._signs.items():
            if kind not in (FORBIDDEN, FALLBACK) or owner in reached:
                first[kind, detail] = min(line, first.get((kind, detail), line))
        for (kind, detail), line in first.items():
            yield Finding(kind, self._file, line, detail[:MOST_DETAIL])

    # --- walking ----------------------------------------------------------------------------------------------

    def _walk(self, tree: ast.Module) -> None:
        stack: list[tuple[ast.AST, _Place]] = [(tree, _Place())]
        while stack:
            node, place = stack.pop()
            kind = type(node)
            look = _LOOKS.get(kind)
            children = look(self, node, place) if look else None
            if children is not None:  # what to look at further, where it stands elsewhere or was seen in part
                stack.extend(reversed(children))
                continue
            for field in _FIELDS[kind] if kind in _FIELDS else _fields(kind):
                value = getattr(node, field, None)
                if type(value) is list:
                    stack.extend([(one, place) for one in reversed(value) if isinstance(one, ast.AST)])
                elif isinstance(value, ast.AST):
                    stack.append((value, place))

    def _sign(self, kind: str, node: Any, detail: str, place: _Place) -> None:
        if not place.is_main and len(self._signs) < 10 * MOST_FINDINGS:
            self._signs.setdefault((kind, detail, place.owner), node.lineno)

    def _body(self, body: list[ast.stmt], place: _Place) -> list[tuple[ast.AST, _Place]]:
        if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            self._docstrings.add(id(body[0].value))
        return [(statement, place) for statement in body]

    def _look_at_module(self, node: ast.Module, place: _Place) -> list[tuple[ast.AST, _Place]]:
        return self._body(node.body, place)

    def _look_at_definition(self, node: Any, place: _Place) -> list[tuple[ast.AST, _Place]]:
        inner = place if place.owner else place._replace(owner=node.name)
        if isinstance(node, ast.ClassDef):
            for base in node.bases:
                self._use(base, inner, f"class {node.name} inherits from")
            outer = [*node.decorator_list, *(keyword.value for keyword in node.keywords)]
        else:
            outer = [*node.decorator_list, *node.args.defaults, *(one for one in node.args.kw_defaults if one)]
        return [*((one, place) for one in outer), *self._body(node.body, inner)]

    def _look_at_if(self, node: ast.If, place: _Place) -> list[tuple[ast.AST, _Place]] | None:
        if not _is_main(node.test):
            return None
        main = place._replace(is_main=True)
        return [*((one, main) for one in node.body), *((one, place) for one in node.orelse)]

    def _look_at_handler(self, node: ast.ExceptHandler, place: _Place) -> list[tuple[ast.AST, _Place]]:
        inner = place._replace(is_in_handler=True)
        return [*([(node.type, place)] if node.type else []), *((one, inner) for one in node.body)]

    # --- names ------------------------------------------------------------------------------------------------

    def _bind(self, node: ast.AST) -> None:
        """Note what a statement calls by another name."""
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.name if alias.asname else alias.name.partition(".")[0]
                self._aliases[alias.asname or name] = name
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                if alias.name == "*":
                    self._stars.append(node.module)
                else:
                    self._aliases[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name, dotted = node.targets[0].id, self._dotted(node.value)
            if "." in dotted:
                self._aliases[name] = dotted
            elif not isinstance(node.value, ast.Constant):  # `F = None` stands in an `except ImportError`
                self._aliases.pop(name, None)

    def _look_at_import(self, node: Any, place: _Place) -> list[tuple[ast.AST, _Place]]:
        self._bind(node)
        module = getattr(node, "module", None)
        for alias in node.names:
            dotted = f"{module}.{alias.name}" if module else alias.name
            self.names[place.owner].add(alias.name)
            if not getattr(node, "level", 0) and not self._rules.match(dotted):
                self._look_at_dotted(node, dotted, place)
        return []

    def _look_at_assign(self, node: ast.Assign, place: _Place) -> None:
        self._bind(node)

    def _dotted(self, node: ast.AST) -> str:
        """`torch.nn.Linear`, as an expression would be written without aliases; empty when it is no such."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or (node.id in self._own and not parts):
            return ""
        root = self._aliases.get(node.id, node.id)
        if not parts and root == node.id and node.id in self._rules.words:
            found = [star for star in self._stars if self._rules.match(f"{star}.{root}")]
            root = f"{found[0]}.{root}" if found else root
        return ".".join([root, *reversed(parts)])

    def _look_at_name(self, node: Any, place: _Place) -> list[tuple[ast.AST, _Place]]:
        self._use(node, place, "uses")
        base = node
        while isinstance(base, ast.Attribute):
            base = base.value
        return [] if isinstance(base, ast.Name) else [(base, place)]

    def _use(self, node: ast.AST, place: _Place, how: str) -> None:
        """A name, or a chain of attributes."""
        base: ast.AST = node
        names = self.names[place.owner if not place.is_main else "\0main"]
        while isinstance(base, ast.Attribute):
            names.add(base.attr)
            is_of_self = isinstance(base.value, ast.Name) and base.value.id == "self"
            if base.attr in ATTRIBUTES and not is_of_self:
                self._sign(ATTRIBUTES[base.attr], node, base.attr, place)
            base = base.value
        if isinstance(base, ast.Name):
            names.add(base.id)
        dotted = self._dotted(node)
        match = self._rules.match(dotted) if "." in dotted else ""
        if match:
            self._sign(FALLBACK if place.is_in_handler else FORBIDDEN, node, f"{how} {match}", place)
        elif dotted:
            self._look_at_dotted(node, dotted, place)

    def _look_at_dotted(self, node: Any, dotted: str, place: _Place) -> None:
        root, _, rest = dotted.partition(".")
        pair = f"{root}.{rest.partition('.')[0]}"
        kind = MODULES.get(root) or MODULES.get(pair) or MODULES.get(".".join(dotted.split(".")[:3]))
        if kind:
            self._sign(kind, node, dotted, place)
        elif self._rules.is_flagged(dotted):
            self._sign(SIMILAR, node, dotted, place)
        elif root == "torch" and any(part.startswith("_") and part[1:2] != "_" for part in dotted.split(".")[1:]):
            self._sign(INTERNALS, node, dotted, place)

    # --- calls and text ---------------------------------------------------------------------------------------

    def _look_at_call(self, node: ast.Call, place: _Place) -> list[tuple[ast.AST, _Place]] | None:
        called = node.func
        if isinstance(called, ast.Name) and called.id not in self._own and called.id not in self._aliases:
            if called.id in BUILTINS:
                self._sign(BUILTINS[called.id], node, f"{called.id}()", place)
            elif called.id == "getattr" and len(node.args) > 1:
                self._look_at_getattr(node, place)
        joined = folded(node)
        if joined is not None:
            self._look_at_text(node, joined, place, is_built=True)
        dotted = self._dotted(called)
        match = self._rules.match(dotted) if "." in dotted else ""
        if match:
            self._use(called, place, "calls")
            return [(one, place) for one in [*node.args, *(keyword.value for keyword in node.keywords)]]
        return None

    def _look_at_getattr(self, node: ast.Call, place: _Place) -> None:
        target, name = node.args[0], folded(node.args[1])
        if name is not None:
            self._look_at_text(node, name, place, is_built=True)
        elif not (isinstance(target, ast.Name) and target.id == "self"):
            self._sign(COMPUTED, node, "getattr() with a name that is computed", place)

    def _look_at_constant(self, node: ast.Constant, place: _Place) -> list[tuple[ast.AST, _Place]]:
        value = node.value
        if isinstance(value, (str, bytes)) and id(node) not in self._docstrings:
            if len(value) > LONG_TEXT:
                self._sign(BLOB, node, f"a literal of {len(value)} characters", place)
            elif isinstance(value, str):
                self._look_at_text(node, value, place, is_built=False)
        return []

    def _look_at_built(self, node: Any, place: _Place) -> None:
        text = folded(node)
        if text is not None:
            self._look_at_text(node, text, place, is_built=True)

    def _look_at_table(self, node: Any, place: _Place) -> None:
        items = node.values if isinstance(node, ast.Dict) else node.elts
        if len(items) > LONG_TABLE:
            self._sign(BLOB, node, f"a table of {len(items)} items", place)

    def _look_at_text(self, node: Any, text: str, place: _Place, is_built: bool) -> None:
        if len(text) > MOST_DETAIL:
            return
        text = unicodedata.normalize("NFKC", text).strip()
        words = self._rules.words if is_built else self._rules.telling
        if text in words or text.startswith("aten::") or ("." in text and self._rules.match(text)):
            self._sign(HIDDEN, node, f"the text {text!r}", place)

    def _read_characters(self, text: str) -> None:
        if text.isascii():
            return
        used = set().union(*self.names.values()) | self._own
        for number, line in enumerate(text.splitlines(), 1):
            if line.isascii():
                continue
            where = ast.Pass(lineno=number)
            if unseen := _UNSEEN.search(line):
                self._sign(CHARACTERS, where, f"U+{ord(unseen[0]):04X}, which is not shown", _Place())
            for word in _WORD.findall(line):
                plain = unicodedata.normalize("NFKC", word)
                if plain != word and plain.isascii() and plain in used:
                    self._sign(CHARACTERS, where, f"{plain} is written with other letters", _Place())


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_LOOKS: dict[type, Callable[..., list[tuple[ast.AST, _Place]] | None]] = {
    ast.Module: _File._look_at_module,
    ast.FunctionDef: _File._look_at_definition,
    ast.AsyncFunctionDef: _File._look_at_definition,
    ast.ClassDef: _File._look_at_definition,
    ast.If: _File._look_at_if,
    ast.ExceptHandler: _File._look_at_handler,
    ast.Import: _File._look_at_import,
    ast.ImportFrom: _File._look_at_import,
    ast.Assign: _File._look_at_assign,
    ast.Name: _File._look_at_name,
    ast.Attribute: _File._look_at_name,
    ast.Call: _File._look_at_call,
    ast.Constant: _File._look_at_constant,
    ast.BinOp: _File._look_at_built,
    ast.JoinedStr: _File._look_at_built,
    ast.Subscript: _File._look_at_built,
    ast.List: _File._look_at_table,
    ast.Tuple: _File._look_at_table,
    ast.Dict: _File._look_at_table,
}
_FIELDS: dict[type, tuple[str, ...]] = {}


def _fields(kind: type) -> tuple[str, ...]:
    """The fields of a node that may hold code."""
    fields: tuple[str, ...] = kind._fields  # type: ignore[attr-defined]
    _FIELDS[kind] = tuple(field for field in fields if field not in _EMPTY)
    return _FIELDS[kind]


def _is_main(test: ast.expr) -> bool:
    """Whether it is `__name__ == "__main__"`."""
    return (
        isinstance(test, ast.Compare)
        and isinstance(test.left, ast.Name)
        and test.left.id == "__name__"
        and isinstance(test.ops[0], ast.Eq)
        and isinstance(test.comparators[0], ast.Constant)
        and test.comparators[0].value == "__main__"
    )
