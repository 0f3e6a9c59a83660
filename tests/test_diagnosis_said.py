"""An answer, reduced to what is compared: how it ended, its form, its numbers, its gradients."""

import math

import numpy as np
import pytest
import torch
from sample_course import forbidden, raised

from grader.call import Call, Payload
from grader.diagnosis.said import Kind, close, said, same_form, same_numbers, scale
from grader.outcome import (
    Died,
    Garbled,
    Gradients,
    MissingName,
    Node,
    NotAsked,
    Outcome,
    Returned,
    TimedOut,
    WrongParameters,
)

CALL = Call(part="mix", name="mix", arguments=(), payload=Payload({}, {}))


def returned(*values, changed=(), is_alone=False, **fields):
    """An outcome of these values, as a worker describes them."""
    nodes, tensors = [], {}
    for number, value in enumerate(values):
        if isinstance(value, torch.Tensor):
            dtype = str(value.dtype).removeprefix("torch.")
            nodes.append(Node(kind="tensor", dtype=dtype, shape=tuple(value.shape), data=f"{number}"))
            tensors[f"{number}"] = value
        else:
            worth = value if isinstance(value, (bool, int, float, str, tuple)) else None
            nodes.append(Node(kind="other", type=type(value).__name__, text=repr(value), value=worth))
    tree = nodes[0] if is_alone else Node(kind="sequence", type="tuple", length=len(nodes), items=tuple(nodes))
    return Outcome(reply=Returned(status="returned", tree=tree, changed=changed), tensors=tensors, **fields)


def mask_of(*shape):
    """What a right mask of that shape looks like."""
    return Node(kind="tensor", dtype="bool", shape=shape)


def looks(*values, is_alone=False):
    """What these look like, when they are right."""
    return returned(*values, is_alone=is_alone).reply.tree


def gradients(missing=(), **values):
    """Fields of an outcome whose backward pass gave these."""
    return {"backward": Gradients(status="gradients", missing=missing), "gradients": values}


def numbers(*values):
    """As they are kept."""
    return np.array(values, dtype=np.float64)


def test_said_values_are_one_row_of_numbers_with_their_forms():
    """Whole, Boolean and floating numbers alike."""
    outcome = returned(torch.tensor([[1.5, 2.0]]), torch.tensor([True, False]), torch.tensor(7))

    told = said(outcome, CALL)

    assert Kind.VALUES is told.kind
    assert [1.5, 2.0, 1.0, 0.0, 7.0] == told.numbers.tolist()
    assert (3, ("float", (1, 2)), ("bool", (2,)), ("whole", ())) == told.form


def test_said_nothing_returned_has_no_numbers():
    """An empty sequence is an answer."""
    assert (0, (0,)) == (said(returned(), CALL).numbers.size, said(returned(), CALL).form)


def test_said_float32_and_float64_have_one_form():
    """Precision is told by the observation; a mistake is no other for it."""
    assert same_form(said(returned(torch.ones(2)), CALL), said(returned(torch.ones(2).double()), CALL))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (returned(torch.ones(2)), returned(torch.ones(2), None)),
        (returned(torch.ones(2)), returned(torch.ones(2), is_alone=True)),
        (returned(torch.ones(2)), returned(torch.ones(2, 1))),
        (returned(torch.ones(2)), returned(torch.ones(2).bool())),
        (returned(torch.ones(2)), returned(torch.ones(2).int())),
        (returned(torch.ones(2), None), returned(torch.ones(2), "no")),
        (returned(torch.ones(2)), Outcome(reply=raised())),
    ],
    ids=["one more", "alone", "shape", "bool", "whole", "plain value", "raised"],
)
def test_said_other_structure_is_another_form(one, other):
    """Nothing is compared where the forms differ."""
    assert not same_form(said(one, CALL), said(other, CALL))


@pytest.mark.parametrize(
    "mask", [torch.tensor([[True, False]]), torch.tensor([[[True, False]]] * 2), torch.ones(2) > 0]
)
def test_said_mask_that_fits_is_broadcast_to_the_right_shape(mask):
    """A mask stands for every mask that it broadcasts to."""
    told = said(returned(mask, is_alone=True), CALL, mask_of(2, 3, 2))

    assert ("alone", ("bool", (2, 3, 2))) == told.form
    assert torch.broadcast_to(mask, (2, 3, 2)).flatten().double().tolist() == told.numbers.tolist()


def test_said_mask_that_does_not_fit_stays_as_it_is():
    """Its shape is wrong, and is compared."""
    assert ("alone", ("bool", (4,))) == said(returned(torch.ones(4).bool(), is_alone=True), CALL, mask_of(2, 3)).form


def test_said_mask_with_more_axes_than_the_right_one_is_another():
    """Broadcasting the right shape to the answer's is not what the task asks."""
    right = said(returned(torch.ones(2, 3).bool(), is_alone=True), CALL, mask_of(2, 3))
    larger = said(returned(torch.ones(5, 2, 3).bool(), is_alone=True), CALL, mask_of(2, 3))

    assert not same_form(right, larger)


def test_said_number_or_word_is_part_of_the_form():
    """It is kept to the last digit; the numbers of tensors stand apart."""
    outcome = returned(2**60 + 1, "attention", (2, 3), torch.ones(2))

    told = said(outcome, CALL, looks(1, "feed-forward", (2,), torch.ones(2)))

    assert (4, ("plain", 2**60 + 1), ("plain", "attention"), ("plain", (2, 3)), ("float", (2,))) == told.form
    assert [1.0, 1.0] == told.numbers.tolist()
    assert told.is_plain


def test_said_tensor_without_axes_counts_as_its_number_where_one_is_right():
    """And stays a tensor where a tensor is."""
    one, other = (
        said(returned(torch.tensor(7), is_alone=True), CALL, looks(right, is_alone=True)) for right in (5, 5j)
    )

    assert (("alone", ("plain", 7)), ("alone", ("whole", ()))) == (one.form, other.form)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_said_number_that_is_not_finite_is_kept_as_its_name(value):
    """A record is JSON."""
    assert ("alone", ("plain", str(value))) == said(returned(value, is_alone=True), CALL, looks(1, is_alone=True)).form


def test_said_something_else_than_a_number_is_described():
    """None is no number."""
    told = said(returned(None, is_alone=True), CALL, looks(1, is_alone=True))

    assert ("alone", ("other", "NoneType", "None", "", None)) == told.form
    assert not told.is_plain


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        (6.0, 6, True),
        (6, 7, False),
        (0.5000001, 0.5, True),
        (0.501, 0.5, False),
        ("Feed Forward", "feed-forward", True),
    ],
)
def test_said_same_form_compares_numbers_and_words_as_checks_do(one, other, is_same):
    """Whole numbers exactly, others within the tolerance, words however they are spelt."""
    told, wanted = (said(returned(value, is_alone=True), CALL, looks(other, is_alone=True)) for value in (one, other))

    assert is_same == same_form(told, wanted, 1e-5)


def test_said_exception_keeps_its_classes():
    """The error that is asked for may be a class above the one that was raised."""
    told = said(Outcome(reply=raised(type="IndexError", bases=("IndexError", "LookupError", "Exception"))), CALL)

    assert (Kind.RAISED, True, False) == (told.kind, told.raises("LookupError"), told.raises("ValueError"))


def test_said_values_raise_nothing():
    """Whatever they are."""
    assert not said(returned(), CALL).raises("Exception")


@pytest.mark.parametrize(
    "reply",
    [
        raised(stage="import"),
        raised(type="NotImplementedError", bases=("NotImplementedError", "RuntimeError", "Exception")),
        forbidden(),
        MissingName(status="missing_name", names=("mixx",)),
        TimedOut(stage="forward", limit_s=2.0),
        Died(stage="forward", exit_code=-11),
        Garbled(stage="forward", detail="x"),
        NotAsked(reason="x"),
    ],
    ids=["import", "unfilled", "forbidden", "no such name", "timeout", "crash", "garbled", "not asked"],
)
def test_said_what_tells_nothing_of_the_computation_is_other(reply):
    """It is never matched with a mistake."""
    assert Kind.OTHER is said(Outcome(reply=reply), CALL).kind


def test_said_wrong_parameters_are_told_by_their_shapes():
    """In any order; no module at all is something else than one without parameters."""
    one = {"a": (1,), "b": (2, 3)}
    told, same, other, none, nothing = (
        said(Outcome(reply=WrongParameters(status="wrong_parameters", type="Scale", observed=observed)), CALL)
        for observed in (one, dict(reversed(one.items())), one | {"b": (3, 2)}, None, {})
    )

    assert Kind.PARAMETERS is told.kind
    assert same_form(told, same)
    assert not same_form(told, other)
    assert not same_form(none, nothing)


def test_said_gradients_are_kept_by_name_without_those_missing():
    """Which ones are missing is seen by who knows what was asked."""
    told = said(returned(torch.ones(2), **gradients(["arg.key"], **{"arg.query": torch.tensor([1.0, 2.0])})), CALL)

    assert {"arg.query": [1.0, 2.0]} == {name: value.tolist() for name, value in told.gradients.items()}
    assert not told.is_backward_raised


def test_said_backward_pass_that_raised_is_told_from_one_not_asked_for():
    """Neither has gradients."""
    failed = said(returned(torch.ones(2), backward=raised(stage="backward")), CALL)
    not_asked = said(returned(torch.ones(2)), CALL)

    assert (None, True) == (failed.gradients, failed.is_backward_raised)
    assert (None, False) == (not_asked.gradients, not_asked.is_backward_raised)


def test_said_inputs_changed_are_told():
    """By the worker's word."""
    assert frozenset({"query"}) == said(returned(torch.ones(2), changed=("query",)), CALL).changed


def test_said_answer_of_half_precision_has_its_numbers():
    """NumPy does not know bfloat16."""
    assert [1.5] == said(returned(torch.tensor([1.5], dtype=torch.bfloat16)), CALL).numbers.tolist()


@pytest.mark.parametrize("special", [math.nan, math.inf, -math.inf])
def test_numbers_that_are_not_finite_equal_themselves(special):
    """At equal places."""
    assert same_numbers(numbers(1, special), numbers(1, special), 1e-6)
    assert not same_numbers(numbers(special, 1), numbers(1, special), 1e-6)


@pytest.mark.parametrize(
    ("one", "other"), [(math.nan, math.inf), (math.inf, -math.inf), (math.inf, 1e300), (math.nan, 0)]
)
def test_numbers_that_are_not_finite_equal_no_others(one, other):
    """However far the others are."""
    assert not same_numbers(numbers(one), numbers(other), 1e-6)
    assert not same_numbers(numbers(other), numbers(one), 1e-6)


def test_numbers_within_what_is_allowed_are_equal():
    """The bound belongs to it."""
    assert same_numbers(numbers(1.0, 2.0), numbers(1.5, 2.0), 0.5)
    assert not same_numbers(numbers(1.0, 2.0), numbers(1.5 + 1e-9, 2.0), 0.5)


def test_numbers_of_another_length_are_not_equal():
    """No broadcasting."""
    assert not same_numbers(numbers(1.0), numbers(1.0, 1.0), 1e-6)
    assert same_numbers(numbers(), numbers(), 1e-6)


def test_numbers_close_says_where():
    """Element by element."""
    assert [True, False, True] == close(numbers(1, 2, math.nan), numbers(1, 3, math.nan), 0.1).tolist()


@pytest.mark.parametrize(
    ("rows", "largest"),
    [
        ([numbers(0.1, -0.2)], 1.0),
        ([numbers(0.1), numbers(-30.0, 2)], 30.0),
        ([numbers(math.inf, math.nan, 5)], 5.0),
        ([numbers(math.nan)], 1.0),
        ([numbers()], 1.0),
        ([], 1.0),
    ],
)
def test_scale_is_the_largest_finite_number_at_least_one(rows, largest):
    """What a tolerance is relative to."""
    assert largest == scale(*rows)
