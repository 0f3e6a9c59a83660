"""Imports of a student's file that cannot or must not be met, and what stands in for them.

An editor adds `from tkinter import Y`, a helper for plots wants matplotlib: such a line must not sink a file whose
graded functions never use it. At the top of a file its names are bound to placeholders instead, and using one raises
what the import would have raised, at the line that uses it. Where Python's own answer is what the code waits for, in a
`try` or in a function, the import raises.

Allowed are the standard library, the submission's own files, and the packages the assignment names. Only the statements
of the student's files are looked at: what torch imports for itself is its own affair.
"""

import __future__

import ast
import importlib
import sys
import warnings
from collections.abc import Collection, Iterator
from importlib.machinery import PathFinder
from types import CodeType
from typing import Any, Literal, NamedTuple, NoReturn

Reason = Literal["not installed", "not allowed"]
#: The name under which a file finds the maker of placeholders. A student's `from x import *` does not pass it on.
HELPER = "__absent__"
_WORDS = {"not installed": "is not installed here", "not allowed": "is not allowed in this assignment"}
#: How an object can be used, besides its attributes.
_USES = (  # noqa: SIM905 - seventy words are read more easily than seventy lines
    "call iter next len getitem setitem delitem contains reversed bool int float complex index enter exit aenter aexit "
    "await aiter anext lt le gt ge neg pos abs invert round add radd iadd sub rsub isub mul rmul imul matmul rmatmul "
    "imatmul truediv rtruediv itruediv floordiv rfloordiv ifloordiv mod rmod imod divmod rdivmod pow rpow ipow lshift "
    "rlshift rshift rrshift and rand iand or ror ior xor rxor ixor instancecheck subclasscheck mro_entries setattr "
    "delattr"
).split()


class Absent(NamedTuple):
    """An import at the top of a file that placeholders stand in for."""

    line: int
    package: str
    reason: Reason


class Placeholder:
    """Stands for a name that could not be imported. Whatever is done with it raises `ModuleNotFoundError`."""

    __slots__ = ("_error",)

    def __init__(self, package: str, reason: Reason) -> None:
        object.__setattr__(self, "_error", (package, reason))

    def __getattr__(self, name: str) -> NoReturn:
        _refuse(self)


def _refuse(placeholder: Placeholder, *args: Any, **kwargs: Any) -> NoReturn:
    refuse(*object.__getattribute__(placeholder, "_error"))


for _use in _USES:
    setattr(Placeholder, f"__{_use}__", _refuse)


def refuse(package: str, reason: Reason) -> NoReturn:
    """Raise what an import of the package raises."""
    raise ModuleNotFoundError(f"{package} {_WORDS[reason]}", name=package)


class Imports:
    """Compiles the files of one submission, with placeholders where they are needed."""

    def __init__(self, allowed: Collection[str], own: Collection[str]) -> None:
        """`allowed`: packages that may be imported; `own`: modules that are, or should be, files of the submission."""
        self._allowed = {*allowed, *sys.stdlib_module_names}
        self._own = frozenset(own)
        #: By file: its tree with placeholders; None when it needs none.
        self._prepared: dict[str, ast.Module | None] = {}

    def prepare(self, file: str, tree: ast.Module) -> list[Absent]:
        """Note what is absent of a file's imports. The tree is changed."""
        absent: list[Absent] = []
        rewriting = _Rewriting(self, absent)
        try:
            rewriting.block(tree.body, _TOP)
        except RecursionError:  # left to the compiler, which will not take it either
            rewriting.is_needed = False
        self._prepared[file] = tree if rewriting.is_needed else None
        return absent

    def compile(self, text: str, file: str) -> CodeType:
        """The code of a file. Raises what Python's own compiler raises."""
        code = compile(text, file, "exec", dont_inherit=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # given once already
            if file not in self._prepared:
                self.prepare(file, ast.parse(text, file))
            tree = self._prepared[file]
            return code if tree is None else compile(ast.fix_missing_locations(tree), file, "exec", dont_inherit=True)

    def statements(self, text: str, file: str) -> Iterator[tuple[set[str], CodeType]]:
        """The same, each statement at the top of the file by itself, with the names it defines."""
        self.compile(text, file)
        tree = self._prepared[file] or ast.parse(text, file)
        flags = 0
        for statement in ast.fix_missing_locations(tree).body:
            if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
                for name in statement.names:
                    flags |= getattr(__future__, name.name).compiler_flag
            alone = ast.Module([statement], type_ignores=[])
            yield set(_defined(statement)), compile(alone, file, "exec", flags=flags, dont_inherit=True)

    def reason(self, module: str, name: str | None, is_certain: bool) -> tuple[str, Reason] | None:
        """Which package is missing for `import module` or `from module import name`, and why; None when none is.

        `is_certain`: the statement is about to run in any case, so that trying it changes nothing.
        """
        root = module.partition(".")[0]
        if root in self._own:
            return None
        if root not in self._allowed:
            return root, "not allowed" if _is_found(root) else "not installed"
        if not is_certain:
            return None if _is_found(root) else (root, "not installed")
        missing = _missing(module)
        if missing is None and name is not None and not hasattr(sys.modules.get(module), name):
            missing = _missing(f"{module}.{name}")
            if missing == f"{module}.{name}":  # no such name: Python says so better
                return None
        return (missing, "not installed") if missing else None


def _is_found(root: str) -> bool:
    return root in sys.modules or root in sys.builtin_module_names or PathFinder.find_spec(root) is not None


def _missing(module: str) -> str | None:
    """The module that is missing when this one is imported; what else goes wrong is left to the statement."""
    if module in sys.modules:
        return None
    try:
        importlib.import_module(module)
    except ModuleNotFoundError as error:
        is_part = error.name is None or error.name.startswith("_")  # tkinter lacks _tkinter
        return module if is_part else error.name
    except BaseException:
        return None
    return None


class _Place(NamedTuple):
    """Where a statement stands."""

    #: Whether its failure ends the import of the file: outside functions and `try`.
    is_fatal: bool
    #: Whether it runs whenever the file is imported.
    is_certain: bool


_TOP = _Place(is_fatal=True, is_certain=True)
_BRANCH = _Place(is_fatal=True, is_certain=False)
_INSIDE = _Place(is_fatal=False, is_certain=False)


class _Rewriting:
    """Replaces imports in blocks of statements, in place."""

    def __init__(self, imports: Imports, absent: list[Absent]) -> None:
        self._imports = imports
        self._absent = absent
        self.is_needed = False

    def block(self, body: list[ast.stmt], place: _Place) -> None:
        whole: list[ast.stmt] = []
        for statement in body:
            if isinstance(statement, ast.Import):
                whole += self._import(statement, place)
            elif isinstance(statement, ast.ImportFrom):
                whole += self._import_from(statement, place)
            else:
                whole.append(statement)
                for inner, inner_place in _blocks(statement, place):
                    self.block(inner, inner_place)
        body[:] = whole

    def _import(self, statement: ast.Import, place: _Place) -> list[ast.stmt]:
        reasons = [self._reason(statement, alias.name, None, place) for alias in statement.names]
        if not any(reasons):
            return [statement]
        parts: list[ast.stmt] = []
        for alias, found in zip(statement.names, reasons, strict=True):
            if found is None:
                parts.append(ast.copy_location(ast.Import(names=[alias]), statement))
            else:
                bound = alias.asname or alias.name.partition(".")[0]
                parts.append(self._stand_in(statement, bound, *found, place))
        return parts

    def _import_from(self, statement: ast.ImportFrom, place: _Place) -> list[ast.stmt]:
        module = statement.module
        if statement.level or module is None:
            return [statement]
        names = [None if alias.name == "*" else alias.name for alias in statement.names]
        reasons = [self._reason(statement, module, name, place) for name in names]
        if not any(reasons):
            return [statement]
        parts: list[ast.stmt] = []
        for alias, found in zip(statement.names, reasons, strict=True):
            if found is None:
                kept = ast.ImportFrom(module=module, names=[alias], level=0)
                parts.append(ast.copy_location(kept, statement))
            elif alias.name == "*" and place.is_fatal:
                parts.append(ast.copy_location(ast.Pass(), statement))
            else:
                parts.append(self._stand_in(statement, alias.asname or alias.name, *found, place))
        return parts

    def _reason(self, statement: ast.stmt, module: str, name: str | None, place: _Place) -> tuple[str, Reason] | None:
        if module == "__future__":
            return None
        found = self._imports.reason(module, name, place.is_certain)
        if found is None or (not place.is_fatal and found[1] == "not installed"):  # it will raise by itself
            return None
        self.is_needed = True
        if place.is_certain and not any(other.package == found[0] for other in self._absent):
            self._absent.append(Absent(statement.lineno, *found))
        return found

    def _stand_in(self, statement: ast.stmt, name: str, package: str, reason: Reason, place: _Place) -> ast.stmt:
        """`name = __absent__(package, reason)`; in a `try` or a function `__absent__.refuse(package, reason)`."""
        helper: ast.expr = ast.Name(id=HELPER, ctx=ast.Load())
        if not place.is_fatal:
            helper = ast.Attribute(value=helper, attr="refuse", ctx=ast.Load())
        call = ast.Call(func=helper, args=[ast.Constant(package), ast.Constant(reason)], keywords=[])
        new: ast.stmt = ast.Expr(value=call)
        if place.is_fatal:
            new = ast.Assign(targets=[ast.Name(id=name, ctx=ast.Store())], value=call)
        return ast.copy_location(new, statement)


def _blocks(statement: ast.stmt, place: _Place) -> Iterator[tuple[list[ast.stmt], _Place]]:
    """The blocks within a statement, and where they stand."""
    inside = _INSIDE if not place.is_fatal else _BRANCH
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield statement.body, _INSIDE
    elif isinstance(statement, (ast.Try, ast.TryStar)):
        yield statement.body, _INSIDE
        yield from ((handler.body, inside) for handler in statement.handlers)
        yield from ((block, inside) for block in (statement.orelse, statement.finalbody))
    elif isinstance(statement, (ast.With, ast.AsyncWith)):  # `with suppress(ImportError)` is a `try`
        yield statement.body, _INSIDE
    elif isinstance(statement, ast.ClassDef):
        yield statement.body, place
    elif isinstance(statement, (ast.If, ast.For, ast.AsyncFor, ast.While)):
        yield statement.body, inside
        yield statement.orelse, inside
    elif isinstance(statement, ast.Match):
        yield from ((case.body, inside) for case in statement.cases)


class Helper:
    """What the rewritten statements of a file call."""

    refuse = staticmethod(refuse)

    def __call__(self, package: str, reason: Reason) -> Placeholder:
        return Placeholder(package, reason)


def _defined(node: ast.AST) -> Iterator[str]:
    """Names that a statement would define where it stands, by whatever way through it."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, ast.alias):
        yield (node.asname or node.name).partition(".")[0]
    else:
        for inner in ast.iter_child_nodes(node):
            yield from _defined(inner)
