"""What an author is told of an assignment that cannot be used: where, what was found, what was wanted.

Each fault is made in a new assignment as `grade new` leaves it, and told by what `grade` and `grade verify` run.
"""

import subprocess
import sys

import pytest
from conftest import environment
from sample_course import own_reference

from grader.assignment import AssignmentError
from grader.course import Course
from grader.grade import with_grading
from grader.new.command import make
from grader.verification.axes import about_axes

TOML = "assignments/soft/assignment.toml"
CHECKS = "assignments/soft/checks/test_soft.py"
REFERENCE = "reference/soft.py"
MISTAKES = "reference/mistakes/soft.toml"


@pytest.fixture
def course(tmp_path, capsys):
    """A course with a new assignment."""
    make("soft", tmp_path)
    capsys.readouterr()
    return Course(tmp_path)


def rewrite(course, file, old, new):
    """Make a fault."""
    text = (course.folder / file).read_text(encoding="utf-8")
    assert old in text
    (course.folder / file).write_text(text.replace(old, new, 1), encoding="utf-8")


def graded(course, body=lambda grading: None):
    """Do what a run does before it grades anybody."""
    with own_reference():
        return with_grading(course, course.assignment("soft"), 1, body)


def refusal(course):
    """What is told, with places as they are in the course."""
    with pytest.raises(AssignmentError) as refused:
        graded(course)
    return str(refused.value).replace(f"{course.folder}/", "")


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        (TOML, "points = 10 ", "points = 9 ", f"{TOML}, parts.soft.points: the checks add up to 10, wanted 9"),
        (
            TOML,
            'reference = "soft:soft"',
            'reference = "sofd:soft"',
            f"{TOML} names the reference module 'sofd': no reference/sofd.py is there; did you mean 'soft'?",
        ),
        (
            TOML,
            'reference = "soft:soft"',
            'reference = "soft"',
            f"{TOML}, soft.soft.reference: got 'soft', wanted 'MODULE:NAME'",
        ),
        (
            TOML,
            "axes = { scores =",
            "axes = { score =",
            f"{TOML}, parts.soft.callables.soft.axes.score: no argument, and nothing that is returned; "
            "did you mean 'scores'?",
        ),
        (
            TOML,
            "axes = { scores",
            'sizes = { temperature = "rows" }\naxes = { scores',
            f"{TOML}, parts.soft.callables.soft.sizes.temperature: got the axis 'rows'; did you mean 'row'?",
        ),
        (
            TOML,
            "axes = { scores",
            'way = [{ name = "total", axes = ["raw"] }]\naxes = { scores',
            f"{TOML}, parts.soft.callables.soft.way.total: got the axis 'raw'; did you mean 'row'?",
        ),
        (
            REFERENCE,
            "def soft(",
            "def sofd(",
            f"{TOML}, soft.soft.reference: {REFERENCE} has no 'soft'; did you mean 'sofd'?",
        ),
        (
            REFERENCE,
            "import torch\n",
            "import torch\nimport nonesuch\n",
            f"{REFERENCE} cannot be imported: ModuleNotFoundError: No module named 'nonesuch'",
        ),
        (
            REFERENCE,
            "    logits = scores / temperature\n",
            "    logits = scores / temperature\n    scores.nonesuch()\n",
            "assignments/soft/checks: the reference itself fails soft.shape_is_that_of_the_scores (grader error), and "
            "5 more; the check or the reference is wrong\n"
            "the check itself failed: the reference of soft did not answer: "
            "AttributeError: 'Tensor' object has no attribute 'nonesuch', line 21 of soft.py: scores.nonesuch()",
        ),
        (
            CHECKS,
            "points=1, hint",
            "hint",
            "assignments/soft/checks: a file of checks cannot be read\n",
        ),
        (
            CHECKS,
            '@asked.check(points=1, hint="read the shapes in the docstring once more")\n',
            "",
            f"{CHECKS}, test_shape_is_that_of_the_scores: a test without points; wanted the decorator of a check",
        ),
        (
            CHECKS,
            'Checks("soft")',
            'Checks("sofd")',
            f"{CHECKS}, test_shape_is_that_of_the_scores: {TOML}: no callable of soft is called 'sofd'; "
            "did you mean 'soft'?",
        ),
        (
            CHECKS,
            "student(random_scores(given), 1.0).has_form()",
            "student(random(given), 1.0).has_form()",
            "the check itself failed: NameError: name 'random' is not defined (test_soft.py, line 23)",
        ),
        (
            CHECKS,
            'gradients_match("scores")',
            'gradients_match("score")',
            "the check asks for 'score', wanted an input with a gradient; did you mean 'scores'?",
        ),
        (
            CHECKS,
            "2.5, gradients=True).gradients_match",
            "1.5).gradients_match",
            "the check asks for gradients of a call that was made without gradients=True",
        ),
        (
            CHECKS,
            "1.0).matches()",
            '1.0).matches("probability")',
            "the check asks for 'probability', wanted a value that the reference of soft gives; "
            "did you mean 'probabilities'?",
        ),
        (
            MISTAKES,
            'new = "scores * temperature"',
            'new = "scores * ("',
            "soft-multiplied-by-temperature: an edit of soft in reference/soft.py is no Python",
        ),
    ],
)
def test_author_fault_is_told_with_where_and_what(course, file, old, new, told):
    """Before any student is graded."""
    rewrite(course, file, old, new)

    assert told in refusal(course)


def test_author_new_assignment_has_no_fault(course):
    """The faults above are those that were made."""
    assert graded(course, lambda grading: True)


def test_author_check_that_cannot_be_read_is_told_by_its_line_alone(course):
    """Not by the way on which pytest came there."""
    rewrite(course, CHECKS, "points=1, hint", "hint")

    lines = refusal(course).splitlines()
    assert lines[1].endswith("test_soft.py:20: in <module>")
    assert lines[-1].endswith("TypeError: Checks.check() missing 1 required keyword-only argument: 'points'")
    assert len(lines) <= 5


def test_author_folder_without_checks_is_told(course):
    """And what was wanted there."""
    for file in (course.folder / "assignments/soft/checks").iterdir():
        file.unlink()
    (course.folder / "assignments/soft/checks").rmdir()

    assert "assignments/soft/checks: no such folder; wanted the checks, test_<part>.py" == refusal(course)


def test_author_axes_that_fit_no_call_do_not_hold(course):
    """Which axis, which lengths, and where they are."""
    rewrite(course, TOML, '{ scores = ["row", "column"], probabilities', '{ scores = ["row", "row"], probabilities')

    claim = graded(course, about_axes)

    assert not claim.holds
    assert "soft: the axis row is 5 in scores, and 3 in scores" in claim.complaints


def test_author_axes_that_are_too_few_do_not_hold(course):
    """A message could name none of those that are missing."""
    rewrite(course, TOML, 'probabilities = ["row", "column"]', 'probabilities = ["column"]')

    claim = graded(course, about_axes)

    assert "soft: probabilities [3, 5] has more axes than ['column']" in claim.complaints


def test_author_fault_of_a_check_is_told_by_pytest_in_a_line(course):
    """`pytest CHECKS --submission FOLDER` shows no traceback through pytest itself."""
    rewrite(course, CHECKS, '@asked.check(points=1, hint="read the shapes in the docstring once more")\n', "")
    words = ["pytest", "assignments/soft/checks", "--submission", "submissions_example/soft/right"]
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=course.folder, env=environment(), capture_output=True, text=True
    )

    assert 4 == done.returncode
    assert "test_shape_is_that_of_the_scores: a test without points" in done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert "INTERNALERROR" not in done.stdout + done.stderr
