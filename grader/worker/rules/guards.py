"""Calls an assignment forbids: none of them gives a value, and each is noted, even when the student swallows it.

Two kinds of guard, both installed once, before the first fork, and neither of any cost to other calls:

- Operators of torch get a kernel that raises, in the dispatcher. Every way to an operator ends there: Python,
  TorchScript, a handle, a fast path in C++, another thread, vmap.
- Functions and classes written in Python are replaced where they are. Modules that torch imports late are guarded when
  they are imported.

This makes delegation tedious, not impossible: who copies torch's source text into a file of their own is not seen here.
Wiping the notes is of no use, though: the call gave no value, and what is judged is an answer of the student's own.
"""

import ctypes
import linecache
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import BuiltinFunctionType, FrameType, FunctionType, ModuleType
from typing import Any, NamedTuple, NoReturn

import torch

from .. import describe
from ..answer import Answerer, Find, IsOwn
from ..wire import Frame

#: Notes kept of one call; a loop may make a million.
MOST_NOTES = 100
_OPERATORS = "torch.ops."
#: Where an operator is caught. A tensor on the CPU comes by the first that fits: under vmap, with autograd, without it,
#: as a nested tensor, with no data; the last one is what an operator that is made of others is taken apart by.
_KEYS = (
    "FuncTorchVmapMode",
    "FuncTorchBatched",
    "AutogradNestedTensor",
    "NestedTensorCPU",
    "AutogradMeta",
    "Meta",
    "AutogradCPU",
    "CPU",
    "CompositeImplicitAutograd",
)


class ForbiddenCall(BaseException):
    """Raised by what is forbidden; no `Exception`, so that an honest `except Exception` does not swallow it."""


class Note(NamedTuple):
    """A forbidden call."""

    name: str
    #: Innermost line of the student's own that led to it; None when there is none, as in a thread.
    line: dict[str, Any] | None
    #: Module of the submission whose import made it; empty when it was made later.
    importing: str


class Guards(MetaPathFinder):
    """The guards of one process, and what they have noted."""

    def __init__(self, forbidden: Iterable[str]) -> None:
        """`forbidden`: dotted names, `*` and `?` in their last part."""
        names = list(forbidden)
        self._patterns = [name.rpartition(".")[::2] for name in names if not name.startswith(_OPERATORS)]
        self._operators = [name.removeprefix(_OPERATORS) for name in names if name.startswith(_OPERATORS)]
        #: Operators that have a kernel that raises.
        self._guarded: set[str] = set()
        self._notes: list[Note] = []
        #: By module of the submission: what its import called first.
        self._imports: dict[str, Note] = {}
        self._is_own: IsOwn = lambda file: False

    def install(self) -> None:
        """Put every guard in its place. They stay for the life of the process, and of what is forked from it."""
        public: dict[str, str] = {}  # operators that are also known by a name of torch's Python side
        for module, pattern in self._patterns:
            if module in sys.modules:
                public |= self._guard_module(sys.modules[module], pattern)
        self._guard_operators(public)
        if any(module not in sys.modules for module, _ in self._patterns):
            sys.meta_path.insert(0, self)

    def watch(self, is_own: IsOwn) -> None:
        """From now on `is_own` tells which files are the student's."""
        self._is_own = is_own

    def begin(self) -> None:
        """A call begins, and nothing has been noted of it."""
        self._notes.clear()

    @property
    def notes(self) -> tuple[Note, ...]:
        """The forbidden calls since `begin`."""
        return tuple(self._notes)

    def note_of_import(self, module: str) -> Note | None:
        """The first forbidden call of a module's import, whichever other module it was imported for."""
        return self._imports.get(module)

    def find_spec(self, fullname: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Modules with something forbidden in them that are imported late: guarded as soon as they are there."""
        patterns = [pattern for module, pattern in self._patterns if module == fullname]
        spec = PathFinder.find_spec(fullname, path) if patterns else None
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            for pattern in patterns:
                self._guard_module(module, pattern)
            self._guard_operators({})  # that it has registered

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec

    # --- guarding ---------------------------------------------------------------------------------------------

    def _guard_module(self, module: ModuleType, pattern: str) -> dict[str, str]:
        """Replace what matches; returns the operators behind built-in functions, with their names in Python."""
        operators = {}
        for name, value in list(vars(module).items()):
            if not fnmatchcase(name, pattern) or (name.startswith("_") and not pattern.startswith("_")):
                continue
            if pattern == "*" and getattr(value, "__module__", None) != module.__name__:
                continue  # what the module only imports
            full = f"{module.__name__}.{name}"
            if isinstance(value, type):
                for method in ["__init__", *filter(_is_use, vars(value))]:
                    if method == "__init__" or isinstance(vars(value)[method], FunctionType):  # no static method
                        setattr(value, method, self._refusal(full))
            elif isinstance(value, FunctionType):
                setattr(module, name, self._refusal(full))
            elif isinstance(value, BuiltinFunctionType):  # left where it is: TorchScript knows it by its identity
                operators[f"aten.{value.__name__}"] = full
        return operators

    def _guard_operators(self, public: Mapping[str, str]) -> None:
        """Guard what is registered and not guarded yet. `public`: operators with a name in Python, and that name."""
        for operator in torch._C._dispatch_get_all_op_names() if self._operators or public else ():
            name = operator.partition(".")[0].replace("::", ".")
            is_forbidden = name in public or any(fnmatchcase(name, pattern) for pattern in self._operators)
            if is_forbidden and operator not in self._guarded:
                self._guarded.add(operator)
                self._guard_operator(operator, public.get(name, _OPERATORS + name))

    def _guard_operator(self, operator: str, name: str) -> None:
        namespace, _, local = operator.partition("::")
        library = torch._C._dispatch_library("IMPL", namespace, "", __file__, 0)
        refusal = self._refusal(name)
        has_parts = torch._C._dispatch_has_kernel_for_dispatch_key(operator, "CompositeImplicitAutograd")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns that kernels are replaced
            for key in _KEYS:
                if key != "CompositeImplicitAutograd" or has_parts:
                    library.impl(local, key, refusal)
        # Kept for good, and by nothing that Python code can reach: the kernels would go with it.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(library))

    def _refusal(self, name: str) -> Callable[..., NoReturn]:
        def forbidden(*args: Any, **kwargs: Any) -> NoReturn:
            self._note(name, sys._getframe(1))
            raise ForbiddenCall(f"{name} is not allowed in this assignment")

        return forbidden

    def _note(self, name: str, frame: FrameType) -> None:
        if len(self._notes) >= MOST_NOTES:
            return
        own = [one for one in _outwards(frame) if self._is_own(one.f_code.co_filename)]
        modules = [one.f_code.co_filename for one in own if one.f_code.co_name == "<module>"]
        line = _line(own[0]) if own else None
        importing = modules[0].removesuffix(".py") if modules else ""
        note = Note(name, line, importing)
        self._notes.append(note)
        self._imports.setdefault(importing, note)


class GuardedAnswerer(Answerer):
    """Answers like any other, but a call that made a forbidden one has the reply `forbidden` and nothing else."""

    def __init__(self, find: Find, is_own: IsOwn, guards: Guards) -> None:
        super().__init__(find, is_own)
        self._guards = guards
        guards.watch(is_own)

    def load(self, part: str) -> dict[str, Any]:
        """As `Answerer.load`. What another file called, and did not fail from, is told when that one is loaded."""
        self._guards.begin()
        reply = super().load(part)
        note = self._guards.note_of_import(part)
        if note is None and self._guards.notes and reply.get("type") == ForbiddenCall.__name__:
            note = self._guards.notes[0]
        return _forbidden(note, "import") if note else reply

    def call(self, request: Frame) -> Frame:
        self._guards.begin()
        return self._told(super().call(request), "forward")

    def gradient(self, request: Frame) -> Frame:
        self._guards.begin()
        return self._told(super().gradient(request), "backward")

    def _told(self, reply: Frame, stage: str) -> Frame:
        notes = self._guards.notes
        if not notes:
            return reply
        self.forget()
        return Frame(_forbidden(notes[0], reply.header.get("stage", stage)), {})


def _is_use(method: str) -> bool:
    """Whether calling a method of a class is to use what the class is for; Python calls most special ones by itself."""
    return method == "__call__" or not method.startswith("__")


def _forbidden(note: Note, stage: str) -> dict[str, Any]:
    return {"status": "forbidden", "stage": stage, "name": note.name[: describe.MOST_TEXT], "line": note.line}


def _outwards(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _line(frame: FrameType) -> dict[str, Any]:
    code = frame.f_code
    text = linecache.getline(code.co_filename, frame.f_lineno).rstrip()
    return {
        "file": code.co_filename,
        "line": frame.f_lineno,
        "function": code.co_name[: describe.MOST_TEXT],
        "text": text[: describe.MOST_TEXT],
    }
