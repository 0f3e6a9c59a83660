"""What a check is before it is asked, and whether the checks fit the assignment."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from sample_course import write_course

from grader.assignment import AssignmentError
from grader.spec import CheckSpec, read_spec, scope_of, validate

FILE = Path("checks/test_mix.py")
MARKER = {"callable": "mix", "points": "2.5", "requires": (), "hint": "look", "title": ""}


@pytest.fixture
def assignment(tmp_path):
    """The tiny assignment: 6 points for mix, 4 for scale."""
    return write_course(tmp_path).assignment("tiny")


def spec(name, points=6, **fields):
    """A check of mix; any field can be replaced."""
    values = {
        "id": f"mix.{name}",
        "part": "mix",
        "callable": "mix",
        "title": name,
        "description": "",
        "points": Decimal(points),
        "requires": (),
        "hint": "",
        "is_visible": True,
    }
    return CheckSpec(**(values | fields))


SCALE = spec("scale", 4, id="scale.scale", part="scale", callable="Scale")


def refusal(assignment, *specs):
    """Why these checks do not fit."""
    with pytest.raises(AssignmentError) as refused:
        validate(assignment, specs)
    return str(refused.value)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("test_mix.py", ("mix", True)),
        ("test_mix_hidden.py", ("mix", False)),
        ("test_multi_head_hidden.py", ("multi_head", False)),
    ],
)
def test_spec_scope_comes_from_the_name_of_the_file(name, expected):
    """The part, and whether students have the file."""
    assert expected == scope_of(Path(name))


def test_spec_scope_of_a_file_named_otherwise_is_refused():
    """The text says how check files are named."""
    with pytest.raises(AssignmentError) as refused:
        scope_of(Path("checks/mix_test.py"))

    assert "checks/mix_test.py: check files are named test_<part>.py or test_<part>_hidden.py" == str(refused.value)


def test_spec_is_read_from_function_docstring_and_marker(assignment):
    """Every field, with the title made from the function's name."""
    read = read_spec(
        assignment,
        Path("checks/test_mix_hidden.py"),
        "test_output_is_right",
        "The output\n    is right.\n",
        MARKER | {"requires": ("form",)},
    )

    assert (
        CheckSpec(
            id="mix.output_is_right",
            part="mix",
            callable="mix",
            title="Output is right",
            description="The output is right.",
            points=Decimal("2.5"),
            requires=("mix.form",),
            hint="look",
            is_visible=False,
        )
        == read
    )


def test_spec_title_of_the_marker_wins(assignment):
    """A title with a name in capitals can be written out."""
    assert "B = 1 works" == read_spec(assignment, FILE, "test_b", "", MARKER | {"title": "B = 1 works"}).title


@pytest.mark.parametrize("points", ["0", "-1", "0.125", "nan", "inf", "1e30", "many", ""])
def test_spec_points_that_are_no_positive_number_of_cents_are_refused(assignment, points):
    """Whatever was written is shown beside what is wanted."""
    with pytest.raises(AssignmentError) as refused:
        read_spec(assignment, FILE, "test_b", "", MARKER | {"points": points})

    assert (
        f"checks/test_mix.py, test_b: points must be a positive number with at most two decimals; got {points!r}"
        == str(refused.value)
    )


def test_spec_callable_that_the_assignment_does_not_name_is_refused(assignment):
    """A near match is offered."""
    with pytest.raises(AssignmentError) as refused:
        read_spec(assignment, FILE, "test_b", "", MARKER | {"callable": "gates"})

    assert (
        f"{FILE}, test_b: {assignment.where}: no callable of mix is called 'gates'; did you mean 'gate'?"
    ) == str(refused.value)  # fmt: skip


def test_spec_part_that_the_assignment_does_not_name_is_refused(assignment):
    """A check file for no part is found before anyone is graded."""
    with pytest.raises(AssignmentError) as refused:
        read_spec(assignment, Path("test_mixer.py"), "test_b", "", MARKER)

    assert (
        f"test_mixer.py, test_b: {assignment.where}: no part is called 'mixer'; did you mean 'mix'?"
    ) == str(refused.value)  # fmt: skip


def test_spec_checks_that_fit_are_accepted(assignment):
    """Points add up, and a prerequisite comes first."""
    validate(assignment, [spec("form", "1.5"), spec("output", "4.5", requires=("mix.form",)), SCALE])


def test_spec_two_checks_of_one_name_are_refused(assignment):
    """A visible and a hidden check may not share an id."""
    assert (
        f"{assignment.checks}: two checks are called mix.form; names must differ within a part"
    ) == refusal(assignment, spec("form", 3), spec("form", 3), SCALE)  # fmt: skip


@pytest.mark.parametrize(
    "specs",
    [
        [spec("output", 6, requires=("mix.form",)), SCALE],
        [spec("output", 3, requires=("mix.form",)), spec("form", 3), SCALE],
        [replace(spec("form", 3), callable="gate"), spec("output", 3, requires=("mix.form",)), SCALE],
        [spec("output", 6, requires=("mix.output",)), SCALE],
    ],
    ids=["unknown", "later", "other-callable", "itself"],
)
def test_spec_prerequisite_must_be_an_earlier_check_of_the_same_callable(assignment, specs):
    """What comes later, or asks somebody else, cannot block."""
    required = "mix.output" if specs[0].requires == ("mix.output",) else "mix.form"

    assert (
        f"{assignment.checks}: mix.output requires {required}, which is no earlier check of mix"
    ) == refusal(assignment, *specs)  # fmt: skip


def test_spec_points_that_do_not_add_up_are_refused(assignment):
    """Found and wanted, at the field to change."""
    assert (
        f"{assignment.where}, parts.mix.points: the checks add up to 5.5, wanted 6"
    ) == refusal(assignment, spec("form", "5.5"), SCALE)  # fmt: skip


def test_spec_part_without_checks_is_refused(assignment):
    """Points that nobody can earn are a fault of the assignment."""
    assert (
        f"{assignment.where}, parts.scale.points: the checks add up to 0, wanted 4"
    ) == refusal(assignment, spec("form"))  # fmt: skip
