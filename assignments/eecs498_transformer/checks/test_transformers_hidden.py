"""Hidden checks of transformers.py: other sizes, other inputs."""

import torch

from grader.checks import Checks

single = Checks("scaled_dot_product_two_loop_single")
batch = Checks("scaled_dot_product_two_loop_batch")
no_loop = Checks("scaled_dot_product_no_loop_batch")
head = Checks("SelfAttention")
heads = Checks("MultiHeadAttention")
future = Checks("get_subsequent_mask")


def inputs(given, *shape):
    """query, key and value of that shape: three unrelated tensors."""
    return given.vectors("query", *shape), given.vectors("key", *shape), given.normal("value", *shape)


def sequences(given, *shape):
    """The same for a module."""
    return tuple(given.vectors(name, *shape, length=1.5) for name in ("query", "key", "value"))


@single.check(points=3, hint="does anything in your code depend on one special size?")
def test_two_loop_single_output_for_other_sizes(student, given):
    """More positions than elements, one position, width 1; and where all sizes are equal, mixing two up shows."""
    for shape in ((5, 2), (1, 4), (4, 1), (3, 3)):
        student(*inputs(given, *shape)).matches()


@batch.check(points=3, hint="does anything in your code depend on one special size?")
def test_two_loop_batch_output_for_other_sizes(student, given):
    """More samples than positions, more positions than elements; and where all sizes are equal, mixing two up shows."""
    for shape in ((4, 3, 2), (2, 5, 3), (3, 3, 3)):
        student(*inputs(given, *shape)).matches()


@no_loop.check(points=2, hint="does anything in your code depend on one special size?")
def test_no_loop_output_for_other_sizes(student, given):
    """More samples than positions, one sample, one position; and where all sizes are equal, mixing two up shows."""
    for shape in ((4, 3, 2), (1, 3, 5), (2, 1, 4)):
        answer = student(*inputs(given, *shape))
        answer.has_form()
        answer.matches()
    mask = torch.tensor([[[0, 1, 0], [0, 0, 1], [1, 0, 1]]], dtype=torch.bool)
    mask = torch.cat([mask, mask.flip(1), mask.flip(2)])
    student(*inputs(given, 3, 3, 3), mask, gradients=True).matches()


@head.check(points=1, hint="what is special about your code when there is one sample, one position, or equal widths?")
def test_self_attention_output_for_other_sizes(student, given):
    """One sample, one position, and equal widths are nothing special."""
    for samples, positions in ((1, 3), (2, 1)):
        answer = student.build(given=given, dim_in=4, dim_q=6, dim_v=5)(*sequences(given, samples, positions, 4))
        answer.has_form()
        answer.matches()
    student.build(given=given, dim_in=3, dim_q=3, dim_v=3)(*sequences(given, 3, 3, 3), gradients=True).matches()


@heads.check(points=1, hint="what is special about your code when there is one sample, one position, or equal widths?")
def test_multi_head_output_for_other_sizes(student, given):
    """Three heads, one sample, and sizes that are all equal are nothing special."""
    answer = student.build(given=given, num_heads=3, dim_in=4, dim_out=5)(*sequences(given, 1, 2, 4))
    answer.has_form()
    answer.matches()
    module = student.build(given=given, num_heads=3, dim_in=3, dim_out=3)
    mask = torch.ones(3, 3, dtype=torch.bool).triu(1).repeat(3, 1, 1)
    module(*sequences(given, 3, 3, 3), mask, gradients=True).matches()


@future.check(points=2, hint="does your mask depend on the tokens, or on how many samples there are?")
def test_subsequent_mask_of_other_sizes(student):
    """One position, one sample, and tokens that are all equal are nothing special."""
    for samples, positions in ((3, 1), (1, 4), (3, 7)):
        student(torch.zeros(samples, positions, dtype=torch.int64)).matches_mask(samples, positions, positions)
