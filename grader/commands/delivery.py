"""How a command hands over what it made: into a file or to standard output, and how it says what went wrong."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, Self

import click

if TYPE_CHECKING:
    from grader.export.filling import Filling

#: Exit codes: everything is in the file; somebody of the report is not; nothing was written.
WHOLE, PARTLY, USAGE = 0, 1, 2
#: Bytes of a template: that of fifty thousand students is smaller.
_MOST_BYTES = 32 * 1024 * 1024


class Delivery:
    """Of one file. As a context, it makes a fault of the user's a line and exit code 2.

    The report and the template are never written, whatever they are called on the way.
    """

    def __init__(self, out: Path | None, report: Path, template: Path | None = None) -> None:
        self._out, self._report, self._template = out, report, template

    def __enter__(self) -> Self:
        from grader.report_file import ReportFileError, report_path

        try:
            report = report_path(self._report)
        except ReportFileError as error:
            _end(str(error))
        for path, what in ((self._template, "the template"), (report, "the report")):
            if self._out and path and _is_same(self._out, path):
                _end(f"-o {self._out} is {what} itself, which stays as it is; name another file")
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        from grader.export.error import ExportError
        from grader.report_file import ReportFileError

        if isinstance(error, ExportError | ReportFileError):
            _end(str(error))
        if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):
            _end(f"{error.filename or self._out or 'standard output'}: {error.strerror}; nothing was written")

    def template(self, how_to_get_it: str) -> bytes:
        """The bytes of the template, which has to be there."""
        if self._template is None:
            _end(f"--template is missing: {how_to_get_it}")
        with open(self._template, "rb") as file:
            data = file.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            _end(f"{self._template} is larger than {_MOST_BYTES >> 20} MiB, as no such table is; {how_to_get_it}")
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


def _end(text: str) -> NoReturn:
    from grader.show import for_terminal

    click.echo(f"grade: {for_terminal(text)}", err=True)
    sys.exit(USAGE)


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False
