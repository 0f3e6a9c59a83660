"""The reference with mistakes made in it: they reach who uses them, combine in any order, and are Python."""

import itertools

import pytest
import torch
from sample_course import own_reference
from sample_mistakes import STEPS, TINY, entry, write_mistaken_course

from grader.diagnosis.edited import Edited
from grader.diagnosis.mistakes import MistakeError, read_mistakes
from grader.given import Inputs
from grader.oracle import Oracle

QUERY = torch.tensor([[1.0, 2.0], [3.0, 5.0]])
KEY = torch.tensor([[7.0, 11.0], [13.0, 17.0]])


@pytest.fixture
def edited(tmp_path):
    """Edited references of the course, with other mistakes or other modules where a test gives them."""

    def make(mistakes=None, **files):
        course = write_mistaken_course(tmp_path, mistakes=mistakes, **files)
        Oracle(course.reference, course.assignment("tiny"), Inputs(1))
        return Edited(read_mistakes(course.reference))

    with own_reference():
        yield make


def mix(edited, *made):
    """What `mix` answers."""
    first, total = edited.modules(made)["tiny"].mix(QUERY, KEY)
    return first.tolist(), total.tolist()


def answer(first, total):
    """An answer as `mix` gives it."""
    return first.tolist(), total.tolist()


RIGHT = answer(QUERY * KEY * 2, QUERY + KEY + 1)


def test_edited_nothing_is_the_reference(edited):
    """The same answers, without a mistake."""
    assert RIGHT == mix(edited())


def test_edited_nothing_holds_every_name_of_the_reference(edited):
    """Constants, functions and classes alike, wherever in the module they stand."""
    between = TINY.replace("def mix_again(", "TWICE = 2.0\nONCE: float = 1.0\n\n\ndef mix_again(")
    between = between.replace("query * 2.0", "query * TWICE") + "\n\nLAST = [gate]\n"
    modules = edited(tiny=between.replace("key * query * 2.0", "key * query * TWICE")).modules()

    first, _ = modules["tiny"].mix_again(QUERY, KEY)

    assert torch.equal(QUERY * KEY * 2, first)
    assert {"TWICE", "ONCE", "LAST", "mix", "Scale"} <= vars(modules["tiny"]).keys()


def test_edited_mistake_reaches_the_callable_through_an_import(edited):
    """`mix` uses what another module defines."""
    assert answer(QUERY * KEY * 2, QUERY + KEY) == mix(edited(), "not-shifted")


def test_edited_head_of_a_module_reaches_the_callable(edited):
    """A constant at the top of the other module."""
    assert answer(QUERY * KEY * 3, QUERY + KEY + 1) == mix(edited(), "stretch-of-three")


def test_edited_constant_after_a_function_reaches_who_uses_it(edited):
    """A module's constants may stand anywhere."""
    constant, stretched, shifted = STEPS.split("\n\n\n")
    steps = f"{stretched}\n\n\n{constant}\n\n\n{shifted}"
    book = entry("three", ("steps.py", "STRETCH = 2.0", "STRETCH = 3.0"))
    both = edited(book, steps=steps)

    assert answer(QUERY * KEY * 3, QUERY + KEY + 1) == mix(both, "three")
    assert ("three",) == both.mistakes_of("tiny", "mix")


def test_edited_mistakes_in_two_modules_are_made_together(edited):
    """One in the callable, one in what it imports."""
    assert answer(QUERY * KEY**2 * 3, QUERY + KEY + 1) == mix(edited(), "key-squared", "stretch-of-three")


def test_edited_mistake_of_several_edits_makes_all_of_them(edited):
    """People make a mistake in every function they write."""
    book = entry("both", ("tiny.py", "long * key", "long + key"), ("steps.py", "tensor + 1.0", "tensor - 1.0"))

    assert answer(QUERY * 2 + KEY, QUERY + KEY - 1) == mix(edited(book), "both")


def test_edited_modules_leave_others_as_they_were(edited):
    """Each has namespaces of its own: a mistake is not left behind."""
    both = edited()

    mix(both, "key-squared", "not-shifted")

    assert RIGHT == mix(both)


def test_edited_mistakes_combine_in_any_order_to_the_same(edited):
    """The order in which mistakes are found is nobody's."""
    both = edited()
    made = ("key-squared", "not-shifted", "stretched-in-mix", "values-swapped")

    answers = [mix(both, *order) for order in itertools.permutations(made)]

    assert all(one == answers[0] for one in answers)
    assert answer(QUERY + KEY, QUERY * KEY**2 * 3) == answers[0]


def test_edited_mistakes_in_one_line_at_different_places_are_compatible(edited):
    """Characters count, not lines."""
    book = entry("one", ("tiny.py", "long * key", "long * 3")) + entry("two", ("tiny.py", "first =", "first = 1 *"))
    both = edited(book)

    assert both.are_compatible(["one", "two"])
    assert answer(QUERY * 6, QUERY + KEY + 1) == mix(both, "one", "two")


def test_edited_mistakes_at_places_that_touch_are_compatible(edited):
    """Where one ends, the next may begin."""
    book = entry("one", ("tiny.py", "long *", "3 *")) + entry("two", ("tiny.py", " key\n", " long\n"))

    assert edited(book).are_compatible(["two", "one"])


def test_edited_mistakes_at_one_place_are_not_compatible(edited):
    """Neither could be made without spoiling the other."""
    both = edited()

    assert not both.are_compatible(["not-shifted", "shift-multiplied"])
    assert not both.are_compatible(["key-squared", "values-swapped", "stretch-forgotten"])


def test_edited_mistake_inside_of_another_s_place_is_not_compatible(edited):
    """A long edit holds a short one."""
    book = entry("short", ("tiny.py", "* key\n", "* 2\n"))
    book += entry("long", ("tiny.py", "first = long * key", "first = 1"))

    assert not edited(book).are_compatible(["short", "long"])


def test_edited_mistake_conflicts_with_the_variation_in_its_place(edited):
    """A variation is an edit too."""
    assert not edited().are_compatible(["product-in-total", "shifted-before"])


def test_edited_mistakes_of_a_callable_are_those_it_reaches(edited):
    """Through functions of its module, and through imports; those that only a trait can name are not looked for."""
    random = entry("random", ("tiny.py", "tril()", "tril() * 1"), more='known_as = "answers-differ-between-calls"\n')
    book = (
        entry("in-gate", ("tiny.py", "dtype=torch.bool", "dtype=torch.int8"))
        + entry("in-steps", ("steps.py", "tensor + 1.0", "tensor"))
        + entry("in-mix", ("tiny.py", "long * key", "long"))
        + random
    )
    both = edited(book)

    assert ("in-steps", "in-mix") == both.mistakes_of("tiny", "mix")
    assert ("in-gate",) == both.mistakes_of("tiny", "gate")
    assert ("in-steps",) == both.mistakes_of("tiny", "Scale")


def test_edited_mistakes_of_a_callable_include_those_of_a_function_it_calls(edited):
    """In the same module, however deep."""
    tiny = TINY + "\n\ndef outer(length):\n    return inner(length)\n\n\ndef inner(length):\n    return gate(length)\n"
    book = entry("in-gate", ("tiny.py", "tril()", "triu()"))

    assert ("in-gate",) == edited(book, tiny=tiny).mistakes_of("tiny", "outer")


def test_edited_mistakes_of_a_callable_include_those_of_what_decorates_it(edited):
    """A decorator runs whenever the function does."""
    tiny = TINY.replace("def gate(", "def twice(function):\n    return function\n\n\n@twice\ndef gate(")
    book = entry("in-twice", ("tiny.py", "return function", "return lambda length: length"))
    both = edited(book, tiny=tiny)

    assert ("in-twice",) == both.mistakes_of("tiny", "gate")
    assert 3 == both.modules(["in-twice"])["tiny"].gate(3)


def test_edited_mistake_reaches_the_callable_through_an_import_under_another_name(edited):
    """`from reference.steps import shifted as moved`."""
    tiny = TINY.replace("import shifted,", "import shifted as moved,").replace("shifted(", "moved(")
    both = edited(entry("unmoved", ("steps.py", "tensor + 1.0", "tensor")), tiny=tiny)

    assert answer(QUERY * KEY * 2, QUERY + KEY) == mix(both, "unmoved")
    assert ("unmoved",) == both.mistakes_of("tiny", "mix")


@pytest.mark.parametrize(
    ("head", "name"),
    [
        ("from reference import steps", "steps.shifted("),
        ("import reference.steps", "reference.steps.shifted("),
        ("from . import steps", "steps.shifted("),
        ("from .steps import shifted", "shifted("),
    ],
)
def test_edited_reference_that_imports_in_another_way_is_refused_or_edited(edited, head, name):
    """Never an edit that silently changes nothing."""
    tiny = TINY.replace(
        "from reference.steps import shifted, stretched", f"{head}\nfrom reference.steps import stretched"
    )
    tiny = tiny.replace("shifted(", name)
    book = entry("unmoved", ("steps.py", "tensor + 1.0", "tensor"))

    try:
        both = edited(book, tiny=tiny)
    except MistakeError as refused:
        assert "tiny.py" in str(refused)
    else:
        assert answer(QUERY * KEY * 2, QUERY + KEY) == mix(both, "unmoved")


def test_edited_mistake_that_is_no_python_is_refused_with_the_text(edited):
    """The author sees what came of it."""
    with pytest.raises(MistakeError) as refused:
        edited(entry("broken", ("tiny.py", "long * key", "long * ("))).modules(["broken"])

    assert "an edit of mix in reference/tiny.py is no Python" in str(refused.value)
    assert "first = long * (" in str(refused.value)


def test_edited_mistake_across_two_functions_is_refused(edited):
    """An edit stands in one function, class, or head of a module."""
    across = ("tiny.py", "return first, total\n\n\ndef mix_again", "return first, total\n\n\ndef mix_anew")

    with pytest.raises(MistakeError, match="is not inside of one function"):
        edited(entry("across", across)).modules(["across"])


def test_edited_module_with_odd_line_ends_in_a_text_is_taken_apart_rightly(edited):
    """A form feed, or a separator of Unicode in a string, ends no line of Python."""
    steps = 'MARK = "a\u2028b\x0c"\n' + STEPS

    assert answer(QUERY * KEY * 2, QUERY + KEY) == mix(edited(steps=steps), "not-shifted")


def test_edited_program_is_one_file_equal_in_effect(edited):
    """What a student with these mistakes hands in: it runs without the reference."""
    text = edited().program(["tiny"], ["key-squared", "not-shifted"])

    assert [QUERY.mul(KEY**2).mul(2).tolist(), (QUERY + KEY).tolist()] == run_alone(text)


def test_edited_program_of_nothing_is_the_reference_in_one_file(edited):
    """No mistake: the right answers."""
    assert list(RIGHT) == run_alone(edited().program(["tiny"]))


def test_edited_program_of_a_mistake_in_a_file_with_a_name_of_another_is_refused(edited):
    """The second definition would take the place of the first."""
    steps = STEPS + "\n\ndef gate(length):\n    return length\n"

    with pytest.raises(MistakeError, match="both define gate"):
        edited(steps=steps).program(["tiny"])


def test_edited_program_holds_each_module_once(edited):
    """However many import it."""
    text = edited().program(["steps", "tiny", "tiny"])

    assert 1 == text.count("def shifted(")
    assert 1 == text.count("def mix(")
    assert text.index("def shifted(") < text.index("def mix(")


@pytest.mark.parametrize(
    "head",
    [
        "from reference.steps import (\n    shifted,\n    stretched,\n)",
        "from reference.steps import shifted, \\\n    stretched",
    ],
    ids=["brackets", "backslash"],
)
def test_edited_program_without_an_import_of_several_lines(edited, head):
    """A long import is written on several lines."""
    tiny = TINY.replace("from reference.steps import shifted, stretched", head)

    assert list(RIGHT) == run_alone(edited(tiny=tiny).program(["tiny"]))


def test_edited_program_knows_what_was_imported_under_another_name(edited):
    """`from reference.steps import shifted as moved`: the name is used below."""
    tiny = TINY.replace("import shifted,", "import shifted as moved,").replace("shifted(", "moved(")
    book = entry("unmoved", ("steps.py", "tensor + 1.0", "tensor"))

    text = edited(book, tiny=tiny).program(["tiny"], ["unmoved"])

    assert [RIGHT[0], (QUERY + KEY).tolist()] == run_alone(text)


def run_alone(text):
    """What `mix` of a program answers, which must not need the reference."""
    program = {"__name__": "program"}
    assert "reference" not in text

    exec(text, program)

    return [one.tolist() for one in program["mix"](QUERY, KEY)]
