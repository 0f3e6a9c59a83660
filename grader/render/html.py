"""The pages: an index and a page per submission for staff, and a page per submission for its student.

Each page is one file that needs nothing else: no script, nothing remote, and a content security policy that
would stop both. Every value a template prints goes through `show.for_html` and autoescape, without being
asked to.

A student's page is made from a `StudentView` and from nothing else, so it cannot show what the view does not
hold.
"""

import functools
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from grader.late import hand_in_text
from grader.render.adjustments import adjustments_of
from grader.render.agreement import agreements, measured_texts
from grader.render.by_hand import ByHand, by_hand
from grader.render.causes import Cause, Finding, find_causes
from grader.render.mistakes import Mistake, charged_by_part, mistakes_of
from grader.render.overview import Overview
from grader.render.page import page_name
from grader.report import Isolation, Part, RunHeader, Status, Submission
from grader.show import for_html
from grader.student_records import StudentDiagnosis, StudentPart, StudentView
from grader.verdict import Verdict

_TEMPLATES = Path(__file__).parent / "templates"
_MOST_CHECKS_LISTED = 15
_FIX_FIRST = 3
#: People who are missing that the index lists without being asked to.
_MOST_MISSING_OPEN = 20
#: Characters of printed text on a page; the report keeps all of it.
_MOST_PRINTED = 4000

_TONES = {Verdict.PASSED: "passed", Verdict.BLOCKED: "waiting"}
#: Each verdict as a page shows it: in words, with a marker, and coloured only besides.
_CHIPS = {
    verdict: Markup('<span class="verdict {}"><span aria-hidden="true">{}</span> {}</span>').format(
        _TONES.get(verdict, "failed"), verdict.marker, verdict.label
    )
    for verdict in Verdict
}


def index_page(overview: Overview) -> str:
    """Make index.html: the class at a glance, for staff."""
    return _template("index.html.j2").render(
        header=overview.header,
        isolation_is_weak=_is_weak(overview.header),
        overview=overview,
        adjustments=overview.adjustments(),
        statuses={status: overview.count(status) for status in Status},
        attention=[row for row in overview.rows if row.flags or row.status is not Status.GRADED],
        most_missing=_MOST_MISSING_OPEN,
        most_failed=overview.checks[:_MOST_CHECKS_LISTED],
    )


def staff_page(header: RunHeader, submission: Submission) -> str:
    """Make staff/<page>.html: everything about one submission."""
    files = {part.name: part.file for part in submission.parts}
    mistakes = mistakes_of(submission)
    explained = _explained(mistakes)
    causes = _rest_first(find_causes(submission.checks, files), explained)
    return _template("staff.html.j2").render(
        header=header,
        isolation_is_weak=_is_weak(header),
        submission=submission,
        page=page_name(submission.id),
        adjustments=adjustments_of(submission),
        handed_in=hand_in_text(submission.handed_in, header.assignment.late, is_for_staff=True),
        mistakes=mistakes,
        charged=charged_by_part(submission),
        agreements=agreements(submission.checks),
        hand=_by_hand(submission, mistakes),
        explained=explained,
        adjusted=_adjusted(submission.parts),
        causes=causes,
        fix_first=_fix_first(causes),
        passed=_passed_by_part(submission.checks),
    )


def student_page(view: StudentView) -> str:
    """Make students/<page>.html: what its student may see, to be sent as it is."""
    files = {part.name: part.file for part in view.parts}
    explained = _explained(view.diagnoses)
    causes = _rest_first(find_causes(view.checks, files), explained)
    return _template("student.html.j2").render(
        view=view,
        charged={part.title: part.charged for part in view.parts},
        agreements=agreements(view.checks),
        hand=_by_hand(view, view.diagnoses),
        explained=explained,
        adjusted=_adjusted(view.parts),
        causes=causes,
        fix_first=_fix_first(causes),
        passed=_passed_by_part(view.checks),
    )


def _is_weak(header: RunHeader) -> bool:
    return header.grader.isolation is not Isolation.STRONG


def _by_hand(
    submission: Submission | StudentView, mistakes: Iterable[Mistake | StudentDiagnosis]
) -> Mapping[str, ByHand]:
    """The examples and shapes, those of the first mistake in front."""
    first = [name for mistake in mistakes for name in mistake.callables]
    return by_hand(submission.examples, submission.shapes, [*first, *submission.unrecognised])


def _explained(mistakes: Iterable[Mistake | StudentDiagnosis]) -> frozenset[str]:
    """Ids of the checks that a mistake explains, so that nobody looks for another reason."""
    return frozenset(check for mistake in mistakes for check in mistake.checks)


def _rest_first(causes: Iterable[Cause], explained: Collection[str]) -> list[Cause]:
    """Put what a recognised mistake explains already behind the rest, and last what tells nothing."""
    return sorted(causes, key=lambda cause: (cause.is_silent, all(check.id in explained for check in cause.checks)))


def _adjusted(parts: Iterable[Part | StudentPart]) -> frozenset[str]:
    """Files of the parts where mistakes were charged instead of checks."""
    return frozenset(part.file for part in parts if part.score != part.score_checks)


def _fix_first(causes: Iterable[Cause]) -> list[Cause]:
    return [cause for cause in causes if not cause.is_silent][:_FIX_FIRST]


def _passed_by_part(checks: Iterable[Finding]) -> Mapping[str, list[Finding]]:
    passed: dict[str, list[Finding]] = defaultdict(list)
    for check in checks:
        if check.verdict is Verdict.PASSED:
            passed[check.part].append(check)
    return passed


@functools.cache
def _template(name: str) -> Template:
    return _environment().get_template(name)


@functools.cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        finalize=_print,  # before autoescape, on everything printed
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["chip"] = _CHIPS.__getitem__
    environment.filters["differences"] = measured_texts
    environment.filters["beginning"] = _beginning
    environment.filters["lines"] = _lines
    environment.filters["points"] = _points
    environment.filters["change"] = _change
    environment.filters["sentence"] = _sentence
    environment.filters["percent"] = _percent
    environment.filters["plural"] = _plural
    environment.filters["share"] = "{:.0%}".format
    return environment


def _print(value: object) -> str:
    """Prepare what a template prints for autoescape; markup from our own macros and filters stays."""
    if isinstance(value, Markup):
        return value
    return for_html(value if type(value) is str else str(value))


def _beginning(text: str) -> str:
    return text[:_MOST_PRINTED]


def _lines(text: str) -> list[str]:
    """Split at newlines only: other characters that end a line somewhere are to be seen as codes."""
    return text.replace("\r\n", "\n").split("\n")


def _points(points: Decimal | None) -> str:
    """Write points without idle zeros: 12.5, 30; a dash where there is no score."""
    if points is None:
        return "–"
    text = f"{points:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _change(points: Decimal) -> str:
    """Write what is added or taken, with its sign; a minus is one, and no hyphen."""
    return f"{'+' if points > 0 else '−' if points < 0 else '±'}{_points(abs(points))}"


def _sentence(text: str) -> str:
    """Begin with a capital, and leave all others as they are."""
    return text[:1].upper() + text[1:]


def _percent(points: Decimal | None, of: Decimal) -> str:
    return f"{100 * points / of:.1f}" if points and of else "0"


def _plural(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"
