"""What a worker must be able to read: the standard library, torch and what it stands on, system libraries. No more.

Entry by entry, since whatever lies below an allowed folder is allowed, and the grader may be installed, with a course
beside it, in the folder torch is in.
"""

import os
import re
import sys
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import Distribution

#: Folders of packages inside that of the standard library.
_PACKAGES = {"site-packages", "dist-packages", "__pycache__"}
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
#: Where the dynamic linker looks; of these, files alone: Debian and Fedora keep Python packages in folders below.
_LIBRARIES = ("/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib")
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def readable(path: Iterable[str], packages: Collection[str]) -> list[str]:
    """Files and folders a worker may read.

    Args:
        path: folders in which packages are installed.
        packages: names by which what is needed is imported; what their distributions require is found.
    """
    folders = list(path)
    standard = [folder for folder in sys.path if os.path.isdir(folder) and folder not in folders]
    found = [
        os.path.dirname(os.path.dirname(os.path.abspath(__file__))),  # the worker's own modules
        *(entry for folder in standard for entry in _entries(folder)),
        *(_installed(folders, packages) if packages else ()),
        *_system_libraries(),
        *_DEVICES,
    ]
    return list(dict.fromkeys(found))


def _entries(folder: str) -> Iterator[str]:
    for name in sorted(os.listdir(folder)):
        if name not in _PACKAGES:
            yield os.path.join(folder, name)


def _installed(folders: list[str], packages: Iterable[str]) -> Iterator[str]:
    """What the packages, and those they require, have put into their folders."""
    from importlib.metadata import distributions  # half of the start of a process that needs no package

    waiting, seen = list(packages), set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        yield from (os.path.join(folder, found) for folder in folders for found in (name, f"{name}.py"))
        for distribution in distributions(name=name, path=folders):
            waiting += (_required(one) for one in distribution.requires or () if "extra ==" not in one)
            for top in _top_names(distribution):
                yield str(distribution.locate_file(top))
            break


def _required(requirement: str) -> str:
    match = _NAME.match(requirement)
    return match[0].lower().replace("_", "-") if match else ""


def _top_names(distribution: "Distribution") -> list[str]:
    """The first steps of the paths of its files, by its RECORD (PEP 376); its own folder of metadata too."""
    record = distribution.read_text("RECORD") or ""
    names = {line.partition("/")[0].partition(",")[0].strip('"') for line in record.splitlines()}
    return sorted(names - {"..", "", "__pycache__"})


def _system_libraries() -> Iterator[str]:
    triple = getattr(sys.implementation, "_multiarch", "")
    if triple:
        yield from (f"{folder}/{triple}" for folder in ("/lib", "/usr/lib", "/usr/local/lib"))
    own = [os.path.join(sys.base_prefix, "lib"), *filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":"))]
    for folder in [*_LIBRARIES, *own]:
        if os.path.isdir(folder):
            yield from (os.path.join(folder, name) for name in sorted(os.listdir(folder)) if ".so" in name)
    yield "/etc/ld.so.cache"
