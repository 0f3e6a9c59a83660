"""results.json of one submission, as Gradescope's autograder reads it.

Source: gradescope/autograder_samples, docs/specs.md. Every format is named as `text`: what is left out is taken for
HTML in places, and a student's characters would be markup there. All tests are visible, for a test that is not takes
the total away from the student; of a hidden check a `StudentView` tells no more than title, verdict and points.

The points of the tests never say anything else than the total. Where mistakes were charged instead of checks, the
checks of that part have a status and no points, and one test of the part's own has its points. What was done to the
score after grading is in the total, and in the text above the tests.

A submission that the grader failed on has no results: Gradescope takes a missing results.json as a failure of the
autograder, which is what it is, and staff can run it again (docs/troubleshooting.md). A 0 would be a lie.
"""

import json
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

from grader.export.error import ExportError
from grader.report import Status
from grader.show import for_json, for_terminal
from grader.student_records import StudentCheck, StudentDiagnosis, StudentPart, StudentView
from grader.student_view import GRADER_FAILED
from grader.told.paragraphs import Kind, Paragraph, as_text, charged_texts, mistake_paragraphs, points_of
from grader.verdict import Verdict

Test = dict[str, Any]
_FORMATS = {"output_format": "text", "test_output_format": "text", "test_name_format": "text"}
_TEST_FORMATS = {"output_format": "text", "name_format": "text", "visibility": "visible"}
#: Characters of printed text in a test.
_MOST_PRINTED = 4000


def results_json(view: StudentView) -> str:
    """Write results.json.

    Raises:
        ExportError: the grader failed on the submission and nobody decided a score.
    """
    if view.final_score is None:
        raise ExportError(
            f"{view.id}: the grader failed on it, so there are no results to write. Gradescope takes a missing "
            "results.json as a failure of the autograder, which is no 0; grade it again, with --resume"
        )
    results = {
        "score": _number(view.final_score),
        "visibility": "visible",
        "stdout_visibility": "hidden",
        **_FORMATS,
        "output": as_text([*points_of(view), *mistake_paragraphs(view), *_facts(view)]),
        "tests": [*_whole(view), *_tests(view)],
    }
    return for_json(json.dumps(results, ensure_ascii=False, indent=2)) + "\n"


def _number(points: Decimal) -> int | float:
    """A JSON number with the digits of the points; two places of a million survive the way, as the shortest form."""
    return int(points) if points == points.to_integral_value() else float(points)


def _facts(view: StudentView) -> Iterator[Paragraph]:
    seed = "" if view.seed is None else f", seed {view.seed}"
    yield Paragraph(kind=Kind.HEADING, text=f"Grader {view.grader_version}, torch {view.torch}{seed}.")


def _whole(view: StudentView) -> Iterator[Test]:
    """A test for what concerns all of the submission, where it could not be read or the grader failed in it."""
    if view.status is not Status.GRADED:
        yield _test("0", "The submission can be read and graded", is_passed=False, output=view.reason or "")


def _tests(view: StudentView) -> Iterator[Test]:
    explained = {check: diagnosis for diagnosis in view.diagnoses for check in diagnosis.checks}
    for number, part in enumerate(view.parts, 1):
        checks = [check for check in view.checks if check.part == part.name]
        is_by_checks = _is_by_checks(part, checks)
        if not is_by_checks:
            yield _part_test(str(number), part)
        for place, check in enumerate(checks, 1):
            yield _check_test(f"{number}.{place}", check, explained.get(check.id), is_by_checks)


def _is_by_checks(part: StudentPart, checks: Sequence[StudentCheck]) -> bool:
    """Whether the points of a part are those of its checks."""
    return part.score is not None and part.score == sum((check.score or Decimal(0) for check in checks), Decimal(0))


def _part_test(number: str, part: StudentPart) -> Test:
    charged = [f"- {text}" for text in charged_texts(part)]
    output = "\n".join(
        [
            "The points of this part stand here, all of them; its checks below say what passes and what does not.",
            *(["Known mistakes explain what fails, and each is charged once:"] if charged else []),
            *charged,
        ]
    )
    points = {} if part.score is None else _points(part.score, part.max_score)
    is_passed = part.score is not None and part.score >= part.max_score
    return _test(number, f"{part.title}: points", is_passed=is_passed, output=output, **points)


def _check_test(number: str, check: StudentCheck, diagnosis: StudentDiagnosis | None, has_points: bool) -> Test:
    is_passed = check.verdict is Verdict.PASSED
    points = _points(check.score, check.max_score) if has_points and check.score is not None else {}
    name = check.title if check.visible else f"{check.title} (hidden check)"
    return _test(number, name, is_passed=is_passed, output="\n\n".join(_said(check, diagnosis)), **points)


def _points(score: Decimal, max_score: Decimal) -> dict[str, int | float]:
    return {"score": _number(score), "max_score": _number(max_score)}


def _said(check: StudentCheck, diagnosis: StudentDiagnosis | None) -> Iterator[str]:
    if check.verdict is not Verdict.PASSED:
        yield (
            GRADER_FAILED if check.verdict is Verdict.GRADER_ERROR else f"{check.verdict.marker} {check.verdict.label}"
        )
    if diagnosis:
        yield f"Explained by: {diagnosis.title}"
    if check.blocked_by and not check.message:
        yield f"Judged once this is right: {check.blocked_by}"
    if check.message and check.verdict is not Verdict.GRADER_ERROR:
        yield check.message
    if check.hint:
        yield f"Hint: {check.hint}"
    if check.output:
        is_cut = check.output_cut or len(check.output) > _MOST_PRINTED
        yield f"Printed{' (the beginning)' if is_cut else ''}:\n{check.output[:_MOST_PRINTED]}"


def _test(number: str, name: str, *, is_passed: bool, output: str, **points: int | float) -> Test:
    test: Test = {"number": number, "name": for_terminal(name), "status": "passed" if is_passed else "failed"}
    return {**test, **points, "output": for_terminal(output), **_TEST_FORMATS}
