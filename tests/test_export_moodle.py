"""The grading worksheet of Moodle: grades filled and, if asked, comments; nothing else."""

import csv
import io

import pytest
from sample_people import MOODLE_HEAD, moodle_worksheet, people_report
from sample_report import HOSTILE

from grader.export.error import ExportError
from grader.export.moodle import fill

WORKSHEET = moodle_worksheet()
GRADES = {"ada": "82.00", "bo": "87.50", "zoe": "87.50", "wei": "70.17", "jane1": "", "jane2": "100.00", "none": ""}


def filled(template=WORKSHEET, *, titles=None, is_scaled=False, feedback=None, report=None):
    """The text of the filled worksheet, and what was done."""
    whole = report or people_report()
    data, filling = fill(whole, whole.submissions, template.encode(), "ws.csv", titles or {}, is_scaled, feedback)
    return data.decode(), filling


def cells_of(text, title, delimiter=","):
    """A column, by the name of the address."""
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    return {row["Email address"].partition("@")[0]: row[title] for row in rows}


def test_moodle_fills_grades_and_changes_nothing_else():
    """Every byte but the grades is as it was."""
    text, _ = filled()

    rows = {name: f"{grade}," + "{rest}," for name, grade in GRADES.items() if grade}
    assert moodle_worksheet(**rows | {"bo": '87.50,{rest},"<p>Nice, Bo</p>"'}) == text


def test_moodle_says_what_was_done():
    """The old grade beside the new one, and who is missing where."""
    _, filling = filled()

    said = list(filling.said())
    assert "Grade: 4 filled, 1 changed, 0 as before" == said[0]
    assert "  Bo Ångström (Participant 102): 80.00 -> 87.50" in said
    assert "  None Homework (Participant 107)" in said
    assert "  Lee Left (left): has no row (looked for by number)" in said


def test_moodle_participant_may_be_a_number_or_all_of_the_identifier():
    """As an importer may have kept it, and as a language may write it."""
    template = WORKSHEET.replace("Participant ", "Teilnehmer/in")

    assert GRADES == cells_of(filled(template)[0], "Grade")


def test_moodle_decimal_commas_stay():
    """A worksheet of a German site: quotes, where commas are between cells too."""
    text, _ = filled(moodle_worksheet(maximum='"100,00"', bo='"80,00",{rest},'))

    assert ["82,00", "87,50", ""] == [cells_of(text, "Grade")[name] for name in ("ada", "bo", "none")]
    assert ',"82,00","100,00",Yes,' in text


def test_moodle_titles_in_another_language_are_named():
    """Moodle takes the titles of the language of whoever uploads, so they stay."""
    titles = {"identifier": "ID", "grade": "Bewertung", "maximum": "Beste Bewertung"}
    german = MOODLE_HEAD.replace("Identifier", "ID").replace("Maximum grade", "Beste Bewertung")
    template = moodle_worksheet(head=german.replace(",Grade,", ",Bewertung,"))

    text, _ = filled(template, titles=titles)

    assert GRADES == cells_of(text, "Bewertung")
    with pytest.raises(ExportError, match=r"no column 'Identifier', 'Grade', 'Maximum grade'; .* --title grade="):
        filled(template)


def test_moodle_grade_that_cannot_be_changed_is_left():
    """Locked, or overridden in the gradebook: Moodle would pass it over in silence."""
    text, filling = filled(moodle_worksheet(changeable="No"))

    assert moodle_worksheet(changeable="No") == text
    assert 5 == len(filling.kept)


def test_moodle_other_maximum_is_refused_or_scaled():
    """25 points in Moodle, 100 in the report."""
    template = moodle_worksheet(maximum="25.00", bo=",{rest},")

    with pytest.raises(ExportError, match=r"worth 25.00 points in Moodle, and 100.00 in the report; .*--scale"):
        filled(template)
    assert "17.54" == cells_of(filled(template, is_scaled=True)[0], "Grade")["wei"]


def test_moodle_worksheet_of_a_scale_of_words_is_refused():
    """There is no number of points to be reached."""
    with pytest.raises(ExportError, match=r"'Maximum grade': got 'good', wanted one number of points in every row"):
        filled(moodle_worksheet(maximum="good"))


def test_moodle_grade_above_the_maximum_is_said():
    """A bonus: Moodle does not take it."""
    one = people_report().submissions[3]
    more = {"kind": "override", "points": 5, "reason": "bonus"}
    report = people_report().model_copy(
        update={"submissions": (type(one).model_validate(dict(one) | {"final_score": 105, "adjustments": [more]}),)}
    )

    _, filling = filled(report=report)

    assert ["Jane Doe (Participant 106): 105.00 is above the maximum; Moodle passes such a grade over"] == filling.notes


# --- comments ---------------------------------------------------------------------------------------------------


def comment(text='<p>Well done, "you"</p>'):
    """A column, and a comment for everybody."""
    return "Feedback comments", lambda submission: f"{text}<p>{submission.id}</p>"


def test_moodle_comments_are_written_where_there_is_none():
    """Beside the grade, in quotes where they need them."""
    comments = cells_of(filled(feedback=comment())[0], "Feedback comments")

    assert comments["ada"].endswith('--><p>Well done, "you"</p><p>ada</p>')
    assert ["", ""] == [comments["jane1"], comments["none"]]


def test_moodle_comment_of_a_person_is_kept_and_said():
    """A TA's own words are worth more."""
    text, filling = filled(feedback=comment())

    assert "<p>Nice, Bo</p>" == cells_of(text, "Feedback comments")["bo"]
    assert ["Bo Ångström (Participant 102): has a comment that somebody wrote; it is kept"] == filling.notes


def test_moodle_comment_of_an_earlier_export_is_replaced_unless_it_was_changed():
    """After a regrade there is the new comment, but for where a person added something to ours."""
    first = filled(feedback=comment())[0].replace("<p>wang</p>", "<p>wang</p><p>see me, please</p>")

    again, filling = filled(first, feedback=comment("<p>Regraded</p>"))

    comments = cells_of(again, "Feedback comments")
    assert comments["ada"].endswith("--><p>Regraded</p><p>ada</p>")
    assert comments["wei"].endswith("<p>see me, please</p>")
    assert 2 == len(filling.notes)


def test_moodle_column_of_comments_has_to_be_there():
    """It is switched on in the assignment's settings."""
    with pytest.raises(ExportError, match=r"no column 'Kommentar'; .*comments with --feedback-column"):
        filled(feedback=("Kommentar", str))


def test_moodle_hostile_comment_stays_in_its_cell():
    """Quotes, breaks and commas of a student make no column and no row."""
    text, _ = filled(feedback=comment(HOSTILE))

    assert 8 == len(list(csv.reader(io.StringIO(text, newline=""))))
    assert HOSTILE in cells_of(text, "Feedback comments")["ada"]
