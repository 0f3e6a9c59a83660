"""Visible checks of transformers.py. Every size in a call is different, so that mixing two up shows.

In a mask True means masked: this query gets nothing from this key.
"""

import math

import torch

from grader.checks import Checks

single = Checks("scaled_dot_product_two_loop_single")
batch = Checks("scaled_dot_product_two_loop_batch")
no_loop = Checks("scaled_dot_product_no_loop_batch")
head = Checks("SelfAttention")
heads = Checks("MultiHeadAttention")
future = Checks("get_subsequent_mask")


def inputs(given, samples=2, positions=3, width=5):
    """query, key and value [samples, positions, width]: three unrelated tensors."""
    return (
        given.vectors("query", samples, positions, width),
        given.vectors("key", samples, positions, width),
        given.normal("value", samples, positions, width),
    )


def one_sequence(given, positions=3, width=5):
    """The same for one sequence, without an axis for samples."""
    return tuple(tensor[0] for tensor in inputs(given, 1, positions, width))


def worked_example():
    """query, key and value [3, 2]: the first query reads the values (1, 0), (0, 2), (1, 1) by .05, .80 and .15."""
    query = math.sqrt(2) * torch.tensor([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    key = torch.tensor([[0.05, 1.0], [0.80, 2.0], [0.15, 3.0]], dtype=torch.float64).log()
    return query, key, torch.tensor([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]], dtype=torch.float64)


def ragged_mask():
    """[2, 3, 3], True = masked: the samples differ, no two rows are alike, none is masked whole, one not at all."""
    return torch.tensor(
        [[[0, 1, 0], [1, 0, 1], [0, 0, 0]], [[1, 0, 0], [0, 1, 1], [1, 1, 0]]],
        dtype=torch.bool,
    )


def later(samples, positions):
    """[samples, positions, positions], True = masked: the positions after each one."""
    return torch.ones(positions, positions, dtype=torch.bool).triu(1).repeat(samples, 1, 1)


def sequences(given, samples=3, positions=4, dim_in=6):
    """query, key and value [samples, positions, dim_in] for a module: three unrelated tensors."""
    return tuple(given.vectors(name, samples, positions, dim_in, length=1.5) for name in ("query", "key", "value"))


def masks(samples=3):
    """[samples, 4, 4], True = masked: every sample has another mask, and no row is masked whole."""
    gone = [[[0, 1, 0, 1], [1, 0, 0, 0], [0, 0, 1, 1], [0, 1, 1, 1]], [[0, 0, 1, 0], [1, 1, 0, 1], [0, 1, 0, 0]]]
    first = torch.tensor(gone[0], dtype=torch.bool)
    second = torch.tensor([*gone[1], [1, 0, 1, 0]], dtype=torch.bool)
    return torch.stack([first, second, later(1, 4)[0]])[:samples]


# --- scaled_dot_product_two_loop_single -------------------------------------------------------------------------


@single.check(points=2, hint="do this one with pencil and paper: which weights does the first query read with?")
def test_two_loop_single_worked_example(student, given):
    """Values (1, 0), (0, 2), (1, 1), read with the weights .05, .80 and .15, give (.20, 1.75). Other values, others."""
    query, key, value = worked_example()
    answer = student(query, key, value)
    answer.holds(
        "the first output is (.20, 1.75)",
        answer.value("y")[0],
        torch.tensor([0.20, 1.75], dtype=torch.float64),
        of="first output",
        axes=("width",),
    )
    student(query, key, given.normal("value", 3, 2)).matches()


@single.check(points=6, hint="take one query, and follow the loops by hand for two keys")
def test_two_loop_single_output(student, given):
    """One sequence of three positions of width 5."""
    answer = student(*one_sequence(given), gradients=True)
    answer.has_form()
    answer.matches()


@single.check(points=4, hint="do you write into a tensor again that was already used in the computation?")
def test_two_loop_single_gradients(student, given):
    """The gradients that flow back to query, key and value are right."""
    student(*one_sequence(given), gradients=True).gradients_match("query", "key", "value")


@single.check(points=1, hint="make new tensors with the dtype of an input, for example query.new_zeros(...)")
def test_two_loop_single_output_has_the_dtype_of_the_inputs(student, given):
    """float64 in, float64 out; float32 in, float32 out."""
    student(*one_sequence(given), dtype="float32").has_dtype(torch.float64)
    answer = student(*(tensor.float() for tensor in one_sequence(given)), dtype="float32")
    answer.has_dtype(torch.float32)
    answer.matches()


@single.check(points=2, hint="which of the two is right, by your own arithmetic, for one query and two keys?")
def test_two_loop_single_agrees_with_no_loop(student, given):
    """One sequence in a batch of its own gives the same without loops."""
    query, key, value = one_sequence(given, positions=4)
    without = student.other("scaled_dot_product_no_loop_batch")(query[None], key[None], value[None])
    answer = student(query, key, value)
    answer.holds(
        "the loops give what the function without loops gives",
        answer.value("y"),
        without.value("y")[0],
        of="y",
        axes=("position", "width"),
    )


# --- scaled_dot_product_two_loop_batch --------------------------------------------------------------------------


@batch.check(points=7, hint="a score is one number for each sample: over which axis do you sum?")
def test_two_loop_batch_output(student, given):
    """Two samples of three positions of width 5."""
    answer = student(*inputs(given), gradients=True)
    answer.has_form()
    answer.matches()


@batch.check(points=2, hint="what do N = 1 and K = 1 do to an axis you squeeze, or forget?")
def test_two_loop_batch_one_sample_and_one_position(student, given):
    """A batch of one sample, and sequences of one position, are ordinary inputs."""
    for answer in (student(*inputs(given, samples=1)), student(*inputs(given, positions=1))):
        answer.has_form()
        answer.matches()


@batch.check(points=4, hint="do you write into a tensor again that was already used in the computation?")
def test_two_loop_batch_gradients(student, given):
    """The gradients that flow back to query, key and value are right."""
    student(*inputs(given), gradients=True).gradients_match("query", "key", "value")


@batch.check(points=1, hint="make new tensors with the dtype of an input, for example query.new_zeros(...)")
def test_two_loop_batch_output_has_the_dtype_of_the_inputs(student, given):
    """float64 in, float64 out; float32 in, float32 out."""
    student(*inputs(given), dtype="float32").has_dtype(torch.float64)
    answer = student(*(tensor.float() for tensor in inputs(given)), dtype="float32")
    answer.has_dtype(torch.float32)
    answer.matches()


@batch.check(points=2, hint="which of the two is right, by your own arithmetic, for one query and two keys?")
def test_two_loop_batch_agrees_with_no_loop(student, given):
    """The same batch gives the same without loops."""
    tensors = inputs(given, samples=3, positions=4)
    without = student.other("scaled_dot_product_no_loop_batch")(*tensors)
    answer = student(*tensors)
    answer.holds(
        "the loops give what the function without loops gives",
        answer.value("y"),
        without.value("y"),
        of="y",
        axes=("sample", "position", "width"),
    )


# --- scaled_dot_product_no_loop_batch ---------------------------------------------------------------------------


@no_loop.check(points=1, hint="read the shapes in the docstring once more; the function returns two tensors")
def test_no_loop_returns_output_and_weights(student, given):
    """The function returns (y, weights_softmax), shaped [sample, position, width] and [sample, position, position]."""
    student(*inputs(given), gradients=True).has_form()


@no_loop.check(points=5, hint="write the formula of the handout next to your lines and compare them one by one")
def test_no_loop_output(student, given):
    """Two samples of three positions of width 5, without a mask."""
    student(*inputs(given), gradients=True).matches("y")


@no_loop.check(points=2, hint="which axis must sum to 1?")
def test_no_loop_weights(student, given):
    """The weights returned are those that the output was made with, masked or not."""
    student(*inputs(given), gradients=True).matches("weights_softmax")
    student(*inputs(given), ragged_mask(), gradients=True).matches("weights_softmax")


@no_loop.check(points=2, hint="do this one with pencil and paper: which weights does the first query read with?")
def test_no_loop_worked_example(student, given):
    """Values (1, 0), (0, 2), (1, 1), read with the weights .05, .80 and .15, give (.20, 1.75). Other values, others."""
    query, key, value = (tensor[None] for tensor in worked_example())
    answer = student(query, key, value)
    answer.holds(
        "the first output is (.20, 1.75)",
        answer.value("y")[0, 0],
        torch.tensor([0.20, 1.75], dtype=torch.float64),
        of="first output",
        axes=("width",),
    )
    student(query, key, given.normal("value", 1, 3, 2)).matches("y")


@no_loop.check(points=5, hint="True means masked. Where in the computation must a masked key disappear?")
def test_no_loop_output_with_a_mask(student, given):
    """A mask, different for each sample."""
    student(*inputs(given), ragged_mask(), gradients=True).matches("y")


@no_loop.check(points=2, hint="what is the softmax of scores that are all -1e9?")
def test_no_loop_fully_masked_row_is_uniform(student, given):
    """Where every key is masked, all weights are equal and the output is the mean of the values."""
    mask = ragged_mask()
    mask[0, 1] = mask[1, 0] = True
    student(*inputs(given), mask).matches()


@no_loop.check(points=3, hint="gradients must be able to flow back from the output to all three inputs")
def test_no_loop_gradients(student, given):
    """The gradients that flow back to query, key and value are right, with a mask and without."""
    student(*inputs(given), gradients=True).gradients_match("query", "key", "value")
    student(*inputs(given), ragged_mask(), gradients=True).gradients_match("query", "key", "value")


@no_loop.check(points=1, hint="make new tensors with the dtype of an input, for example query.new_zeros(...)")
def test_no_loop_output_has_the_dtype_of_the_inputs(student, given):
    """float64 in, float64 out; float32 in, float32 out; with a mask."""
    student(*inputs(given), ragged_mask(), dtype="float32").has_dtype(torch.float64)
    answer = student(*(tensor.float() for tensor in inputs(given)), ragged_mask(), dtype="float32")
    answer.has_dtype(torch.float32)
    answer.matches("y")


@no_loop.check(
    points=1,
    requires="no_loop_output_with_a_mask",
    hint="look for &=, += and functions ending in _ on an argument",
)
def test_no_loop_leaves_inputs_and_mask_unchanged(student, given):
    """The caller's tensors and mask are the same after the call."""
    student(*inputs(given), ragged_mask(), gradients=True).leaves_inputs_unchanged()


# --- SelfAttention ----------------------------------------------------------------------------------------------


def build(student, given, dim_in=6, dim_q=5, dim_v=7):
    """The module, with random weights and biases."""
    return student.build(given=given, dim_in=dim_in, dim_q=dim_q, dim_v=dim_v)


@head.check(points=1, hint="three nn.Linear with bias: from which width to which does each of them go?")
def test_self_attention_has_three_layers(student, given):
    """Among the parameters are those of three linear layers of the stated sizes."""
    build(student, given).has_its_parameters(*sequences(given), may_have_more=True)


@head.check(points=4, hint="which layer belongs to which of the three inputs?")
def test_self_attention_output_for_three_different_inputs(student, given):
    """Query, key and value are three unrelated tensors, each with its own layer."""
    answer = build(student, given)(*sequences(given), gradients=True)
    answer.has_form()
    answer.matches()


@head.check(points=2, hint="which two sizes of a layer make the limit for its weights, and how?")
def test_self_attention_weights_begin_in_the_stated_range(student, given):
    """The weights of a new module are uniformly distributed in +-sqrt(6 / (D_in + D_out)); it has thousands of them."""
    initial = student.build(given=given, dim_in=60, dim_q=45, dim_v=80).initial()
    for name, dim_out in (("q", 45), ("k", 45), ("v", 80)):
        weight, limit = initial[f"{name}.weight"], math.sqrt(6 / (60 + dim_out))
        largest, spread = float(weight.abs().max()), float(weight.std())
        assert largest <= limit * (1 + 1e-6), f"no weight of {name} begins beyond +-{limit:.4f}; one is {largest:.4f}"
        assert largest > 0.9 * limit, f"the weights of {name} begin up to +-{limit:.4f}; the largest is {largest:.4f}"
        # The variance of a uniform distribution of that width; with 2700 numbers it is within 9 % of it, ever.
        assert 0.85 < spread**2 / (limit**2 / 3) < 1.15, f"the weights of {name} are uniformly distributed"


@head.check(points=2, hint="what does the attribute hold after a second call, with other inputs?")
def test_self_attention_keeps_the_weights_of_its_last_call(student, given):
    """After a call `weights_softmax` holds the weights of that call, whether or not it had a mask."""
    module = build(student, given)
    query, key, value = sequences(given)
    module(query, key, value).matches("weights_softmax")
    module(key, query, value, masks()).matches("weights_softmax")


@head.check(points=2, hint="where does the mask go once the three inputs are projected?")
def test_self_attention_output_with_a_mask(student, given):
    """A mask, different for each sample."""
    build(student, given)(*sequences(given), masks(), gradients=True).matches()


@head.check(points=1, hint="does anything in your module let one position look at another?")
def test_self_attention_moves_information_between_positions(student, given):
    """The first token changes, and the second output moves; under a mask, no output moves before the last token does.

    A layer that treats every position by itself cannot do the first, and attention that sees the future fails the
    second.
    """
    module = build(student, given)
    (tokens, *_), mask = sequences(given), later(3, 4)
    first, last = tokens.clone(), tokens.clone()
    first[:, 0] = last[:, -1] = given.vectors("other token", 3, 6, length=1.5)
    before, moved = module(tokens, tokens, tokens), module(first, first, first)
    moved.shows(
        "the second output moves when the first token changes",
        bool((moved.value("y")[:, 1] - before.value("y")[:, 1]).abs().max() > 1e-4),
    )
    hidden, unseen = module(tokens, tokens, tokens, mask), module(last, last, last, mask)
    unseen.holds(
        "a later token moves no earlier output",
        unseen.value("y")[:, :-1],
        hidden.value("y")[:, :-1],
        of="earlier outputs",
        axes=("sample", "position", "dim v"),
    )


@head.check(points=2, hint="gradients must reach the three inputs and the layers")
def test_self_attention_gradients(student, given):
    """The gradients that flow back to the inputs and to the layers are right."""
    answer = build(student, given)(*sequences(given), gradients=True)
    answer.gradients_match("query", "key", "value", "parameters")


@head.check(points=1, hint="make new tensors with the dtype of an input, for example query.new_zeros(...)")
def test_self_attention_output_has_the_dtype_of_the_inputs(student, given):
    """float32 in, float32 out; after .double(), float64 in, float64 out."""
    answer = build(student, given)(*(tensor.float() for tensor in sequences(given)), masks(), dtype="float32")
    answer.has_dtype(torch.float32)
    answer.matches()
    module = build(student, given)
    module(*sequences(given), masks(), dtype="float32", is_double=True).has_dtype(torch.float64)


# --- MultiHeadAttention -----------------------------------------------------------------------------------------


def build_heads(student, given, num_heads=2, dim_in=6, dim_out=5):
    """The module, with random weights and biases."""
    return student.build(given=given, num_heads=num_heads, dim_in=dim_in, dim_out=dim_out)


@heads.check(points=1, hint="how many different heads are in the list, and which widths does the last layer join?")
def test_multi_head_has_all_heads_and_a_layer(student, given):
    """Among the parameters are those of two heads, each with layers of its own, and of one linear layer."""
    build_heads(student, given).has_its_parameters(*sequences(given), may_have_more=True)


@heads.check(points=4, hint="what enters the last layer, and in which order?")
def test_multi_head_output_of_two_heads(student, given):
    """Two heads of width 5, of inputs of width 6."""
    answer = build_heads(student, given)(*sequences(given), gradients=True)
    answer.has_form()
    answer.matches()


@heads.check(points=2, hint="what in your module would go wrong with one head, or with three?")
def test_multi_head_output_of_one_head_and_of_three(student, given):
    """num_heads = 1 and num_heads = 3."""
    for number in (1, 3):
        build_heads(student, given, number, dim_in=7)(*sequences(given, 2, 4, 7)).matches()


@heads.check(points=3, hint="which of the heads gets the mask?")
def test_multi_head_output_with_a_mask(student, given):
    """The mask, different for each sample, holds for every head."""
    build_heads(student, given)(*sequences(given), masks(), gradients=True).matches()


@heads.check(points=1, hint="does anything in your module let one position look at another?")
def test_multi_head_moves_information_between_positions(student, given):
    """The first token changes, and the second output moves, as it would not with a layer for each position."""
    module = build_heads(student, given)
    tokens = sequences(given)[0]
    first = tokens.clone()
    first[:, 0] = given.vectors("other token", 3, 6, length=1.5)
    before, moved = module(tokens, tokens, tokens), module(first, first, first)
    moved.shows(
        "the second output moves when the first token changes",
        bool((moved.value("y")[:, 1] - before.value("y")[:, 1]).abs().max() > 1e-4),
    )


@heads.check(points=2, hint="gradients must reach the three inputs, every head and the last layer")
def test_multi_head_gradients(student, given):
    """The gradients that flow back to the inputs, to the heads and to the last layer are right."""
    answer = build_heads(student, given)(*sequences(given), masks(), gradients=True)
    answer.gradients_match("query", "key", "value", "parameters")


@heads.check(points=1, hint="make new tensors with the dtype of an input, for example query.new_zeros(...)")
def test_multi_head_output_has_the_dtype_of_the_inputs(student, given):
    """float32 in, float32 out; after .double(), float64 in, float64 out."""
    answer = build_heads(student, given)(*(tensor.float() for tensor in sequences(given)), masks(), dtype="float32")
    answer.has_dtype(torch.float32)
    answer.matches()
    module = build_heads(student, given)
    module(*sequences(given), masks(), dtype="float32", is_double=True).has_dtype(torch.float64)


# --- get_subsequent_mask ----------------------------------------------------------------------------------------


@future.check(points=1, hint="a Boolean tensor, where True means: masked")
def test_subsequent_mask_is_boolean(student):
    """The mask has dtype torch.bool."""
    student(torch.arange(6).reshape(2, 3)).has_dtype(torch.bool)


@future.check(points=1, hint="how many masks does a batch of N sequences need?")
def test_subsequent_mask_has_an_axis_for_samples(student):
    """Two sequences of three positions have a mask [2, 3, 3]."""
    student(torch.arange(6).reshape(2, 3)).has_form()


@future.check(points=4, hint="which positions may the first position see, and which ones the last?")
def test_subsequent_mask_is_true_above_the_diagonal(student, given):
    """Later positions are masked, for each sample; with more positions too."""
    student(torch.arange(6).reshape(2, 3)).matches_mask(2, 3, 3)
    positions = given.whole("positions", 5, 12)
    student(torch.arange(4 * positions).reshape(4, positions)).matches_mask(4, positions, positions)
