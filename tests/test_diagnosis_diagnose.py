"""One submission, explained callable by callable, and illustrated with calls of its own."""

import textwrap

import pytest
import torch
from sample_course import Pupil, own_reference
from sample_mistakes import GATE, MIX, SCALE, alike, entry, right_mix, write_mistaken_course

from grader.diagnosis.findings import findings
from grader.diagnosis.illustrate import Illustrator
from grader.diagnosis.traits import DIFFERS, GRADIENT_LOST, NOT_FILLED_IN
from grader.examination import Examination
from grader.grade import with_grading
from grader.sources import Sources


def right_gate(length):
    """What a student would write."""
    if length < 0:
        raise ValueError("negative")
    return torch.ones(length, length).tril() > 0


class RightScale(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.proj = torch.nn.Linear(size, size + 1)

    def forward(self, query):
        return self.proj(1 + query)


class UnshiftedScale(RightScale):
    def forward(self, query):
        return self.proj(query)


def not_shifted(query, key, mask=None):
    """A mistake."""
    return query * key * 2, query + key


def unknown(query, key, mask=None):
    """A mistake that nobody has written down."""
    return query * key * 2, query - key + 1.25


RIGHT = {"mix": right_mix, "gate": right_gate, "Scale": RightScale}


@pytest.fixture
def graded(tmp_path):
    """Diagnose callables that take the place of right ones: the examination, the explanations, and the grading.

    `body` is called with them while the session is open; `checks` replaces those of `mix`.
    """

    def run(body, checks=None, missing=(), mistakes=None, **callables):
        course = write_mistaken_course(tmp_path, mistakes=mistakes)
        if checks is not None:
            file = course.folder / "assignments/tiny/checks/test_mix.py"
            file.write_text(textwrap.dedent(checks), encoding="utf-8")
        assignment = course.assignment("tiny")

        def diagnose(grading):
            pupil = Pupil(RIGHT | callables, is_own=lambda file: file.endswith("test_diagnosis_diagnose.py"))
            there = Sources(texts={name: "" for name in assignment.files if name not in missing})
            examination = Examination(assignment, grading.inputs, grading.reference.oracle, pupil, there)
            examined = grading.checking.examine(examination)
            return body(grading, examination, grading.diagnostics.diagnose(examination, examined))

        return with_grading(course, assignment, 5, diagnose)

    with own_reference():
        yield run


@pytest.fixture
def explained(graded):
    """What explains the callables that failed."""
    return lambda **options: graded(lambda grading, examination, found: found, **options)


@pytest.fixture
def illustrated(graded):
    """What a report shows of them."""

    def run(**options):
        def body(grading, examination, found):
            pairs = [(one, grading.diagnostics.predictions(one.part, one.callable)) for one in found]
            return Illustrator(examination).illustrate(pairs)

        return graded(body, **options)

    return run


def test_diagnose_right_code_needs_no_explanation(explained):
    """Nothing failed."""
    assert () == explained()


def test_diagnose_failing_callable_is_explained_with_the_checks_it_fails(explained):
    """And with no others: the gradients are right."""
    (one,) = explained(mix=not_shifted)

    assert ("mix", "mix", (("not-shifted",),), True) == (one.part, one.callable, one.mistakes, one.is_whole)
    assert {"not-shifted": ("mix.second",)} == dict(one.shown_by)


def test_diagnose_callables_come_in_the_assignment_s_order(explained):
    """Each explained for itself."""
    found = explained(Scale=UnshiftedScale, gate=lambda length: right_gate(length).T, mix=not_shifted)

    assert ["mix", "gate", "Scale"] == [one.callable for one in found]
    assert [(("not-shifted",),), (("upper",),), (("not-shifted",),)] == [one.mistakes for one in found]


def test_diagnose_alternatives_are_settled_by_another_callable(graded):
    """`mix` leaves two open, `Scale` shows which."""
    book = MIX + GATE + SCALE + entry("total-not-shifted", ("tiny.py", "shifted(query + key)", "(query + key)"))
    book += alike("not-shifted", "total-not-shifted", callables=["mix"])

    def body(grading, examination, found):
        pairs = [(one, grading.diagnostics.predictions(one.part, one.callable)) for one in found]
        return found, findings(grading.key.named, Illustrator(examination).illustrate(pairs))

    found, told = graded(body, mistakes=book, mix=not_shifted, Scale=UnshiftedScale)

    assert (("not-shifted", "total-not-shifted"),) == found[0].mistakes
    assert [(("not-shifted",), ("mix", "Scale"))] == [(one.mistakes, one.callables) for one in told.diagnoses]


def test_diagnose_mistake_found_before_is_suspected_where_answers_leave_it_open(explained):
    """`Scale` alone would not tell the two, of which one can be no mistake of `mix`."""
    book = MIX + GATE + SCALE + entry("scale-not-shifted", ("tiny.py", "self.proj(shifted(query))", "self.proj(query)"))

    _, scale = explained(mistakes=book, mix=not_shifted, Scale=UnshiftedScale)
    (alone,) = explained(mistakes=book, Scale=UnshiftedScale)

    assert (("not-shifted",),) == scale.mistakes
    assert (("not-shifted", "scale-not-shifted"),) == alone.mistakes


def test_diagnose_check_that_waits_for_another_needs_no_cause_of_its_own(explained):
    """It asked nothing, so that nothing can show in it."""
    waiting = WAITING.partition('        student(given.normal("query", 4, 5)')[0] + "        pass\n"

    (one,) = explained(checks=waiting, mix=not_shifted)

    assert ((("not-shifted",),), True) == (one.mistakes, one.is_whole)


def test_diagnose_unknown_mistake_is_not_recognised(explained):
    """No name, no checks."""
    (one,) = explained(mix=unknown)

    assert ((), (), False, {}) == (one.mistakes, one.traits, one.is_whole, dict(one.shown_by))


def test_diagnose_unknown_mistake_in_one_callable_leaves_the_others_explained(explained):
    """Each is explained from its own answers."""
    first, second = explained(mix=unknown, Scale=UnshiftedScale)

    assert ((), (("not-shifted",),)) == (first.mistakes, second.mistakes)


def test_diagnose_stub_is_not_filled_in(explained):
    """In every check that it failed."""

    def unfilled(query, key, mask=None):
        raise NotImplementedError

    (one,) = explained(mix=unfilled)

    assert (NOT_FILLED_IN,) == one.traits
    assert {"mix.first", "mix.second", "mix.gradients"} == set(one.shown_by[NOT_FILLED_IN.id])


def test_diagnose_callable_without_its_file_is_not_explained_at_all(explained):
    """The verdicts say why."""
    assert () == explained(missing=["mix.py"])


def test_diagnose_lost_gradient_is_whole_with_the_check_it_fails(explained):
    """A trait accounts for what it shows in."""

    def detached(query, key, mask=None):
        return query.detach() * key * 2, query + key + 1

    (one,) = explained(mix=detached)

    assert ((GRADIENT_LOST,), True) == (one.traits, one.is_whole)
    assert "mix.gradients" in one.shown_by[GRADIENT_LOST.id]


WAITING = """\
    from grader.checks import Checks

    mix = Checks("mix")


    @mix.check(points=1)
    def test_first(student, given):
        student(given.normal("query", 2, 3), given.normal("key", 2, 3)).matches("weights")


    @mix.check(points=3, requires="first")
    def test_second(student, given):
        student(given.normal("query", 4, 5), given.normal("key", 4, 5), gradients=True).matches("output")
"""


def test_diagnose_check_that_waits_for_another_is_asked_all_the_same(explained):
    """Its question tells that two mistakes were made; it needs no cause of its own."""

    def two(query, key, mask=None):
        return query * key**2 * 2, query + key

    (one,) = explained(checks=WAITING, mix=two)

    assert ((("not-shifted",), ("key-squared",)), True) == (one.mistakes, one.is_whole)


REPEATED = """\
    from grader.checks import Checks

    mix = Checks("mix")


    @mix.check(points=1)
    def test_first(student, given):
        student(given.normal("query", 2, 3), given.normal("key", 2, 3)).matches()


    @mix.check(points=3)
    def test_repeated(student, given):
        student(given.normal("query", 4, 5), given.normal("key", 4, 5)).is_repeatable()
"""


def test_diagnose_random_answers_are_told_as_such(explained):
    """Two equal calls, two answers."""

    def random(query, key, mask=None):
        return query * key * torch.rand(1).double().item() * counted(), query + key

    calls = []

    def counted():
        calls.append(1)
        return len(calls)

    (one,) = explained(checks=REPEATED, mix=random)

    assert ((DIFFERS,), False) == (one.traits, one.is_whole)
    assert "mix.repeated" in one.shown_by[DIFFERS.id]


def test_diagnose_same_answers_twice_are_explained_the_same(graded):
    """Anew, and by what is known already."""

    def two(query, key, mask=None):
        return query * key**2 * 3, query + key

    def body(grading, examination, found):
        sources = examination.sources
        again = Examination(
            grading.assignment, grading.inputs, grading.reference.oracle, Pupil(RIGHT | {"mix": two}), sources
        )
        return found, grading.diagnostics.diagnose(again, grading.checking.examine(again))

    first, again = graded(body, mix=two)

    assert first == again
    assert {"not-shifted", "stretch-of-three", "key-squared"} == {slot[0] for slot in first[0].mistakes}


def test_illustrate_right_code_shows_nothing(illustrated):
    """There is nothing to be shown."""
    told = illustrated()

    assert ((), (), ()) == (told.explained, told.examples, told.shapes)


@pytest.mark.parametrize("wrong", [not_shifted, unknown], ids=["recognised", "not recognised"])
def test_illustrate_failing_callable_has_a_small_example(illustrated, wrong):
    """Whether it is recognised or not."""
    (example,) = illustrated(mix=wrong).examples

    assert ("mix", "mix") == (example.part, example.callable)
    assert all(len(one.cells) <= 6 for one in example.inputs)
    assert example.observed


def test_illustrate_mistake_met_again_is_illustrated_once(illustrated):
    """One example says it; the explanations stay two."""
    told = illustrated(mix=not_shifted, Scale=UnshiftedScale)

    assert (["mix"], 2) == ([one.callable for one in told.examples], len(told.explained))


def test_illustrate_trait_alone_is_illustrated_like_a_mistake(illustrated):
    """A gradient that is lost has a smallest call too."""

    def detached(query, key, mask=None):
        return query.detach() * key * 2, query + key + 1

    assert ["mix"] == [one.callable for one in illustrated(mix=detached).examples]


def test_illustrate_hidden_questions_show_nothing(illustrated):
    """The gate is asked by hidden checks only."""
    told = illustrated(gate=lambda length: right_gate(length).T)

    assert ((), ()) == (told.examples, told.shapes)
    assert 1 == len(told.explained)


def test_illustrate_lost_gradient_is_told_with_its_line(illustrated):
    """Where the graph ends, in the student's own words."""

    def detached(query, key, mask=None):
        cut = query.detach()
        return cut * key * 2, query + key + 1

    (one,) = illustrated(mix=detached).explained

    assert "test_diagnosis_diagnose.py, line" in one.evidence[GRADIENT_LOST.id]
