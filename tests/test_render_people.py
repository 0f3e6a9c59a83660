"""People in the reports of staff: beside ids, missing, and of nobody's roster; whatever they are called."""

from datetime import UTC, date, datetime

import pytest
from markdown_it import MarkdownIt
from sample_report import HOSTILE, make_header, make_report, make_submission

from grader.handed_in import HandIn, Person, TimeSource
from grader.render.html import index_page, staff_page, student_page
from grader.render.markdown import MOST_MISSING, summary_markdown
from grader.render.overview import summarise
from grader.store import Store
from grader.student_view import student_view
from grader.terminal import MOST_NAMES, Screen

ADA = Person(name="Ada Lovelace", email="ada@uni.example", lms_id="11", login="lovelace")
WHEN = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
CLASS = {"imported": "Moodle download: 2 students or teams, a folder each", "roster": "roster.csv", "on_roster": 40}


def overview_of(*submissions, **fields):
    """A class ready to be shown."""
    report = make_report(*submissions, **fields)
    return summarise(report, report.submissions)


@pytest.mark.parametrize(
    ("handed_in", "said"),
    [
        (HandIn(source=TimeSource.GIT, time=WHEN), "Handed in 2026-03-01 09:30"),
        (HandIn(source=TimeSource.PLATFORM, is_marked_late=True), "Marked as late"),
        (HandIn(source=TimeSource.ROSTER, extension_hours=36), "eadline extended by 1 day 12 hours"),
    ],
)
def test_staff_page_tells_who_and_when(handed_in, said):
    """Everything that is known of both, and who says so."""
    page = staff_page(make_header(), make_submission(people=[ADA], handed_in=handed_in))

    assert said in page
    for text in ("Ada Lovelace", "ada@uni.example", "login lovelace", "id 11"):
        assert text in page


def test_staff_page_says_nothing_of_a_time_that_nobody_knows():
    """Only that it is not marked late is no news."""
    page = staff_page(make_header(), make_submission(handed_in=HandIn(source=TimeSource.PLATFORM)))

    assert "Handed in" not in page


def test_index_lists_names_missing_people_and_strangers():
    """A TA knows people, not numbers."""
    missing = [Person(name="Zoë Å", email="zoe@uni.example"), Person(lms_id="77")]

    page = index_page(overview_of(make_submission(people=[ADA]), missing=missing, strangers=["ada"], **CLASS))

    assert "Moodle download: 2 students or teams, a folder each" in page
    assert '<span class="small quiet">Ada Lovelace</span>' in page
    assert "2 of 40 handed nothing in" in page and "<li>77" in page and "zoe@uni.example" in page
    assert "1 submission is of nobody on the roster" in page


def test_index_with_nobody_missing_says_so_and_without_a_roster_nothing():
    """An empty list could mean either."""
    assert "Nobody of the 40 on roster.csv is missing." in index_page(overview_of(make_submission(), **CLASS))
    assert "missing" not in index_page(overview_of(make_submission())).partition("<body")[2]


def test_index_and_summary_hostile_names_are_text(capsys, tmp_path):
    """A name on the platform is a student's own words."""
    people = [Person(name=HOSTILE)]
    overview = overview_of(make_submission(people=people), missing=people, strangers=[HOSTILE], **CLASS)

    page, markdown = index_page(overview), summary_markdown(overview)
    screen = Screen()
    screen.handed_in(overview.header, [HOSTILE])
    screen.result(overview, Store(tmp_path))
    printed = "".join(capsys.readouterr())

    assert "<script>alert" not in page and "\u202e" not in page
    assert "<script>" not in MarkdownIt("commonmark").enable("table").render(markdown)
    assert "\x1b" not in printed and "\u202e" not in printed


def test_student_page_names_nobody():
    """Not even its student: it may be passed on as it is."""
    header = make_header(missing=[Person(name="Zoë Å")], strangers=["somebody"], **CLASS)
    submission = make_submission(people=[ADA], handed_in=HandIn(source=TimeSource.PLATFORM, time=WHEN))

    page = student_page(student_view(header, submission, header.assignment.feedback, date(2026, 12, 1)))

    for text in ("Zoë", "somebody", "ada@uni.example", "roster", "Moodle"):
        assert text not in page


def test_summary_and_terminal_name_some_of_many_missing(capsys, tmp_path):
    """A line stays a line."""
    missing = [Person(name=f"Student {number}") for number in range(40)]
    overview = overview_of(make_submission(), missing=missing, **CLASS)

    Screen().result(overview, Store(tmp_path))
    printed, markdown = capsys.readouterr().out, summary_markdown(overview)

    assert f"`Student {MOST_MISSING - 1}` and {40 - MOST_MISSING} more." in markdown
    assert "**40** of 40 handed nothing in: `Student 0`, `Student 1`" in markdown
    assert "40 of 40 on roster.csv handed nothing in: Student 0," in printed
    assert f"and {40 - MOST_NAMES} more" in printed.replace("\n", " ")
