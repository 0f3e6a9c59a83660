"""Checks in an open pytest session: order, prerequisites, results, and what is whose fault."""

import textwrap

import pytest
import torch
from sample_course import Pupil, own_reference, write_course

from grader.assignment import AssignmentError
from grader.examination import Examination
from grader.examine import ExamineError, with_checks
from grader.given import Inputs
from grader.oracle import Oracle
from grader.sources import Sources
from grader.verdict import Verdict

HEAD = "import torch\nfrom grader.checks import Checks\n\nmix = Checks('mix')\n\n"
RIGHT = {
    "mix": lambda query, key, mask=None: (query * key, query + key),
    "gate": lambda length: torch.ones(length, length, dtype=torch.bool).tril(),
    "Scale": lambda size: ScaleOfPupil(size),
}


class ScaleOfPupil(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.proj = torch.nn.Linear(size, size + 1)

    def forward(self, query):
        return self.proj(query)


@pytest.fixture
def course(tmp_path):
    """The tiny course, whose name `reference` ends with the test."""
    with own_reference():
        yield write_course(tmp_path)


@pytest.fixture
def examined(course):
    """Put the checks to callables, in turn, in one session; `checks` replaces those of `mix`, worth 4 points."""

    def run(*pupils, checks=None):
        if checks is not None:
            text = HEAD + textwrap.dedent(checks)
            (course.folder / "assignments/tiny/checks/test_mix.py").write_text(text, encoding="utf-8")
        assignment = course.assignment("tiny")
        inputs = Inputs(1)
        oracle = Oracle(course.reference, assignment, inputs)
        sources = Sources(texts=dict.fromkeys(assignment.files, ""))

        def body(checking):
            return [
                checking.examine(Examination(assignment, inputs, oracle, Pupil(RIGHT | pupil), sources))
                for pupil in pupils
            ]

        return with_checks(assignment, body)

    return run


def verdicts(examined):
    """Verdicts by the check's name."""
    return {result.id.partition(".")[2]: result.verdict for result in examined.results}


def result_of(examined, name):
    """The result of one check."""
    return next(result for result in examined.results if result.id.endswith(f".{name}"))


def test_examine_right_code_passes_every_check(examined):
    """One result for each check."""
    (right,) = examined({})

    assert {"output": "passed", "scale": "passed", "gate": "passed"} == verdicts(right)


def test_examine_visible_checks_run_before_hidden_ones(examined):
    """What a visible check prints cannot come from a hidden one's inputs."""
    (right,) = examined({})

    assert [True, True, False] == [spec.is_visible for spec in right.specs]


def test_examine_second_submission_is_not_judged_by_the_first(examined):
    """A session outlives a submission, its results do not."""
    wrong, right = examined({"mix": lambda query, key, mask=None: (query, key)}, {})

    assert ("wrong_value", "passed") == (verdicts(wrong)["output"], verdicts(right)["output"])


CHAIN = """
    @mix.check(points=1)
    def test_first(student, given):
        student(given.normal("query", 2, 3), given.normal("key", 2, 3)).matches("output")

    @mix.check(points=3, requires="first")
    def test_second(student, given):
        student(given.normal("query", 2, 3), given.normal("key", 2, 3)).leaves_inputs_unchanged()
"""


def test_examine_prerequisite_failed_blocks_a_check_that_would_pass(examined):
    """A constant leaves its inputs unchanged, too."""
    (wrong,) = examined({"mix": lambda query, key, mask=None: (query, key)}, checks=CHAIN)
    second = result_of(wrong, "second")

    assert (Verdict.BLOCKED, "mix.first") == (second.verdict, second.blocked_by)
    assert "not judged yet: first make this one pass: First" == second.message


def test_examine_blocked_check_is_still_asked(examined):
    """A diagnosis needs every answer there is."""
    calls = []

    def mix(query, key, mask=None):
        calls.append(1)
        return query, key

    other = CHAIN.replace('given.normal("key", 2, 3)).leaves', 'given.normal("other key", 2, 3)).leaves')
    examined({"mix": mix}, checks=other)

    assert 3 == len(calls)  # the first, the same once more to see whether it is stable, and the second


def test_examine_plain_assertion_of_a_check_is_a_wrong_value(examined):
    """The checks are plain pytest."""
    checks = """
        @mix.check(points=4)
        def test_plain(student, given):
            answer = student(given.normal("query", 2, 3), given.normal("key", 2, 3))
            assert answer.value("output").sum() > 1e9, "too small"
    """
    (wrong,) = examined({}, checks=checks)
    plain = result_of(wrong, "plain")

    assert (Verdict.WRONG_VALUE, "a claim of this check does not hold\n  wanted    too small") == (
        plain.verdict,
        plain.message,
    )


@pytest.mark.parametrize(
    "line",
    ["raise RuntimeError('broken check')", "given.normal('query', 'two')", "torch.testing.assert_close(1, 2)"],
    ids=["raises", "misused", "assertion-elsewhere"],
)
def test_examine_broken_check_is_a_fault_of_the_grader(examined, line):
    """Never a student's zero, whatever the check ran into."""
    checks = f"""
        @mix.check(points=4)
        def test_broken(student, given):
            {line}
    """
    (faulty,) = examined({}, checks=checks)

    assert Verdict.GRADER_ERROR is result_of(faulty, "broken").verdict


def test_examine_file_that_cannot_be_collected_names_the_file(examined):
    """A mistake of an author is told to the author."""
    with pytest.raises(ExamineError, match=r"test_mix\.py[\s\S]*NameError|NameError[\s\S]*test_mix\.py"):
        examined({}, checks="undefined_name")


def test_examine_points_that_do_not_add_up_are_refused(examined):
    """The checks add up to what the part is worth."""
    checks = """
        @mix.check(points=3)
        def test_cheap(student):
            pass
    """

    with pytest.raises(AssignmentError, match=r"parts\.mix\.points: the checks add up to 5, wanted 6"):
        examined({}, checks=checks)


def test_examine_error_of_the_body_comes_through(course):
    """Pytest swallows nothing that its caller must see."""

    def body(checking):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        with_checks(course.assignment("tiny"), body)


def test_examine_options_of_a_persons_own_tests_change_nothing(examined, monkeypatch):
    """PYTEST_ADDOPTS must not decide a grade."""
    monkeypatch.setenv("PYTEST_ADDOPTS", "-k nothing --collect-only")

    (right,) = examined({})

    assert 3 == len(right.results)


def test_examine_check_that_is_worth_nothing_is_the_assignment_s_fault(examined, capsys):
    """Told in a line, and by no traceback through pytest."""
    check = """
        @mix.check(points=0)
        def test_output(student):
            pass
    """

    with pytest.raises(AssignmentError, match="test_output: points must be a positive number"):
        examined({}, checks=check)

    assert "INTERNALERROR" not in "".join(capsys.readouterr())
