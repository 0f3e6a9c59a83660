"""The identity of what decides a grade: a resumed run, and a published seed, are held to it.

An assignment is graded by what it states, its checks, and those of the reference's modules and books of mistakes that
its callables lead to. What a course adds for another assignment changes nothing here.
"""

import ast
import hashlib
import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

#: Name under which modules of a course's reference import each other.
_PACKAGE = "reference"
_MISTAKES = "mistakes"


def digest_of(stated: Mapping[str, Any], checks: Path, reference: Path, modules: Iterable[str]) -> str:
    """The digest of an assignment.

    Args:
        stated: its `assignment.toml`, without what decides nothing.
        checks: the folder of its checks.
        reference: the course's folder of that name.
        modules: names of the modules there that the assignment names.
    """
    sources = _closure(reference, modules)
    files = {f"checks/{file.relative_to(checks).as_posix()}": file for file in checks.rglob("*.py")}
    files |= {f"{_PACKAGE}/{file.name}": file for file in sources}
    names = {file.name for file in sources}
    files |= {
        f"{_MISTAKES}/{file.name}": file for file in (reference / _MISTAKES).glob("*.toml") if _edits(file, names)
    }
    hashed = hashlib.sha256(json.dumps(stated, default=str).encode())
    for name in sorted(files):
        hashed.update(f"{name}\0{hashlib.sha256(files[name].read_bytes()).hexdigest()}\n".encode())
    return hashed.hexdigest()


def _closure(reference: Path, modules: Iterable[str]) -> set[Path]:
    """The files of these modules, and of all that they import from their neighbours."""
    waiting = ["__init__", *modules]
    found: set[Path] = set()
    while waiting:
        file = reference / f"{waiting.pop().replace('.', '/')}.py"
        if file in found or not file.is_file():
            continue
        found.add(file)
        waiting += _neighbours(file.read_text(encoding="utf-8", errors="replace"))
    return found


def _neighbours(text: str) -> Iterator[str]:
    """Names of modules that a module of the reference may import from its neighbours."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name.removeprefix(f"{_PACKAGE}.") for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = (node.module or "").removeprefix(_PACKAGE).removeprefix(".")
            yield module
            yield from (f"{module}.{one.name}".removeprefix(".") for one in node.names)


def _edits(file: Path, names: set[str]) -> bool:
    """Whether a book of mistakes edits one of these files; one that cannot be read may."""
    try:
        book = tomllib.loads(file.read_text(encoding="utf-8"))
        entries = [*book.get("mistake", ()), *book.get("variation", ())]
        return any(edit["file"] in names for entry in entries for edit in entry["edits"])
    except (ValueError, LookupError, TypeError):
        return True
