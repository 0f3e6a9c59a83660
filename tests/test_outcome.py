"""Replies of a worker: read when they are whole, refused when anything is odd."""

import pytest
import torch
from pydantic import ValidationError
from sample_course import line, raised

from grader.outcome import Gradients, Loaded, MissingName, Outcome, Returned, WrongParameters, read_batch, read_reply
from grader.worker.wire import Frame, ProtocolError

TENSOR = {"kind": "tensor", "dtype": "float64", "shape": [2], "data": "0"}
RAISED = {
    "status": "raised",
    "stage": "forward",
    "type": "KeyError",
    "bases": ["KeyError", "LookupError"],
    "message": "'x'",
    "frames": [line()],
}


def returned(tree, *tensors):
    """A frame that returns this tree, its tensors named by number."""
    header = {"status": "returned", "tree": tree, "changed": []}
    return Frame(header, {str(number): tensor for number, tensor in enumerate(tensors)})


def refusal(frame):
    """Why a frame is refused."""
    with pytest.raises(ProtocolError) as refused:
        read_reply(frame)
    return str(refused.value)


def test_outcome_returned_tensor_is_read():
    """The description and the data belong together."""
    reply = read_reply(returned(TENSOR, torch.ones(2, dtype=torch.float64)))

    assert isinstance(reply, Returned)
    assert ("float64", (2,), "0") == (reply.tree.dtype, reply.tree.shape, reply.tree.data)


def test_outcome_returned_sequence_is_read():
    """Items keep their order; a plain value keeps its text."""
    tree = {
        "kind": "sequence",
        "type": "tuple",
        "length": 2,
        "items": [TENSOR, {"kind": "other", "type": "NoneType", "text": "None"}],
    }

    reply = read_reply(returned(tree, torch.ones(2, dtype=torch.float64)))

    assert ["tensor", "other"] == [item.kind for item in reply.tree.items]


@pytest.mark.parametrize("value", [True, 7, -(2**63) + 1, 0.5, "attention", [2, 3, 5], []])
def test_outcome_plain_value_is_read_as_what_it_is(value):
    """A number stays of its class, a sequence becomes a tuple."""
    read = read_reply(returned({"kind": "other", "type": "int", "value": value})).tree.value

    assert (tuple(value) if isinstance(value, list) else value) == read
    assert (tuple if isinstance(value, list) else type(value)) is type(read)


@pytest.mark.parametrize("value", [2**63, "y" * 201, [1] * 9, [[1]], ["attention"], [2**63], [None], {"a": 1}])
def test_outcome_plain_value_out_of_bounds_is_refused(value):
    """Whatever a worker would not send: too large, too long, too deep, of no such class."""
    assert "value" in refusal(returned({"kind": "other", "type": "int", "value": value}))


@pytest.mark.parametrize(
    ("header", "kind"),
    [
        ({"status": "missing_name", "names": ["a"]}, MissingName),
        ({"status": "wrong_parameters", "type": "M", "observed": {"w": [2, 3]}}, WrongParameters),
        ({"status": "wrong_parameters", "type": "M", "observed": None}, WrongParameters),
        ({"status": "gradients", "missing": ["arg.key"], "dropped": 3}, Gradients),
        ({"status": "loaded", "names": []}, Loaded),
    ],
)
def test_outcome_every_other_reply_is_read(header, kind):
    """Each status is a record of its own."""
    assert kind is type(read_reply(Frame(header, {})))


def test_outcome_exception_is_read_with_its_lines():
    """The lines are those of the student's own files."""
    reply = read_reply(Frame(RAISED, {}))

    assert ("KeyError", "mix.py", 3) == (reply.type, reply.frames[0].file, reply.frames[0].line)


@pytest.mark.parametrize(
    "tensors",
    [[], [torch.ones(3, dtype=torch.float64)], [torch.ones(2)], [torch.ones(1, 2, dtype=torch.float64)]],
    ids=["absent", "size", "dtype", "axes"],
)
def test_outcome_tensor_that_is_not_as_described_is_refused(tensors):
    """A description cannot promise one tensor and deliver another."""
    assert "tensor '0' is not what its description says" == refusal(returned(TENSOR, *tensors))


def test_outcome_tensor_inside_a_sequence_is_held_to_its_description():
    """Items are looked at too."""
    tree = {"kind": "sequence", "type": "tuple", "length": 1, "items": [TENSOR]}

    assert "tensor '0' is not what its description says" == refusal(returned(tree))


@pytest.mark.parametrize(
    "header",
    [
        {},
        {"status": "passed"},
        {"status": ["returned"]},
        {"status": "loaded"},
        {"status": "loaded", "names": "abc"},
        {"status": "loaded", "names": [1]},
        {"status": "loaded", "names": ["a"], "score": 100},
        {"status": "loaded", "names": ["a"] * 201},
        {"status": "loaded", "names": ["a" * 1001]},
        {"status": "loaded", "names": [], "dropped": -1},
        {"status": "gradients", "missing": None},
        RAISED | {"stage": "scoring"},
        RAISED | {"message": "x" * 8001},
        RAISED | {"frames": [line()] * 9},
        RAISED | {"frames": [{"file": "mix.py"}]},
        RAISED | {"type": None},
        {"status": "wrong_parameters", "type": "M", "observed": {"w": [-1]}},
        {"status": "wrong_parameters", "type": "M", "observed": {"w": "2"}},
        {"status": "returned", "tree": {"kind": "module"}, "changed": []},
        {"status": "returned", "tree": {"kind": "tensor", "shape": [2**63]}, "changed": []},
        {"status": "returned", "tree": {"kind": "other"}, "changed": ["x"] * 101},
        {"status": "returned", "tree": None, "changed": []},
    ],
)
def test_outcome_header_that_is_no_reply_is_refused(header):
    """Unknown words, missing or further fields, wrong types, and whatever is longer than a worker needs."""
    assert refusal(Frame(header, {})).startswith("reply, ")


@pytest.mark.parametrize(
    "header",
    [RAISED, {"status": "loaded", "names": []}, {"status": "missing_name", "names": []}],
    ids=["raised", "loaded", "missing_name"],
)
def test_outcome_reply_in_words_that_brings_tensors_is_refused(header):
    """They would be of no use to anybody, and would be kept."""
    assert refusal(Frame(header, {"0": torch.ones(2)})).endswith("came with tensors")


def test_outcome_tensor_that_nobody_describes_is_refused():
    """A frame is no place to store things."""
    assert "there are tensors that no description speaks of" == refusal(
        returned(TENSOR, torch.ones(2, dtype=torch.float64), torch.ones(9))
    )


@pytest.mark.parametrize("line_number", [-1, 10**4000], ids=["negative", "endless"])
def test_outcome_line_that_no_file_has_is_refused(line_number):
    """A number of four thousand digits would stand in a message."""
    assert refusal(Frame(RAISED | {"frames": [line() | {"line": line_number}]}, {})).startswith("reply, raised.frames")


def test_outcome_tree_deeper_than_a_task_asks_for_is_refused():
    """Eight items of eight items each make a message of a quarter of a megabyte."""
    inner = {"kind": "sequence", "type": "list", "items": [{"kind": "other"}]}

    assert "a value is described deeper than a task can ask for" == refusal(
        returned({"kind": "sequence", "type": "tuple", "items": [inner]})
    )


def test_outcome_deep_tree_is_refused():
    """A tree that goes on and on ends as an odd reply, not in a full stack."""
    tree = {"kind": "other"}
    for _ in range(400):
        tree = {"kind": "sequence", "items": [tree]}

    assert refusal(returned(tree)).startswith("reply, returned.tree.items")


def test_outcome_refusal_does_not_repeat_what_was_sent():
    """The text goes into a message, so it is not the place for megabytes of a student's choice."""
    assert "secret" not in refusal(Frame({"status": "loaded", "names": {"secret" * 100: 1}}, {}))


def test_outcome_record_cannot_be_changed():
    """An outcome is shared by checks."""
    with pytest.raises(ValidationError):
        raised().type = "ValueError"


def test_outcome_by_itself_has_no_tensors_and_was_not_asked_for_gradients():
    """A failed call needs no more than how it failed."""
    outcome = Outcome(reply=raised())

    assert ({}, None, {}) == (dict(outcome.tensors), outcome.backward, dict(outcome.gradients))


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"type": "MemoryError", "bases": ("MemoryError",), "message": ""}, True),
        ({"type": "Mine", "bases": ("Mine", "MemoryError"), "message": ""}, True),
        ({"message": "[enforce fail] DefaultCPUAllocator: can't allocate memory"}, True),
        ({"message": "sizes do not fit"}, False),
    ],
)
def test_outcome_is_out_of_memory_knows_pythons_word_and_torchs(fields, expected):
    """Torch has no class of its own for it."""
    assert expected is raised(**fields).is_out_of_memory


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        ((line(text='raise NotImplementedError("your turn")'),), True),
        ((), True),
        ((line(text="raise NotImplementedError"), line(text="scores.softmax(-1)")), False),
    ],
    ids=["stub", "no-forward", "torch"],
)
def test_outcome_is_unfilled_means_the_stubs_own_raise(frames, expected):
    """Torch raises the same class where a dtype has no such operation."""
    assert expected is raised(type="NotImplementedError", frames=frames).is_unfilled


def test_outcome_is_unfilled_is_about_one_class_of_exception():
    """Any other exception is an error, whatever its line says."""
    assert raised(frames=(line(text="raise NotImplementedError"),)).is_unfilled is False


@pytest.mark.parametrize(
    ("header", "tensors"),
    [
        ({}, {}),
        ({"replies": {}}, {}),
        ({"replies": [{}]}, {}),
        ({"replies": [{}, 1]}, {}),
        ({"replies": [{}, {}]}, {"2/0": torch.ones(1)}),
        ({"replies": [{}, {}]}, {"-1/0": torch.ones(1)}),
        ({"replies": [{}, {}]}, {"x": torch.ones(1)}),
        ({"replies": [{}, {}]}, {"9" * 5000 + "/0": torch.ones(1)}),
    ],
    ids=["nothing", "no-list", "too-few", "no-object", "too-large", "negative", "no-number", "no-integer"],
)
def test_outcome_batch_that_is_none_is_refused(header, tensors):
    """As many objects as calls, and every tensor one of theirs."""
    with pytest.raises(ProtocolError):
        read_batch(Frame(header, tensors), 2)


def test_outcome_batch_gives_each_reply_its_own_tensors():
    """Under the names it gave them."""
    first, second = read_batch(Frame({"replies": [{"a": 1}, {}]}, {"0/x": torch.ones(1), "1/x": torch.zeros(1)}), 2)

    assert ({"a": 1}, [1.0]) == (first.header, first.tensors["x"].tolist())
    assert [0.0] == second.tensors["x"].tolist()
