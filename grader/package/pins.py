"""The packages that are installed here, in the versions that are: what was tried here is what runs elsewhere."""

import re
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, packages_distributions

from grader.fault import Fault

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class PinsError(Fault):
    """A package is not installed; the text says which, and what to do."""


def pins(names: Iterable[str]) -> list[str]:
    """`name==version` for these distributions and all that they need, by name.

    A build of torch has the version of its release (`2.13.0`, not `2.13.0+cpu`): which one fits depends on the
    machine. What is needed on other systems only, and is not here, is left out.

    Raises:
        PinsError: one of `names` is not installed.
    """
    found: dict[str, str] = {}
    waiting = list(names)
    must_be_there = set(waiting)
    while waiting:
        name = waiting.pop()
        plain = _plain(name)
        if plain in found:
            continue
        try:
            installed = Distribution.from_name(name)
        except PackageNotFoundError:
            if name in must_be_there:
                raise PinsError(f"{name} is not installed here, so that its version is not known") from None
            continue
        found[plain] = installed.version.partition("+")[0]
        waiting += _needed(installed)
    return [f"{name}=={version}" for name, version in sorted(found.items())]


def distributions_of(packages: Iterable[str]) -> list[str]:
    """Names under which packages, as they are imported, are installed.

    Raises:
        PinsError: one is not installed.
    """
    there = packages_distributions()
    for name in (names := list(packages)):
        if name not in there:
            raise PinsError(
                f"the package {name}, which rules.imports of the assignment allows, is not installed here; install it, "
                "so that its version is known"
            )
    return sorted({there[name][0] for name in names})


def _needed(installed: Distribution) -> list[str]:
    """Names of what it needs, but for what some extra of it needs."""
    lines = [line for line in installed.requires or [] if "extra ==" not in line]
    return [match[0] for line in lines if (match := _NAME.match(line))]


def _plain(name: str) -> str:
    """The one spelling of all that mean the same (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()
