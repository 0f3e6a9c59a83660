"""Calls: their identity, and the bytes they are sent as."""

from dataclasses import replace

import pytest
import torch

from grader.call import Build, Call, Payload
from grader.worker import wire


def payload(**arguments):
    """A payload without parameters."""
    return Payload(arguments or {"query": torch.ones(2, 3)}, {})


def call(**fields):
    """A call of `mix(query, 2)`; any field can be replaced."""
    values = {"part": "mix", "name": "mix", "arguments": ({"tensor": "query"}, 2), "payload": payload()}
    return Call(**(values | fields))


def read(data):
    """The frame in some bytes."""
    size = wire.PREFIX.size
    header, _ = wire.lengths(data[:size])
    return wire.decode(data[size : size + header], data[size + header :])


def test_payload_is_a_copy_of_what_was_given():
    """A check may change its tensors afterwards."""
    query = torch.ones(2)
    made = payload(query=query)
    query.zero_()

    assert [1.0, 1.0] == made.arguments["query"].tolist()


def test_payload_of_views_is_contiguous_and_shares_nothing():
    """A transposed tensor, and one tensor under two names, can be sent."""
    query = torch.arange(6.0).view(2, 3)
    made = payload(query=query.T, key=query)

    assert made.arguments["query"].is_contiguous()
    assert torch.equal(query.T, wire.decode(b"{}", made.blob).tensors["arg.query"])


def test_payload_keeps_arguments_and_parameters_apart():
    """An argument and a parameter may have one name."""
    made = Payload({"bias": torch.zeros(1)}, {"bias": torch.ones(1)})

    assert ([0.0], [1.0]) == (made.arguments["bias"].tolist(), made.parameters["bias"].tolist())


def test_payload_digest_of_equal_tensors_is_equal():
    """Identity is by value."""
    assert payload(query=torch.ones(2)).digest == payload(query=torch.ones(2)).digest


@pytest.mark.parametrize(
    "other",
    [
        payload(key=torch.zeros(2, 2)),
        payload(query=torch.zeros(4)),
        payload(query=torch.zeros(2, 2, dtype=torch.float64)),
        payload(query=torch.tensor([[0.0, 0.0], [0.0, 1e-30]])),
        Payload({}, {"query": torch.zeros(2, 2)}),
    ],
    ids=["name", "shape", "dtype", "value", "role"],
)
def test_payload_digest_tells_name_shape_dtype_value_and_role_apart(other):
    """Each of them makes another payload."""
    assert payload(query=torch.zeros(2, 2)).digest != other.digest


def test_payload_digest_of_bfloat16_is_made():
    """numpy has no bfloat16; the digest does without."""
    assert payload(query=torch.ones(2, dtype=torch.bfloat16)).digest != payload(query=torch.ones(2)).digest


@pytest.mark.parametrize(
    "change",
    [
        {"part": "scale"},
        {"name": "gate"},
        {"arguments": ({"tensor": "query"}, 3)},
        {"arguments": ({"tensor": "query"}, 2.0)},
        {"keywords": {"is_causal": True}},
        {"payload": payload(query=torch.zeros(2, 3))},
        {"build": Build(arguments={"size": 3}, handle=1)},
        {"dtype": "float32"},
        {"wants": ("query",)},
        {"mode": "train"},
        {"seed": 1},
    ],
    ids=lambda change: next(iter(change)),
)
def test_call_digest_changes_with_everything_that_is_asked(change):
    """Only equal questions share an answer."""
    assert call().digest != replace(call(), **change).digest


def test_call_digest_is_the_same_for_another_object_built_alike():
    """The handle says which object is meant, not what is asked."""
    first = call(build=Build(arguments={"size": 3}, handle=1))
    second = call(build=Build(arguments={"size": 3}, handle=2))

    assert first.digest == second.digest


def test_call_digest_tells_a_module_made_double_apart():
    """`.double()` is a part of the question."""
    first = call(build=Build(arguments={"size": 3}, handle=1))
    second = call(build=Build(arguments={"size": 3}, handle=1, is_double=True))

    assert first.digest != second.digest


def test_call_frame_holds_the_whole_question():
    """A worker reads what the check asked."""
    asked = call(
        keywords={"is_causal": True},
        build=Build(arguments={"size": 3}, handle=4, is_double=True),
        wants=("query",),
        mode="train",
        seed=9,
    )

    header, tensors = read(asked.frame())

    assert {
        "op": "call",
        "part": "mix",
        "name": "mix",
        "args": [{"tensor": "query"}, 2],
        "kwargs": {"is_causal": True},
        "tensors": ["query"],
        "build": {
            "handle": 4,
            "arguments": {"size": 3},
            "double": True,
            "strict": False,
            "without_spare_biases": False,
            "names": {},
        },
        "dtype": "float64",
        "wants": ["query"],
        "mode": "train",
        "seed": 9,
        "keeps": [],
        "reads": [],
    } == header
    assert torch.equal(torch.ones(2, 3), tensors["arg.query"])


def test_call_frame_of_a_function_builds_nothing():
    """A function has no object."""
    assert read(call().frame()).header["build"] is None


def test_call_request_is_addressed_to_another_callable():
    """The reference is asked the same under its own name."""
    header, _ = call().request("tiny", "mix_again")

    assert ("tiny", "mix_again") == (header["part"], header["name"])


def test_call_request_tensors_may_be_changed_by_who_is_asked():
    """The reference gets copies, as a worker does."""
    asked = call()
    asked.request("tiny", "mix").tensors["arg.query"].zero_()

    assert 6.0 == float(asked.payload.arguments["query"].sum())


def test_call_is_with_gradients_when_some_are_wanted():
    """A call that wants nothing is a forward pass."""
    assert (False, True) == (call().is_with_gradients, call(wants=("query",)).is_with_gradients)
