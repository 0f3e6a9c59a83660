"""A submission's files become modules, from memory: nothing is read from or written to the disk.

The files of one submission may import each other. A name that the standard library or an installed package
owns stays theirs, so that a student's `random.py` or `torch.py` shadows nothing.
"""

import importlib.util
import linecache
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any, NoReturn

from .rules.imports import HELPER, Helper, Imports


class Submission(MetaPathFinder, Loader):
    """Finds and loads the modules of one submission."""

    def __init__(
        self,
        sources: Mapping[str, str],
        stubs: Collection[str],
        allowed: Collection[str],
        refused: Mapping[str, str],
        passed_over: Collection[str] = (),
    ) -> None:
        """`sources`: file name, such as `masked.py`, to its text; `stubs`: modules the assignment asks for.

        `allowed`: packages that may be imported. `refused`: files that are not even compiled, and why. `passed_over`:
        names the assignment asks for, where a statement of a stub that fails costs no more than what it would define.
        """
        self._sources = {name.removesuffix(".py"): text for name, text in sources.items()}
        self._stubs = frozenset(stubs)
        self._refused = {name.removesuffix(".py"): reason for name, reason in refused.items()}
        self._passed_over = tuple(passed_over)
        own = [name for name in self._sources if not self._is_taken(name)]
        self.imports = Imports(allowed, {*own, *stubs})
        #: Modules whose import failed since a module was last asked for; the first is the cause.
        self.failed: list[str] = []

    def install(self) -> None:
        """Let `import` find these modules, and tracebacks find their lines. Nothing of them has run before.

        Not before the files have been scanned: finding out what is installed imports packages, and those must find no
        file of the student's under a name of their own.
        """
        if self in sys.meta_path:
            return
        for name, text in self._sources.items():
            linecache.cache[file_of(name)] = (len(text), None, text.splitlines(keepends=True), file_of(name))
        sys.meta_path.insert(0, self)

    def is_own(self, filename: str) -> bool:
        """Whether a frame's file is one of the submission's."""
        return filename.endswith(".py") and filename.removesuffix(".py") in self._sources

    def module(self, name: str) -> ModuleType:
        """The module, imported when first asked for. Raises whatever importing it raises."""
        self.failed.clear()
        return importlib.import_module(name)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in self._sources or self._is_taken(fullname):
            return None
        return importlib.util.spec_from_loader(fullname, self, origin=file_of(fullname))

    def _is_taken(self, name: str) -> bool:
        if name in self._stubs:
            return False
        return name in sys.stdlib_module_names or PathFinder.find_spec(name) is not None

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        module.__file__ = file_of(name)
        try:
            if name in self._refused:
                raise SyntaxError(self._refused[name])
            module.__dict__[HELPER] = Helper()
            if self._passed_over and name in self._stubs:
                self._run_what_runs(name, module.__dict__)
            else:
                exec(self.imports.compile(self._sources[name], file_of(name)), module.__dict__)
        except BaseException:
            self.failed.append(name)
            raise

    def _run_what_runs(self, name: str, namespace: dict[str, Any]) -> None:
        """Run each statement by itself. A name that one did not define, since it failed, raises that when used."""
        failures: dict[str, Exception | SystemExit] = {}
        for defined, code in self.imports.statements(self._sources[name], file_of(name)):
            try:
                exec(code, namespace)
            except (Exception, SystemExit) as error:
                failures |= dict.fromkeys(defined, error)
        for missing in self._passed_over:
            if missing in failures:
                namespace.setdefault(missing, _raising(failures[missing]))


def _raising(error: BaseException) -> Callable[..., NoReturn]:
    """In the place of what could not be defined."""

    def undefined(*arguments: object, **keywords: object) -> NoReturn:
        raise error

    return undefined


def file_of(module: str) -> str:
    """The file name shown for a module of the submission."""
    return f"{module}.py"
