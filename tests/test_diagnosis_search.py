"""The smallest sets of mistakes that explain all answers of a callable, found in the same way every time."""

import pytest
from sample_course import Pupil, own_reference
from sample_mistakes import TINY, entry, make_case, right_mix, write_mistaken_course

from grader.diagnosis.search import Budget, Search, Seen

ENOUGH = 5000


@pytest.fixture
def case_of(tmp_path):
    """The case of a callable in the course, or in one with other mistakes or modules."""

    def make(name="mix", **course):
        return make_case(write_mistaken_course(tmp_path, **course), name)

    with own_reference():
        yield make


def search_of(case, *made, student=None, budget=ENOUGH):
    """A search for what explains the reference with mistakes, or a student's callable."""
    predictions = case.predictions
    respondent = Pupil({case.name: student}) if student else case.reference(*made)
    observations = case.asked(respondent).observations
    said = {key: predictions.read(one) for key, one in observations.items()}
    seen = Seen(said=said, dtypes={key: one.dtype for key, one in observations.items()})
    return Search(predictions, seen, Budget(budget))


def found(case, *made, **options):
    """The ids of the sets that are found, sorted in each."""
    return [sorted(one) for one in search_of(case, *made, **options).explanations()]


def test_search_right_answers_need_no_explanation(case_of):
    """Nothing is found where nothing is wrong."""
    case = case_of()
    search = search_of(case, student=right_mix)

    assert (None, []) == (search.unexplained(frozenset()), search.explanations())


@pytest.mark.parametrize(
    "mistake",
    ["not-shifted", "shift-multiplied", "key-squared", "stretch-forgotten", "values-swapped", "product-in-total"],
)
def test_search_single_mistake_is_found_alone(case_of, mistake):
    """One set of one."""
    assert [[mistake]] == found(case_of(), mistake)


def test_search_mistakes_that_are_alike_are_all_found(case_of):
    """In the book's order, whichever was made."""
    case = case_of()

    assert [["stretch-of-three"], ["stretched-in-mix"]] == found(case, "stretch-of-three")
    assert [["stretch-of-three"], ["stretched-in-mix"]] == found(case, "stretched-in-mix")


@pytest.mark.parametrize(
    "pair",
    [
        ("key-squared", "not-shifted"),
        ("stretch-forgotten", "values-swapped"),
        ("shift-multiplied", "values-swapped"),
        ("not-shifted", "stretch-forgotten"),
    ],
)
def test_search_pair_is_found(case_of, pair):
    """Both are needed, and both are named."""
    assert [sorted(pair)] == found(case_of(), *pair)


def test_search_pair_with_one_that_has_a_twin_is_found_with_either(case_of):
    """Two sets of two."""
    sets = found(case_of(), "key-squared", "stretch-of-three")

    assert [["key-squared", "stretch-of-three"], ["key-squared", "stretched-in-mix"]] == sets


def test_search_triple_is_found(case_of):
    """Three mistakes in one function."""
    assert [["not-shifted", "stretch-forgotten", "values-swapped"]] == found(
        case_of(), "values-swapped", "not-shifted", "stretch-forgotten"
    )


def test_search_more_mistakes_than_three_are_not_named(case_of):
    """None of them, since no smaller set explains everything."""
    assert [] == found(case_of(), "values-swapped", "not-shifted", "key-squared", "stretched-in-mix")


def test_search_mistake_that_is_hidden_by_another_is_not_named(case_of):
    """Only the one that shows."""
    assert [["stretch-forgotten"]] == found(case_of(), "stretch-of-three", "stretch-forgotten")


def test_search_two_mistakes_that_undo_each_other_are_not_named(case_of):
    """The answers are right."""
    book = entry("doubled", ("tiny.py", "long * key", "long * key * 2"))
    book += entry("halved", ("steps.py", "STRETCH = 2.0", "STRETCH = 1.0"))

    assert [] == found(case_of(mistakes=book), "doubled", "halved")


def test_search_unknown_mistake_is_not_named(case_of):
    """No set explains it."""
    assert [] == found(case_of(), student=lambda query, key, mask=None: (query * key * 2, query + key + 1.25))


def test_search_half_known_mistakes_are_not_named(case_of):
    """One value is that of a known mistake, the other of none."""
    assert [] == found(case_of(), student=lambda query, key, mask=None: (query * key, query + key + 1.25))


def test_search_right_values_with_wrong_gradients_are_not_named_by_what_changes_values(case_of):
    """Gradients are answers too."""
    assert [] == found(case_of(), student=lambda q, k, mask=None: ((q * k * 2).detach() + 0 * q, q + k + 1))


def test_search_mistake_in_code_of_another_style_is_found_beside_a_variation(case_of):
    """`(q + k) * 2` is the mistake in the reference's style, `q * 2 + k` in the other."""
    case = case_of()

    def other_style(query, key, mask=None):
        return query * key * 2, query * 2 + key

    assert [["shift-multiplied", "shifted-before"]] == found(case, student=other_style)


def test_search_variation_is_not_given_where_it_is_not_needed(case_of):
    """The reference's own style explains it."""
    assert [["not-shifted"]] == found(case_of(), "not-shifted", "shifted-before")


def test_search_mistake_in_another_callable_is_not_looked_for(case_of):
    """`mix` does not use the gate."""
    assert [] == found(case_of("gate"), "key-squared")


def test_search_without_budget_finds_single_mistakes(case_of):
    """These are always tried."""
    assert [["key-squared"]] == found(case_of(), "key-squared", budget=0)


def test_search_without_budget_finds_no_pairs(case_of):
    """Nor anything in their place."""
    assert [] == found(case_of(), "key-squared", "not-shifted", budget=0)


def test_search_spends_the_budget_that_it_was_given(case_of):
    """Searches of one submission share it."""
    case = case_of()
    budget = Budget(50)
    predictions = case.predictions
    observations = case.asked(case.reference("key-squared", "not-shifted")).observations
    said = {key: predictions.read(one) for key, one in observations.items()}

    Search(predictions, Seen(said=said, dtypes=dict.fromkeys(said, "float64")), budget).explanations()

    assert budget.left < 50


def test_search_budget_that_is_spent_gives_nothing_more():
    """Not even once, however often it is asked."""
    budget = Budget(2)

    assert [True, True, False, False] == [budget.take() for _ in range(4)]


def test_search_finds_the_same_twice(case_of):
    """With what is known already, and with nothing."""
    case = case_of()
    made = ("values-swapped", "not-shifted", "stretched-in-mix")
    search = search_of(case, *made)

    assert [search.explanations()] * 2 == [search_of(case, *made).explanations(), search.explanations()]


def test_search_cut_short_finds_the_same_twice(case_of):
    """The limit is a number of answers, not of seconds."""
    case = case_of()

    for budget in range(0, 40, 4):
        assert found(case, "key-squared", "not-shifted", budget=budget) == found(
            case, "key-squared", "not-shifted", budget=budget
        )


# Under `both`, `first` is looked at only where it is not all zero: `zeroed` and `negated` then do the same to it.
HIDING = (
    "def mix(query, key, mask=None):\n"
    "    use = False\n"
    "    left = 1.0\n"
    "    right = 1.0\n"
    "    extra = 0.0\n"
    "    if use and left and right:\n"
    "        extra = 5.0\n"
    "    wide = query.shape[1] > 4\n"
    "    return query * key + extra, query + key + (right if wide else 1.0) + left\n"
)


def test_search_set_has_no_mistake_that_is_not_needed(case_of):
    """However the search came by it: without one of them, some answer is no longer explained."""
    book = (
        entry("used", ("tiny.py", "use = False", "use = True"))
        + entry("no-left", ("tiny.py", "left = 1.0", "left = 0.0"))
        + entry("no-right", ("tiny.py", "right = 1.0", "right = 0.0"))
    )
    rest = TINY.partition("def mix_again")
    head = TINY.partition("def mix(")[0]
    case = case_of(mistakes=book, tiny=head + HIDING + "\n\ndef mix_again" + rest[2])
    predictions = case.predictions

    for made in (("used",), ("used", "no-left"), ("used", "no-right"), ("used", "no-left", "no-right")):
        search = search_of(case, *made)
        for one in search.explanations():
            needless = [mistake for mistake in one if search.unexplained(one - {mistake}) is None]
            assert ([], None) == (needless, search.unexplained(one)), (made, one)
    assert predictions.candidates


def test_search_suspects_that_explain_everything_are_the_answer(case_of):
    """Found where the same code was asked before, they are preferred to others that explain as much."""
    case = case_of()
    search = search_of(case, "stretched-in-mix")

    assert [frozenset({"stretched-in-mix"})] == search.explanations([[frozenset({"stretched-in-mix"})]])


def test_search_suspects_with_a_mistake_that_is_not_needed_are_not_the_answer(case_of):
    """What explains an answer must show in it."""
    search = search_of(case_of(), "not-shifted")

    assert [frozenset({"not-shifted"})] == search.explanations([[frozenset({"not-shifted", "without-diagonal"})]])


def test_search_suspects_that_do_not_explain_everything_are_passed_over(case_of):
    """The search goes on as if nobody had been suspected."""
    search = search_of(case_of(), "not-shifted")

    assert [frozenset({"not-shifted"})] == search.explanations([[], [frozenset({"key-squared"})]])


def test_search_needs_are_the_questions_a_mistake_shows_in(case_of):
    """In the order in which they were put."""
    case = case_of("gate")
    search = search_of(case, "upper", "negative-taken")
    three, four, negative = case.predictions.questions
    made = frozenset({"upper", "negative-taken"})

    assert [three, four] == list(search.needs(made, "upper"))
    assert [negative] == list(search.needs(made, "negative-taken"))


def test_search_numbers_prove_a_mistake(case_of):
    """They can only come from it."""
    case = case_of()
    search = search_of(case, "not-shifted")

    assert all(
        search.is_proved_by(frozenset({"not-shifted"}), "not-shifted", key) for key in case.predictions.questions
    )


def test_search_exception_proves_no_mistake(case_of):
    """Many things raise."""
    case = case_of()
    search = search_of(case, "product-in-total")
    made = frozenset({"product-in-total"})

    assert not any(search.is_proved_by(made, "product-in-total", key) for key in case.predictions.questions)


def test_search_nan_everywhere_proves_no_mistake(case_of):
    """Many things give NaN; a number beside it that only the mistake gives does prove it."""
    book = entry("not-finite", ("tiny.py", "return first, total", "return first * float('nan'), total * float('nan')"))
    book += entry("half", ("tiny.py", "return first, total", "return first * float('nan'), total * 3"))
    case = case_of(mistakes=book)
    key = next(iter(case.predictions.questions))

    assert not search_of(case, "not-finite").is_proved_by(frozenset({"not-finite"}), "not-finite", key)
    assert search_of(case, "half").is_proved_by(frozenset({"half"}), "half", key)


def test_search_nan_of_another_form_proves_no_mistake(case_of):
    """One tensor in the place of two is told by its form, but not that it came from this."""
    case = case_of(mistakes=entry("alone", ("tiny.py", "return first, total", "return first * float('nan')")))
    key = next(iter(case.predictions.questions))

    assert not search_of(case, "alone").is_proved_by(frozenset({"alone"}), "alone", key)


def test_search_wrong_parameters_prove_a_mistake(case_of):
    """Names and shapes come from nothing else."""
    case = case_of("Scale", mistakes=entry("square", ("tiny.py", "nn.Linear(size, size + 1)", "nn.Linear(size, size)")))
    key = next(iter(case.predictions.questions))
    search = search_of(case, "square")

    assert [frozenset({"square"})] == search.explanations()
    assert search.is_proved_by(frozenset({"square"}), "square", key)


def test_search_error_that_did_not_come_proves_a_mistake_only_by_a_value(case_of):
    """What the code gives instead; another exception may have any cause."""
    empty = entry(
        "empty", ("tiny.py", 'raise ValueError("length must not be negative")', "return torch.ones(0, 0).bool()")
    )
    case = case_of("gate", mistakes=empty + entry("negative-taken", ("tiny.py", "length < 0", "length < -99")))
    negative = list(case.predictions.questions)[2]

    assert search_of(case, "empty").is_proved_by(frozenset({"empty"}), "empty", negative)
    assert not search_of(case, "negative-taken").is_proved_by(frozenset({"negative-taken"}), "negative-taken", negative)
