"""A report on the disk, as a person names it: the folder of a run, or its report.json."""

from pathlib import Path

from grader.report import Report
from grader.report_json import ReportError, from_json
from grader.store import JOURNAL, REPORT


class ReportFileError(Exception):
    """There is no report to be read; the text says where, what was found, and what to do."""


def report_path(place: Path) -> Path:
    """The file of the report in a folder, or the file that was named. Raises ReportFileError as `read_report` does."""
    if place.is_dir():
        path = place / REPORT
        if path.is_file():
            return path
        if (place / JOURNAL).is_file():
            raise ReportFileError(f"{place} holds a run that was broken off; end it: grade ... -o {place} --resume")
        raise ReportFileError(f"{place} holds no {REPORT}; wanted the folder that `grade` wrote (-o)")
    if not place.exists():
        raise ReportFileError(f"{place} does not exist; wanted a report's folder, or its {REPORT}")
    return place


def read_report(place: Path) -> Report:
    """Read a report.

    Args:
        place: the folder of a run, or the file report.json.

    Raises:
        ReportFileError: nothing is there, it cannot be read, or it is no report of this version.
    """
    path = report_path(place)
    try:
        return from_json(path.read_bytes(), str(path))
    except OSError as error:
        raise ReportFileError(f"{path}: {error.strerror}; wanted a report that can be read") from None
    except ReportError as error:
        raise ReportFileError(str(error)) from None
