"""One diagnosis a mistake over all callables: alternatives settled, words, evidence, checks and prices."""

from decimal import Decimal

import pytest
from sample_mistakes import entry, write_mistaken_course

from grader.diagnosis.explanation import Explanation
from grader.diagnosis.findings import findings, settled
from grader.diagnosis.illustrate import Illustrated
from grader.diagnosis.mistakes import read_mistakes
from grader.diagnosis.traits import GRADIENT_LOST, INPUTS_CHANGED, NOT_FILLED_IN, TRAITS

EDIT = ("tiny.py", "long * key", "long")


@pytest.fixture
def mistakes(tmp_path):
    """Mistakes a, b, c and d."""
    book = "".join(entry(one, EDIT, price="1.5", more=f'catalogue = ["X0{at}"]\n') for at, one in enumerate("abcd"))
    return read_mistakes(write_mistaken_course(tmp_path, mistakes=book).reference)


def explained(callable, *slots, **fields):
    """An explanation of a callable that is whole; any field can be replaced."""
    values = {"part": "mix", "callable": callable, "mistakes": slots, "is_whole": True}
    return Explanation(**(values | fields))


def slots(*explanations):
    """What they are settled on."""
    return [one.mistakes for one in settled(explanations)]


def found(mistakes, *explanations):
    """The findings."""
    return findings(mistakes.by_id, Illustrated(explained=explanations))


def test_settled_alternatives_are_narrowed_by_another_callable():
    """The same mistake was made there, and there it shows which."""
    assert [(("b",),), (("b",),)] == slots(explained("mix", ("a", "b")), explained("gate", ("b",)))


def test_settled_alternatives_are_narrowed_to_what_both_leave_open():
    """Neither says more."""
    assert [(("b", "c"),), (("b", "c"),)] == slots(
        explained("mix", ("a", "b", "c")), explained("gate", ("b", "c", "d"))
    )


def test_settled_alternatives_that_nobody_else_names_stay():
    """Nothing is known of them."""
    assert [(("a", "b"),), (("c",),)] == slots(explained("mix", ("a", "b")), explained("gate", ("c",)))


def test_settled_alternatives_keep_the_book_s_order():
    """Whatever the other callable begins with."""
    assert [(("a", "b"),), (("b", "a"),)] == slots(explained("mix", ("a", "b")), explained("gate", ("b", "a")))


def test_settled_mistake_that_was_shown_counts_more_than_one_that_is_open():
    """`c` is certain in `Scale`; the first callable only leaves `b` open too."""
    first, second, third = slots(
        explained("mix", ("a", "b")), explained("gate", ("b", "c")), explained("Scale", ("c",))
    )

    assert ((("c",),), (("c",),)) == (second, third)
    assert ("a", "b") == first[0] or ("b",) == first[0]


@pytest.mark.parametrize(
    "others", [[], [explained("gate", ("b",))], [explained("gate", ("a", "b")), explained("Scale", ("c", "b"))]]
)
def test_settled_two_mistakes_of_one_callable_stay_two(others):
    """Each is needed, so they cannot both be the same."""
    first = slots(explained("mix", ("a", "b"), ("c", "b")), *others)[0]

    assert 2 == len(first)
    assert first[0][0] != first[1][0]
    assert all(first)


def test_settled_checks_move_to_the_name_that_is_left():
    """What showed the one shows the other."""
    one, _ = settled(
        [
            explained("mix", ("a", "b"), shown_by={"a": ("mix.first",), "gradient-lost": ("mix.second",)}),
            explained("gate", ("b",)),
        ]
    )

    assert {"b": ("mix.first",), "gradient-lost": ("mix.second",)} == dict(one.shown_by)


def test_settled_nothing_is_nothing():
    """No callable failed."""
    assert () == settled([])


def test_findings_mistake_of_two_callables_is_one_diagnosis(mistakes):
    """With the callables and the checks of both."""
    (diagnosis,) = found(
        mistakes,
        explained("mix", ("a",), shown_by={"a": ("mix.first", "mix.second")}),
        explained("Scale", ("a",), part="scale", shown_by={"a": ("scale.scale",)}),
    ).diagnoses

    assert ("mix", ("mix", "Scale")) == (diagnosis.part, diagnosis.callables)
    assert ("mix.first", "mix.second", "scale.scale") == diagnosis.checks


def test_findings_two_mistakes_are_two_diagnoses(mistakes):
    """In the order in which they are met."""
    told = found(mistakes, explained("mix", ("c",), ("a",)), explained("gate", ("b",)))

    assert [("c",), ("a",), ("b",)] == [one.mistakes for one in told.diagnoses]


def test_findings_alternatives_lend_their_titles_and_catalogue_ids(mistakes):
    """The first gives the words."""
    (diagnosis,) = found(mistakes, explained("mix", ("a", "b"))).diagnoses

    assert ("Title of a", ("Title of b",)) == (diagnosis.title, diagnosis.alternatives)
    assert ("Hint of a.", "Explanation of a.") == (diagnosis.hint, diagnosis.explanation)
    assert ("X00", "X01") == diagnosis.catalogue


def test_findings_trait_is_a_diagnosis_in_its_own_words(mistakes):
    """Beside the mistakes of the callable."""
    mistake, trait = found(
        mistakes, explained("mix", ("a",), traits=(GRADIENT_LOST,), shown_by={GRADIENT_LOST.id: ("mix.gradients",)})
    ).diagnoses

    assert (("a",), (GRADIENT_LOST.id,)) == (mistake.mistakes, trait.mistakes)
    assert (GRADIENT_LOST.title, ("mix.gradients",)) == (trait.title, trait.checks)


def test_findings_evidence_is_that_of_the_first_callable_that_has_some(mistakes):
    """A line of its code."""
    (diagnosis,) = found(
        mistakes, explained("mix", ("a",)), explained("gate", ("a",), evidence={"a": "line 3"})
    ).diagnoses

    assert "line 3" == diagnosis.evidence


def test_findings_callable_that_is_not_explained_is_not_recognised(mistakes):
    """And those that are, are."""
    told = found(
        mistakes,
        explained("mix", is_whole=False),
        explained("gate", ("a",)),
        explained("Scale", traits=(NOT_FILLED_IN,), is_whole=False),
    )

    assert ("mix",) == told.unrecognised


def test_findings_prices_are_those_of_the_book_and_of_traits_that_explain(mistakes):
    """A trait without a price explains nothing."""
    prices = found(mistakes).prices

    assert Decimal("1.5") == prices["a"]
    assert INPUTS_CHANGED.price == prices[INPUTS_CHANGED.id]
    assert NOT_FILLED_IN.id not in prices
    assert {"a", "b", "c", "d"} | {name for name, one in TRAITS.items() if one.price is not None} == set(prices)
