"""report.json: what it holds, how it is written and read."""

import json
from decimal import Decimal
from pathlib import Path

import jsonschema
import pytest
from sample_findings import make_diagnosis
from sample_report import HOSTILE, make_check, make_header, make_report, make_submission, sample_class

import grader.report
from grader.record import round_score
from grader.report import Report, Status, first_problem
from grader.report_json import ReportError, from_json, json_chunks, json_schema, submission_from_json, to_json
from grader.verdict import Verdict

SCHEMA = Path(grader.report.__file__).with_name("report.schema.json")


@pytest.mark.parametrize(
    ("points", "rounded"), [("0.005", "0.01"), ("2.675", "2.68"), ("1.994", "1.99"), ("7", "7.00")]
)
def test_round_score_halves_go_up(points, rounded):
    """Scores are rounded as students round them, not to even."""
    assert rounded == str(round_score(Decimal(points)))


def test_score_of_a_float_is_rounded_by_its_decimal_digits():
    """2.675 is a little less than itself in binary; students see 2.68."""
    check = make_check(score=2.675, max_score=3)

    assert Decimal("2.68") == check.score


@pytest.mark.parametrize("score", ["-0.01", "nan", "inf", "1e30"])
def test_score_that_is_no_number_of_points_is_refused(score):
    """A negative, infinite or absurd score is a fault of the grader and must not be written."""
    with pytest.raises(ValueError, match="score"):
        make_check(score=score)


def test_score_in_json_is_a_number():
    """Readers of the file need no knowledge of decimals."""
    written = json.loads(to_json(make_check(score="12.50", max_score=20)))

    assert (12.5, 20.0) == (written["score"], written["max_score"])


def test_check_grader_error_with_zero_points_is_refused():
    """A fault of the grader is never a student's zero."""
    with pytest.raises(ValueError, match="null score exactly for verdict grader_error"):
        make_check(verdict=Verdict.GRADER_ERROR, score=0)


def test_check_other_verdict_without_score_is_refused():
    """Everything else is a score."""
    with pytest.raises(ValueError, match="null score exactly for verdict grader_error"):
        make_check(verdict=Verdict.BLOCKED, score=None)


def test_submission_grader_error_with_zero_points_is_refused():
    """A fault of the grader is never a student's zero, over the whole submission either."""
    with pytest.raises(ValueError, match="null score exactly for status grader_error"):
        make_submission(status=Status.GRADER_ERROR, score=0, reason="the examiner died")


def test_submission_ungradable_without_reason_is_refused():
    """A zero needs a reason."""
    with pytest.raises(ValueError, match="null reason exactly for status graded"):
        make_submission(status=Status.UNGRADABLE, score=0)


def test_report_two_submissions_of_one_id_are_refused():
    """An id names one student."""
    with pytest.raises(ValueError, match="two are 'ada'"):
        make_report(make_submission(), make_submission())


def test_record_misspelt_field_is_refused():
    """A record takes the names of the contract and no others."""
    with pytest.raises(ValueError, match="mesage"):
        make_check(mesage="")


def test_record_is_frozen():
    """No stage changes what an earlier one concluded."""
    check = make_check()

    with pytest.raises(ValueError, match="frozen"):
        check.score = Decimal(2)


def test_student_text_bytes_that_are_no_utf8_are_spelt_out():
    """A folder's name that is not UTF-8 is still written, and still tells its bytes."""
    submission = make_submission(id="ad\udce9\ud800é")

    assert r"ad\xe9\ud800é" == submission.id
    assert submission == submission_from_json(to_json(submission), "ada.json")


def test_to_json_same_report_gives_same_bytes():
    """Two equal reports are equal files."""
    assert to_json(sample_class()) == to_json(sample_class())


def test_to_json_ends_in_a_newline_and_is_indented_by_two():
    """The file reads well in an editor and in a diff."""
    text = to_json(make_report())

    assert text.startswith('{\n  "schema_version": 1,\n  "created": "2026-11-29T17:50:00Z",\n  "seed": 7,\n')
    assert text.endswith("]\n}\n")


def test_to_json_hostile_text_is_harmless_when_printed():
    """A person who prints the file sees escapes, and the reader of the file gets the text back."""
    submission = make_submission(id=HOSTILE)

    text = to_json(submission)

    assert text.replace("\n", "").isprintable()
    assert HOSTILE == json.loads(text)["id"]


@pytest.mark.parametrize("count", [0, 1, 20])
def test_json_chunks_join_to_the_whole_file(count):
    """A report written piece by piece is the same file."""
    report = make_report(*sample_class().submissions[:count])

    text = "".join(json_chunks(report, iter(report.submissions)))

    assert to_json(report) == text


def test_from_json_reads_back_what_was_written():
    """Nothing is lost on the way through the file."""
    report = sample_class()

    assert report == from_json(to_json(report), "report.json")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('{\n  "schema', "", "report.json: got expected value at line 1 column 1, wanted JSON"),
        (
            '"schema_version": 1',
            '"schema_version": 2, "later": true',
            "report.json, schema_version: got 2, wanted 1: read it with the version of grade that wrote it",
        ),
        ('"seed"', '"sede"', "report.json, sede: got 7, wanted no field of this name"),
        ('"seed": 7,', "", "report.json, seed: got nothing, wanted a value"),
        (
            '"wrong_value"',
            '"wrong_valeu"',
            "(did you mean 'wrong_value'?)",
        ),
        (
            '"status": "graded"',
            '"status": "gradde"',
            "0.status: got 'gradde', wanted 'graded', 'ungradable' or 'grader_error' (did you mean 'graded",
        ),
        (
            '"max_score": 2.0',
            '"max_score": "two"',
            "report.json, submissions.0.checks.0.max_score: got 'two', wanted",
        ),
    ],
)
def test_from_json_broken_report_says_where_what_and_wanted(old, new, message):
    """The message leads to the field and says what belongs there."""
    text = to_json(make_report(make_submission())).replace(old, new, 1)

    with pytest.raises(ReportError) as caught:
        from_json(text, "report.json")

    assert message in str(caught.value)
    assert caught.value.where.startswith("report.json")


def test_json_schema_file_is_current():
    """The schema in the repository is the one of the records; `python -m grader.report_json` prints it."""
    assert json.dumps(json_schema(), indent=2) + "\n" == SCHEMA.read_text()


def test_json_schema_accepts_a_whole_class():
    """What the grader writes keeps the contract it publishes."""
    schema = json.loads(SCHEMA.read_text())

    jsonschema.validate(json.loads(to_json(sample_class())), schema, jsonschema.Draft202012Validator)


def test_json_schema_refuses_an_unknown_field():
    """The schema is as strict as the records."""
    written = json.loads(to_json(make_report(make_submission())))
    written["submissions"][0]["grade"] = "A"

    with pytest.raises(jsonschema.ValidationError, match="grade"):
        jsonschema.validate(written, json_schema(), jsonschema.Draft202012Validator)


def test_json_schema_describes_every_field():
    """Each field says what it holds."""
    records = [json_schema(), *json_schema()["$defs"].values()]

    missing = [
        name for record in records for name, field in record.get("properties", {}).items() if "description" not in field
    ]

    assert [] == missing


def test_report_is_its_own_header():
    """Functions that need only the header take the report as it is."""
    assert isinstance(Report(**dict(make_header())), grader.report.RunHeader)


def test_first_problem_all_passed_is_empty():
    """There is nothing to say about what is right."""
    submission = make_submission(checks=[make_check(verdict=Verdict.PASSED, score=2, message="")])

    assert "" == first_problem(submission)


def test_first_problem_names_part_verdict_and_check():
    """One line tells where, what kind, and what was asked."""
    assert "single_head: wrong value: Output and weights are right" == first_problem(make_submission())


def test_first_problem_recognised_mistake_is_named_with_its_part():
    """A mistake with a name says more than any check."""
    submission = make_submission(diagnoses=[make_diagnosis(part="masked"), make_diagnosis(title="Another")])

    assert "masked: The scores are divided by d, not by the square root of d" == first_problem(submission)


def test_first_problem_blocked_check_yields_to_its_cause():
    """What is blocked is never the problem while something else is."""
    blocked = make_check(id="b", title="Gradients", verdict=Verdict.BLOCKED, message="")
    submission = make_submission(checks=[blocked, make_check()])

    assert "single_head: wrong value: Output and weights are right" == first_problem(submission)


def test_first_problem_import_error_tells_the_error_and_not_the_check():
    """When a file does not load, no single check is the problem."""
    error = make_check(
        verdict=Verdict.IMPORT_ERROR, message="single_head.py: SyntaxError on line 31\n  line 31   x = ("
    )
    submission = make_submission(checks=[make_check(id="a"), error])

    assert "single_head: file does not load: single_head.py: SyntaxError on line 31" == first_problem(submission)


def test_first_problem_ungradable_tells_the_reason_in_one_line():
    """A reason of several lines is joined, and a long one is cut."""
    submission = make_submission(status=Status.UNGRADABLE, score=0, reason="no stub file found:\n  " + "x" * 300)

    problem = first_problem(submission)

    assert problem.startswith("ungradable: no stub file found: xxx")
    assert (160, "…") == (len(problem), problem[-1])
