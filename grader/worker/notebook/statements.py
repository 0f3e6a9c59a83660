"""A cell becomes statements: what each one binds, what it changes, and whether it only tries something out.

Which names a statement uses is asked of Python itself (`symtable`), and only of statements that are taken: those it
needs at once, such as a base class, must have been bound before; those in a function's body are looked up when it is
called, and mean what the whole notebook leaves behind.
"""

import ast
import symtable
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

#: How much a binding says: a definition is not undone by `attention_mask = attention_mask(4, 4)` further down, nor by
#: the import of a library's function of the same name, to compare with.
VALUE, IMPORT, DEFINITION = 1, 2, 3

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (*_FUNCTIONS, ast.ClassDef)
_IMPORTS = (ast.Import, ast.ImportFrom)
_ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign)
_STEPS = (ast.Pass, ast.Raise, ast.Break, ast.Continue)
_BRANCHES = (ast.If, ast.Try, ast.TryStar, ast.With)
#: Methods that fill a list, a set or a dictionary.
_FILLERS = frozenset({"append", "extend", "insert", "add", "update", "setdefault", "register"})
#: Functions that make a function of another.
_MAKERS = frozenset({"partial", "compile", "script", "vmap", "jit", "lru_cache", "cache", "singledispatch"})
#: Calls that read what is not there while grading, wait for somebody, show something, or train. By their last name.
_ERRANDS = frozenset(
    {
        *("open", "input", "display", "print", "show", "exec", "get_ipython", "listdir", "glob", "imread", "urlopen"),
        *("urlretrieve", "upload", "mount", "interact", "interactive", "load", "loads", "loadtxt", "genfromtxt"),
        *("load_dataset", "from_pretrained", "read_csv", "read_excel", "read_json", "read_parquet", "read_pickle"),
        *("read_text", "read_bytes", "fit", "train", "subplots", "figure", "DataLoader", "SummaryWriter", "tqdm"),
    }
)


class Uses(NamedTuple):
    """Names that a statement uses and does not bind itself."""

    #: While it runs.
    at_once: set[str]
    #: When a function in it is called.
    later: set[str]


@dataclass(slots=True)
class Statement:
    """A statement at the top of a cell."""

    #: Which of the cells it is in.
    cell: int
    node: ast.stmt
    #: Names it binds, and how much each binding says.
    binds: dict[str, int] = field(default_factory=dict)
    #: Names of what it changes: `Attention.forward = forward`.
    changes: set[str] = field(default_factory=set)
    #: Whether it only tries something out, and is left where it is.
    is_experiment: bool = False

    def bind(self, name: str, rank: int) -> None:
        """Note that it binds a name."""
        self.binds[name] = max(rank, self.binds.get(name, rank))


def statements(cell: int, tree: ast.Module) -> list[Statement]:
    """The statements of a cell."""
    return [_statement(cell, node) for node in tree.body]


def _statement(cell: int, node: ast.stmt) -> Statement:
    found = Statement(cell, node)
    if isinstance(node, _BRANCHES):
        for inner in _inner(node):
            _read(inner, found)
        found.is_experiment = _is_main(node) or _runs_errand(node)
    elif isinstance(node, (*_DEFINITIONS, *_IMPORTS)):
        _read(node, found)
    elif isinstance(node, _ASSIGNMENTS):
        _read(node, found)
        found.is_experiment = _runs_errand(node)
    else:
        found.changes = _changes(node)
        found.is_experiment = not found.changes or _runs_errand(node)
        if found.is_experiment:
            found.binds = dict.fromkeys(_stored(node), VALUE)
    return found


def is_kept(node: ast.stmt) -> bool:
    """Whether a statement within a taken branch stays: it binds, changes, or decides what runs."""
    if isinstance(node, (ast.Expr, ast.For)):
        return bool(_changes(node))
    return isinstance(node, (*_DEFINITIONS, *_IMPORTS, *_ASSIGNMENTS, *_BRANCHES, *_STEPS))


def suites(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The blocks of a branch, or of a loop."""
    if isinstance(node, (ast.Try, ast.TryStar)):
        yield from (node.body, *(handler.body for handler in node.handlers), node.orelse, node.finalbody)
    elif isinstance(node, (ast.If, ast.For)):
        yield from (node.body, node.orelse)
    elif isinstance(node, ast.With):
        yield node.body


def uses(node: ast.stmt) -> Uses:
    """The names it uses."""
    found = Uses(set(), set())
    if isinstance(node, _IMPORTS):
        return found
    try:
        _collect(symtable.symtable(ast.unparse(node), "cell", "exec"), False, found)
    except (SyntaxError, ValueError, RecursionError):  # rather too many names than too few
        found.later.update(one.id for one in ast.walk(node) if isinstance(one, ast.Name))
    if isinstance(node, ast.AugAssign) and (root := _root(node.target)):
        found.at_once.add(root)
    return found


def _collect(table: symtable.SymbolTable, is_later: bool, found: Uses) -> None:
    names = found.later if is_later else found.at_once
    is_top = table.get_name() == "top"
    names.update(one.get_name() for one in table.get_symbols() if one.is_referenced() and (is_top or one.is_global()))
    for child in table.get_children():
        is_body = isinstance(child, symtable.Function) and not child.get_name().endswith(("comp", "genexpr"))
        _collect(child, is_later or is_body, found)


# --- what a statement binds --------------------------------------------------------------------------------------


def _inner(node: ast.stmt) -> Iterator[ast.stmt]:
    """The statements within a branch or a loop, and within those below it."""
    for suite in suites(node):
        for one in suite:
            yield one
            yield from _inner(one)


def _read(node: ast.stmt, found: Statement) -> None:
    """Note what a single statement binds and changes."""
    if isinstance(node, _DEFINITIONS):
        found.bind(node.name, DEFINITION)
        found.changes.update(_completed(node))
    elif isinstance(node, _IMPORTS):
        for alias in node.names:
            if alias.name != "*":
                found.bind(alias.asname or alias.name.partition(".")[0], IMPORT)
    elif isinstance(node, _ASSIGNMENTS):
        rank = DEFINITION if _makes_function(node.value) else VALUE
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            _assign(target, rank, found)
    elif isinstance(node, ast.With):
        for item in node.items:
            if item.optional_vars is not None:
                _assign(item.optional_vars, VALUE, found)


def _assign(target: ast.expr, rank: int, found: Statement) -> None:
    if isinstance(target, ast.Name):
        found.bind(target.id, rank)
    elif isinstance(target, (ast.Tuple, ast.List)):
        for one in target.elts:
            _assign(one, VALUE, found)
    elif isinstance(target, ast.Starred):
        _assign(target.value, VALUE, found)
    elif root := _root(target):
        found.changes.add(root)


def _makes_function(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Lambda) or (isinstance(value, ast.Call) and _last_name(value.func) in _MAKERS)


def _completed(node: ast.stmt) -> Iterator[str]:
    """What a decorator makes a function a part of: `@apply_mask.register`, `@add_to_class(Attention)`."""
    for decorator in getattr(node, "decorator_list", ()):
        if isinstance(decorator, ast.Call):
            yield from (one.id for one in decorator.args if isinstance(one, ast.Name))
            decorator = decorator.func
        if isinstance(decorator, ast.Attribute) and (root := _root(decorator)):
            yield root


def _changes(node: ast.stmt) -> set[str]:
    """What `setattr(name, ...)` or `name.append(...)` changes, and what a loop fills in."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Name(id="setattr"), args=[ast.Name(id=name), *_])):
            return {name}
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method))) if method in _FILLERS:
            return {name}
        case ast.For():
            found = Statement(0, node)
            for one in _inner(node):
                if isinstance(one, _ASSIGNMENTS):
                    _read(one, found)
                elif isinstance(one, ast.Expr):
                    found.changes |= _changes(one)
            return found.changes
    return set()


def _root(target: ast.expr) -> str:
    """The name that `name.a[0].b` begins with."""
    while isinstance(target, (ast.Attribute, ast.Subscript)):
        target = target.value
    return target.id if isinstance(target, ast.Name) else ""


def _last_name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _stored(node: ast.stmt) -> Iterator[str]:
    """Names that are set anywhere in a statement, such as a loop."""
    for one in ast.walk(node):
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
            yield one.id


# --- what it does besides ----------------------------------------------------------------------------------------


def _is_main(node: ast.stmt) -> bool:
    """Whether it is `if __name__ == "__main__":`, which no import runs."""
    return isinstance(node, ast.If) and any(
        isinstance(one, ast.Name) and one.id == "__name__" for one in ast.walk(node.test)
    )


def _runs_errand(node: ast.stmt) -> bool:
    """Whether it waits, or calls what reads files and shows things, outside the functions it defines."""
    waiting: list[ast.AST] = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, ast.Await) or (isinstance(one, ast.Call) and _last_name(one.func) in _ERRANDS):
            return True
        is_left = isinstance(one, ast.stmt) and one is not node and not is_kept(one)
        if not is_left and not isinstance(one, (*_FUNCTIONS, ast.Lambda)):
            waiting.extend(ast.iter_child_nodes(one))
    return False
