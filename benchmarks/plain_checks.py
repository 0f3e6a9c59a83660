"""The yardstick: what a course does without a grader. Plain pytest, in one process with the student's code.

As many tests as the assignment has checks; each calls a function or module of the student's, backward included, and
compares with the reference. Environment: PYTHONPATH, the student's folder and the course's; QUESTIONS, how many tests.
"""

import os

import masked
import multi_head
import pytest
import single_head
import torch

import reference.attention
import reference.masks
import reference.multi_head

torch.set_default_dtype(torch.float64)


def _inputs(question, *lead):
    generator = torch.Generator().manual_seed(question)
    shapes = ((*lead, 3, 6), (*lead, 5, 6), (*lead, 5, 6))
    return [torch.randn(shape, generator=generator).requires_grad_() for shape in shapes]


def _sdpa(question):
    return (
        single_head.scaled_dot_product_attention,
        reference.attention.scaled_dot_product_attention,
        _inputs(question, 2),
    )


def _loops(question):
    return single_head.attention_with_loops, reference.attention.attention_with_loops, _inputs(question)


def _masked(question):
    mask = torch.ones(3, 5, dtype=torch.bool).tril()
    student, expected = masked.masked_attention, reference.masks.masked_attention
    return (lambda *given: student(*given, mask)), (lambda *given: expected(*given, mask)), _inputs(question, 2)


def _multi_head(question):
    student, expected = multi_head.MultiHeadAttention(6, 2), reference.multi_head.MultiHeadAttention(6, 2)
    student.load_state_dict(expected.state_dict(), strict=False)
    return student, expected, _inputs(question, 2)


_KINDS = (_sdpa, _loops, _masked, _multi_head)


@pytest.mark.parametrize("question", range(int(os.environ["QUESTIONS"])))
def test_question(question):
    student, expected, inputs = _KINDS[question % len(_KINDS)](question)
    outputs = []
    for function in (student, expected):
        result = function(*inputs)
        output = result[0] if isinstance(result, tuple) else result
        outputs.append((output, *torch.autograd.grad(output.square().sum(), inputs)))
    for observed, right in zip(*outputs, strict=True):
        torch.testing.assert_close(observed, right)
