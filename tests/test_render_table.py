"""grades.csv: one line per submission."""

import csv
import io

import pytest
from sample_report import HOSTILE, late_class, make_part, make_report, make_submission, sample_class

from grader.handed_in import Person
from grader.render.overview import summarise
from grader.render.table import grades_csv
from grader.report import Grader, Status


def rows_of(*submissions, **fields):
    """Make the table and read it back."""
    report = make_report(*submissions, **fields)
    return list(csv.reader(io.StringIO(grades_csv(summarise(report, report.submissions)))))


def test_grades_csv_whole_table_is_as_documented():
    """The columns and the way numbers are written are what gradebooks rely on."""
    report = make_report(make_submission())

    text = grades_csv(summarise(report, report.submissions))

    assert (
        "id,status,score,max_score,single_head,adjustment,first_problem,isolation,"
        "final_score,late,overrides,name,email\n"
        "ada,graded,12.50,100.00,12.50,,single_head: wrong value: Output and weights are right,strong,12.50,,,,\n"
    ) == text


def test_grades_csv_grader_error_has_an_empty_score():
    """A null score is not a zero in the gradebook either."""
    error = make_submission(id="bela", status=Status.GRADER_ERROR, score=None, reason="died", parts=(), checks=())

    rows = rows_of(make_submission(), error)

    assert ["bela", "grader_error", "", "100.00", "", "", "grader error: died", "strong", *[""] * 5] == rows[2]


def test_grades_csv_ungradable_has_zero_points():
    """What could not be read has a score, and says why."""
    folder = make_submission(status=Status.UNGRADABLE, score=0, reason="no stub file", parts=(), checks=())

    rows = rows_of(folder)

    expected = ["ada", "ungradable", "0.00", "100.00", "", "ungradable: no stub file", "strong", "0.00", "", "", "", ""]
    assert expected == rows[1]


def test_grades_csv_part_columns_keep_their_order_and_fill_gaps():
    """A part that a submission lacks is an empty cell under the right head."""
    first = make_submission(parts=[make_part(), make_part(name="masked", score=7)])
    second = make_submission(id="bela", parts=[make_part(name="masked", score=8)])

    rows = rows_of(first, second)

    assert ["single_head", "masked"] == rows[0][4:6]
    assert [["12.50", "7.00"], ["", "8.00"]] == [row[4:6] for row in rows[1:]]


@pytest.mark.parametrize(
    ("score", "by_checks", "shown"), [("20", ["12.5", "5"], "2.50"), ("15", ["12.5", "5"], "-2.50"), ("7", ["7"], "")]
)
def test_grades_csv_adjustment_is_what_the_checks_alone_do_not_account_for(score, by_checks, shown):
    """What charging a mistake once gave or took, over all parts, and nothing where it is nothing."""
    parts = [make_part(name=f"part{number}", score_checks=points) for number, points in enumerate(by_checks)]

    rows = rows_of(make_submission(score=score, parts=parts))

    at = rows[0].index("adjustment")
    assert (4 + len(parts), shown) == (at, rows[1][at])


def test_grades_csv_hostile_id_is_one_harmless_cell():
    """No formula, no line break and no shapeless character reaches a spreadsheet."""
    report = make_report(make_submission(id=HOSTILE))

    text = grades_csv(summarise(report, report.submissions))

    assert 2 == text.count("\n")
    assert text.replace("\n", "").isprintable()
    assert rows_of(make_submission(id=HOSTILE))[1][0].startswith("'=1+1")


def test_grades_csv_tells_the_isolation_in_every_row():
    """A row copied elsewhere still says how far its score can be trusted."""
    weak = Grader(version="1", python="3", torch="2", isolation="none")

    rows = rows_of(make_submission(), make_submission(id="bela"), grader=weak)

    assert ["isolation", "none", "none"] == [row[rows[0].index("isolation")] for row in rows]


def test_grades_csv_people_of_a_group_share_two_cells():
    """Names and addresses in one order; whoever has none leaves no gap; a formula in a name is none."""
    people = [Person(name="=Ada()", email="ada@uni.example"), Person(name="Zoë Å"), Person(email="kim@uni.example")]

    rows = rows_of(make_submission(people=people))

    assert ["name", "email"] == rows[0][-2:]
    assert ["'=Ada(), Zoë Å", "ada@uni.example, kim@uni.example"] == rows[1][-2:]


def test_grades_csv_rows_are_as_long_as_the_head():
    """A realistic class makes a rectangle."""
    rows = rows_of(*sample_class().submissions)

    assert {15} == {len(row) for row in rows}
    assert 21 == len(rows)


def test_grades_csv_tells_what_late_days_and_staff_changed():
    """Behind the columns there always were; empty where there is no such thing, and not where it is nothing."""
    report = late_class()

    rows = list(csv.reader(io.StringIO(grades_csv(summarise(report, report.submissions)))))

    assert [
        ["final_score", "late", "overrides"],
        ["13.05", "-1.45", "2.00"],
        ["0.00", "", ""],
        ["50.00", "", ""],
        ["70.00", "", "70.00"],
    ] == [row[-5:-2] for row in rows]
    assert ["12.50", "0.00", "50.00", ""] == [row[2] for row in rows[1:]]
