"""report.json as text: written, read with every fault named, and described by a JSON Schema.

The schema beside this file is made from the records: `python -m grader.report_json > grader/report.schema.json`.
"""

import difflib
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from pydantic import ValidationError

from grader.fault import Fault
from grader.record import Record
from grader.report import SCHEMA_VERSION, Report, RunHeader, Submission
from grader.show import for_json


class ReportError(Fault):
    """A text is not a report of this version.

    The facts are attributes: `where` in which file and field, what was `found`, what was `wanted`.
    """

    def __init__(self, where: str, found: str, wanted: str) -> None:
        super().__init__(f"{where}: got {found}, wanted {wanted}")
        self.where = where
        self.found = found
        self.wanted = wanted


AnyRecord = TypeVar("AnyRecord", bound=Record)


def to_json(record: Record) -> str:
    """Write a report, or one submission of it, as JSON: the same bytes for the same record."""
    return for_json(record.model_dump_json(indent=2)) + "\n"


def json_chunks(header: RunHeader, submissions: Iterable[Submission]) -> Iterator[str]:
    """Write a report in pieces, holding one submission at a time; they join to what `to_json` gives."""
    fields = {name: getattr(header, name) for name in RunHeader.model_fields}
    yield to_json(RunHeader(**fields)).removesuffix("\n}\n") + ',\n  "submissions": ['
    end = "]\n}\n"
    for number, submission in enumerate(submissions):
        lines = to_json(submission).rstrip("\n").replace("\n", "\n    ")  # JSON strings hold no line breaks
        yield f"{',' if number else ''}\n    {lines}"
        end = "\n  ]\n}\n"
    yield end


def from_json(text: str | bytes, where: str) -> Report:
    """Read report.json.

    Args:
        text: the JSON.
        where: the file's name, for the message.

    Raises:
        ReportError: the text is not JSON, is of another version, or is not a report.
    """
    return _read(Report, text, where)


def submission_from_json(text: str | bytes, where: str) -> Submission:
    """Read one submission, as `to_json` writes it. Raises as `from_json` does."""
    return _read(Submission, text, where)


def json_schema() -> dict[str, Any]:
    """Describe report.json as a JSON Schema."""
    schema = Report.model_json_schema(mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _read(kind: type[AnyRecord], text: str | bytes, where: str) -> AnyRecord:
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        raise _explain(error, where) from None


def _explain(error: ValidationError, where: str) -> ReportError:
    """Put into words the problem that explains the others: a wrong version, or a misspelt field."""
    problems = error.errors(include_url=False)
    problem = min(problems, key=lambda one: (one["loc"] != ("schema_version",), one["type"] != "extra_forbidden"))
    path = ".".join(str(step) for step in problem["loc"])
    kind, found = problem["type"], problem["input"]
    at = f"{where}, {path}" if path else where
    if path == "schema_version" and kind != "missing":
        return ReportError(at, _short(found), f"{SCHEMA_VERSION}: read it with the version of grade that wrote it")
    if kind == "json_invalid":
        return ReportError(at, str(problem["ctx"]["error"]), "JSON")
    if kind == "missing":
        return ReportError(at, "nothing", "a value")
    if kind == "extra_forbidden":
        return ReportError(at, _short(found), "no field of this name")
    if kind == "enum":
        return ReportError(at, _short(found), _choices(str(found), problem["ctx"]["expected"]))
    return ReportError(at, _short(found), problem["msg"].removeprefix("Value error, "))


def _choices(word: str, expected: str) -> str:
    near = difflib.get_close_matches(word, re.findall(r"'(\w+)'", expected), n=1)
    return f"{expected} (did you mean {near[0]!r}?)" if near else expected


def _short(found: object) -> str:
    shown = repr(found)
    return shown if len(shown) <= 80 else shown[:79] + "…"


if __name__ == "__main__":
    print(json.dumps(json_schema(), indent=2))
