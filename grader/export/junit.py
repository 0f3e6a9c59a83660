"""JUnit XML, as pytest 9 writes it and CI services read it: a suite for each submission, a case for each check.

Source: pytest's junitxml (element and attribute names; points as `<property>`, as `record_property` writes them). There
is no schema that all readers share; names, order and types here are those of pytest's own. No host name and no path of
this machine is in it. Text passes `show.for_xml`, because XML has no way to hold most control characters.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from xml.etree import ElementTree

from grader.record import points_text
from grader.render.causes import Finding
from grader.report import RunHeader, Status, Submission
from grader.show import for_xml
from grader.student_records import StudentView
from grader.told.paragraphs import as_text, mistake_paragraphs
from grader.verdict import Verdict

#: Verdicts that are no finding about the code; all others are failures of it.
_ERRORS = (Verdict.GRADER_ERROR,)
#: Characters of printed text in a case.
_MOST_PRINTED = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """One submission."""

    name: str
    status: Status
    reason: str
    properties: tuple[tuple[str, str], ...]
    checks: tuple[Finding, ...]
    #: Seconds by check; empty where they are not told.
    seconds: Mapping[str, float]
    #: What was recognised.
    mistakes: str


def suite_for_staff(submission: Submission) -> Suite:
    """All that is known of a submission."""
    titles = [
        f"{diagnosis.title} [{', '.join(diagnosis.mistakes)}] in {', '.join(diagnosis.callables)}"
        for diagnosis in submission.diagnoses
    ]
    unknown = [f"{name}: wrong, but not recognised" for name in submission.unrecognised]
    people = [("person", person.label) for person in submission.people]
    return Suite(
        name=submission.id,
        status=submission.status,
        reason=submission.reason or "",
        properties=(*_points(submission), *people),
        checks=submission.checks,
        seconds={check.id: check.duration_s for check in submission.checks},
        mistakes="\n".join([*titles, *unknown]),
    )


def suite_for_student(view: StudentView) -> Suite:
    """What the student may see."""
    return Suite(
        name=view.id,
        status=view.status,
        reason=view.reason or "",
        properties=tuple(_points(view)),
        checks=view.checks,
        seconds={},
        mistakes=as_text(mistake_paragraphs(view)),
    )


def junit_xml(header: RunHeader, suites: Iterable[Suite]) -> str:
    """Write the suites."""
    root = ElementTree.Element("testsuites", name=for_xml(header.assignment.title))
    timestamp = header.created.isoformat()
    root.extend(_suite(suite, timestamp) for suite in suites)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _points(of: Submission | StudentView) -> Iterator[tuple[str, str]]:
    yield "status", of.status.value
    yield "score", points_text(of.score)
    for adjustment in of.adjustments:
        yield f"adjustment.{adjustment.kind.value}", f"{adjustment.points:+.2f} {adjustment.reason}".strip()
    yield "final_score", points_text(of.final_score)
    yield "max_score", points_text(of.max_score)
    for part in of.parts:
        yield f"part.{part.name}", f"{points_text(part.score)}/{points_text(part.max_score)}"
        if part.score != part.score_checks:
            yield f"part.{part.name}.by_checks", points_text(part.score_checks)


def _suite(suite: Suite, timestamp: str) -> ElementTree.Element:
    cases = [_case(check, suite.seconds.get(check.id)) for check in suite.checks]
    if not cases or suite.status is not Status.GRADED:
        cases.insert(0, _whole(suite))
    counts = {
        name: sum(case.find(tag) is not None for case in cases)
        for name, tag in (("errors", "error"), ("failures", "failure"), ("skipped", "skipped"))
    }
    attributes = {"name": for_xml(suite.name), **{name: str(count) for name, count in counts.items()}}
    attributes |= {"tests": str(len(cases))}
    if suite.seconds:
        attributes["time"] = _seconds(sum(suite.seconds.values()))
    element = ElementTree.Element("testsuite", {**attributes, "timestamp": timestamp})
    element.append(_properties(suite.properties))
    element.extend(cases)
    if suite.mistakes:
        _text(element, "system-out", suite.mistakes)
    return element


def _whole(suite: Suite) -> ElementTree.Element:
    """A case for what concerns all of the submission."""
    case = ElementTree.Element("testcase", classname="submission", name="can be read and graded")
    if suite.status is not Status.GRADED:
        tag = "error" if suite.status is Status.GRADER_ERROR else "failure"
        _text(case, tag, suite.reason, message=_first_line(suite.reason), type=suite.status.value)
    return case


def _case(check: Finding, seconds: float | None) -> ElementTree.Element:
    classname = ".".join(filter(None, [check.part, check.callable]))
    case = ElementTree.Element("testcase", classname=for_xml(classname), name=for_xml(check.title))
    if seconds is not None:
        case.set("time", _seconds(seconds))
    case.append(
        _properties(
            [
                ("id", check.id),
                ("verdict", check.verdict.value),
                ("points", points_text(check.score)),
                ("max_points", points_text(check.max_score)),
                ("visible", "true" if check.visible else "false"),
            ]
        )
    )
    if check.verdict is not Verdict.PASSED:
        _not_passed(case, check)
    if check.output:
        _text(case, "system-out", check.output[:_MOST_PRINTED])
    return case


def _not_passed(case: ElementTree.Element, check: Finding) -> None:
    """A failure; an error where the grader failed; skipped where something else has to be right first."""
    said = _first_line(check.message) or (f"needs {check.blocked_by}" if check.blocked_by else "")
    message = f"{check.verdict.label}: {said}" if said else check.verdict.label
    if check.verdict is Verdict.BLOCKED:
        _text(case, "skipped", "", type=check.verdict.value, message=message)
        return
    tag = "error" if check.verdict in _ERRORS else "failure"
    text = "\n".join(filter(None, [check.message, f"hint: {check.hint}" if check.hint else ""]))
    _text(case, tag, text, message=message, type=check.verdict.value)


def _properties(pairs: Iterable[tuple[str, str]]) -> ElementTree.Element:
    element = ElementTree.Element("properties")
    for name, value in pairs:
        ElementTree.SubElement(element, "property", name=for_xml(name), value=for_xml(value))
    return element


def _text(parent: ElementTree.Element, tag: str, text: str, **attributes: str) -> None:
    shown = {name: for_xml(value) for name, value in attributes.items()}
    ElementTree.SubElement(parent, tag, shown).text = for_xml(text) or None


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


def _seconds(seconds: float) -> str:
    return f"{seconds:.3f}"
