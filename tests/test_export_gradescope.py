"""results.json: of the form Gradescope documents, with points that say one thing, and only what a student may see."""

import json
from datetime import date
from decimal import Decimal

import jsonschema
import pytest
from sample_findings import make_diagnosis
from sample_people import ADA, DECIDED, LATE, alone, people_report, submission_of
from sample_report import HOSTILE, make_check, make_report, make_submission, sample_class

from grader.export.error import ExportError
from grader.export.gradescope import results_json
from grader.report import Feedback, Status
from grader.student_view import student_view
from grader.verdict import Verdict

_FORMAT = {"enum": ["text", "html", "simple_format", "md", "ansi"]}
_VISIBILITY = {"enum": ["hidden", "after_due_date", "after_published", "visible"]}
_TEST = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "score": {"type": "number"},
        "max_score": {"type": "number"},
        "status": {"enum": ["passed", "failed"]},
        "name": {"type": "string"},
        "name_format": _FORMAT,
        "number": {"type": "string"},
        "output": {"type": "string"},
        "output_format": _FORMAT,
        "tags": {"type": "array", "items": {"type": "string"}},
        "visibility": _VISIBILITY,
        "extra_data": {"type": "object"},
    },
}
#: From Gradescope's autograder specifications; strict about names, which Gradescope is not.
SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["score"],
    "properties": {
        "score": {"type": "number"},
        "execution_time": {"type": "number"},
        "output": {"type": "string"},
        "output_format": _FORMAT,
        "test_output_format": _FORMAT,
        "test_name_format": _FORMAT,
        "visibility": _VISIBILITY,
        "stdout_visibility": _VISIBILITY,
        "extra_data": {"type": "object"},
        "tests": {"type": "array", "items": _TEST},
        "leaderboard": {"type": "array"},
    },
}


def text_of(submission, level="hint"):
    """The file of one submission."""
    report = make_report(submission)
    return results_json(student_view(report, submission, Feedback(level=level), date(2026, 11, 30)))


def results_of(submission, level="hint"):
    """What a parser reads of it."""
    return json.loads(text_of(submission, level), parse_float=Decimal, parse_int=Decimal)


def named(name):
    """A submission of the sample class."""
    return next(one for one in sample_class().submissions if one.id == name)


def points_of(results):
    """The sum over all tests."""
    return sum(test.get("score", 0) for test in results["tests"])


@pytest.mark.parametrize("level", ["verdict", "hint", "full"])
def test_gradescope_every_submission_of_a_class_is_of_the_documented_form(level):
    """Whatever was handed in, but for what the grader failed on."""
    validator = jsonschema.Draft202012Validator(SCHEMA)

    for submission in sample_class().submissions:
        if submission.status is not Status.GRADER_ERROR:
            validator.validate(json.loads(text_of(submission, level)))


def test_gradescope_points_of_the_tests_add_up_to_the_score():
    """Of everybody in a class, those included whose mistakes were charged instead of checks."""
    scored = [one for one in sample_class().submissions if one.status is Status.GRADED]

    results = [results_of(one) for one in scored]

    assert [one.score for one in scored] == [one["score"] for one in results]
    assert [one.score for one in scored] == [points_of(one) for one in results]


def test_gradescope_part_whose_mistakes_are_charged_has_its_points_in_one_test():
    """The checks below it say what fails, and no points that would contradict the part's."""
    results = results_of(named("chidi_okafor"))

    tests = {test["number"]: test for test in results["tests"]}
    assert [27, 30, "failed"] == [tests["1"][name] for name in ("score", "max_score", "status")]
    assert "The scores are divided by d, not by the square root of d (−3.00)" in tests["1"]["output"]
    assert not any("score" in test for number, test in tests.items() if number.startswith("1."))
    assert "score" in tests["3.1"] and "3" not in tests


def test_gradescope_score_is_what_counts_and_the_way_to_it_is_told():
    """Late days and decisions, with their reasons, above the tests."""
    results = results_of(submission_of("ada", 92, [ADA], adjustments=[LATE, DECIDED]))

    assert Decimal("85.5") == results["score"]
    assert "The code earned 92.00 points." in results["output"]
    assert "- Handed in late: -10.00 points. 2 days late, 5 points a day" in results["output"]
    assert "- Decided by the course staff about “Output and weights are right”: +3.50 points." in results["output"]


def test_gradescope_numbers_have_the_digits_of_the_points():
    """No binary fraction is seen on the way."""
    text = text_of(submission_of("wang", "66.67"))

    assert '"score": 66.67,' in text and '"max_score": 100,' in text


def test_gradescope_everything_is_plain_text():
    """Where no format is named, Gradescope reads some texts as HTML."""
    text = text_of(named(HOSTILE))

    results = json.loads(text)
    assert {"text"} == {results[name] for name in ("output_format", "test_output_format", "test_name_format")}
    assert {("text", "text")} == {(test["output_format"], test["name_format"]) for test in results["tests"]}
    assert not {"\x1b", "\u202e", "\u200b"} & set("".join(test["output"] for test in results["tests"]))


def test_gradescope_every_test_is_visible():
    """One that is not would take the total away from the student."""
    results = results_of(named("mei"))

    assert {"visible"} == {test["visibility"] for test in results["tests"]} | {results["visibility"]}
    assert "hidden" == results["stdout_visibility"]


def test_gradescope_hidden_check_tells_title_and_verdict():
    """Nothing of its message, output or id."""
    check = make_check(visible=False, id="test_secret", message="secret message", output="secret", hint="secret hint")

    text = text_of(make_submission(checks=[check]))

    assert "secret" not in text
    assert ["Output and weights are right (hidden check)", "✗ wrong value"] == [
        test[name] for test in json.loads(text)["tests"] for name in ("name", "output") if test["number"] == "1.1"
    ]


def test_gradescope_mistake_is_named_above_and_in_its_checks():
    """By its title, with the hint, and the explanation at level full only."""
    submission = make_submission(diagnoses=[make_diagnosis(explanation="because of that")])

    hint, full = text_of(submission), results_of(submission, "full")

    assert "because of that" not in hint and "because of that" in full["output"]
    assert "The scores are divided by d, not by the square root of d" in full["output"]
    assert any("Explained by: The scores are divided by d" in test["output"] for test in full["tests"])


def test_gradescope_submission_that_the_grader_failed_on_has_no_results():
    """No 0 and no file: Gradescope shows that the autograder failed."""
    with pytest.raises(ExportError, match="jane: the grader failed on it, so there are no results to write"):
        text_of(people_report().submissions[-1])


def test_gradescope_decision_of_staff_counts_where_the_grader_failed():
    """Then there is a score, and a test that says so without what the grader said of itself."""
    check = make_check(verdict=Verdict.GRADER_ERROR, score=None, message="/srv/grader/secret.py")
    failed = make_submission(
        status=Status.GRADER_ERROR,
        score=None,
        reason="/srv/grader died",
        parts=(),
        checks=[check],
        adjustments=[{"kind": "override", "points": 80, "reason": "read by hand"}],
        final_score=80,
    )

    text = text_of(failed)

    assert 80 == json.loads(text)["score"]
    assert "/srv" not in text


def test_gradescope_submission_that_cannot_be_read_says_why():
    """A score of 0, and a test that tells what to hand in."""
    results = results_of(named("jonas-late"))

    assert 0 == results["score"]
    (test,) = results["tests"]
    assert ["failed", named("jonas-late").reason] == [test["status"], test["output"]]


def test_gradescope_perfect_submission_passes_every_test():
    """And has the full score."""
    results = results_of(alone().submissions[0])

    assert {"passed"} == {test["status"] for test in results["tests"]}
    assert 100 == results["score"] == points_of(results)
