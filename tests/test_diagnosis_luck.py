"""What is drawn at random, explained: right code may draw in an order of its own."""

import textwrap

import pytest
import torch
from sample_course import Pupil, own_reference
from sample_mistakes import RIGHT as RIGHT_FILES
from sample_mistakes import SCALE, entry, write_mistaken_course

from grader.diagnosis.illustrate import Illustrator
from grader.diagnosis.traits import DRAWN_OTHERWISE
from grader.examination import Examination
from grader.grade import with_grading
from grader.sources import Sources

CHECKS = """\
    from grader.checks import Checks

    scale = Checks("Scale")


    @scale.check(points=3)
    def test_output(student, given):
        student.build(given=given, size=3)(given.normal("query", 2, 3)).matches()


    @scale.check(points=1)
    def test_small_beginning(student, given):
        weight = student.build(given=given, size=3).initial()["proj.weight"]
        assert weight.abs().max() < 0.6, "all weights begin below 0.6"
"""
LAYER = "self.proj = nn.Linear(size, size + 1)"
LARGE = entry("begins-large", ("tiny.py", LAYER, f"{LAYER}\n        nn.init.constant_(self.proj.weight, 9.0)"))


REFUSED = """

    @scale.check(points=1)
    def test_no_size_is_refused(student):
        student.build_raises(ValueError, size=0, when="for size 0")
"""
ACCEPTS = entry("accepts-no-size", ("tiny.py", "if size < 1:", "if size < 0:"))


class RightScale(torch.nn.Module):
    """As the reference, but draws something before."""

    def __init__(self, size):
        super().__init__()
        torch.rand(1)
        self.proj = torch.nn.Linear(size, size + 1)

    def forward(self, query):
        return self.proj(1 + query)


class TwiceScale(RightScale):
    def forward(self, query):
        return 2 * super().forward(query)


class SpreadScale(RightScale):
    def __init__(self, size):
        super().__init__(size)
        torch.nn.init.uniform_(self.proj.weight, 5, 6)


class SpreadTwiceScale(SpreadScale):
    def forward(self, query):
        return 2 * super().forward(query)


class LargeTwiceScale(torch.nn.Module):
    """Draws what the reference draws, with both mistakes of the book."""

    def __init__(self, size):
        super().__init__()
        self.proj = torch.nn.Linear(size, size + 1)
        torch.nn.init.constant_(self.proj.weight, 9.0)

    def forward(self, query):
        return 2 * self.proj(1 + query)


class LargeAcceptingScale(LargeTwiceScale):
    """Begins large, accepts a size of 0, and is right otherwise."""

    def forward(self, query):
        return self.proj(1 + query)


@pytest.fixture
def explained(tmp_path):
    """What explains a module whose beginning is asked for too, and how many examples show it."""

    def run(module, checks=CHECKS, mistakes=SCALE + LARGE):
        course = write_mistaken_course(tmp_path, mistakes=mistakes)
        (tmp_path / "assignments/tiny/checks/test_scale.py").write_text(textwrap.dedent(checks), encoding="utf-8")

        def diagnose(grading):
            pupil = Pupil({"Scale": module}, is_own=lambda file: file.endswith("test_diagnosis_luck.py"))
            there = Sources(texts={"scale.py": RIGHT_FILES["scale.py"]})
            examination = Examination(grading.assignment, grading.inputs, grading.reference.oracle, pupil, there)
            found = grading.diagnostics.diagnose(examination, grading.checking.examine(examination))
            about = [one for one in found if one.callable == "Scale"]
            pairs = [(one, grading.diagnostics.predictions(one.part, one.callable)) for one in about]
            return about, Illustrator(examination).illustrate(pairs).examples

        return with_grading(course, course.assignment("tiny"), 5, diagnose)

    with own_reference():
        yield run


def test_luck_of_right_code_that_draws_otherwise_needs_no_explanation(explained):
    """The numbers are others, and as good."""
    assert ([], ()) == explained(RightScale)


def test_luck_of_right_draws_leaves_a_mistake_its_name(explained):
    """What was drawn says nothing about the rest."""
    (one,), _ = explained(TwiceScale)

    assert ((("projected-twice",),), (), True) == (one.mistakes, one.traits, one.is_whole)


def test_luck_that_fails_its_check_is_a_trait_without_an_example(explained):
    """No mistake of the book draws just so, and no numbers are the right ones."""
    (one,), examples = explained(SpreadScale)

    assert ((), (DRAWN_OTHERWISE,), True) == (one.mistakes, one.traits, one.is_whole)
    assert {DRAWN_OTHERWISE.id: ("scale.small_beginning",)} == dict(one.shown_by)
    assert () == examples


def test_luck_that_fails_its_check_beside_a_mistake_is_both(explained):
    """Each with the checks that it shows in."""
    (one,), _ = explained(SpreadTwiceScale)

    assert ((("projected-twice",),), (DRAWN_OTHERWISE,), True) == (one.mistakes, one.traits, one.is_whole)
    assert ("scale.output",) == one.shown_by["projected-twice"]


def test_luck_of_a_known_mistake_beside_another_has_its_name(explained):
    """The module begins with the very numbers of the edited reference."""
    (one,), _ = explained(LargeTwiceScale)

    assert ({("projected-twice",), ("begins-large",)}, ()) == (set(one.mistakes), one.traits)


def test_luck_of_a_known_mistake_beside_a_missing_error_has_both_names(explained):
    """Two mistakes say more than one of them and the trait that an error is missing."""
    checks = CHECKS.replace("points=3", "points=2") + REFUSED

    (one,), _ = explained(LargeAcceptingScale, checks, SCALE + LARGE + ACCEPTS)

    assert ({("accepts-no-size",), ("begins-large",)}, ()) == (set(one.mistakes), one.traits)
