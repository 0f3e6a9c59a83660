"""What the GitHub action tells later steps of a job."""

import pytest
from sample_report import make_header, make_submission

from grader.package.outputs import main, outputs
from grader.report import Report, Status
from grader.report_json import to_json


def report(*submissions):
    """A report of these."""
    header = make_header()
    return Report(**{name: getattr(header, name) for name in type(header).model_fields}, submissions=submissions)


def test_outputs_of_one_submission_are_its_figures():
    """What the code earned, what counts, what there is, and how it was."""
    one = make_submission()

    found = outputs(report(one))

    assert {"score", "final-score", "max-score", "status"} == set(found)
    assert (f"{one.score:.2f}", f"{one.final_score:.2f}", "graded") == (
        found["score"],
        found["final-score"],
        found["status"],
    )


def test_outputs_of_one_that_the_grader_failed_on_are_no_zero():
    """There is no score."""
    failed = make_submission(
        status=Status.GRADER_ERROR, score=None, reason="it failed", parts=(), checks=(), diagnoses=()
    )

    found = outputs(report(failed))

    assert ("", "", "grader_error") == (found["score"], found["final-score"], found["status"])


def test_outputs_of_several_submissions_name_no_ones_score():
    """A class has no score."""
    found = outputs(report(make_submission(id="ada"), make_submission(id="lin")))

    assert ("", "", "") == (found["score"], found["final-score"], found["status"])


def test_outputs_are_lines_whatever_a_student_is_called(tmp_path, capsys):
    """Nothing that a student chose is among them."""
    path = tmp_path / "report.json"
    path.write_text(to_json(report(make_submission(id="x\nscore=100"))), encoding="utf-8")

    code = main([str(path)])

    assert (0, 4) == (code, len(capsys.readouterr().out.splitlines()))


@pytest.mark.parametrize("arguments", [[], ["nowhere/report.json"]])
def test_outputs_without_a_report_say_so(arguments, capsys):
    """On standard error, so that no step takes it for an output."""
    code = main(arguments)
    said = capsys.readouterr()

    assert (2, "") == (code, said.out)
    assert "report" in said.err.lower()
