"""A report on the disk, as a person names it: the folder of a run, or its report.json."""

from pathlib import Path

from grader.fault import Fault
from grader.report import Report
from grader.report_json import from_json
from grader.store import JOURNAL, REPORT


class ReportFileError(Fault):
    """There is no report to be read; the text says where, what was found, and what to do."""


def report_path(place: Path) -> Path:
    """The file of the report in a folder, or the file that was named. Raises ReportFileError as `read_report` does."""
    if place.is_dir():
        path = place / REPORT
        if (place / JOURNAL).is_file():  # a report beside it is of an earlier run
            raise ReportFileError(f"{place} holds a run that has not ended; end it: grade ... -o {place} --resume")
        if path.is_file():
            return path
        raise ReportFileError(f"{place} holds no {REPORT}; wanted the folder that `grade` wrote (-o)")
    if not place.exists():
        raise ReportFileError(f"{place} does not exist; wanted a report's folder, or its {REPORT}")
    return place


def read_report(place: Path) -> Report:
    """Read a report.

    Args:
        place: the folder of a run, or the file report.json.

    Raises:
        ReportFileError: nothing is there, the run has not ended, or it cannot be read.
        ReportError: it is no report of this version.
    """
    path = report_path(place)
    try:
        return from_json(path.read_bytes(), str(path))
    except OSError as error:
        raise ReportFileError(f"{path}: {error.strerror}; wanted a report that can be read") from None
