"""The same call with other sizes: what a call says of them, and what changes with them."""

from pathlib import Path

import pytest
import torch

from grader.assignment import Callable, read_assignment
from grader.call import Build, Call, Payload
from grader.resize import contradictions, resized, sizes_of, tiled
from grader.simpler import Trial, least_counts

ASSIGNMENT = read_assignment(Path(__file__).parents[1] / "assignments/attention")
HEADS = {
    f"{layer}.{kind}": ("dim",) * axes
    for layer in ("q_proj", "out_proj")
    for kind, axes in [("weight", 2), ("bias", 1)]
}


def about(name):
    """What the assignment says of a callable."""
    return next(part.callables[name] for part in ASSIGNMENT.parts if name in part.callables)


def numbers(*shape):
    """0, 1, 2, ... in this shape."""
    return torch.arange(torch.Size(shape).numel(), dtype=torch.float64).reshape(shape)


def masked(mask=None, query=(2, 3, 7), key=(2, 5, 7), value=(2, 5, 4), **fields):
    """A call of masked_attention with tensors of these shapes."""
    tensors = {"query": numbers(*query), "key": numbers(*key), "value": numbers(*value)}
    tensors |= {} if mask is None else {"mask": mask}
    arguments = tuple({"tensor": name} for name in tensors)
    payload = Payload(tensors, {})
    return Call(part="masked", name="masked_attention", arguments=arguments, payload=payload, **fields)


def mask_of(*arguments, **keywords):
    """A call of attention_mask; a list stands for a tensor of key lengths."""
    tensors = {}

    def read(value):
        if not isinstance(value, list):
            return value
        tensors["key_lengths"] = torch.tensor(value)
        return {"tensor": "key_lengths"}

    named = {name: read(value) for name, value in keywords.items()}
    positional = tuple(map(read, arguments))
    payload = Payload(tensors, {})
    return Call(part="masked", name="attention_mask", arguments=positional, keywords=named, payload=payload)


def multi_head(tensors=None, n_heads=2, handle=5, **keywords):
    """A call of a multi-head module of width 6; by default one tensor is query, key and value."""
    tensors = tensors or {"query": numbers(2, 3, 6)}
    names = [name if name in tensors else "query" for name in ("query", "key", "value")]
    named = {name: {"tensor": name} if name in tensors else value for name, value in keywords.items()}
    return Call(
        part="multi_head",
        name="MultiHeadAttention",
        arguments=tuple({"tensor": name} for name in names),
        keywords=named,
        payload=Payload(tensors, {name: numbers(*(6 for _ in axes)) for name, axes in HEADS.items()}),
        build=Build(arguments={"d_model": 6, "n_heads": n_heads, "bias": True}, handle=handle),
        mode="train",
        wants=("query",),
    )


def shapes_of_heads(arguments):
    """As the oracle does, but for fewer layers."""
    if arguments["d_model"] % arguments["n_heads"]:
        raise ValueError("not divisible")
    return {name: tuple(arguments["d_model"] for _ in axes) for name, axes in HEADS.items()}


def make(call, draw=lambda name, shape, tensor: tiled(tensor, shape), **sizes):
    """The call with other sizes, whose axes are named with underscores here."""
    named = {name.replace("_", " "): size for name, size in sizes.items()}
    return resized(call, about(call.name), named, draw, shapes_of_heads, handle=9)


def shapes(call):
    """Shapes of a call's tensors."""
    return {name: tuple(tensor.shape) for name, tensor in call.payload.arguments.items()}


SELF = read_assignment(ASSIGNMENT.folder.parent / "qkv_multi_head").callable("attention", "MultiHeadSelfAttention")


def self_attention(length, mask=None):
    """A call of self-attention, whose queries and keys are one sequence."""
    tensors = {"x": numbers(2, length, 6)} | ({} if mask is None else {"padding_mask": mask})
    arguments = tuple({"tensor": name} for name in tensors)
    build = Build(arguments={"d_model": 6, "n_heads": 3}, handle=1)
    payload = Payload(tensors, {})
    return Call(part="attention", name="MultiHeadSelfAttention", arguments=arguments, payload=payload, build=build)


def test_resize_axes_that_are_equal_have_one_length():
    """The mask's keys are the queries of the sequence: they are read as one axis, and change together."""
    call = self_attention(5, torch.ones(2, 5, dtype=torch.bool))

    smaller = resized(call, SELF, {"query": 3}, lambda name, shape, old: tiled(old, shape), lambda arguments: {})

    assert {"batch": 2, "query": 5, "dim": 6, "head": 3, "head dim": 2} == sizes_of(call, SELF)
    assert {"x": (2, 3, 6), "padding_mask": (2, 3)} == shapes(smaller)


def test_resize_axes_that_are_equal_and_are_not_contradict_each_other():
    """A mask of another length is none of this sequence."""
    call = self_attention(5, torch.ones(2, 4, dtype=torch.bool))

    assert sizes_of(call, SELF) is None
    assert ["the axis query is 5 in x, and 4 in padding_mask"] == list(contradictions(call, SELF, {}))


# --- reading ----------------------------------------------------------------------------------------------------


def test_resize_sizes_are_read_from_tensors():
    """Each axis by its name."""
    assert {"batch": 2, "query": 3, "key": 5, "dim": 7, "value dim": 4} == sizes_of(masked(), about("masked_attention"))


@pytest.mark.parametrize("shape", [(5,), (3, 5), (1, 3, 5), (2, 1, 5), (2, 3, 1)])
def test_resize_sizes_of_broadcast_masks_are_those_of_the_other_tensors(shape):
    """A mask with fewer axes, or with axes of length 1, contradicts nothing."""
    call = masked(torch.ones(shape, dtype=torch.bool))

    assert {"batch": 2, "query": 3, "key": 5} == {
        axis: size for axis, size in sizes_of(call, about(call.name)).items() if "dim" not in axis
    }


def test_resize_sizes_are_read_from_whole_numbers():
    """By position or by name; a truth value is none."""
    assert {"query": 3, "key": 5} == sizes_of(mask_of(3, key_length=5, is_causal=True), about("attention_mask"))


def test_resize_sizes_are_read_from_build_arguments_and_divided_into_heads():
    """Three heads of two elements make six."""
    sizes = sizes_of(multi_head(n_heads=3), about("MultiHeadAttention"))

    assert {"batch": 2, "query": 3, "key": 3, "dim": 6, "head": 3, "head dim": 2} == sizes


@pytest.mark.parametrize(
    "call",
    [
        masked(query=(2, 3, 6)),
        masked(torch.ones(2, 4, 5, dtype=torch.bool)),
        masked(torch.ones(1, 2, 3, 5, dtype=torch.bool)),
        multi_head(n_heads=4),
        multi_head({"query": numbers(2, 3, 5)}),
    ],
    ids=["dim", "mask", "axes", "heads", "build"],
)
def test_resize_sizes_that_contradict_each_other_are_none(call):
    """Such a call has no sizes, and cannot be made with others."""
    assert sizes_of(call, about(call.name)) is None
    assert make(call, batch=1) is None


# --- making -----------------------------------------------------------------------------------------------------


def test_resize_gives_every_tensor_its_new_shape():
    """What is not named keeps its size; how it is asked stays as it was."""
    call = masked(torch.ones(2, 3, 5, dtype=torch.bool), wants=("query",))

    new = make(call, batch=1, key=2)

    assert {"query": (1, 3, 7), "key": (1, 2, 7), "value": (1, 2, 4), "mask": (1, 3, 2)} == shapes(new)
    assert (call.arguments, ("query",), "float64") == (new.arguments, new.wants, new.dtype)


@pytest.mark.parametrize(("shape", "wanted"), [((5,), (8,)), ((1, 3, 5), (1, 3, 8)), ((2, 1, 5), (4, 1, 8))])
def test_resize_keeps_a_broadcast_axis(shape, wanted):
    """A mask for all samples stays one."""
    assert wanted == shapes(make(masked(torch.ones(shape, dtype=torch.bool)), batch=4, key=8))["mask"]


def test_resize_cuts_and_repeats_masks():
    """Boolean tensors are not drawn."""
    mask = torch.tensor([[[1, 0, 1, 1, 0], [0, 1, 0, 0, 0], [1, 1, 1, 1, 1]]] * 2, dtype=torch.bool)

    new = make(masked(mask), draw=lambda name, shape, tensor: torch.zeros(shape), batch=1, query=4, key=2)

    assert [[[1, 0], [0, 1], [1, 1], [1, 0]]] == new.payload.arguments["mask"].int().tolist()


def test_resize_draws_floating_tensors_by_name_shape_and_what_was_there():
    """What is drawn has the dtype of the old one."""
    seen = {}

    def draw(name, shape, tensor):
        seen[name] = shape, tuple(tensor.shape)
        return torch.ones(shape, dtype=torch.float32)

    new = make(masked(torch.zeros(3, 5).double()), draw, query=1)

    assert {
        "query": ((2, 1, 7), (2, 3, 7)),
        "key": ((2, 5, 7), (2, 5, 7)),
        "value": ((2, 5, 4), (2, 5, 4)),
        "mask": ((1, 5), (3, 5)),
    } == seen
    assert all(tensor.dtype == torch.float64 and bool((tensor == 1).all()) for tensor in new.payload.tensors.values())


def test_resize_keeps_lengths_within_the_keys():
    """No sample has more real keys than there are, nor none; whole-number arguments are set."""
    new = make(mask_of(3, 5, key_lengths=[5, 2, 4, 1], is_causal=True), key=3, batch=5)

    assert [3, 2, 3, 1, 3] == new.payload.arguments["key_lengths"].tolist()
    assert ((3, 3), {"key_lengths": {"tensor": "key_lengths"}, "is_causal": True}) == (new.arguments, new.keywords)


def test_resize_makes_parameters_for_the_new_build():
    """The module is another one, and its arguments that are no sizes stay."""
    new = make(multi_head(), dim=4)

    assert {"d_model": 4, "n_heads": 2, "bias": True} == new.build.arguments
    assert {name: tuple(4 for _ in axes) for name, axes in HEADS.items()} == {
        name: tuple(tensor.shape) for name, tensor in new.payload.parameters.items()
    }
    assert ("train", 9, {"query": (2, 3, 4)}) == (new.mode, new.build.handle, shapes(new))


@pytest.mark.parametrize(
    ("sizes", "built"),
    [
        ({"head": 3}, (9, 3)),
        ({"head_dim": 1}, (2, 2)),
        ({"head": 1, "head_dim": 1}, (1, 1)),
        ({"dim": 8, "head": 4}, (8, 4)),
        ({"dim": 8}, (8, 2)),
    ],
)
def test_resize_settles_a_split_axis(sizes, built):
    """Two of width, heads and width of a head give the third."""
    new = make(multi_head(), **sizes)

    assert built == (new.build.arguments["d_model"], new.build.arguments["n_heads"])


@pytest.mark.parametrize(
    "sizes",
    [{"dim": 7}, {"dim": 4, "head": 3}, {"dim": 4, "head": 1, "head_dim": 2}, {"query": 2}, {"batch": 0}, {"width": 3}],
)
def test_resize_sizes_that_cannot_be_are_none(sizes):
    """Nor can one tensor that is query and key have two lengths; an axis must be one that the call has."""
    assert make(multi_head(), **sizes) is None


def test_resize_one_tensor_in_several_places_stays_one():
    """Self-attention remains self-attention."""
    assert {"query": (2, 4, 6)} == shapes(make(multi_head(), query=4, key=4))


def test_resize_optional_arguments_are_kept():
    """A padding mask stays beside its tensors, and a truth value what it was."""
    padding = torch.tensor([[False, True, False]] * 2)
    call = multi_head({"query": numbers(2, 3, 6), "key_padding_mask": padding}, key_padding_mask=None, is_causal=True)

    new = make(call, query=2, key=2)

    assert {"key_padding_mask": {"tensor": "key_padding_mask"}, "is_causal": True} == new.keywords
    assert [[False, True]] * 2 == new.payload.arguments["key_padding_mask"].tolist()


def reordering(*positions):
    """A call that reorders rows of x, whose axis is named `row`, and what is said of it."""
    tensors = {"x": numbers(len(positions), 2), "order": torch.tensor(positions)}
    arguments = tuple({"tensor": name} for name in tensors)
    stated = {"x": ("row", "column"), "order": ("row",)}
    about = Callable(kind="function", arguments=("x", "order"), returns=("y",), axes=stated, reference="a:b")
    return Call(part="p", name="reorder", arguments=arguments, payload=Payload(tensors, {})), about


@pytest.mark.parametrize(
    ("positions", "rows", "expected"),
    [((3, 0, 4, 1, 2), 2, [1, 0]), ((3, 0, 4, 1, 2), 3, [1, 0, 2]), ((1, 0), 4, [2, 0, 3, 1]), ((2, 2, 4), 2, [2, 2])],
)
def test_resize_keeps_a_permutation_one(positions, rows, expected):
    """In the order of those that are left; other whole numbers are cut."""
    call, stated = reordering(*positions)

    new = resized(call, stated, {"row": rows}, lambda name, shape, old: tiled(old, shape), dict)

    assert expected == new.payload.arguments["order"].tolist()


def test_simpler_calls_put_ones_in_counts_and_not_in_permutations():
    """An order with one position twice is none."""
    call, _ = reordering(1, 2, 0)
    counts, _ = reordering(1, 3, 1)

    assert [] == least_counts(Trial(call=call))
    assert [1, 1, 1] == least_counts(Trial(call=counts))[0].call.payload.arguments["order"].tolist()
