"""How a command hands over what it made: into a file or to standard output."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from grader.commands.ending import ending

if TYPE_CHECKING:
    from grader.export.filling import Filling

#: Exit codes: everything is in the file; somebody of the report is not.
WHOLE, PARTLY = 0, 1
#: Bytes of a template: that of fifty thousand students is smaller.
_MOST_BYTES = 32 * 1024 * 1024


@contextmanager
def delivery(out: Path | None, report: Path, template: Path | None = None) -> "Iterator[Delivery]":
    """Hand over one file, of which nothing is written where something is in the way.

    The report and the template are never written, whatever they are called on the way.
    """
    with ending("nothing was written", place=out or "standard output"):
        from grader.export.error import ExportError
        from grader.report_file import report_path

        for path, what in ((template, "the template"), (report_path(report), "the report")):
            if out and path and _is_same(out, path):
                raise ExportError(f"-o {out} is {what} itself, which stays as it is; name another file")
        yield Delivery(out, template)


class Delivery:
    """Of one file."""

    def __init__(self, out: Path | None, template: Path | None) -> None:
        self._out, self._template = out, template

    def template(self, how_to_get_it: str) -> bytes:
        """The bytes of the template. Raises ExportError where none was named, and OSError."""
        from grader.export.error import ExportError

        if self._template is None:
            raise ExportError(f"--template is missing: {how_to_get_it}")
        with open(self._template, "rb") as file:  # a device or a pipe does not say how large it is
            data = file.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise ExportError(
                f"{self._template} is larger than {_MOST_BYTES >> 20} MiB, as no such table is; {how_to_get_it}"
            )
        return data

    def text(self, text: str) -> None:
        """Hand over what was made."""
        self._write(text.encode())

    def filled(self, data: bytes, filling: "Filling") -> NoReturn:
        """Hand over a filled template, say what was done, and exit."""
        from grader.show import for_terminal

        self._write(data)
        for line in filling.said():
            click.echo(for_terminal(line), err=True)
        sys.exit(WHOLE if filling.is_complete else PARTLY)

    def _write(self, data: bytes) -> None:
        from grader.whole_file import write_output

        if self._out is None:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        else:
            write_output(self._out, data)


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False
