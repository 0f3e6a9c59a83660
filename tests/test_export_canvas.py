"""The gradebook of Canvas: one column filled, nothing else touched, and what is said about it."""

import csv
import io

import pytest
from sample_people import ADA, canvas_export, people_report, submission_of
from sample_report import make_report

from grader.export.canvas import fill
from grader.export.error import ExportError
from grader.report import Assignment

EXPORT = canvas_export()
FILLED = {"alindqvist": "82.00", "bangstrom": "87.50", "zohara": "87.50", "xwang": "70.17", "jdoe2": "100.00"}


def filled(template=EXPORT, report=None, *, column=None, is_scaled=False, chosen=None):
    """The text of the filled template, and what was done."""
    whole = report or people_report()
    data = template if isinstance(template, bytes) else template.encode()
    file, filling = fill(whole, chosen or whole.submissions, data, "grades.csv", column, is_scaled)
    return file.decode(), filling


def column_of(text, at=7, delimiter=","):
    """The cells of a column, below the head, by login."""
    return {row[3]: row[at] for row in list(csv.reader(io.StringIO(text), delimiter=delimiter))[1:]}


def refused(*arguments, **options):
    """What is said where nothing is written."""
    with pytest.raises(ExportError) as raised:
        filled(*arguments, **options)
    return str(raised.value)


def test_canvas_fills_what_counts_and_changes_nothing_else():
    """Late days and decisions are in, a group's score is in two rows, and every other byte is as it was."""
    text, _ = filled()

    assert canvas_export(**FILLED) == text


def test_canvas_scores_of_people_without_one_stay():
    """Whom the grader failed on and who handed nothing in keep what they have; nothing becomes a blank."""
    text, _ = filled()

    assert {"jdoe1": "55.00", "nohomework": "12.50"} == {
        login: score for login, score in column_of(text).items() if login in ("jdoe1", "nohomework")
    }


def test_canvas_says_who_was_filled_who_was_not_and_what_changes():
    """A list for each, with the old score and the new one."""
    _, filling = filled()

    assert [
        "Attention (501): 4 filled, 1 changed, 0 as before",
        "filled (4):",
        "  Lindqvist, Ada (101): 82.00",
        "  O’Hara, Zoë (103): 87.50",
        "  王, 小明 (104): 70.17",
        "  Doe, Jane (106): 100.00",
        "changed: a score was there, and another counts now (1):",
        "  Ångström, Bo (102): 80.00 -> 87.50",
        "in the report, with no row to fill (1):",
        "  Lee Left (left): has no row (looked for by number)",
        "in the report, without a score: left as they are (1):",
        "  Jane Doe (jane): it died",
        "in the template, without a submission: left as they are (2):",
        "  Homework, None (107)",
        "  Student, Test (108)",
    ] == list(filling.said())
    assert not filling.is_complete


def test_canvas_second_export_changes_nothing():
    """Filling what is filled gives the same file."""
    once, _ = filled()

    twice, filling = filled(once)

    assert once == twice
    assert [5, [], []] == [len(filling.unchanged), filling.filled, filling.changed]


@pytest.mark.parametrize("score", ["100", "100.0", '"100,00"', " 100 ", "100.004"])
def test_canvas_score_that_is_the_same_stays_as_it_is_written(score):
    """Canvas compares at two places; so does this."""
    assert canvas_export(**FILLED | {"jdoe2": score}) == filled(canvas_export(jdoe2=score))[0]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("EX", "excused in Canvas (EX)"),
        ("ex", "excused in Canvas (EX)"),
        ("N/A", "not assigned to this student, or hidden (N/A): Canvas takes no score for it"),
        ("B+", "holds 'B+', which is no number of points; the score is 100.00"),
    ],
)
def test_canvas_cell_that_holds_no_score_is_kept_and_said(text, reason):
    """Excused, not assigned, or a letter: a number there would undo what a person did, or be dropped."""
    file, filling = filled(canvas_export(jdoe2=text))

    assert text == column_of(file)["jdoe2"]
    assert [("Doe, Jane (106)", reason)] == filling.kept


def test_canvas_semicolons_and_decimal_commas_stay():
    """As Canvas exports in a language with decimal commas, with a byte order mark for spreadsheets."""
    table = list(csv.reader(io.StringIO(EXPORT)))
    german = io.StringIO()
    csv.writer(german, delimiter=";", lineterminator="\r\n").writerows(
        [cell.replace(".", ",") if cell.replace(".", "").isdigit() else cell for cell in row] for row in table
    )
    template = "\ufeff" + german.getvalue()

    text, _ = filled(template)

    scores = column_of(text, delimiter=";")
    assert ["82,00", "87,50", "55,00"] == [scores[login] for login in ("alindqvist", "bangstrom", "jdoe1")]
    assert text.startswith("\ufeffStudent;ID;")
    assert template.count("\r\n") == text.count("\r\n")


def test_canvas_first_and_last_names_in_columns_of_their_own():
    """The other form of Canvas's export, and no number or login that helps."""
    template = "LastName,FirstName,ID,SIS Login ID,Section,Attention (501)\nLindqvist,Ada,9,x,A,\n"

    unknown = ADA.model_copy(update={"lms_id": "", "login": ""})

    text, _ = filled(template, make_report(submission_of("s", 50, [unknown])))

    assert template.replace("x,A,\n", "x,A,50.00\n") == text


@pytest.mark.parametrize("column", ["501", "Attention (501)", "attention", "ATTENTION"])
def test_canvas_column_is_chosen_by_id_head_or_title(column):
    """Whatever of it is at hand."""
    assert canvas_export(**FILLED) == filled(column=column)[0]


def test_canvas_column_is_chosen_by_a_part_of_its_title():
    """Where the part is of one title only."""
    text, _ = filled(column="revisit", is_scaled=True)

    assert "4.10" == column_of(text, at=8)["alindqvist"]
    assert EXPORT != text and column_of(EXPORT) == column_of(text)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"column": "Tension"},
            "no assignment is called 'Tension'; choose one with --column, by title or id: 'HW3 Sof",
        ),
        ({"column": "tt"}, "several assignments are meant by 'tt': 'Attention (501)', 'Attention revisited (502)'; gi"),
        ({"column": "999"}, "no assignment is called '999'"),
        ({"column": "Final Score"}, "no assignment is called 'Final Score'"),
        ({"column": "Current Score (2026)"}, "no assignment is called 'Current Score (2026)'"),
        ({"column": "502"}, "'Attention revisited (502)' is worth 5.00 points in Canvas, and 100.00 in the report; "),
        (
            {"report": people_report(assignment=Assignment(name="a", title="Beam search", max_score=100, digest="d"))},
            "no assignment is called 'Beam search', the title in the report; choose one with --column",
        ),
    ],
)
def test_canvas_column_that_is_not_clear_is_refused_with_what_there_is(options, words):
    """No new column is ever made, and no computed one filled."""
    assert words in refused(**options)


def test_canvas_column_that_is_read_only_is_refused():
    """Canvas would pass it over."""
    template = EXPORT.replace("10.00,100.00,5.00", "10.00,(read only),5.00")

    assert "the column 'Attention (501)' is read only in Canvas" in refused(template)


def test_canvas_two_assignments_of_one_title_are_told_apart_by_id():
    """Last year's copy of the assignment."""
    template = EXPORT.replace("Attention revisited (502)", "Attention (502)").replace("100.00,5.00,", "100.00,100.00,")

    assert "'Attention (501)', 'Attention (502)'; give the id with --column ID" in refused(template)
    assert "82.00" == column_of(filled(template, column="502")[0], at=8)["alindqvist"]


def test_canvas_scaled_scores_are_rounded_half_up():
    """66.67 and 3.5 of 100 are 7.017 of 10."""
    template = EXPORT.replace("10.00,100.00,5.00", "10.00,10.00,5.00")

    scores = column_of(filled(template, is_scaled=True)[0])

    assert ["8.20", "8.75", "7.02"] == [scores[login] for login in ("alindqvist", "zohara", "xwang")]


@pytest.mark.parametrize(("points", "is_scaled"), [("10.00", False), ("0.00", False), ("0.00", True)])
def test_canvas_other_points_are_refused(points, is_scaled):
    """Unless scaling was asked for; and an assignment worth nothing has nothing to scale to."""
    template = EXPORT.replace("10.00,100.00,5.00", f"10.00,{points},5.00")

    assert f"is worth {points} points in Canvas, and 100.00 in the report" in refused(template, is_scaled=is_scaled)


def test_canvas_export_of_another_course_is_refused():
    """Nobody of the report is in it."""
    template = 'Student,ID,SIS Login ID,Section,Attention (501)\nPoints Possible,,,,100\n"Nobody, Here",1,nh,A,\n'

    assert (
        "grades.csv: nobody of the report (7 people) has a row among its 1; is it of another course? For one: "
        "Ada Lindqvist (ada) has no row"
    ) == refused(template)


def test_canvas_file_that_is_no_gradebook_is_refused():
    """Grades for people, say."""
    said = refused("id,score\nada,5\n")

    assert "no column 'ID', 'Section'; its first line has 'id', 'score'; the course's own gradebook export is" in said


def test_canvas_chosen_submission_is_filled_alone():
    """A regrade of one leaves the others, and says nothing of them."""
    report = people_report()

    text, filling = filled(report=report, chosen=report.submissions[:1])

    assert canvas_export(alindqvist="82.00") == text
    assert filling.is_complete
