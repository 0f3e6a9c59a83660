"""A wheel of this package as it runs here: made without network and without a build back end.

What is handed on (to students, to Gradescope) is then the very code that was tried here, from an editable install as
well as from a wheel. Only files of the package go in: a course that lies beside it in a clone never does.

Formats: packaging.python.org, "Binary distribution format" and "Recording installed projects".
"""

import base64
import csv
import hashlib
import io
import re
from collections.abc import Iterable
from importlib.metadata import Distribution
from pathlib import Path

import grader
from grader.fault import Fault
from grader.zipped import Member, write_zip

#: Name of the distribution, as pyproject.toml has it.
DISTRIBUTION = "attention-grader"
#: What the package is made of; anything else in its folder was left there by somebody's editor.
_SUFFIXES = {".py", ".j2", ".json", ".md", ".sh", ".toml"}
#: Of what was installed: who needs what, which commands there are, whose it is.
_METADATA = ("METADATA", "entry_points.txt", "top_level.txt")
_WHEEL = "Wheel-Version: 1.0\nGenerator: grade\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


class WheelError(Fault):
    """No wheel can be made of this installation; the text says why and what to do."""


def write_wheel(folder: Path) -> Path:
    """Write the wheel into a folder, and return its path. One of the same name is replaced.

    Raises:
        WheelError: the package was not installed, or has another version than what was installed says.
        OSError: the folder cannot be written.
    """
    installed = _installed()
    stem = f"{re.sub(r'[-_.]+', '_', DISTRIBUTION)}-{grader.__version__}"
    members = [*_package(), *_described(installed, f"{stem}.dist-info")]
    path = folder / f"{stem}-py3-none-any.whl"
    write_zip(path, [*members, _record(members, f"{stem}.dist-info/RECORD")])
    return path


def _installed() -> Distribution:
    """What pip noted down: not the `.egg-info` that a build leaves in a clone, which may be of any age."""
    for found in Distribution.discover(name=DISTRIBUTION):
        if found.read_text("METADATA") is None:
            continue
        if found.version != grader.__version__:
            raise WheelError(
                f"{Path(grader.__file__).parent} is version {grader.__version__}, and what was installed says "
                f"{found.version}; install it again (in a clone: pip install -e .)"
            )
        return found
    raise WheelError(
        f"{Path(grader.__file__).parent} was not installed, so that nothing says what it needs; install it "
        "(in a clone: pip install -e .)"
    )


def _package() -> Iterable[Member]:
    folder = Path(grader.__file__).parent
    for path in sorted(folder.rglob("*")):
        if path.suffix in _SUFFIXES and path.is_file() and not path.name.startswith("."):
            yield Member(name=path.relative_to(folder.parent).as_posix(), data=path.read_bytes())


def _described(installed: Distribution, folder: str) -> Iterable[Member]:
    """The folder `.dist-info`, but for its record."""
    for name in (*_METADATA, *(f"licenses/{name}" for name in installed.metadata.get_all("License-File", []))):
        text = installed.read_text(name)
        if text is None:
            raise WheelError(f"{name} is missing in what was installed; install the package again")
        yield Member(name=f"{folder}/{name}", data=text.encode())
    yield Member(name=f"{folder}/WHEEL", data=_WHEEL.encode())


def _record(members: Iterable[Member], name: str) -> Member:
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    for member in members:
        digest = base64.urlsafe_b64encode(hashlib.sha256(member.data).digest()).rstrip(b"=").decode()
        writer.writerow([member.name, f"sha256={digest}", len(member.data)])
    writer.writerow([name, "", ""])
    return Member(name=name, data=lines.getvalue().encode())
