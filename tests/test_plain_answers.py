"""Callables that return numbers and words: judged, recognised, handed out and checked at home."""

import shutil
from datetime import date

import numpy as np
import pytest
import torch
from conftest import write_files
from handed_out import hand_out
from sample_course import Pupil, examination_of, own_reference

from grader.checks import Student
from grader.course import Course
from grader.failure import CheckFailed
from grader.grade import with_grading
from grader.handout.recorded import with_record
from grader.oracle import OracleError
from grader.selfcheck.desk import Desk
from grader.selfcheck.session import find_subject
from grader.verdict import Verdict
from grader.verification.trials import attempt

ASSIGNMENT = """\
title = "Counting"
published_seed = 5

[feedback]
level = "hint"

[[parts]]
name = "count"
title = "Counting"
points = 6

[parts.callables.steps]
kind = "function"
arguments = ["rows", "columns"]
returns = ["steps"]
reference = "count:steps"

[parts.callables.share]
kind = "function"
arguments = ["rows", "columns"]
returns = ["share"]
reference = "count:share"

[parts.callables.longer]
kind = "function"
arguments = ["rows", "columns"]
returns = ["longer"]
reference = "count:longer"

[parts.callables.shape]
kind = "function"
arguments = ["rows", "columns"]
returns = ["shape"]
reference = "count:shape"

[parts.callables.both]
kind = "function"
arguments = ["rows", "columns"]
returns = ["product", "is_square", "sum"]
reference = "count:both"
"""
REFERENCE = """\
import torch


def steps(rows, columns):
    products = rows * columns
    return 2 * products


def share(rows, columns):
    return rows / (1000 * columns)


def longer(rows, columns):
    return "the rows" if rows > columns else "the columns"


def shape(rows, columns):
    return (rows, columns, rows)


def both(rows, columns):
    return (rows, columns), rows == columns, torch.ones(rows, columns)
"""
MISTAKES = """\
[[mistake]]
id = "counted-once"
title = "Each product is counted once"
explanation = "A product is added up too, and that is a step of its own."
hint = "What is done with a product once it is there?"
price = 1
edits = [{ file = "count.py", old = "2 * products", new = "products" }]

[[mistake]]
id = "squared"
title = "The rows are taken twice"
explanation = "There is a product for each row and column."
hint = "Which two lengths does a matrix have?"
price = 1
edits = [{ file = "count.py", old = "rows * columns", new = "rows * rows" }]

[[mistake]]
id = "percent"
title = "The share is ten times too large"
explanation = "A thousand columns are meant."
hint = "How many columns are meant?"
price = 1
edits = [{ file = "count.py", old = "1000 * columns", new = "100 * columns" }]

[[mistake]]
id = "shorter"
title = "The shorter one is named"
explanation = "What is longer is asked for."
hint = "Which of 2 and 3 is larger?"
price = 1
edits = [{ file = "count.py", old = "rows > columns", new = "rows < columns" }]
"""
CHECKS = '''\
import torch
from grader.checks import Checks

steps, share, longer = Checks("steps"), Checks("share"), Checks("longer")
shape, both = Checks("shape"), Checks("both")


@steps.check(points=2, hint="what is done with a product?")
def test_steps(student, given):
    """Two for each product."""
    student(3, 4).says("steps")
    student(given.whole("rows", 10, 99), given.whole("columns", 100, 999)).says()


@share.check(points=1)
def test_share(student):
    """Of a thousand."""
    student(3, 4).says()
    student(7, 3).says()


@longer.check(points=1)
def test_longer(student):
    """One of two words."""
    student(3, 4).says(among=("the rows", "the columns"))
    student(5, 4).says(among=("the rows", "the columns"))


@shape.check(points=1)
def test_shape(student):
    """Three lengths."""
    student(3, 4).says()


@both.check(points=1)
def test_both(student):
    """A shape, a yes or no, and a tensor."""
    answer = student(3, 4)
    answer.says()
    answer.matches()
'''
STUB = "\n\n".join(
    f"def {name}(rows, columns):\n    raise NotImplementedError\n"
    for name in ("steps", "share", "longer", "shape", "both")
)
COURSE = {
    "reference/__init__.py": "",
    "reference/count.py": REFERENCE,
    "reference/mistakes/count.toml": MISTAKES,
    "assignments/tiny/README.md": "# Counting\n",
    "assignments/tiny/assignment.toml": ASSIGNMENT,
    "assignments/tiny/stub/count.py": STUB,
    "assignments/tiny/checks/test_count.py": CHECKS,
}


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """The course of this file."""
    with own_reference():
        yield Course(write_files(tmp_path_factory.mktemp("course"), COURSE))


@pytest.fixture
def answer(course):
    """Asks a callable of the student's, which gives these values one after the other, the last one ever after."""

    def put(name, *values):
        given = list(values)
        pupil = Pupil({name: lambda rows, columns: given.pop(0) if len(given) > 1 else given[0]})
        return Student(examination_of(course, pupil), "count", name)(3, 4)

    return put


def failure(claim, *arguments, **options):
    """How a claim fails."""
    with pytest.raises(CheckFailed) as failed:
        claim(*arguments, **options)
    return failed.value


# --- judged -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("steps", 24),
        ("steps", 24.0),
        ("steps", torch.tensor(24)),
        ("steps", torch.tensor(24.0, requires_grad=True)),
        ("steps", np.int32(24)),
        ("share", 0.00075),
        ("share", torch.tensor(0.00075)),
        ("longer", "The Columns"),
        ("longer", "the-columns"),
        ("shape", [3, 4, 3]),
        ("shape", torch.Size((3, 4, 3))),
        ("shape", (np.int64(3), torch.tensor(4), 3.0)),
        ("both", ([3, 4], False, torch.ones(3, 4).double())),
        ("both", [torch.Size((3, 4)), np.bool_(False), torch.ones(3, 4).double()]),
    ],
)
def test_answer_plain_value_is_right_however_it_is_written(answer, name, value):
    """Of Python's classes, of NumPy's and of torch's."""
    answer(name, value).says()


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("steps", 25, ["  observed  25", "  expected  24"]),
        ("steps", 24.001, ["  observed  24.001", "  expected  24"]),
        ("steps", float("nan"), ["  observed  nan", "  expected  24"]),
        ("share", 0.00076, ["  observed  0.00076", "  expected  0.00075"]),
        ("longer", "the rows", ["  observed  'the rows'", "  expected  'the columns'"]),
        ("shape", (4, 3, 4), ["  observed  (4, 3, 4)", "  expected  (3, 4, 3)"]),
        ("shape", (3, 4), ["  observed  (3, 4)", "  expected  (3, 4, 3)"]),
    ],
)
def test_answer_wrong_plain_value_is_shown_beside_the_right_one(answer, name, value, told):
    """As of tensors: both values, after the call that gave them."""
    failed = failure(answer(name, value).says, among=("the rows", "the columns"))

    assert Verdict.WRONG_VALUE is failed.verdict
    assert [f"{name}(3, 4) returned a wrong answer for {name}", *told] == str(failed).splitlines()


def test_answer_word_that_nobody_offered_is_told_the_words(answer):
    """All of them, and not which one is right."""
    failed = failure(answer("longer", "columns").says, among=("the rows", "the columns"))

    assert "  expected  one of 'the rows', 'the columns'" == str(failed).splitlines()[-1]


@pytest.mark.parametrize(
    ("name", "value", "found", "wanted"),
    [
        ("steps", None, "None", "steps: a whole number"),
        ("steps", "24", "steps: '24'", "steps: a whole number"),
        ("steps", (24,), "steps: (24,)", "steps: a whole number"),
        ("steps", torch.ones(1), "one tensor [1]", "steps: a whole number"),
        ("steps", 2**70, f"int {2**70}", "steps: a whole number"),
        ("steps", [0] * 10**6, "a list of 1000000: " + ", ".join(["int 0"] * 8), "steps: a whole number"),
        ("share", {}, "an object of the class dict", "share: a number"),
        ("longer", 1, "longer: 1", "longer: a word"),
        ("shape", 3, "shape: 3", "shape: a tuple of numbers"),
        ("both", (3, 4), "a tuple of 2: int 3, int 4", "a tuple (product, is_square, sum)"),
        ("both", ((3, 4), None, 1), "None", "is_square: True or False"),
    ],
)
def test_answer_of_another_sort_is_a_wrong_type(answer, name, value, found, wanted):
    """What came is said in words, and what was wanted without its value."""
    failed = failure(answer(name, value).says)

    assert Verdict.WRONG_TYPE is failed.verdict
    assert (found, wanted) == (failed.fact.found, failed.fact.wanted)


def test_answer_plain_value_that_changes_is_unstable(answer):
    """Another answer to an equal call is a finding of its own."""
    failed = failure(answer("steps", 25, 26).says)

    assert Verdict.UNSTABLE is failed.verdict
    assert "  differs   steps: 25, then 26" in str(failed).splitlines()


def test_answer_not_a_number_twice_is_no_change(answer):
    """NaN equals nothing, and is a wrong value all the same."""
    assert Verdict.WRONG_VALUE is failure(answer("steps", float("nan")).says).verdict


@pytest.mark.parametrize(
    "claim",
    [
        lambda answer: answer("steps", 24).matches(),
        lambda answer: answer("steps", 24).matches("steps"),
        lambda answer: answer("steps", 24).says("stepz"),
        lambda answer: answer("both", ((3, 4), False, torch.ones(3, 4))).says("sum"),
    ],
)
def test_answer_claim_about_the_other_kind_is_a_fault_of_the_check(answer, claim):
    """Comparing nothing with nothing would pass."""
    with pytest.raises(ValueError, match=r"steps|stepz|sum"):
        claim(answer)


def test_oracle_number_that_is_not_finite_is_refused(course, tmp_path):
    """No right answer is infinite."""
    with own_reference():
        own = Course(write_files(tmp_path, COURSE | {"reference/count.py": "def steps(rows, columns): return 1e999"}))
        examination = examination_of(own, Pupil({"steps": lambda rows, columns: 1}))

        with pytest.raises(OracleError, match="not finite"):
            Student(examination, "count", "steps")(3, 4)


# --- recognised -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("made", ["counted-once", "squared", "percent", "shorter"])
def test_mistake_in_a_number_or_word_is_named(course, made):
    """By what it answers, and by no other name."""
    trial = with_grading(course, course.assignment("tiny"), 11, lambda grading: attempt(grading, frozenset((made,))))

    assert ((made,),) == trial.named
    assert trial.lost


def test_two_mistakes_in_one_number_are_named(course):
    """Whole numbers are told apart to the last digit."""
    made = frozenset(("counted-once", "squared"))

    trial = with_grading(course, course.assignment("tiny"), 11, lambda grading: attempt(grading, made))

    assert {("counted-once",), ("squared",)} == set(trial.named)


# --- at home ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def handout(tmp_path_factory):
    """The handout, unpacked."""
    return hand_out(tmp_path_factory.mktemp("handout"), COURSE)


@pytest.fixture
def checked(handout, launcher, tmp_path, monkeypatch):
    """Checks a file at home."""

    def run(source):
        folder = shutil.copytree(handout, tmp_path / "home")
        write_files(folder, {"count.py": source})
        monkeypatch.chdir(folder)
        subject = find_subject(folder, None, None)
        return with_record(
            subject.source,
            lambda grading: (desk := Desk(grading, launcher, subject.header, subject.found)).check(
                desk.read(), date(2026, 1, 1)
            ),
        )

    return run


def test_check_at_home_right_work_passes(checked):
    """From the record: there is no reference."""
    assert checked(REFERENCE).is_all_right


def test_check_at_home_mistake_is_named_from_the_record(checked):
    """In a number, in a share, and in a word; values are shown."""
    source = (
        REFERENCE.replace("2 * products", "products")
        .replace("1000 *", "100 *")
        .replace("rows > columns", "rows < columns")
    )

    found = checked(source)

    titles = {"Each product is counted once", "The share is ten times too large", "The shorter one is named"}
    assert titles == {one.title for one in found.view.diagnoses}
    message = next(check.message for check in found.view.checks if check.title.startswith("Steps"))
    assert "observed  12" in message and "expected  24" in message


@pytest.mark.parametrize(
    ("old", "new", "title"),
    [
        ("rows / (1000 * columns)", "rows * (1 / columns) / 100", "The share is ten times too large"),
        ("2 * products", "torch.tensor(products)", "Each product is counted once"),
        ("2 * products", "float(products)", "Each product is counted once"),
    ],
)
def test_check_at_home_mistake_is_named_however_the_number_is_made(checked, old, new, title):
    """With other rounding, as a tensor without axes, as a float."""
    assert [title] == [one.title for one in checked(REFERENCE.replace(old, new)).view.diagnoses]
