"""The plain CSV: a row a student, all points, and nothing that a spreadsheet would run."""

import csv
import io

from sample_people import people_report
from sample_report import HOSTILE, make_check, make_report, make_submission, sample_class

from grader.export.table import class_csv
from grader.handed_in import Person


def rows_of(report):
    """The table, read back."""
    return list(csv.DictReader(io.StringIO(class_csv(report, report.submissions))))


def test_table_columns_are_as_documented():
    """Scripts rely on them."""
    report = make_report(make_submission())

    assert (
        "submission,name,email,lms_id,login,status,score,late,override,final_score,max_score,handed_in,marked_late,"
        "part.single_head,test_single_head.py::test_values,isolation\n"
        "ada,,,,,graded,12.50,,,12.50,100.00,,,12.50,wrong_value,strong\n"
    ) == class_csv(report, report.submissions)


def test_table_has_a_row_for_each_person_of_a_group():
    """With the submission's points in each."""
    rows = [row for row in rows_of(people_report()) if row["submission"] == "group-7"]

    assert [("Bo Ångström", "102", "87.50"), ("Zoë O'Hara, Jr.", "103", "87.50")] == [
        (row["name"], row["lms_id"], row["final_score"]) for row in rows
    ]


def test_table_tells_what_was_done_to_the_score():
    """Late days and decisions apart, and the sum."""
    ada, _, _, wei = rows_of(people_report())[:4]

    columns = ("score", "late", "override", "final_score", "marked_late")
    assert ["92.00", "-10.00", "", "82.00", "yes"] == [ada[name] for name in columns]
    assert ["66.67", "", "3.50", "70.17", ""] == [wei[name] for name in columns]


def test_table_score_that_is_null_is_empty():
    """Not a zero."""
    row = rows_of(people_report())[-1]

    assert ["grader_error", "", ""] == [row[name] for name in ("status", "score", "final_score")]


def test_table_submissions_with_other_checks_share_their_columns():
    """A check that one lacks is an empty cell."""
    rows = rows_of(make_report(make_submission(), make_submission(id="b", checks=[make_check(id="other")])))

    assert [("wrong_value", ""), ("", "wrong_value")] == [
        (row["test_single_head.py::test_values"], row["other"]) for row in rows
    ]


def test_table_hostile_text_is_harmless_in_every_column():
    """No formula, no line break, no shapeless character: of ids and of people."""
    person = Person(name=HOSTILE, email=HOSTILE, lms_id=HOSTILE, login=HOSTILE)
    report = make_report(make_submission(id=HOSTILE, people=[person]))

    text = class_csv(report, report.submissions)

    (row,) = csv.DictReader(io.StringIO(text))
    assert {"'"} == {row[name][0] for name in ("submission", "name", "email", "lms_id", "login")}
    assert text.replace("\n", "").isprintable()


def test_table_of_a_class_is_a_rectangle():
    """Whatever became of each."""
    report = sample_class()

    lengths = {len(row) for row in csv.reader(io.StringIO(class_csv(report, report.submissions)))}

    assert 1 == len(lengths)
