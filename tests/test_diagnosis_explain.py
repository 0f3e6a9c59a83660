"""What accounts for everything a callable answered: mistakes, traits beside them; nothing where nothing is known."""

import contextlib

import pytest
import torch
from sample_course import Pupil, own_reference
from sample_mistakes import TINY, entry, given_by, make_case, pupil, right_mix, write_mistaken_course

from grader.checks import Student
from grader.diagnosis.confirm import Failures
from grader.diagnosis.explain import Account, slots
from grader.diagnosis.traits import ERROR_MISSING, FLOAT32_INSIDE, GRADIENT_LOST, INPUTS_CHANGED, STATE_KEPT, TRAITS
from grader.failure import CheckFailed


@pytest.fixture
def case_of(tmp_path):
    """The case of a callable in the course, or in one with other mistakes, modules or questions."""

    def make(name="mix", put=None, **course):
        return make_case(write_mistaken_course(tmp_path, **course), name, put)

    with own_reference():
        yield make


def named(account):
    """Sets and traits, by id."""
    return account and ([sorted(one) for one in account.sets], [trait.id for trait in account.traits])


def not_shifted(query, key, mask=None):
    """A student's mistake."""
    return query * key * 2, query + key


def test_account_of_right_answers_is_empty(case_of):
    """Nothing is there to be accounted for."""
    assert Account() == case_of().account(right_mix)


def test_account_of_a_mistake_is_its_set(case_of):
    """In a student's own words."""
    assert ([["not-shifted"]], []) == named(case_of().account(not_shifted))


def test_account_of_an_unknown_mistake_is_none(case_of):
    """A wrong name is worse than none."""
    assert case_of().account(lambda query, key, mask=None: (query * key * 2, query - key)) is None


def test_account_of_a_known_mistake_beside_an_unknown_one_is_none(case_of):
    """Half an explanation is none."""
    assert case_of().account(lambda query, key, mask=None: (query * key * 3, query - key)) is None


def test_account_of_answers_that_say_nothing_is_none(case_of):
    """A stub."""

    def unfilled(query, key, mask=None):
        raise NotImplementedError

    assert case_of().account(unfilled) is None


def test_account_of_changed_inputs_is_a_trait(case_of):
    """The values are right, and the caller's tensors are not what they were."""

    def changes(query, key, mask=None):
        first, second = right_mix(query, key)
        key.data.add_(1.0)
        return first.clone(), second.clone()

    case = case_of(put=put_values)
    account = case.account(changes)

    assert ([], [INPUTS_CHANGED.id]) == named(account)
    assert frozenset(case.predictions.questions) == account.shows[INPUTS_CHANGED.id]


def test_account_of_a_mistake_that_also_changes_inputs_names_both(case_of):
    """Each for itself."""

    def changes(query, key, mask=None):
        result = not_shifted(query, key)
        key.data.add_(1.0)
        return result

    assert ([["not-shifted"]], [INPUTS_CHANGED.id]) == named(case_of(put=put_values).account(changes))


def test_account_of_changed_inputs_beside_an_unknown_mistake_is_none(case_of):
    """The trait is no excuse for the rest."""

    def changes(query, key, mask=None):
        key.data.add_(1.0)
        return query - key, query - key

    assert case_of(put=put_values).account(changes) is None


def test_account_of_a_lost_gradient_is_a_trait(case_of):
    """The values are right."""

    def detached(query, key, mask=None):
        return query.detach() * key * 2, query + key + 1

    case = case_of()
    account = case.account(detached)

    assert ([], [GRADIENT_LOST.id]) == named(account)
    assert frozenset(list(case.predictions.questions)[:1]) == account.shows[GRADIENT_LOST.id]


def test_account_of_a_backward_pass_that_raises_is_a_lost_gradient(case_of):
    """Autograd stops with an error."""

    def all_detached(query, key, mask=None):
        return (query * key * 2).detach(), query + key + 1

    assert ([], [GRADIENT_LOST.id]) == named(case_of().account(all_detached))


def test_account_of_a_mistake_with_a_lost_gradient_names_both(case_of):
    """A mistake in the values, and a gradient that ends."""

    def detached(query, key, mask=None):
        return query.detach() * key * 2, query + key

    assert ([["not-shifted"]], [GRADIENT_LOST.id]) == named(case_of().account(detached))


def test_account_of_a_lost_gradient_beside_a_wrong_one_is_none(case_of):
    """Those that are there must be right."""

    def wrong_and_lost(query, key, mask=None):
        first = query.detach() * key * 2
        return first + 5 * (key - key.detach()), query + key + 1

    assert case_of().account(wrong_and_lost) is None


def test_account_of_both_traits_names_both(case_of):
    """In one order, whichever comes first."""

    def both(query, key, mask=None):
        result = query.detach().clone() * key * 2, query + key + 1
        query.data.add_(1.0)
        return result

    assert ([], [INPUTS_CHANGED.id, GRADIENT_LOST.id]) == named(case_of().account(both))


def test_account_of_float32_inside_is_a_trait(case_of):
    """What only runs in float32 is right there."""

    def fixed(query, key, mask=None):
        return query * key * 2 @ torch.eye(query.shape[1], dtype=torch.float32), query + key + 1

    case = case_of()
    account = case.account(fixed)

    assert ([], [FLOAT32_INSIDE.id]) == named(account)
    assert frozenset(case.predictions.questions) == account.shows[FLOAT32_INSIDE.id]


def test_account_of_a_mistake_in_code_with_float32_inside_names_both(case_of):
    """The mistake is judged in float32."""

    def fixed(query, key, mask=None):
        return query * key * 2 @ torch.eye(query.shape[1], dtype=torch.float32), query + key

    assert ([["not-shifted"]], [FLOAT32_INSIDE.id]) == named(case_of().account(fixed))


def test_account_of_a_tensor_of_the_usual_dtype_is_a_trait_of_the_call_with_that_default(case_of):
    """`torch.eye(n)` is float32 when nobody says otherwise, and meets float64."""

    def usual(query, key, mask=None):
        return query * key * 2 @ torch.eye(query.shape[1]), query + key + 1

    case = case_of(put=put_usual)
    account = case.account(usual)

    assert ([], [FLOAT32_INSIDE.id]) == named(account)
    assert 1 == len(account.shows[FLOAT32_INSIDE.id])


def test_account_of_another_answer_in_the_usual_dtype_is_none(case_of):
    """It is right in float64 and wrong in numbers with another default: nothing known."""

    def odd(query, key, mask=None):
        more = 1.0 if torch.get_default_dtype() is torch.float64 else 2.0
        return query * key * 2, query + key + more

    assert case_of(put=put_usual).account(odd) is None


def test_account_of_an_object_that_keeps_state_is_a_trait(case_of):
    """The first call is right, a later one is not."""
    case = case_of("Scale")
    account = case.account(Keeping)

    assert ([], [STATE_KEPT.id]) == named(account)
    assert frozenset(list(case.predictions.questions)[1:]) == account.shows[STATE_KEPT.id]


def test_account_of_a_mistake_in_an_object_that_keeps_state_names_both(case_of):
    """The mistake shows in the first call."""

    class KeepingTwice(Keeping):
        def forward(self, query):
            return super().forward(query) * 2

    assert ([["projected-twice"]], [STATE_KEPT.id]) == named(case_of("Scale").account(KeepingTwice))


def test_account_of_a_failure_is_the_mistake_that_fails_in_the_same_operation(case_of):
    """A product of the same shapes raises."""
    case = case_of()

    assert ([["product-in-total"]], []) == named(case.account(lambda q, k, mask=None: (q * k * 2, q @ k + 1)))


@pytest.mark.parametrize(
    "fails",
    [
        lambda q, k, mask=None: (q * k * 2, q.transpose(0, 1) + k),
        lambda q, k, mask=None: (q * k * 2, k @ q[:, :1] + 1),
        lambda q, k, mask=None: (q * k * 2, q[:, 99] + 1),
        lambda q, k, mask=None: {}["total"],
        lambda q, k, mask=None: int("total"),
    ],
    ids=["another operation", "other operands", "an index", "a key", "a conversion"],
)
def test_account_of_another_failure_is_none(case_of, fails):
    """That two programs raise proves nothing."""
    assert case_of().account(fails) is None


def test_account_of_an_error_that_did_not_come_is_that_it_did_not(case_of):
    """The reference without it goes on, and so does the student, who gives something else: that names no mistake."""
    case = case_of("gate")

    def takes_all(length):
        return torch.ones(max(length, 2), max(length, 2)).tril() > 0

    assert ([], [ERROR_MISSING.id]) == named(case.account(takes_all))


def test_account_of_a_mistake_beside_an_error_that_did_not_come_names_the_mistake(case_of):
    """Numbers show the one, and the missing error is said beside it."""

    def takes_all(length):
        return torch.ones(max(length, 2), max(length, 2)).triu() > 0

    assert ([["upper"]], [ERROR_MISSING.id]) == named(case_of("gate").account(takes_all))


def test_account_of_another_error_than_the_right_one_is_that_the_right_one_did_not_come(case_of):
    """Nothing shows which mistake it is but that the error is another."""

    def other_error(length):
        if length < 0:
            raise KeyError(length)
        return torch.ones(length, length).tril() > 0

    assert ([], [ERROR_MISSING.id]) == named(case_of("gate").account(other_error))


def test_account_with_suspects_names_them_where_answers_leave_it_open(case_of):
    """The same code in another callable has shown which of two it is."""
    account = case_of().account(
        lambda q, k, mask=None: (q * k * 3, q + k + 1), suspects=[[frozenset({"stretched-in-mix"})]]
    )

    assert ([["stretched-in-mix"]], []) == named(account)


def test_account_with_suspects_that_do_not_fit_is_the_same_as_without(case_of):
    """Suspicion is no evidence."""
    account = case_of().account(not_shifted, suspects=[[frozenset({"key-squared"})], []])

    assert ([["not-shifted"]], []) == named(account)


def test_account_without_budget_still_names_a_single_mistake_with_its_trait(case_of):
    """Singles are always tried."""

    def detached(query, key, mask=None):
        return query.detach() * key * 2, query + key

    assert ([["not-shifted"]], [GRADIENT_LOST.id]) == named(case_of().account(detached, budget=0))


def test_account_of_the_same_answers_is_the_same(case_of):
    """With new predictions, and with those that know much already."""
    case = case_of()

    assert case.account(case.reference("key-squared", "not-shifted")) == case.account(
        case.reference("key-squared", "not-shifted")
    )


def test_account_of_mistakes_written_in_the_book_is_themselves(case_of):
    """Each of the sample, alone, in each callable that it changes."""
    for name in ("mix", "gate", "Scale"):
        case = case_of(name)
        for mistake in case.predictions.candidates:
            account = case.account(case.reference(mistake))
            assert account is not None
            assert not account.sets or any({mistake} == one for one in account.sets), mistake


def test_failures_with_a_history_are_never_alike(case_of):
    """What came before cannot be asked again."""
    case = case_of(
        "Scale", mistakes=entry("raises", ("tiny.py", "self.proj(shifted(query))", "self.proj(query @ query)"))
    )
    predictions = case.predictions
    examination = case.asked(case.reference("raises"))
    first, later = examination.observations.values()
    failures = Failures(examination, predictions)

    assert failures.are_alike(first, frozenset({"raises"}))
    assert not failures.are_alike(later, frozenset({"raises"}))


def test_failures_of_a_call_that_ends_well_are_not_alike(case_of):
    """Nothing failed."""
    case = case_of()
    examination = case.asked(Pupil({"mix": right_mix}))
    one = next(iter(examination.observations.values()))

    assert not Failures(examination, case.predictions).are_alike(one, frozenset({"product-in-total"}))
    assert not Failures(examination, case.predictions).are_alike(one, frozenset({"key-squared"}))


def test_failures_that_a_statement_raises_are_alike_by_its_class(case_of):
    """Both refuse what is right."""
    tiny = TINY.replace("    total = shifted", "    check = query.shape\n    total = shifted")
    book = entry("refused", ("tiny.py", "check = query.shape", "raise KeyError(query.shape)"))
    case = case_of(mistakes=book, tiny=tiny)

    def refuses(query, key, mask=None):
        raise KeyError("no")

    def fails(query, key, mask=None):
        return {}["no"]

    examination = case.asked(pupil("mix", refuses))
    one = next(iter(examination.observations.values()))

    assert Failures(examination, case.predictions).are_alike(one, frozenset({"refused"}))
    assert not Failures(case.asked(pupil("mix", fails)), case.predictions).are_alike(one, frozenset({"refused"}))


def test_slots_are_the_mistakes_of_the_first_set_in_the_book_s_order():
    """Each with those that can stand in its place."""
    sets = [frozenset({"b", "c"}), frozenset({"a", "c"}), frozenset({"b", "d"})]

    assert (("a", "b"), ("c", "d")) == slots(sets, ["a", "b", "c", "d"])


def test_slots_leave_out_what_is_no_mistake():
    """A variation that is needed beside them."""
    assert (("a",),) == slots([frozenset({"a", "variation"})], ["a", "b"])


def test_slots_begin_with_a_mistake_of_the_first_set(case_of):
    """The sets are ranked, and the first is what is named."""
    made = [frozenset({"stretched-in-mix", "not-shifted"})]

    assert {"stretched-in-mix", "not-shifted"} == {slot[0] for slot in slots(made, case_of().predictions.candidates)}


def test_traits_are_known_by_ids_of_their_own():
    """A trait's id is never a mistake's."""
    assert all(name == trait.id for name, trait in TRAITS.items())
    assert len({trait.title for trait in TRAITS.values()}) == len(TRAITS)


class Keeping(torch.nn.Module):
    """Right at first; answers later calls from what it kept."""

    def __init__(self, size):
        super().__init__()
        self.proj = torch.nn.Linear(size, size + 1)
        self.kept = None

    def forward(self, query):
        self.kept = query if self.kept is None else self.kept
        return self.proj(self.kept + 1)


def put_values(examination):
    """Two questions without gradients."""
    student, given = Student(examination, "mix", "mix"), given_by(examination)
    for name in ("a", "b"):
        ask(student, given.normal(f"query {name}", 2, 3), given.normal(f"key {name}", 2, 3))


def put_usual(examination):
    """A question in float64, and one with torch's usual default dtype."""
    student, given = Student(examination, "mix", "mix"), given_by(examination)
    query, key = given.normal("query", 2, 3), given.normal("key", 2, 3)
    ask(student, query, key)
    ask(student, query, key, dtype="float32")


def ask(student, *arguments, **options):
    """Put a question, whatever comes of it."""
    with contextlib.suppress(CheckFailed):
        student(*arguments, **options)
