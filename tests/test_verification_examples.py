"""Examples of an assignment: what `expected.toml` may say, and what one is told that gets something else. No torch."""

from decimal import Decimal
from pathlib import Path

import pytest
from conftest import write_files

from grader.assignment import AssignmentError
from grader.course import Course
from grader.finding import Charge, Diagnosis
from grader.report import Check, Flag, Part, Status, Submission
from grader.verdict import Verdict
from grader.verification.examples import Expected, complaints, examples_of

ROOT = Path(__file__).parents[1]
#: The example below gets exactly this.
WHOLE = {
    "about": "Everything that can be stated.",
    "status": "graded",
    "points": {"mix": "3.5"},
    "verdicts": {"wrong_value": ["mix.first"]},
    "mistakes": [{"ids": ["scale-by-d"], "shows_in": ["mix"]}],
    "charged": {"scale-by-d": 1.5},
    "unrecognised": ["gate"],
    "notes": ["misspelt"],
    "flags": ["forbidden_use, mix.py:3: calls it"],
}


def submission():
    """One that has something of everything."""
    part = Part(
        name="mix",
        title="Mixing",
        file="mix.py",
        score=Decimal("3.5"),
        max_score=Decimal(5),
        score_checks=Decimal(2),
        charged=(Charge(mistake="scale-by-d", price=Decimal("1.5")),),
    )
    checks = tuple(
        Check(
            id=f"mix.{name}",
            title=name,
            part="mix",
            callable="mix",
            visible=True,
            verdict=verdict,
            score=Decimal(1),
            max_score=Decimal(1),
        )
        for name, verdict in (("first", Verdict.WRONG_VALUE), ("second", Verdict.PASSED))
    )
    diagnosis = Diagnosis(
        part="mix", callables=("mix",), mistakes=("scale-by-d",), title="t", hint="h", explanation="e", checks=()
    )
    return Submission(
        id="examples/ada",
        status=Status.GRADED,
        score=Decimal("3.5"),
        max_score=Decimal(5),
        parts=(part,),
        checks=checks,
        diagnoses=(diagnosis,),
        unrecognised=("gate",),
        notes=("misspelt",),
        flags=(Flag(kind="forbidden_use", file="mix.py", line=3, detail="calls it"),),
    )


def said(**changed):
    """What is said of the example when it states this besides."""
    return list(complaints("ada", Expected.model_validate(WHOLE | changed), submission()))


def refusal(tmp_path, text):
    """What the author of an example is told."""
    course = Course(write_files(tmp_path, {"submissions_example/tiny/ada/expected.toml": text}))
    with pytest.raises(AssignmentError) as refused:
        examples_of(course, "tiny")
    return str(refused.value).removeprefix(str(tmp_path / "submissions_example/tiny/ada/expected.toml"))


def test_example_that_gets_what_it_states_is_as_it_should_be():
    """Every field is compared, tuples with lists and decimals by value."""
    assert [] == said()


def test_example_that_states_little_is_compared_in_that():
    """What is left out may be anything."""
    assert [] == list(complaints("ada", Expected(about="Whatever."), submission()))


@pytest.mark.parametrize(
    ("field", "stated", "told"),
    [
        ("status", "ungradable", 'ada has status "graded", and expected.toml says "ungradable"'),
        ("points", {"mix": 4}, "ada has points { mix = 3.50 }, and expected.toml says { mix = 4 }"),
        ("verdicts", {}, 'ada has verdicts { wrong_value = ["mix.first"] }, and expected.toml says {}'),
        (
            "mistakes",
            [],
            'ada has mistakes [{ ids = ["scale-by-d"], shows_in = ["mix"] }], and expected.toml says []',
        ),
        ("charged", {}, "ada has charged { scale-by-d = 1.50 }, and expected.toml says {}"),
        ("unrecognised", [], 'ada has unrecognised ["gate"], and expected.toml says []'),
        ("notes", ["other"], 'ada has notes ["misspelt"], and expected.toml says ["other"]'),
        ("flags", [], 'ada has flags ["forbidden_use, mix.py:3: calls it"], and expected.toml says []'),
    ],
)
def test_example_that_gets_something_else_is_told_as_it_would_stand_in_the_file(field, stated, told):
    """So that it can be copied there when it is what was meant."""
    assert [told] == said(**{field: stated})


def test_examples_of_a_course_without_any_are_none(tmp_path):
    """An assignment need not have them."""
    assert {} == examples_of(Course(tmp_path), "tiny")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('about = "x"\npionts = {}\n', ", pionts: unknown key; did you mean 'points'?"),
        ("points = {}\n", ", about: missing; it must be given"),
        ("about = \n", ": not valid TOML: Invalid value (at line 1, column 9)"),
        (
            'about = "x"\nmistakes = [{ ids = [], shown_in = [] }]\n',
            ", mistakes.0.shows_in: missing; it must be given\n",
        ),
        ('about = "x"\npoints = { mix = "many" }\n', ", points.mix: Input should be a valid decimal; got 'many'"),
    ],
)
def test_example_whose_statement_cannot_be_read_is_told_where_and_why(tmp_path, text, told):
    """Field, what was found, what was wanted or meant."""
    assert refusal(tmp_path, text).startswith(told)


def test_example_that_states_nothing_is_told_what_is_wanted(tmp_path):
    """An example without its file would prove nothing."""
    (tmp_path / "submissions_example/tiny/ada").mkdir(parents=True)

    with pytest.raises(AssignmentError, match="wanted what the example must get"):
        examples_of(Course(tmp_path), "tiny")


def test_examples_of_the_repository_can_be_read():
    """Those of the real assignment say all of it."""
    examples = examples_of(Course(ROOT), "attention")

    assert len(examples) >= 20
    assert all(expected.points is not None for _, expected in examples.values())
