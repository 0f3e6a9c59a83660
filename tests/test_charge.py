"""What recognised mistakes cost: once a submission, never more than the checks they break."""

from decimal import Decimal

import pytest
from sample_course import own_reference, write_course
from sample_session import check, examined, staged

from grader.assignment import AssignmentError
from grader.charge import charge
from grader.diagnosis.explanation import Explanation
from grader.diagnosis.findings import Findings
from grader.diagnosis.traits import FLOAT32_INSIDE, GRADIENT_LOST
from grader.grade import with_grading
from grader.score import score_submission
from grader.verdict import Verdict

PRICES = {"swapped": Decimal(3), "shifted": Decimal(1), FLOAT32_INSIDE.id: Decimal(1)}


def explained(callable, *mistakes, part="mix", **fields):
    """What explains a callable whole, by the ids of mistakes, unless `fields` says otherwise."""
    made = tuple((one,) for one in mistakes)
    return Explanation(part=part, callable=callable, mistakes=made, **({"is_whole": True} | fields))


def lost_of(**points):
    """Points that the checks of callables cost, all in one part."""
    return {("mix", name): Decimal(number) for name, number in points.items()}


def charged_of(explanations, lost, prices=PRICES):
    """Charges by callable: mistake, price, where it was charged first."""
    found = charge(explanations, prices, lost)
    return {one.callable: [(each.mistake, each.price, each.carried_from) for each in one.charges] for one in found}


# --- what is charged --------------------------------------------------------------------------------------------


def test_charge_mistake_is_charged_once_and_carried_forward():
    """Where it is met again it costs nothing, and says where it was charged."""
    both = [explained("mix", "swapped"), explained("gate", "swapped")]

    charged = charged_of(both, lost_of(mix=6, gate=5))

    assert {"mix": [("swapped", 3, None)], "gate": [("swapped", 0, "mix")]} == charged


def test_charge_mistake_never_costs_more_than_the_checks_it_breaks():
    """Scoring by mistakes takes from nobody what the checks would have left."""
    charged = charged_of([explained("mix", "swapped")], lost_of(mix="0.5"))

    assert {"mix": [("swapped", Decimal("0.5"), None)]} == charged


def test_charge_names_the_callable_that_loses_it():
    """So that whoever gives points back knows how many were taken there."""
    both = charge([explained("mix", "swapped"), explained("gate", "swapped")], PRICES, lost_of(mix=6, gate=5))

    assert ["mix", "gate"] == [each.callable for one in both for each in one.charges]


def test_charge_rest_of_a_capped_price_is_due_where_the_mistake_is_met_again():
    """Until the whole price is paid, wherever the checks leave room for it; then no more."""
    chain = [explained(name, "swapped") for name in ("first", "second", "third", "fourth")]

    charged = charged_of(chain, lost_of(first="0.5", second=1, third=6, fourth=6))

    assert [Decimal("0.5"), 1, Decimal("1.5"), 0] == [price for ((_, price, _),) in charged.values()]
    assert [None, "first", "first", "first"] == [before for ((_, _, before),) in charged.values()]


def test_charge_several_mistakes_of_a_callable_share_what_its_checks_cost():
    """The first is paid first; what is left of the others is due later."""
    both = [explained("mix", "swapped", "shifted"), explained("gate", "shifted")]

    charged = charged_of(both, lost_of(mix="3.25", gate=5))

    assert [("swapped", 3, None), ("shifted", Decimal("0.25"), None)] == charged["mix"]
    assert [("shifted", Decimal("0.75"), "mix")] == charged["gate"]


def test_charge_priced_trait_is_charged_like_a_mistake():
    """Tensors of a fixed dtype in two callables are one mistake."""
    both = [
        explained("mix", "shifted", traits=(FLOAT32_INSIDE,)),
        explained("gate", traits=(FLOAT32_INSIDE,)),
    ]

    charged = charged_of(both, lost_of(mix=6, gate=5))

    assert [("shifted", 1, None), (FLOAT32_INSIDE.id, 1, None)] == charged["mix"]
    assert [(FLOAT32_INSIDE.id, 0, "mix")] == charged["gate"]


def test_charge_mistake_with_several_possible_names_has_the_price_of_the_first():
    """It is charged under the name that the report shows."""
    either = Explanation(part="mix", callable="mix", mistakes=(("swapped", "shifted"),), is_whole=True)

    assert {"mix": [("swapped", 3, None)]} == charged_of([either], lost_of(mix=6))


def test_charge_callable_that_is_not_explained_whole_is_not_charged_by_mistakes():
    """Nor does what was recognised in it count as paid."""
    both = [explained("mix", "swapped", is_whole=False), explained("gate", "swapped")]

    charged = charged_of(both, lost_of(mix=6, gate=5))

    assert {"gate": [("swapped", 3, None)]} == charged


# --- what is scored ---------------------------------------------------------------------------------------------


@pytest.fixture
def assignment(tmp_path):
    """The tiny assignment, which scores by mistakes: 6 points for mix, 4 for scale."""
    return write_course(tmp_path).assignment("tiny")


#: Three checks of one callable, of which two fail, and one of another that fails too.
SESSION = examined(
    check("form", "2"),
    check("output", "3", Verdict.WRONG_VALUE, message="m"),
    check("gradient", "1", Verdict.BLOCKED, message="m"),
    check("scale", "4", Verdict.WRONG_VALUE, part="scale", message="m"),
)


def scored(assignment, *explanations, prices=PRICES):
    """The parts of a submission that these explanations are true of."""
    entry = score_submission(
        assignment, staged(), SESSION, found=Findings(explained=tuple(explanations), prices=prices)
    )
    assert entry.score == sum(part.score for part in entry.parts)
    return {part.name: part for part in entry.parts}


def test_score_explained_callable_loses_the_price_of_its_mistake_instead_of_its_checks(assignment):
    """What the checks alone would give stands beside it."""
    parts = scored(assignment, explained("mix", "shifted"))

    assert (Decimal(5), Decimal(2)) == (parts["mix"].score, parts["mix"].score_checks)
    assert [("shifted", 1)] == [(one.mistake, one.price) for one in parts["mix"].charged]


def test_score_unexplained_callable_loses_its_checks(assignment):
    """Beside one that is explained, in another part."""
    parts = scored(assignment, explained("mix", "shifted"), explained("scale", part="scale", is_whole=False))

    assert (Decimal(5), Decimal(0)) == (parts["mix"].score, parts["scale"].score)
    assert () == parts["scale"].charged


def test_score_mistake_made_in_two_parts_is_charged_in_the_first(assignment):
    """The second part keeps all its points, and says where they went."""
    parts = scored(assignment, explained("mix", "swapped"), explained("scale", "swapped", part="scale"))

    assert (Decimal(3), Decimal(4)) == (parts["mix"].score, parts["scale"].score)
    assert ["mix"] == [one.carried_from for one in parts["scale"].charged]


def test_score_is_never_below_that_of_the_checks(assignment):
    """However high the price."""
    parts = scored(assignment, explained("mix", "swapped"), prices={"swapped": Decimal(50)})

    assert (Decimal(2), Decimal(2)) == (parts["mix"].score, parts["mix"].score_checks)


def test_score_by_checks_charges_nothing(assignment):
    """What is recognised is told, and costs the checks it breaks."""
    by_checks = assignment.model_copy(update={"scoring": "checks"})

    parts = scored(by_checks, explained("mix", "shifted"))

    assert (Decimal(2), ()) == (parts["mix"].score, parts["mix"].charged)


def test_score_price_of_the_assignment_overrides_that_of_the_course(assignment):
    """One course, two assignments, two prices; the others stay."""
    dearer = assignment.model_copy(update={"prices": {"shifted": Decimal("2.5")}})

    parts = scored(dearer, explained("mix", "shifted"), explained("scale", "swapped", part="scale"))

    assert (Decimal("3.5"), Decimal(1)) == (parts["mix"].score, parts["scale"].score)


# --- prices -----------------------------------------------------------------------------------------------------

MISTAKES = """
[[mistake]]
id = "adds-instead"
title = "Adds"
explanation = "It adds."
hint = "Which operator?"
price = 2
edits = [{ file = "tiny.py", old = "query * key", new = "query + key" }]
"""


def graded_with(folder, prices):
    """Get ready to grade, in a course of one mistake, with these prices in the assignment."""
    course = write_course(folder)
    (folder / "reference/mistakes").mkdir()
    (folder / "reference/mistakes/tiny.toml").write_text(MISTAKES, encoding="utf-8")
    file = folder / "assignments/tiny/assignment.toml"
    file.write_text(file.read_text() + f"\n[prices]\n{prices}\n", encoding="utf-8")
    with own_reference():
        return with_grading(course, course.assignment("tiny"), 1, lambda grading: grading.assignment.prices)


def test_prices_of_known_mistakes_and_traits_are_accepted(tmp_path):
    """A trait that costs something has a price as a mistake has."""
    prices = graded_with(tmp_path, f"adds-instead = 1.5\n{GRADIENT_LOST.id} = 4")

    assert {"adds-instead": Decimal("1.5"), GRADIENT_LOST.id: 4} == prices


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("adds-insted", "'adds-insted'; did you mean 'adds-instead'?"),
        ("gradients-lost", "'gradients-lost'; did you mean 'gradient-lost'?"),
        ("not-filled-in", "'not-filled-in'; there are: adds-instead, "),
    ],
)
def test_prices_of_something_without_a_price_are_refused(tmp_path, name, told):
    """A misspelt id would leave the price as it was, unnoticed; a trait without a price is never charged."""
    with pytest.raises(AssignmentError) as refused:
        graded_with(tmp_path, f"{name} = 1")

    where = f"{tmp_path / 'assignments/tiny/assignment.toml'}: no mistake with a price is called "
    assert str(refused.value).startswith(where + told)
