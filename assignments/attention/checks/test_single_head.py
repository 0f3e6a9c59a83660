"""Visible checks of single_head.py. Every size in a call is different, so that mixing two up shows."""

import math

import torch

from grader.checks import Checks

attention = Checks("scaled_dot_product_attention")
loops = Checks("attention_with_loops")
head = Checks("SingleHeadAttention")


def batched(given, batch=2, queries=3, keys=5, dim=7, value_dim=4):
    """query [batch, queries, dim], key [batch, keys, dim], value [batch, keys, value_dim]."""
    return (
        given.vectors("query", batch, queries, dim),
        given.vectors("key", batch, keys, dim),
        given.normal("value", batch, keys, value_dim),
    )


def single(given, queries=3, keys=5, dim=7, value_dim=4):
    """The same for one sequence, without a batch axis."""
    return (
        given.vectors("query", queries, dim),
        given.vectors("key", keys, dim),
        given.normal("value", keys, value_dim),
    )


def large(given, batch, dim=5, value_dim=6):
    """Inputs whose scores are known, far apart and large: each row of weights is 1 at one key and 0 elsewhere.

    Scaled scores are row times column, rows 150, 1700 and -200, columns 0 to 3: gaps of at least 150, and row maxima
    more than 745 apart, where exp() of a difference to the largest of all scores is 0.
    """
    direction = torch.zeros(dim, dtype=torch.float64)
    direction[0] = 1
    rows = torch.tensor([150.0, 1700.0, -200.0], dtype=torch.float64) * math.sqrt(dim)
    columns = torch.tensor([2.0, 0.0, 3.0, 1.0], dtype=torch.float64)
    query = (rows[:, None] * direction).repeat(*batch, 1, 1)
    key = (columns[:, None] * direction).repeat(*batch, 1, 1)
    return query, key, given.normal("value", *batch, 4, value_dim)


# --- scaled_dot_product_attention -------------------------------------------------------------------------------


@attention.check(points=1, hint="read the shapes in the docstring once more; the function returns two tensors")
def test_output_and_weights_have_the_stated_shapes(student, given):
    """The function returns (output, weights), shaped [batch, query, value dim] and [batch, query, key]."""
    student(*batched(given), gradients=True).has_form()


@attention.check(points=2.5, hint="write the formula of the handout next to your lines and compare them one by one")
def test_output_with_more_keys_than_queries(student, given):
    """Three queries attend to five keys; value dim and dim differ."""
    student(*batched(given), gradients=True).matches("output")


@attention.check(points=1.5, hint="which axis must sum to 1?")
def test_weights_with_more_keys_than_queries(student, given):
    """The weights returned are those that the output was made with."""
    student(*batched(given), gradients=True).matches("weights")


@attention.check(
    points=1,
    requires="weights_with_more_keys_than_queries",
    hint="each query shares out one unit of attention",
)
def test_each_row_of_weights_sums_to_one(student, given):
    """Whatever a query looks at, its weights add up to 1 over the keys."""
    answer = student(*batched(given), gradients=True)
    sums = answer.value("weights").sum(-1)
    answer.holds("each row of weights sums to 1", sums, torch.ones_like(sums), of="row sums", axes=("batch", "query"))


@attention.check(points=1, hint="what do B = 1 and a length of 1 do to an axis you squeeze, or forget?")
def test_one_sample_and_one_position(student, given):
    """A batch of one sample, and sequences of one position, are ordinary inputs."""
    for answer in (student(*batched(given, batch=1)), student(*batched(given, queries=1, keys=1))):
        answer.has_form()
        answer.matches("output")


@attention.check(points=1.5, hint="what does exp() give for 800? A softmax can subtract something first")
def test_large_scores_stay_finite(student, given):
    """Scores of hundreds and thousands give weights of 0 and 1, not NaN."""
    student(*large(given, (2,))).matches("output")


@attention.check(points=3, hint="gradients must be able to flow back from the output to all three inputs")
def test_gradients_of_query_key_and_value(student, given):
    """The gradients that flow back to the three inputs are right."""
    student(*batched(given), gradients=True).gradients_match("query", "key", "value")


@attention.check(points=1, hint="make new tensors with the dtype of an input, for example query.new_zeros(...)")
def test_output_has_the_dtype_of_the_inputs(student, given):
    """float64 in, float64 out; float32 in, float32 out."""
    query, key, value = batched(given)
    student(query, key, value, dtype="float32").has_dtype(torch.float64)
    answer = student(query.float(), key.float(), value.float(), dtype="float32")
    answer.has_dtype(torch.float32)
    answer.matches("output")


@attention.check(
    points=0.5,
    requires="output_with_more_keys_than_queries",
    hint="look for operators such as /= on an argument",
)
def test_inputs_are_left_unchanged(student, given):
    """The caller's tensors are the same after the call."""
    student(*batched(given), gradients=True).leaves_inputs_unchanged()


# --- attention_with_loops ---------------------------------------------------------------------------------------


@loops.check(points=2, hint="take one query, and follow the loop by hand for two keys")
def test_loops_output_with_more_keys_than_queries(student, given):
    """Three queries attend to five keys, without a batch axis."""
    answer = student(*single(given), gradients=True)
    answer.has_form()
    answer.matches("output")


@loops.check(points=1, hint="what does exp() give for 800? A softmax can subtract something first")
def test_loops_with_large_scores_stay_finite(student, given):
    """Scores of hundreds and thousands give weights of 0 and 1, not NaN."""
    student(*large(given, ())).matches("output")


@loops.check(points=1.5, hint="do you write into a tensor again that was already used in the computation?")
def test_loops_gradients_of_query_key_and_value(student, given):
    """The gradients that flow back to the three inputs are right."""
    student(*single(given), gradients=True).gradients_match("query", "key", "value")


@loops.check(points=1, hint="make new tensors with the dtype of an input, for example query.new_zeros(...)")
def test_loops_output_has_the_dtype_of_the_inputs(student, given):
    """float64 in, float64 out; float32 in, float32 out."""
    query, key, value = single(given)
    student(query, key, value, dtype="float32").has_dtype(torch.float64)
    answer = student(query.float(), key.float(), value.float(), dtype="float32")
    answer.has_dtype(torch.float32)
    answer.matches("output")


@loops.check(
    points=0.5,
    requires="loops_output_with_more_keys_than_queries",
    hint="look for operators such as /= on an argument",
)
def test_loops_leave_inputs_unchanged(student, given):
    """The caller's tensors are the same after the call."""
    student(*single(given), gradients=True).leaves_inputs_unchanged()


# --- SingleHeadAttention ----------------------------------------------------------------------------------------


def projected(given, batch=2, queries=3, keys=5, d_model=6):
    """Three unrelated inputs of width d_model."""
    return (
        given.vectors("query", batch, queries, d_model, length=1.5),
        given.vectors("key", batch, keys, d_model, length=1.5),
        given.vectors("value", batch, keys, d_model, length=1.5),
    )


@head.check(points=1, hint="three nn.Linear with bias, from d_model to d_head, with the names of the handout")
def test_head_has_three_projections(student, given):
    """The parameters are those of q_proj, k_proj and v_proj, and no others."""
    student.build(given=given, d_model=6, d_head=7).has_its_parameters(*projected(given))


@head.check(points=2, hint="which projection belongs to which of the three inputs?")
def test_head_output_for_three_different_inputs(student, given):
    """Query, key and value are three unrelated tensors, each with its own projection."""
    answer = student.build(given=given, d_model=6, d_head=7)(*projected(given), gradients=True)
    answer.has_form()
    answer.matches("output")


@head.check(points=1, hint="the weights are made from the projected query and the projected key")
def test_head_weights_for_three_different_inputs(student, given):
    """The weights returned are those that the output was made with."""
    student.build(given=given, d_model=6, d_head=7)(*projected(given), gradients=True).matches("weights")


@head.check(points=1, hint="make new tensors with the dtype of an input, for example query.new_zeros(...)")
def test_head_output_has_the_dtype_of_the_inputs(student, given):
    """float32 in, float32 out; after .double(), float64 in, float64 out."""
    module = student.build(given=given, d_model=6, d_head=7)
    answer = module(*(tensor.float() for tensor in projected(given)), dtype="float32")
    answer.has_dtype(torch.float32)
    answer.matches("output")
    module = student.build(given=given, d_model=6, d_head=7)
    module(*projected(given), dtype="float32", is_double=True).has_dtype(torch.float64)
